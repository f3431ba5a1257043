import type { Instant } from '../domain/time.ts';
import type { Columns } from '../scoring/compile.ts';
import type { CompleteSignals, QuerySignals, RelationSignals } from '../scoring/signals.ts';
import { type Belief, isBelieved } from '../store/eligibility.ts';
import { type Relations, standingsOf } from '../store/standing.ts';
import type { MemoryFilter } from '../store/store.ts';
import type { ColumnSet } from './columns.ts';
import type { Kept } from './kept.ts';
import { type ResidentIndex, signalsOfRow } from './resident-index.ts';

/** How memories stand to each other where and when a query looks: columns of that query, a value a row. */
export interface StandingColumns {
  /** 1 where a memory that is believed has taken the row's place. */
  readonly superseded: Uint16Array;
  readonly conflict: Float64Array;
}

/** The standing columns of a query. They belong to it alone: the index is the same for all. */
export function standingColumns(
  index: ResidentIndex,
  relations: Relations<number>,
  filter: MemoryFilter,
  now: Instant,
): StandingColumns {
  const standings = standingsOf(relations, (key) => {
    const row = index.rowOfKey.get(key);
    return row !== undefined && isBelieved(signalsOfRow(index, row) as unknown as Belief, filter, now);
  });
  if (standings.size === 0) return ordinaryColumns(index.size);
  const columns = newColumns(index.size);
  for (const [key, standing] of standings) {
    const row = index.rowOfKey.get(key);
    if (row === undefined) continue;
    columns.conflict[row] = standing.conflict;
    columns.superseded[row] = standing.superseded ? 1 : 0;
  }
  return columns;
}

/** Everything that a formula may read of rows: what is resident, with the columns of one query. */
export function columnsOf(columns: ColumnSet, standing: StandingColumns, kept?: Kept): Columns {
  const all: Columns = {
    signal: (name) => (name === 'conflict' ? standing.conflict : columns.signals[name]),
    clock: (name) => columns.clocks[name],
    attribute(name) {
      if (name === 'superseded') return { codes: standing.superseded, texts: ['false', 'true'] };
      const { codes, dictionary } = columns.attributes[name];
      return { codes, texts: dictionary.texts };
    },
  };
  return kept ? { ...all, kept: (node) => kept(node, all) } : all;
}

/** The signals of a row for one query. */
export function signalsForQuery(
  index: ResidentIndex,
  standing: StandingColumns,
  row: number,
  query: QuerySignals,
): CompleteSignals {
  const relations: RelationSignals = {
    conflict: standing.conflict[row]!,
    superseded: standing.superseded[row] === 1,
  };
  return Object.assign(signalsOfRow(index, row), relations, query);
}

/** Shared by all queries of whose rows there is nothing to say, and never written to. */
let ordinary = newColumns(0);

function ordinaryColumns(size: number): StandingColumns {
  if (ordinary.conflict.length < size) ordinary = newColumns(2 * size);
  return ordinary;
}

function newColumns(size: number): StandingColumns {
  return { superseded: new Uint16Array(size), conflict: new Float64Array(size) };
}
