import type { Instant } from '../domain/time.ts';
import { valueAt } from '../scoring/compile.ts';
import type { Node } from '../scoring/operators/index.ts';
import type { Relations } from '../store/belief-state.ts';
import type { MemoryFilter } from '../store/store.ts';
import {
  type BeliefColumns,
  beliefColumns,
  isOrdinary,
  longerColumns,
  readsBelief,
} from './belief-columns.ts';
import { ELIGIBLE, eligibleRows, OUTSIDE, standings } from './eligible.ts';
import { grow } from './grow.ts';
import { createKept, type Kept, type KeptFormulas } from './kept.ts';
import { changedSince, type ResidentIndex } from './resident-index.ts';
import { bytesOfTurns, followTurns, type Turns, turnsOf } from './turns.ts';

/**
 * What one recall may see of an index. Memories are judged by it, and by the words and names around them. A filter
 * narrows what is returned but does not change the view. A view is valid until the index changes.
 */
export interface View {
  readonly belief: BeliefColumns;
  /** Ascending. */
  readonly rows: Int32Array;
  /** How the recall sees each row; see {@link ELIGIBLE}. */
  readonly standing: Uint8Array;
  /** How many rows match the filter and are hot, whether or not they are valid now. */
  readonly filtered: number;
  /** The visible memories of each session, in order. */
  readonly turns: Turns;
  /** The authors of the visible memories. */
  readonly authors: readonly string[];
  /** Whether a visible memory has a role. */
  readonly hasRoles: boolean;
  /** Returns the kept bounds of formulas that are valid at `now`. */
  readonly kept: (now: Instant) => Kept;
  /** See {@link KeptFormulas.ahead}. */
  readonly keepAhead: KeptFormulas['ahead'];
}

/** Returns the part of a filter that decides what a recall sees, whatever it returns. */
function visibility({ scopes, validAt, deep, includeExpired }: MemoryFilter): MemoryFilter {
  return { scopes, validAt, deep, includeExpired };
}

/** Whether a filter returns everything that the recall sees. */
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

/** A view that follows its index: it recomputes only what changed. */
interface FollowingView extends View {
  readonly key: string;
  /** Between `from` and `until` (exclusive), no memory becomes visible or stops being visible. */
  readonly from: Instant;
  readonly until: Instant;
  /** Applies the changes of the index. Returns false if there were too many; the caller then creates a new view. */
  follow(relations: Relations<number>, now: Instant): boolean;
  /** Size of the view in bytes. */
  bytes(): number;
}

/**
 * Recalls use few views, or one for each user. As many are kept as fit into `VIEW_BYTES`, but at least 4 and at most
 * 64.
 */
const FEWEST_VIEWS = 4;
const MOST_VIEWS = 64;
const VIEW_BYTES = 8 << 20;
const views = new WeakMap<ResidentIndex, readonly FollowingView[]>();

/**
 * Returns what a recall with this filter sees. A view is reused, and brought up to date when the index changes, until
 * one of its memories becomes visible or invisible.
 */
export function viewOf(
  index: ResidentIndex,
  relations: Relations<number>,
  filter: MemoryFilter,
  now: Instant,
): View {
  const visible = visibility(filter);
  const key = JSON.stringify([
    visible.scopes ?? null,
    visible.deep === true,
    visible.includeExpired === true,
  ]);
  // A view of another moment is rarely requested twice.
  if (visible.validAt !== undefined) return createView(index, relations, visible, now, key);
  const known = views.get(index) ?? [];
  const found = known.find((each) => each.key === key);
  const isGood = found && found.from <= now && now < found.until && found.follow(relations, now);
  const view = isGood ? found : createView(index, relations, visible, now, key);
  if (known[0] !== view) views.set(index, fitting([view, ...known.filter((each) => each !== found)]));
  return view;
}

function fitting(all: readonly FollowingView[]): readonly FollowingView[] {
  let bytes = 0;
  return all.filter((view, at) => {
    bytes += view.bytes();
    return at < FEWEST_VIEWS || (at < MOST_VIEWS && bytes <= VIEW_BYTES);
  });
}

/** Kept bounds of formulas that read nothing of a view. All views of an index share them. */
interface KeptOfAll {
  readonly kept: KeptFormulas;
  version: number;
}
const keptOfAll = new WeakMap<ResidentIndex, KeptOfAll>();

function keptForAll(index: ResidentIndex): KeptFormulas {
  const known = keptOfAll.get(index);
  if (known?.version === index.version) return known.kept;
  const changes = known && changedSince(index, known.version);
  if (known && changes) {
    known.kept.follow(
      changes.map((each) => (each < 0 ? -1 - each : each)),
      index.size,
    );
    known.version = index.version;
    return known.kept;
  }
  const made = { kept: createKept(index.size), version: index.version };
  keptOfAll.set(index, made);
  return made.kept;
}

/** Returns the size in bytes of all views of an index. */
export function bytesOfViews(index: ResidentIndex): number {
  const kept = keptOfAll.get(index)?.kept.bytes() ?? 0;
  return (views.get(index) ?? []).reduce((sum, view) => sum + view.bytes(), kept);
}

function createView(
  index: ResidentIndex,
  asOf: Relations<number>,
  filter: MemoryFilter,
  now: Instant,
  key: string,
): FollowingView {
  let relations = asOf;
  let { version } = index;
  let belief = beliefColumns(index, relations, filter, now);
  let { rows, standing, filtered } = eligibleRows(index, belief, filter, now);
  let count = rows.length;
  // The array may be larger than the rows in use. A kept view must not hold space for rows that it does not see.
  if (count * 2 < index.size) rows = rows.slice(0, count);
  let from = now;
  let until = nextChange(index, now);
  let turns: Turns | undefined;
  let authors: readonly string[] | undefined;
  let hasRoles: boolean | undefined;
  const own = createKept(index.size);
  const keptFor = (node: Node) => (readsBelief(node) && !isOrdinary(index, belief) ? own : keptForAll(index));
  const visible = () => rows.subarray(0, count);

  /** Updates `rows` with those that became visible or invisible. Most are new, and so come last. */
  const setRows = (moved: readonly number[]) => {
    const last = rows[count - 1] ?? -1;
    const areLast = moved.every((row) => row > last);
    rows = grow(rows, areLast ? count + moved.length : index.size);
    if (areLast) {
      for (const row of moved) rows[count++] = row;
      return;
    }
    count = 0;
    for (let row = 0; row < index.size; row++) if (standing[row] === ELIGIBLE) rows[count++] = row;
  };

  return {
    key,
    get from() {
      return from;
    },
    get until() {
      return until;
    },
    get belief() {
      return belief;
    },
    get rows() {
      return visible();
    },
    get standing() {
      return standing;
    },
    get filtered() {
      return filtered;
    },
    kept: (at) => (node, columns) => keptFor(node).at(at)(node, columns),
    keepAhead: (at, node, columns, all) => keptFor(node).ahead(at, node, columns, all),
    get turns() {
      turns ??= turnsOf(index, standing);
      return turns;
    },
    get authors() {
      authors ??= textsAmong(index, 'author', visible());
      return authors;
    },
    get hasRoles() {
      hasRoles ??= textsAmong(index, 'role', visible()).length > 0;
      return hasRoles;
    },
    bytes: () => standing.byteLength + rows.byteLength + (turns ? bytesOfTurns(turns) : 0) + own.bytes(),
    follow(newer, at) {
      const changes = changedSince(index, version);
      if (!changes) return false;
      if (changes.length === 0 && newer === relations) return true;
      const changed = new Set<number>();
      /** Rows whose change affects the rest of their session. */
      const heard = new Set<number>();
      for (const each of changes) {
        const row = each < 0 ? -1 - each : each;
        changed.add(row);
        if (each >= 0) heard.add(row);
      }
      standing = grow(standing, index.size);
      const before = belief;
      if (newer !== relations || [...changed].some((row) => isRelated(newer, index.keys[row]!))) {
        belief = beliefColumns(index, newer, filter, at);
        for (const row of differences(before, belief, index.size)) changed.add(row);
      } else if (Math.min(belief.superseded.length, belief.conflict.length) < index.size) {
        belief = longerColumns(index, before);
      }
      relations = newer;
      version = index.version;
      const standingOf = standings(index, belief, filter, at);
      const moved: number[] = [];
      for (const row of changed) {
        const [was, is] = [standing[row]!, standingOf(row)];
        standing[row] = is;
        filtered += (is === OUTSIDE ? 0 : 1) - (was === OUTSIDE ? 0 : 1);
        if ((was === ELIGIBLE) !== (is === ELIGIBLE)) {
          moved.push(row);
          heard.add(row);
        }
      }
      if (moved.length > 0) setRows(moved.sort((a, b) => a - b));
      if (heard.size > 0) {
        authors = undefined;
        hasRoles = undefined;
      }
      if (turns) {
        const codes = new Set(Array.from(heard, (row) => index.sessions.codes[row]!));
        followTurns(index, turns, standing, heard, codes);
      }
      own.follow(changed, index.size);
      from = at;
      for (const row of changed) until = Math.min(until, nextChangeOf(index, row, at));
      return true;
    },
  };
}

/** Returns the rows in which two sets of belief columns differ. */
function differences(a: BeliefColumns, b: BeliefColumns, size: number): readonly number[] {
  if (a === b) return [];
  const rows: number[] = [];
  for (let row = 0; row < size; row++) {
    const isSame =
      (a.superseded[row] ?? 0) === b.superseded[row] &&
      (valueAt(a.conflict, row) ?? 0) === valueAt(b.conflict, row);
    if (!isSame) rows.push(row);
  }
  return rows;
}

const related = new WeakMap<Relations<number>, ReadonlySet<number>>();

/** Whether the state of other memories may depend on this one. */
function isRelated(relations: Relations<number>, key: number): boolean {
  let keys = related.get(relations);
  if (!keys) {
    const { successors, newer } = relations;
    keys = new Set([
      ...successors.keys(),
      ...[...successors.values()].flat(),
      ...newer.keys(),
      ...[...newer.values()].flat().map((each) => each.key),
    ]);
    related.set(relations, keys);
  }
  return keys.has(key);
}

/** Returns the distinct, non-empty values of an attribute among some rows. */
function textsAmong(index: ResidentIndex, name: 'author' | 'role', rows: Int32Array): readonly string[] {
  const { codes, dictionary } = index.columns.attributes[name];
  const { texts } = dictionary;
  const found = new Uint8Array(texts.length);
  // If any rows have values, most distinct ones appear early.
  let missing = texts.filter((text) => text !== '').length;
  for (let at = 0; at < rows.length && missing > 0; at++) {
    const code = codes[rows[at]!]!;
    if (found[code] === 0 && texts[code] !== '') missing--;
    found[code] = 1;
  }
  return texts.filter((text, code) => text !== '' && found[code] === 1);
}

/** The clocks at which a memory becomes visible or stops being visible. */
const VISIBILITY_CLOCKS = [
  'consolidatedAt',
  'expiresAt',
  'invalidatedAt',
  'validFrom',
  'validUntil',
] as const;

/** Returns the first moment, from `now` on, at which a clock of a memory passes. */
function nextChange({ alive, size, columns }: ResidentIndex, now: Instant): Instant {
  let next = Infinity;
  for (const name of VISIBILITY_CLOCKS) {
    const clock = columns.clocks[name];
    // No memory has this clock.
    if (Number.isNaN(columns.shared.get(clock))) continue;
    for (let row = 0; row < size; row++) {
      const at = valueAt(clock, row);
      // A memory is valid until the end of its last millisecond, so this is at most one millisecond early.
      if (at >= now && at < next && alive[row] === 1) next = at;
    }
  }
  return next;
}

function nextChangeOf({ columns }: ResidentIndex, row: number, now: Instant): Instant {
  let next = Infinity;
  for (const name of VISIBILITY_CLOCKS) {
    const at = valueAt(columns.clocks[name], row);
    if (at >= now && at < next) next = at;
  }
  return next;
}
