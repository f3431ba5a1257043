import { setParams, useRoute } from '../router.ts';

/** The question of a view, which stands in its address. */
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
