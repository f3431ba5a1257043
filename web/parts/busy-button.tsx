import type { JSX } from 'preact';

type ButtonProps = JSX.IntrinsicElements['button'];

/**
 * The button of work that waits for the server (`useOnce`). While that takes longer than a moment it looks and says so. It
 * keeps the focus, which a disabled button would lose.
 */
export function BusyButton({ busy, ...button }: ButtonProps & { readonly busy: boolean }) {
  const marks = busy ? ({ 'aria-busy': true, 'aria-disabled': true } as const) : {};
  return (
    <>
      <button type="button" {...button} {...marks} />
      <span class="hidden" role="status">
        {busy && 'Working…'}
      </span>
    </>
  );
}
