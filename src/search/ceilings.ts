import { type Columns, isKept, type KeptColumn } from '../scoring/compile.ts';
import { childrenOf, namesRead } from '../scoring/evaluate.ts';
import type { Node } from '../scoring/operators/index.ts';
import { hull, type Interval, type Knowledge } from '../scoring/operators/interval.ts';
import { anything, intervalOf, intervalsOf, rangeOf } from '../scoring/range.ts';
import { isQuerySignal, isSignalName, SIGNALS } from '../scoring/signals.ts';
import { groupOf } from './groups.ts';
import type { QueryColumns, SignalRanges } from './query-columns.ts';

/** Between which values the scores of rows of a class lie whose similarity lies in an interval. */
type ClassBounds = (each: number, similarity: Interval) => Interval;

/** Rows whose sessions have about the same words of a query, and that are about the same whatever the query. */
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
  /** By group of rows: a bit for each level that one of them has, or had. */
  readonly ofGroup: Uint16Array;
}

/** Levels of a part, where sessions make no difference and where they do. */
const MOST_LEVELS = [16, 4] as const;
/** The share of the highest score that a part must decide about to be worth having levels. */
const LEVELED = 0.15;

export interface Leveled {
  readonly node: Node;
  readonly levels: Levels;
  readonly ranges: readonly Interval[];
}

/**
 * The part that no query changes on which scores depend most, and its levels; `undefined` where none counts for much, or where it is not
 * worked out for all rows.
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

/** The part of a formula that has levels, for most queries: its bounds are to be worked out for all rows. */
export function partWithLevels(root: Node): Node | undefined {
  if (leveledParts.has(root)) return leveledParts.get(root);
  const parts = new Map(keptParts(root).map((node) => [node, rangeOf(node)]));
  const highest = (fixed: FixedParts) =>
    intervalOf(root, {
      ...anything,
      // Rows are passed over by what they have in common: no word of the query.
      signal: (name) => (UNTOUCHED.has(name) ? [0, 0] : SIGNALS[name].range),
      known: (name) => (isSignalName(name) && isQuerySignal(name)) || undefined,
      formula: (node) => fixed.get(node),
    })[1];
  const node = partThatDecides(parts, highest);
  leveledParts.set(root, node);
  return node;
}

const leveledParts = new WeakMap<Node, Node | undefined>();

/** Signals that a row has nothing of where no word of a query stands in it or beside it. */
const UNTOUCHED: ReadonlySet<string> = new Set(['lexical', 'contextLexical']);

/** The part by whose value the highest score falls most, if it falls by much. */
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

/** Levels that go along with a column. */
interface Following {
  readonly levels: Levels;
  /** Of the first level, and how far it is from one to the next. */
  readonly least: number;
  readonly width: number;
  readonly lows: Float64Array;
  readonly highs: Float64Array;
  /** How many of the renewed rows were taken in. */
  taken: number;
}

/** By the upper bounds of a column. */
const followed = new WeakMap<Float32Array, Following>();

/** Equal steps of the upper bounds, and between which values all bounds of a level lie. */
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
  // A level that no row has is never asked for.
  const ranges = Array.from(
    lows,
    (least, level): Interval => [Math.min(least, high), Math.max(low, highs[level]!)],
  );
  return { levels, ranges };
}

/** What a row was before stays within the bounds of its level, which are then wider than they need be. */
function setLevel({ levels, least, width, lows, highs }: Following, { low, high }: KeptColumn, row: number) {
  const upper = high[row]!;
  // Where all were the same there are no steps.
  const level = Math.max(0, Math.min(lows.length - 1, Math.floor((upper - least) / width) || 0));
  levels.ofRow[row] = level;
  levels.ofGroup[groupOf(row)]! |= 1 << level;
  if (low[row]! < lows[level]!) lows[level] = low[row]!;
  if (upper > highs[level]!) highs[level] = upper;
}

/** The same of one class: what does not depend on the similarity is worked out once. */
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
    // What cannot be evaluated is evaluated all the same, and reported.
    return isKnown ? bounds : [-Infinity, Infinity];
  };
}

/** What is known of a row whose class and similarity are: the rest may be anything. */
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

/** The largest parts of a formula that no query changes. */
export function keptParts(node: Node): readonly Node[] {
  let parts = partsOf.get(node);
  if (!parts) {
    parts = isKept(node) ? [node] : childrenOf(node).flatMap(keptParts);
    partsOf.set(node, parts);
  }
  return parts;
}

const partsOf = new WeakMap<Node, readonly Node[]>();

/** The largest parts of a formula that no query changes: between which values they lie, over all rows. */
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
