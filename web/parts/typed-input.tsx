import { useState } from 'preact/hooks';

type Typing = Event & { readonly currentTarget: HTMLInputElement };

/**
 * A field that is taken over on Enter, and when it is left. What is typed stays until then, also when an answer comes
 * meanwhile and the page is drawn anew.
 */
export function TypedInput({
  id,
  label,
  value,
  placeholder,
  number,
  take,
}: {
  readonly id?: string | undefined;
  /** Where no label stands beside it. */
  readonly label?: string | undefined;
  readonly value: string;
  readonly placeholder?: string | undefined;
  /** It holds a number, of this range. */
  readonly number?: { readonly min?: number | undefined; readonly max?: number | undefined } | undefined;
  readonly take: (text: string) => void;
}) {
  const [typed, setTyped] = useState<string>();
  const field = {
    ...{ id, placeholder, 'aria-label': label, value: typed ?? value },
    onInput: (event: Typing) => setTyped(event.currentTarget.value),
    onChange: (event: Typing) => {
      take(event.currentTarget.value);
      setTyped(undefined);
    },
    // What was typed and taken out again is no change, and is told nobody.
    onBlur: () => setTyped(undefined),
  };
  return number ? (
    <input type="number" class="number" step="any" {...number} {...field} />
  ) : (
    <input type="text" {...field} />
  );
}
