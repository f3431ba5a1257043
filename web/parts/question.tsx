import { setParams, useRoute } from '../router.ts';

/** The query field of a view. Its value is part of the address. */
export function Question({
  placeholder,
  disabled = false,
  autofocus = false,
}: {
  readonly placeholder: string;
  readonly disabled?: boolean;
  readonly autofocus?: boolean;
}) {
  const { params } = useRoute();
  return (
    <input
      type="search"
      class="question"
      aria-label="Question"
      placeholder={placeholder}
      disabled={disabled}
      autofocus={autofocus}
      value={params.get('q') ?? ''}
      onInput={(event) => setParams({ q: event.currentTarget.value })}
    />
  );
}
