import { type Columns, isKept, type KeptColumn } from '../scoring/compile.ts';
import { childrenOf, namesRead } from '../scoring/evaluate.ts';
import type { Node } from '../scoring/operators/index.ts';
import { hull, type Interval, type Knowledge } from '../scoring/operators/interval.ts';
import { anything, intervalOf, intervalsOf, rangeOf } from '../scoring/range.ts';
import { isQuerySignal, isSignalName, SIGNALS } from '../scoring/signals.ts';
import { groupOf } from './groups.ts';
import type { QueryColumns, SignalRanges } from './query-columns.ts';

/** Returns the interval of the scores of the rows of class number `each` whose similarity lies in `similarity`. */
type ClassBounds = (each: number, similarity: Interval) => Interval;

/** Rows of one band and one level whose sessions match the query about equally well. */
export interface Class {
  readonly of: SignalRanges;
  readonly level: Interval | undefined;
}

export function boundsOfClasses(
  root: Node,
  fixed: FixedParts,
  query: QueryColumns,
  classes: readonly Class[],
  leveled: Node | undefined,
  compared: boolean,
): ClassBounds {
  const bounds: ReturnType<typeof boundsOf>[] = [];
  const boundsOfClass = ({ of, level }: Class) =>
    boundsOf(root, query, of, level && leveled ? new Map([...fixed, [leveled, level]]) : fixed);
  return (each, similarity) => {
    bounds[each] ??= boundsOfClass(classes[each]!);
    return bounds[each](compared ? similarity : undefined);
  };
}

export interface Levels {
  /** By row. */
  readonly ofRow: Uint8Array;
  /** By group of rows: a bit for each level that one of its rows has, or had. */
  readonly ofGroup: Uint16Array;
}

/** The most levels that a part has: first if all sessions are in one class, second if there are several classes. */
const MOST_LEVELS = [16, 4] as const;
/** The share of the highest score that a part must account for to get levels. */
const LEVELED = 0.15;

export interface Leveled {
  readonly node: Node;
  readonly levels: Levels;
  readonly ranges: readonly Interval[];
}

/**
 * Finds the part on which scores depend most among those that no query changes, and its levels. Returns `undefined` if
 * no part accounts for enough, or if the part is not computed for all rows.
 */
export function levelsOf(
  root: Node,
  fixed: FixedParts,
  columns: Columns,
  query: QueryColumns,
): Leveled | undefined {
  const classes = query.passable.bands[0]!;
  const of = classes.at(-1)!;
  const node = partThatDecides(fixed, (parts) => boundsOf(root, query, of, parts)([0, 1])[1]);
  if (!node) return undefined;
  const column = columns.kept!(node)!;
  if (column.workOut) return undefined;
  return { node, ...levelsAlong(column, fixed.get(node)!, MOST_LEVELS[classes.length > 1 ? 1 : 0]) };
}

/** Returns the part of a formula that has levels for most queries. Its bounds have to be computed for all rows. */
export function partWithLevels(root: Node): Node | undefined {
  if (leveledParts.has(root)) return leveledParts.get(root);
  const parts = new Map(keptParts(root).map((node) => [node, rangeOf(node)]));
  const highest = (fixed: FixedParts) =>
    intervalOf(root, {
      ...anything,
      // Most rows that are skipped contain no word of the query, nor do their neighbours.
      signal: (name) => (UNTOUCHED.has(name) ? [0, 0] : SIGNALS[name].range),
      known: (name) => (isSignalName(name) && isQuerySignal(name)) || undefined,
      formula: (node) => fixed.get(node),
    })[1];
  const node = partThatDecides(parts, highest);
  leveledParts.set(root, node);
  return node;
}

const leveledParts = new WeakMap<Node, Node | undefined>();

/** Signals that are 0 for a row if neither it nor its neighbours contain a word of the query. */
const UNTOUCHED: ReadonlySet<string> = new Set(['lexical', 'contextLexical']);

/** Returns the part whose lowest value reduces the highest score most; `undefined` if no part reduces it by enough. */
function partThatDecides(fixed: FixedParts, highest: (fixed: FixedParts) => number): Node | undefined {
  let least = highest(fixed) * (1 - LEVELED);
  let found: Node | undefined;
  for (const [node, range] of fixed) {
    const high = highest(new Map([...fixed, [node, [range[0], range[0]] as const]]));
    if (!(high < least)) continue;
    found = node;
    least = high;
  }
  return found;
}

/** Levels that are kept up to date with a column of bounds. */
interface Following {
  readonly levels: Levels;
  /** The lower end of the first level, and the width of each. */
  readonly least: number;
  readonly width: number;
  readonly lows: Float64Array;
  readonly highs: Float64Array;
  /** How many of the column's renewed rows are included. */
  taken: number;
}

/** By the array of upper bounds of a column. */
const followed = new WeakMap<Float32Array, Following>();

/**
 * Divides the range of the upper bounds into `count` equal levels. Returns the level of each row, and the interval of
 * all bounds of each level.
 */
export function levelsAlong(column: KeptColumn, [low, high]: Interval, count: number): Omit<Leveled, 'node'> {
  let known = followed.get(column.high);
  if (known?.lows.length !== count) {
    known = {
      levels: {
        ofRow: new Uint8Array(column.high.length),
        ofGroup: new Uint16Array(groupOf(column.high.length) + 1),
      },
      least: low,
      width: (high - low) / count,
      lows: new Float64Array(count).fill(Infinity),
      highs: new Float64Array(count).fill(-Infinity),
      taken: column.renewed?.length ?? 0,
    };
    followed.set(column.high, known);
    for (let row = 0; row < column.high.length; row++) setLevel(known, column, row);
  }
  const { renewed = [] } = column;
  for (; known.taken < renewed.length; known.taken++) setLevel(known, column, renewed[known.taken]!);
  const { levels, lows, highs } = known;
  // A level without rows is never used.
  const ranges = Array.from(
    lows,
    (least, level): Interval => [Math.min(least, high), Math.max(low, highs[level]!)],
  );
  return { levels, ranges };
}

/**
 * Sets the level of a row. The bounds that the row had before still widen its old level, which may be wider than
 * needed.
 */
function setLevel({ levels, least, width, lows, highs }: Following, { low, high }: KeptColumn, row: number) {
  const upper = high[row]!;
  // If all bounds are equal, `width` is 0.
  const level = Math.max(0, Math.min(lows.length - 1, Math.floor((upper - least) / width) || 0));
  levels.ofRow[row] = level;
  levels.ofGroup[groupOf(row)]! |= 1 << level;
  if (low[row]! < lows[level]!) lows[level] = low[row]!;
  if (upper > highs[level]!) highs[level] = upper;
}

/** Bounds the scores of one class. Parts that do not depend on the similarity are computed once. */
function boundsOf(
  root: Node,
  query: QueryColumns,
  of: SignalRanges,
  fixed: FixedParts,
): (similarity: Interval | undefined) => Interval {
  let similarity: Interval | undefined;
  let isKnown = true;
  const still = new Map<Node, Interval | undefined>(fixed);
  const knowledge = knowledgeOf(query, of, () => similarity);
  const intervals = intervalsOf({
    formula(node) {
      const known = still.get(node);
      if (known || still.has(node)) return known;
      still.set(node, undefined);
      if (!namesRead(node).has('similarity')) still.set(node, intervals.of(node));
      return still.get(node);
    },
    ...knowledge,
    age(of) {
      isKnown = false;
      return knowledge.age(of);
    },
  });
  return (given) => {
    similarity = given;
    const bounds = intervals.of(root);
    // A formula that needs an unknown age cannot be bounded, so its rows are evaluated, and that reports the error.
    return isKnown ? bounds : [-Infinity, Infinity];
  };
}

/** Returns what is known of a row by its class and similarity. Everything else may have any value in its range. */
export function knowledgeOf(
  query: QueryColumns,
  of: SignalRanges,
  similarity: () => Interval | undefined,
): Knowledge {
  return {
    ...anything,
    signal(name, missing) {
      if (name === 'similarity') return similarity() ?? [missing, missing];
      if (!isQuerySignal(name)) return hull(SIGNALS[name].range, [missing, missing]);
      return query.known(name) ? of[name] : [missing, missing];
    },
    known(name) {
      if (!isSignalName(name) || !isQuerySignal(name)) return undefined;
      return name === 'similarity' ? similarity() !== undefined : query.known(name);
    },
  };
}

/** Returns the largest parts of a formula that no query changes. */
export function keptParts(node: Node): readonly Node[] {
  let parts = partsOf.get(node);
  if (!parts) {
    parts = isKept(node) ? [node] : childrenOf(node).flatMap(keptParts);
    partsOf.set(node, parts);
  }
  return parts;
}

const partsOf = new WeakMap<Node, readonly Node[]>();

/** The largest parts of a formula that no query changes, and the interval of each over all rows. */
export type FixedParts = ReadonlyMap<Node, Interval>;

export function fixedParts(root: Node, columns: Columns): FixedParts {
  const fixed = new Map<Node, Interval>();
  const look = (node: Node) => {
    const range = isKept(node) ? columns.kept?.(node)?.range : undefined;
    if (range) fixed.set(node, range);
    else for (const child of childrenOf(node)) look(child);
  };
  look(root);
  return fixed;
}
