import { atOnce } from '../domain/slices.ts';
import type { Instant } from '../domain/time.ts';
import type { Columns, KeptColumn } from '../scoring/compile.ts';
import { keepFormula, keepLazily, keepRows, longestSpan, whereMissing } from '../scoring/keep.ts';
import type { Node } from '../scoring/operators/index.ts';
import { hull } from '../scoring/operators/interval.ts';
import { grow } from './grow.ts';

/** Returns the bounds of a formula that no query changes. */
export type Kept = (node: Node, columns: Omit<Columns, 'kept'>) => KeptColumn;

/** Bounds of formulas that are kept between recalls. */
export interface KeptFormulas {
  /** Returns the bounds valid at `now`. Where possible, a row is bounded only when it is first read. */
  at(now: Instant): Kept;
  /**
   * Computes in steps what `at` would then find; `undefined` if that is ready. Bounds all rows if `all` is set, or if
   * they cannot be bounded on first read. No row may change until it has ended.
   */
  ahead(
    now: Instant,
    node: Node,
    columns: Omit<Columns, 'kept'>,
    all: boolean,
  ): Generator<undefined, unknown> | undefined;
  /** Marks rows as changed. `newSize` is the current number of rows. */
  follow(rows: Iterable<number>, newSize: number): void;
  /** Size of the bounds in bytes. */
  bytes(): number;
}

const MINUTE = 60_000;
/**
 * How long bounds are kept: as long as they stay narrow, at least a minute. In six hours, what has a half-life of a
 * month changes by half a percent; bounding all rows takes several times as long as a recall.
 */
const SPANS = [MINUTE, 10 * MINUTE, 60 * MINUTE, 6 * 60 * MINUTE, 24 * 60 * MINUTE] as const;
/** How many formulas have kept bounds, of 8 bytes a row each. */
const MOST_KEPT = 8;

/**
 * The longest list of renewed rows. Beyond it a column gets a new array, and whatever follows the column starts over.
 */
const MOST_RENEWED = 4096;

/** The most rows that `at` recomputes; for more, `ahead` does it in steps. */
const MOST_AT_ONCE = 128;

interface Entry {
  column: KeptColumn;
  /** Rows to recompute before the next use. */
  stale: Set<number>;
  readonly from: Instant;
  readonly until: Instant;
}

export function createKept(rows: number): KeptFormulas {
  let size = rows;
  const entries = new Map<string, Entry>();
  const renew = function* (
    entry: Entry,
    node: Node,
    columns: Omit<Columns, 'kept'>,
  ): Generator<undefined, KeptColumn> {
    const { column, stale, from, until } = entry;
    if (stale.size === 0) return column;
    const isLong = (column.renewed?.length ?? 0) + stale.size > MOST_RENEWED;
    const [low, high] = [grow(column.low, size), grow(isLong ? column.high.slice() : column.high, size)];
    const range = yield* keepRows(node, columns, Int32Array.from(stale), { low, high }, from, until);
    // Whatever follows the column reads only the renewed rows, provided that it is still the same array.
    const renewed = high === column.high ? [...(column.renewed ?? []), ...stale] : [];
    // The old range also covers the old bounds of these rows, so it may be wider than needed. It stays valid.
    entry.column = {
      low,
      high,
      range: range && column.range && hull(range, column.range),
      renewed,
      ...(column.workOut && { workOut: whereMissing(node, columns, { low, high }, from, until) }),
    };
    entry.stale = new Set();
    return entry.column;
  };
  const find = (now: Instant, key: string) => {
    const known = entries.get(key);
    return known && known.from <= now && now <= known.until ? known : undefined;
  };
  const keep = (key: string, column: KeptColumn, from: Instant, until: Instant) => {
    entries.delete(key);
    entries.set(key, { column, stale: new Set(), from, until });
    for (const oldest of entries.keys()) {
      if (entries.size <= MOST_KEPT) break;
      entries.delete(oldest);
    }
    return column;
  };
  return {
    at: (now) => (node, columns) => {
      const key = keyOf(node);
      const known = find(now, key);
      if (known) return atOnce(renew(known, node, columns));
      const until = now + longestSpan(node, columns, size, now, SPANS);
      const column =
        keepLazily(node, columns, size, now, until) ?? atOnce(keepFormula(node, columns, size, now, until));
      return keep(key, column, now, until);
    },
    ahead(now, node, columns, all) {
      const key = keyOf(node);
      const known = find(now, key);
      if (known && !(all && known.column.workOut))
        return known.stale.size > MOST_AT_ONCE ? renew(known, node, columns) : undefined;
      return (function* () {
        const until = now + longestSpan(node, columns, size, now, SPANS);
        const lazy = all ? undefined : keepLazily(node, columns, size, now, until);
        keep(key, lazy ?? (yield* keepFormula(node, columns, size, now, until)), now, until);
      })();
    },
    follow(rows, newSize) {
      size = newSize;
      const changed = [...rows];
      for (const [key, { stale }] of entries) {
        for (const row of changed) stale.add(row);
        // Recomputing many rows one by one costs more than recomputing all at once.
        if (stale.size > size / 4) entries.delete(key);
      }
    },
    bytes: () =>
      [...entries.values()].reduce(
        (sum, { column }) => sum + column.low.byteLength + column.high.byteLength,
        0,
      ),
  };
}

const keys = new WeakMap<Node, string>();

function keyOf(node: Node): string {
  let key = keys.get(node);
  if (key === undefined) {
    key = JSON.stringify(node, (_, value) => (value instanceof Map ? [...value] : value));
    keys.set(node, key);
  }
  return key;
}
