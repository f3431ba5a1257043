/** How long the page rests, in milliseconds, before its position is kept: browsers limit how often that may happen. */
const REST_MS = 200;
/** What moves the page by hand, or is about to. */
const BY_HAND = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/** Ends a return to a position; `undefined` if there is none under way. */
let end: (() => void) | undefined;

/**
 * Keeps the position of the page in each entry of the browser's history, and returns there on Back and after a reload. The
 * browser does that too, but only as far as the page is long at that moment, before the answers of the server are shown.
 */
export function keepPosition(): void {
  let resting: ReturnType<typeof setTimeout> | undefined;
  addEventListener('scroll', () => {
    clearTimeout(resting);
    resting = setTimeout(keep, REST_MS);
  });
  // Before a link is followed or the page is left.
  addEventListener('click', keep, { capture: true });
  addEventListener('pagehide', keep);
  addEventListener('popstate', returnToKept);
  returnToKept();
}

function keep(): void {
  if (end || kept() === scrollY) return;
  history.replaceState({ ...history.state, y: scrollY }, '');
}

function kept(): unknown {
  return history.state?.y;
}

/** Returns to the position of the current entry, as soon as the page is long enough, unless it is moved by hand before. */
function returnToKept(): void {
  end?.();
  const y = kept();
  if (typeof y !== 'number') return;
  const move = () => {
    scrollTo(0, y);
    const isLoading = document.querySelector('.loading, [aria-busy="true"]') !== null;
    if (!isLoading && Math.abs(scrollY - y) < 1) end?.();
  };
  // It calls `move` in the next frame, when the view is there, and whenever the page gets longer.
  const watch = new ResizeObserver(move);
  watch.observe(document.body);
  const byHand = new AbortController();
  end = () => {
    end = undefined;
    watch.disconnect();
    byHand.abort();
  };
  for (const name of BY_HAND) {
    addEventListener(name, end, { capture: true, passive: true, signal: byHand.signal });
  }
}
