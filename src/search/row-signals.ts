import { valueAt } from '../scoring/compile.ts';
import { isFlag, type Signals } from '../scoring/signals.ts';
import type { BeliefColumns } from './belief-columns.ts';
import type { QueryColumns } from './query-columns.ts';
import type { ResidentIndex } from './resident-index.ts';

type Read = (row: number) => unknown;

/**
 * Returns a function that reads the signals `names` of a row for one query. A formula needs no others, and reading all
 * signals of thousands of rows takes longer than evaluating it.
 */
export function signalsReader(
  index: ResidentIndex,
  belief: BeliefColumns,
  columns: QueryColumns,
  names: ReadonlySet<string>,
): (row: number, similarity: number | undefined) => Signals {
  const reads: { readonly name: string; readonly read: Read }[] = [];
  for (const name of names) {
    const read = readerOf(index, belief, columns, name);
    if (read) reads.push({ name, read });
  }
  const unknown = unknownOf(names);
  return (row, similarity) => {
    const signals: Record<string, unknown> = { ...unknown };
    for (const { name, read } of reads) signals[name] = read(row);
    signals['similarity'] = similarity;
    return signals as Signals;
  };
}

/**
 * Returns a function that reads a signal, a clock or an attribute of a row; `undefined` if it is unknown for all rows.
 */
function readerOf(
  { columns: { signals, clocks, attributes } }: ResidentIndex,
  belief: BeliefColumns,
  { exact }: QueryColumns,
  name: string,
): Read | undefined {
  if (name === 'conflict') return (row) => valueAt(belief.conflict, row);
  if (name === 'superseded') return (row) => belief.superseded[row] === 1;
  if (isIn(signals, name)) {
    const column = signals[name];
    return (row) => valueAt(column, row);
  }
  if (isIn(clocks, name)) {
    const clock = clocks[name];
    return (row) => knownNumber(valueAt(clock, row));
  }
  if (isIn(attributes, name)) {
    const { codes, dictionary } = attributes[name];
    const textOf = (row: number) => dictionary.texts[codes[row]!];
    return isFlag(name) ? (row) => textOf(row) === 'true' : textOf;
  }
  const column = isIn(exact, name) ? exact[name] : undefined;
  return column && ((row) => knownNumber(column.at(row)));
}

function isIn<Name extends string>(table: Readonly<Record<Name, unknown>>, name: string): name is Name {
  return Object.hasOwn(table, name);
}

/** Objects copied from one share a shape. Objects that get names one by one are slow. */
const unknowns = new WeakMap<ReadonlySet<string>, Readonly<Record<string, undefined>>>();

function unknownOf(names: ReadonlySet<string>): Readonly<Record<string, undefined>> {
  let unknown = unknowns.get(names);
  if (!unknown) {
    unknown = Object.fromEntries([...names, 'similarity'].map((name) => [name, undefined]));
    unknowns.set(names, unknown);
  }
  return unknown;
}

function knownNumber(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}
