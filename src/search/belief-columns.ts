import { CLOCK_NAMES } from '../domain/fields.ts';
import type { Instant } from '../domain/time.ts';
import { type Columns, valueAt } from '../scoring/compile.ts';
import { namesRead } from '../scoring/evaluate.ts';
import type { Node } from '../scoring/operators/index.ts';
import {
  ATTRIBUTE_NAMES,
  type CompleteSignals,
  type QuerySignals,
  type RelationSignals,
  SIGNAL_NAMES,
} from '../scoring/signals.ts';
import { beliefStates, type Relations } from '../store/belief-state.ts';
import { type Belief, isBelieved } from '../store/eligibility.ts';
import type { MemoryFilter } from '../store/store.ts';
import { type ColumnSet, sharedArray } from './columns.ts';
import { grow } from './grow.ts';
import type { Kept } from './kept.ts';
import { type ResidentIndex, signalsOfRow } from './resident-index.ts';

/** How memories stand to each other where and when a query looks: columns of that query, a value a row. */
export interface BeliefColumns {
  /** 1 where a memory that is believed has taken the row's place. */
  readonly superseded: Uint8Array;
  /** One number for all rows where there is nothing to say of any. */
  readonly conflict: Float64Array;
}

/** The belief columns of a query. They belong to it alone: the index is the same for all. */
export function beliefColumns(
  index: ResidentIndex,
  relations: Relations<number>,
  filter: MemoryFilter,
  now: Instant,
): BeliefColumns {
  const states = beliefStates(relations, (key) => {
    const row = index.rowOfKey.get(key);
    return row !== undefined && isBelieved(signalsOfRow(index, row) as unknown as Belief, filter, now);
  });
  if (states.size === 0) return ordinaryColumns(index);
  const columns = newColumns(index.size);
  for (const [key, belief] of states) {
    const row = index.rowOfKey.get(key);
    if (row === undefined) continue;
    columns.conflict[row] = belief.conflict;
    columns.superseded[row] = belief.superseded ? 1 : 0;
  }
  return columns;
}

/** Everything that a formula may read of rows: what is resident, with the columns of one query. */
export function columnsOf(columns: ColumnSet, belief: BeliefColumns, kept?: Kept): Columns {
  const all: Columns = {
    signal: (name) => (name === 'conflict' ? belief.conflict : columns.signals[name]),
    clock: (name) => columns.clocks[name],
    attribute(name) {
      if (name === 'superseded') return { codes: belief.superseded, texts: ['false', 'true'] };
      const { codes, dictionary } = columns.attributes[name];
      return { codes, texts: dictionary.texts };
    },
  };
  return kept ? { kept: (node) => kept(node, all), ...all } : all;
}

/** The signals of a row for one query. */
export function signalsForQuery(
  index: ResidentIndex,
  belief: BeliefColumns,
  row: number,
  query: QuerySignals,
): CompleteSignals {
  const relations: RelationSignals = {
    conflict: valueAt(belief.conflict, row),
    superseded: belief.superseded[row] === 1,
  };
  return { ...UNKNOWN, ...signalsOfRow(index, row), ...relations, ...query };
}

/** Every name at once: objects that are added to after a copy get a shape of their own, and are slow. */
const UNKNOWN = Object.fromEntries(
  [...SIGNAL_NAMES, ...CLOCK_NAMES, ...ATTRIBUTE_NAMES].map((name) => [name, undefined]),
);

/** Shared by all queries of whose rows there is nothing to say, and never written to. */
let zeros = new Uint8Array(0);

/** Of each index: formulas stay ready for all views of it. */
const ordinary = new WeakMap<ColumnSet, BeliefColumns>();

function ordinaryColumns({ columns, size }: ResidentIndex): BeliefColumns {
  if (zeros.length < size) zeros = new Uint8Array(Math.ceil(1.25 * size));
  const conflict = sharedArray(columns, 0);
  const known = ordinary.get(columns);
  if (known?.superseded === zeros && known.conflict === conflict) return known;
  const made = { superseded: zeros, conflict };
  ordinary.set(columns, made);
  return made;
}

/** Whether there is nothing to say of any row. */
export function isOrdinary({ columns }: ResidentIndex, { conflict }: BeliefColumns): boolean {
  return columns.shared.has(conflict);
}

/** Whether a formula is another one for other beliefs. */
export function readsBelief(node: Node): boolean {
  const names = namesRead(node);
  return names.has('conflict') || names.has('superseded');
}

/** The same columns for rows that came since. */
export function longerColumns(index: ResidentIndex, { superseded, conflict }: BeliefColumns): BeliefColumns {
  if (superseded === zeros) return ordinaryColumns(index);
  return { superseded: grow(superseded, index.size), conflict: grow(conflict, index.size) };
}

function newColumns(size: number): BeliefColumns {
  // One number would be that of all rows.
  return { superseded: new Uint8Array(size), conflict: new Float64Array(Math.max(2, size)) };
}
