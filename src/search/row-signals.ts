import { CLOCK_NAMES } from '../domain/fields.ts';
import { valueAt } from '../scoring/compile.ts';
import {
  EXACT_SIGNALS,
  isFlag,
  type Signals,
  STORED_ATTRIBUTE_NAMES,
  STORED_SIGNAL_NAMES,
} from '../scoring/signals.ts';
import type { BeliefColumns } from './belief-columns.ts';
import type { QueryColumns } from './query-columns.ts';
import type { ResidentIndex } from './resident-index.ts';

type Read = (row: number) => unknown;

/**
 * The signals of rows for one query, of these names alone: what a formula reads decides its score, and making the others of
 * thousands of rows takes longer than evaluating it.
 */
export function signalsReader(
  { columns }: ResidentIndex,
  belief: BeliefColumns,
  { exact }: QueryColumns,
  names: ReadonlySet<string>,
): (row: number, similarity: number | undefined) => Signals {
  const known = new Map<string, Read>([
    ...STORED_SIGNAL_NAMES.map(
      (name) => [name, (row: number) => valueAt(columns.signals[name], row)] as const,
    ),
    ...CLOCK_NAMES.map(
      (name) => [name, (row: number) => knownNumber(valueAt(columns.clocks[name], row))] as const,
    ),
    ...STORED_ATTRIBUTE_NAMES.map((name) => {
      const { codes, dictionary } = columns.attributes[name];
      const textOf = (row: number) => dictionary.texts[codes[row]!];
      return [name, isFlag(name) ? (row: number) => textOf(row) === 'true' : textOf] as const;
    }),
    ...EXACT_SIGNALS.flatMap((name) => {
      const column = exact[name];
      return column ? [[name, (row: number) => knownNumber(column.at(row))] as const] : [];
    }),
    ['conflict', (row) => valueAt(belief.conflict, row)],
    ['superseded', (row) => belief.superseded[row] === 1],
  ]);
  const reads = [...names].flatMap((name) => {
    const read = known.get(name);
    return read ? [[name, read] as const] : [];
  });
  return (row, similarity) => {
    const signals: Record<string, unknown> = { similarity };
    for (const [name, read] of reads) signals[name] = read(row);
    return signals as Signals;
  };
}

function knownNumber(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}
