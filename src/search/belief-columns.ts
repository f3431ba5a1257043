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

/** Which memories are superseded or in conflict for one query, one value for each row. */
export interface BeliefColumns {
  /** 1 if a believed memory supersedes the row. */
  readonly superseded: Uint8Array;
  /** A single number shared by all rows if none is superseded or in conflict. */
  readonly conflict: Float64Array;
}

/** Computes the belief columns of one query. The index itself is the same for all queries. */
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

/** Returns everything that a formula may read of rows: the resident columns, and those of one query. */
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

/** Returns the signals of a row for one query. */
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

/**
 * Has every name, so that copies share a shape: an object that gets names after the copy has its own, which is slow.
 */
const UNKNOWN = Object.fromEntries(
  [...SIGNAL_NAMES, ...CLOCK_NAMES, ...ATTRIBUTE_NAMES].map((name) => [name, undefined]),
);

/** Shared by all queries for which no row is superseded or in conflict. Never written to. */
let zeros = new Uint8Array(0);

/** One object for each index, so that a compiled formula fits all of its views. */
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

/** Whether no row is superseded or in conflict. */
export function isOrdinary({ columns }: ResidentIndex, { conflict }: BeliefColumns): boolean {
  return columns.shared.has(conflict);
}

/** Whether a formula reads the belief columns. */
export function readsBelief(node: Node): boolean {
  const names = namesRead(node);
  return names.has('conflict') || names.has('superseded');
}

/** Extends the columns for rows that were added since. */
export function longerColumns(index: ResidentIndex, { superseded, conflict }: BeliefColumns): BeliefColumns {
  if (superseded === zeros) return ordinaryColumns(index);
  return { superseded: grow(superseded, index.size), conflict: grow(conflict, index.size) };
}

function newColumns(size: number): BeliefColumns {
  // An array of length 1 would be a value shared by all rows.
  return { superseded: new Uint8Array(size), conflict: new Float64Array(Math.max(2, size)) };
}
