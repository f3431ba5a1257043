import type { Instant } from '../domain/time.ts';
import { type Columns, type KeptColumn, keepFormula } from '../scoring/compile.ts';
import type { Node } from '../scoring/operators/index.ts';

/** The bounds of a formula that no query changes. */
export type Kept = (node: Node, columns: Omit<Columns, 'kept'>) => KeptColumn;

/** How long bounds are kept: in a minute, a half-life of an hour changes a value by about 1 %. */
const KEPT_MS = 60_000;
/** Formulas for which bounds are kept at the same time: 8 bytes a row each. */
const MOST_KEPT = 8;

interface Entry extends KeptColumn {
  readonly from: Instant;
  readonly until: Instant;
}

/** Bounds of formulas for the rows of one version of an index, from one recall to the next. */
export function createKept(size: number): (now: Instant) => Kept {
  const entries = new Map<string, Entry>();
  return (now) => (node, columns) => {
    const key = JSON.stringify(node, (_, value) => (value instanceof Map ? [...value] : value));
    const known = entries.get(key);
    if (known && known.from <= now && now <= known.until) return known;
    const until = now + KEPT_MS;
    const entry = { ...keepFormula(node, columns, size, now, until), from: now, until };
    entries.delete(key);
    entries.set(key, entry);
    for (const oldest of entries.keys()) {
      if (entries.size <= MOST_KEPT) break;
      entries.delete(oldest);
    }
    return entry;
  };
}
