/**
 * The one-time code of the address. It is taken out before any other module is even loaded: nothing that fails later can
 * leave it in the history, in a screenshot or in a link that somebody copies.
 */
const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
if (code !== undefined) history.replaceState(null, '', location.pathname);

import('./start.tsx').then(({ startPage }) => startPage(code));
