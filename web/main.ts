const CODE = /^#code=([\w-]+)$/;

/**
 * The one-time code of the address. It is taken out before any other module is even loaded: nothing that fails later can
 * leave it in the history, in a screenshot or in a link that somebody copies.
 */
const code = CODE.exec(location.hash)?.[1];
if (code !== undefined) history.replaceState(null, '', location.pathname);

// Of another code, in a page that is open already, the browser only tells: it loads nothing anew by itself.
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
