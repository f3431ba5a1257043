const CODE = /^#code=([\w-]+)$/;

/**
 * The one-time code of the address. It is removed before any other module is loaded, so that no later failure can leave
 * it in the history, in a screenshot or in a copied link.
 */
const code = CODE.exec(location.hash)?.[1];
if (code !== undefined) history.replaceState(null, '', location.pathname);

// If a new code is entered in an open page, the browser only fires an event and does not reload.
addEventListener('hashchange', () => {
  if (CODE.test(location.hash)) location.reload();
});

import('./start.tsx').then(
  ({ startPage }) => startPage(code),
  () => {
    const text =
      'The inspector was not loaded, as the server cannot be reached or a part of the page is missing. Look whether the server runs, and load this page again.';
    document.getElementById('app')?.append(text);
  },
);
