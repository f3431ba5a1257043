import type { Instant } from '../domain/time.ts';
import type { Relations } from '../store/belief-state.ts';
import type { MemoryFilter } from '../store/store.ts';
import { type BeliefColumns, beliefColumns } from './belief-columns.ts';
import { eligibleRows } from './eligible.ts';
import { createKept, type Kept } from './kept.ts';
import type { ResidentIndex } from './resident-index.ts';
import { type Context, contextOf, type Turns, turnsOf } from './turns.ts';

/**
 * What one recall may see of an index: what its memories, and the words and names around them, are judged by. Filters
 * narrow what is returned, and leave it as it is.
 */
export interface View {
  readonly belief: BeliefColumns;
  /** Ascending. */
  readonly rows: Int32Array;
  /** How many rows are within the filter and hot, valid now or not. */
  readonly filtered: number;
  /** The visible memories of sessions, in their order. */
  readonly turns: Turns;
  readonly context: Context;
  /** The authors of the visible memories. */
  readonly authors: readonly string[];
  /** Whether a visible memory has a role. */
  readonly hasRoles: boolean;
  /** What is kept of formulas, as of a moment. */
  readonly kept: (now: Instant) => Kept;
}

/** What a recall sees, whatever it returns. */
function visibility({ scopes, validAt, deep, includeExpired }: MemoryFilter): MemoryFilter {
  return { scopes, validAt, deep, includeExpired };
}

/** Whether a filter returns all that it sees. */
export function returnsAll({ inScope, types, typesExclude, tags, metadata, cold }: MemoryFilter): boolean {
  return (
    inScope === undefined &&
    types === undefined &&
    (typesExclude?.length ?? 0) === 0 &&
    (tags?.length ?? 0) === 0 &&
    (metadata?.length ?? 0) === 0 &&
    cold !== true
  );
}

interface KeptView {
  readonly key: string;
  readonly version: number;
  readonly relations: Relations<number>;
  /** From when until before when nothing begins or ends to be visible. */
  readonly from: Instant;
  readonly until: Instant;
  readonly view: View;
}

/** Recalls of one process mostly look from a few places only. */
const MOST_KEPT = 4;
const kept = new WeakMap<ResidentIndex, readonly KeptView[]>();

/** What a recall with this filter sees. Kept until the index changes, or a clock of a memory passes. */
export function viewOf(
  index: ResidentIndex,
  relations: Relations<number>,
  filter: MemoryFilter,
  now: Instant,
): View {
  const visible = visibility(filter);
  // A view of another moment is rarely asked for twice.
  if (visible.validAt !== undefined) return makeView(index, relations, visible, now);
  const key = JSON.stringify([
    visible.scopes ?? null,
    visible.deep === true,
    visible.includeExpired === true,
  ]);
  const { version } = index;
  const current = (kept.get(index) ?? []).filter(
    (each) => each.version === version && each.relations === relations,
  );
  const found = current.find((each) => each.key === key && each.from <= now && now < each.until);
  if (found) return found.view;
  const view = makeView(index, relations, visible, now);
  const until = nextChange(index, now);
  const others = current.filter((each) => each.key !== key).slice(0, MOST_KEPT - 1);
  kept.set(index, [{ key, version, relations, from: now, until, view }, ...others]);
  return view;
}

function makeView(
  index: ResidentIndex,
  relations: Relations<number>,
  filter: MemoryFilter,
  now: Instant,
): View {
  const belief = beliefColumns(index, relations, filter, now);
  const { rows, filtered } = eligibleRows(index, belief, filter, now);
  // Bigger than the rows in use: what is kept must not hold on to room for rows that are not seen.
  const visible = rows.length * 2 < index.size ? rows.slice() : rows;
  let turns: Turns | undefined;
  let context: Context | undefined;
  let authors: readonly string[] | undefined;
  let hasRoles: boolean | undefined;
  const view: View = {
    belief,
    rows: visible,
    filtered,
    kept: createKept(index.size),
    get turns() {
      turns ??= turnsOf(index, visible);
      return turns;
    },
    get context() {
      context ??= contextOf(index, view.turns);
      return context;
    },
    get authors() {
      authors ??= textsAmong(index, 'author', visible);
      return authors;
    },
    get hasRoles() {
      hasRoles ??= textsAmong(index, 'role', visible).length > 0;
      return hasRoles;
    },
  };
  return view;
}

/** The distinct texts of an attribute among some rows, without the empty one. */
function textsAmong(index: ResidentIndex, name: 'author' | 'role', rows: Int32Array): readonly string[] {
  const { codes, dictionary } = index.columns.attributes[name];
  const found = new Uint8Array(dictionary.texts.length);
  for (let at = 0; at < rows.length; at++) found[codes[rows[at]!]!] = 1;
  return dictionary.texts.filter((text, code) => text !== '' && found[code] === 1);
}

/** The first moment after `now` at which a clock of a memory passes. */
function nextChange({ alive, size, columns }: ResidentIndex, now: Instant): Instant {
  const { consolidatedAt, expiresAt, invalidatedAt, validFrom, validUntil } = columns.clocks;
  let next = Infinity;
  for (const clock of [consolidatedAt, expiresAt, invalidatedAt, validFrom, validUntil]) {
    for (let row = 0; row < size; row++) {
      const at = clock[row]!;
      // A memory is valid until the end of its last millisecond: the change is kept out a moment too early at most.
      if (at >= now && at < next && alive[row] === 1) next = at;
    }
  }
  return next;
}
