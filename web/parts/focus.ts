let last: Element | undefined;
addEventListener('focusin', ({ target }) => {
  last = target as Element;
});

/** A view begins: nothing in it takes the place of what had the focus before. */
export function forgetFocus(): void {
  last = undefined;
}

/** The `ref` of what takes the place of something that had the focus and is gone: the focus goes on from there. */
export function takeOver(element: HTMLElement | null): void {
  if (document.activeElement === document.body && last?.isConnected === false) element?.focus();
}
