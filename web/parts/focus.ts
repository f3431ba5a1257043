let last: Element | undefined;
addEventListener('focusin', ({ target }) => {
  last = target as Element;
});

/** Called when a view opens: nothing in it replaces what had the focus in the previous view. */
export function forgetFocus(): void {
  last = undefined;
}

/**
 * A `ref` for an element that takes the place of a focused one, which was removed or is hidden while something is open
 * beside it: it takes the focus.
 */
export function takeOver(element: HTMLElement | null): void {
  const { activeElement, body } = document;
  // A hidden element has the focus until the next frame.
  const isFree = activeElement === body || !isShown(activeElement);
  if (isFree && last !== undefined && !isShown(last)) element?.focus();
}

function isShown(element: Element | null): boolean {
  return element !== null && element.getClientRects().length > 0;
}
