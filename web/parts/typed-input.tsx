import { useState } from 'preact/hooks';

type Typing = Event & { readonly currentTarget: HTMLInputElement };

/**
 * A field whose value is applied on Enter and on blur. Until then the typed text stays, even if an answer arrives and
 * the page is rendered again.
 */
export function TypedInput({
  id,
  label,
  value,
  placeholder,
  number,
  disabled,
  take,
}: {
  readonly id?: string | undefined;
  /** The accessible name, if there is no label beside the field. */
  readonly label?: string | undefined;
  readonly value: string;
  readonly placeholder?: string | undefined;
  /** It holds a number, of this range. */
  readonly number?: { readonly min?: number | undefined; readonly max?: number | undefined } | undefined;
  readonly disabled?: boolean | undefined;
  readonly take: (text: string) => void;
}) {
  const [typed, setTyped] = useState<string>();
  const field = {
    ...{ id, placeholder, disabled, 'aria-label': label, value: typed ?? value },
    onInput: (event: Typing) => setTyped(event.currentTarget.value),
    onChange: (event: Typing) => {
      take(event.currentTarget.value);
      setTyped(undefined);
    },
    // If the text was changed back, nothing is applied.
    onBlur: () => setTyped(undefined),
  };
  return number ? (
    <input type="number" class="number" step="any" {...number} {...field} />
  ) : (
    <input type="text" {...field} />
  );
}
