import { unknown } from '../../src/domain/options.ts';

/** Says that a setting in the address has none of the known values, and what holds instead. */
export function Unread({
  what,
  value,
  known,
  instead,
}: {
  readonly what: string;
  /** `null` and `''` mean that it is not set. */
  readonly value: string | null;
  readonly known: readonly string[];
  readonly instead: string;
}) {
  if (!value || known.includes(value)) return null;
  return (
    <p class="failure-text stored" role="alert">
      In the address: {unknown(what, value, known)}. Until it is changed, {instead} holds.
    </p>
  );
}
