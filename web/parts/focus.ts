let last: Element | undefined;
addEventListener('focusin', ({ target }) => {
  last = target as Element;
});

/** Called when a view opens: nothing in it replaces what had the focus in the previous view. */
export function forgetFocus(): void {
  last = undefined;
}

/** A `ref` for an element that replaces a focused one: it takes the focus. */
export function takeOver(element: HTMLElement | null): void {
  if (document.activeElement === document.body && last?.isConnected === false) element?.focus();
}
