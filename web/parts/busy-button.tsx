import type { JSX } from 'preact';
import { takeOver } from './focus.ts';

type ButtonProps = JSX.IntrinsicElements['button'];

interface Props extends Omit<ButtonProps, 'onClick'> {
  readonly busy: boolean;
  /** Whether it replaces the pressed element and takes its focus. */
  readonly takesOver?: boolean;
  readonly onClick?: () => void;
}

/**
 * The button for work that waits for the server (`useOnce`). If the work takes long, the button looks busy and says so.
 * It keeps the focus, which a disabled button would lose.
 *
 * A double click and a held Enter count as one press. After a fast answer the second click would meet something else in
 * the same place: the confirmation of what the first one asked for, or the same button of the next item.
 */
export function BusyButton({ busy, takesOver = false, onClick, ...button }: Props) {
  const marks = busy ? ({ 'aria-busy': true, 'aria-disabled': true } as const) : {};
  return (
    <>
      <button
        ref={takesOver ? takeOver : null}
        type="button"
        {...button}
        {...marks}
        onKeyDown={(event) => event.repeat && event.key === 'Enter' && event.preventDefault()}
        onClick={(event) => {
          if (event.detail > 1) event.preventDefault();
          else onClick?.();
        }}
      />
      <span class="hidden" role="status">
        {busy && 'Working…'}
      </span>
    </>
  );
}
