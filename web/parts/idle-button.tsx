import type { JSX } from 'preact';

interface Props extends Omit<JSX.IntrinsicElements['button'], 'onClick' | 'disabled'> {
  /** Whether there is nothing to do for it now, such as at the end of a list. */
  readonly idle: boolean;
  readonly onClick: () => void;
}

/** A button whose own press may leave it with nothing to do. It keeps the focus, which a disabled button would lose. */
export function IdleButton({ idle, onClick, ...button }: Props) {
  return <button type="button" {...button} aria-disabled={idle} onClick={() => idle || onClick()} />;
}
