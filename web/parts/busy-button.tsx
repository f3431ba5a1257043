import type { JSX } from 'preact';
import { takeOver } from './focus.ts';

type ButtonProps = JSX.IntrinsicElements['button'];

interface Props extends ButtonProps {
  readonly busy: boolean;
  /** Whether it replaces the pressed element and takes its focus. */
  readonly takesOver?: boolean;
}

/**
 * The button for work that waits for the server (`useOnce`). If the work takes long, the button looks busy and says so.
 * It keeps the focus, which a disabled button would lose.
 */
export function BusyButton({ busy, takesOver = false, ...button }: Props) {
  const marks = busy ? ({ 'aria-busy': true, 'aria-disabled': true } as const) : {};
  return (
    <>
      <button ref={takesOver ? takeOver : null} type="button" {...button} {...marks} />
      <span class="hidden" role="status">
        {busy && 'Working…'}
      </span>
    </>
  );
}
