import { slackOf } from '../scoring/cancelling.ts';
import { conditionKnown, limitsOn } from '../scoring/condition.ts';
import { namesRead } from '../scoring/evaluate.ts';
import type { Node } from '../scoring/operators/index.ts';
import type { Interval } from '../scoring/operators/interval.ts';
import type { ResolvedProfile } from '../scoring/profile.ts';
import { isQuerySignal, isSignalName } from '../scoring/signals.ts';
import { boundsOfClasses, type Class, knowledgeOf, type Levels, levelsOf } from './ceilings.ts';
import type { QueryColumns } from './query-columns.ts';
import type { Bounded, Ready } from './ready.ts';

/**
 * Decides which rows are skipped by their similarity alone. For the query, rows that none of its words touches differ
 * only in their similarity, and rows whose words match about equally well differ in little else. For each class of such
 * rows, the whole formula is bounded once, with every other part as high as it is for any row of the class.
 */
export interface Skim {
  /** Rows that are never skipped, visible or not. Ascending. */
  readonly strong: Int32Array;
  /**
   * How well the words of each row, and of each group of rows, can match. `bandOf` maps a strength to its band; see
   * {@link Passable}.
   */
  readonly strengths: Uint8Array | undefined;
  readonly tops: Uint8Array | undefined;
  readonly bandOf: Uint8Array;
  readonly bandCount: number;
  /** The class of each session, by the index's number of the session. */
  readonly classOf: Uint8Array;
  /**
   * The level of each row: the interval of the part of the formula that matters most among those no query changes. All
   * rows share one level if absent.
   */
  readonly levels: Levels | undefined;
  /**
   * How many levels there are. The class of a row is the class of its session × `levelCount` + its level + its band ×
   * `bandSize`.
   */
  readonly levelCount: number;
  readonly bandSize: number;
  /** By class: rows up to this similarity are skipped. `Infinity` skips all of them, −1 none. */
  readonly cuts: Float64Array;
  /** Raises the cuts so that rows that cannot reach `threshold` any more are skipped. */
  raise(threshold: number): void;
  /** Whether skipped rows of all classes count as the same, so that their class need not be known. */
  readonly areAlike: boolean;
  /**
   * How many rows of each class were skipped, and the highest similarity that one of them can have. The last count is
   * of rows whose class was not looked up.
   */
  readonly passed: {
    readonly counts: Float64Array;
    readonly highest: Float64Array;
  };
  /**
   * Returns how skipped rows are counted, and the highest score that one of them can have, or `known` if that is
   * higher.
   */
  outcome(known: number): {
    readonly candidates: number;
    readonly belowFloor: number;
    readonly highest: number;
    /**
     * Whether skipped rows may reach the floor, or meet a requirement on the similarity alone, and nobody checked
     * which.
     */
    readonly isOpen: boolean;
  };
  /** Returns a copy with nothing skipped yet, whose cuts only tell which rows are below the floor. */
  byFloor(): ByFloor;
}

export interface ByFloor {
  readonly skim: Skim;
  /** By class: rows from this similarity on certainly reach the floor. */
  readonly reaching: Float64Array;
}

/**
 * What a row counts as if it was skipped before any score was known: it fails a requirement (`refused`), it may fail
 * one by its similarity (`limited`), it is below the floor (`floored`), or it would be ranked.
 */
type Standing = 'refused' | 'limited' | 'floored' | 'ranked';

/** How low and how high rows of a class can score. */
interface Height {
  within(each: number, similarity: Interval): Interval;
  /** The highest value for a similarity of at most `step / STEPS`. */
  upTo(each: number, step: number): number;
}

/** Cuts are multiples of 1 / STEPS. */
const STEPS = 128;
/** Cuts are raised again only after the threshold has grown by this factor. */
const GROWTH = 1.03;

/**
 * Creates a skim. Returns `undefined` if the formula (the floor's, if there is one) reads no signal of the query.
 * `compared` says whether rows have a similarity at all.
 */
export function createSkim(
  { root, require, floor }: ResolvedProfile,
  { columns, facts, score, floor: floored, levels }: Ready,
  columnsOfQuery: QueryColumns,
  compared: boolean,
): Skim | undefined {
  // Asks `facts` and not the query's columns, so that the answer is noted: kept ceilings are reused only if it is the
  // same.
  const query: QueryColumns = { ...columnsOfQuery, known: (name) => facts.known(name) === true };
  const { strong, strengths, tops, classOf, bands, bandOf } = query.passable;
  const isAsked = ({ node }: Bounded) =>
    [...namesRead(node)].some((name) => isSignalName(name) && isQuerySignal(name));
  if (!isAsked(floored ?? score)) return undefined;
  const found = levelsFor(query.passable, levels, () => levelsOf(score.node, score.fixed, columns, query));
  const levelCount = found?.ranges.length ?? 1;
  const classes = bands
    .flat()
    .flatMap((of) =>
      Array.from({ length: levelCount }, (_, level): Class => ({ of, level: found?.ranges[level] })),
    );
  const heightOf = ({ node, fixed, ceilings }: Bounded): Height => {
    const within = boundsOfClasses(node, fixed, query, classes, found?.node, compared);
    const tables = tablesOf(ceilings, found?.node, classes);
    return {
      within,
      upTo(each, step) {
        const ceilings = tables[each]!;
        if (Number.isNaN(ceilings[step]!)) ceilings[step] = within(each, [0, step / STEPS])[1];
        return ceilings[step]!;
      },
    };
  };
  const ofScore = heightOf(score);
  const slack = slackOf(root);
  const floorSlack = floor ? slackOf(floor.node) : 0;
  const verdictsOn = (each: number, similarity: number) => {
    const { of } = classes[each]!;
    const knowledge = knowledgeOf(query, of, () => (compared ? [0, similarity] : undefined));
    return require.map((condition) => conditionKnown(condition, knowledge));
  };
  /** Returns up to which similarity rows of a class certainly fail a requirement. */
  const refusedUpTo = (each: number) => {
    if (require.length === 0) return -1;
    const isRefused = (step: number) => verdictsOn(each, step / STEPS).includes(false);
    if (isRefused(STEPS)) return Infinity;
    return compared ? highestFor(isRefused) : -1;
  };
  const cuts = Float64Array.from(classes, (_, each) => refusedUpTo(each));
  const isOfSimilarity = compared && !floor && require.length > 0 && !!limitsOn('similarity', require);
  const standings = classes.map((_, each): Standing | undefined => {
    if (isOfSimilarity && cuts[each]! < Infinity) return 'limited';
    if (cuts[each]! >= 0) return 'refused';
    if (require.length > 0 && verdictsOn(each, 1).includes(undefined)) return undefined;
    return floor ? 'floored' : 'ranked';
  });
  /** Returns up to which similarity rows of a class certainly stay below `limit`. */
  const cutAt = (each: number, limit: number, { upTo }: Height) => {
    const isBelow = (step: number) => limit - upTo(each, step) > 0;
    if (!compared) return isBelow(0) ? Infinity : -1;
    return highestFor(isBelow);
  };
  const areAlike = standings.every((standing) => standing !== undefined && standing === standings[0]);
  const ofFloor = floored && heightOf(floored);
  if (floor && ofFloor) {
    standings.forEach((standing, each) => {
      if (standing === 'floored') cuts[each] = cutAt(each, floor.atLeast - floorSlack, ofFloor);
    });
  }
  const reachingFrom = (each: number) => {
    if (!floor || !ofFloor || !compared) return Infinity;
    const isOpen = (step: number) =>
      !(ofFloor.within(each, [step / STEPS, 1])[0] >= floor.atLeast + floorSlack);
    const last = highestFor(isOpen);
    return last < 0 ? 0 : last + 1 / STEPS;
  };
  const first = cuts.slice();
  const nothing = (): Skim['passed'] => ({
    counts: new Float64Array(classes.length + 1),
    highest: new Float64Array(classes.length),
  });
  const passed = nothing();
  let raisedFor = 0;
  const skim: Skim = {
    strong,
    strengths,
    tops,
    bandOf,
    bandCount: bands.length,
    classOf,
    levels: found?.levels,
    levelCount,
    bandSize: bands[0]!.length * levelCount,
    cuts,
    areAlike,
    passed,
    raise(threshold) {
      if (!(threshold >= raisedFor * GROWTH && threshold > 0)) return;
      // Rows below the floor are then counted afterwards, among all that were not looked at.
      if (floor && !areAlike) return;
      raisedFor = threshold;
      standings.forEach((standing, each) => {
        if (standing === undefined || standing === 'refused') return;
        cuts[each] = Math.max(cuts[each]!, cutAt(each, threshold - slack - slack, ofScore));
      });
    },
    outcome(known) {
      const isRaised = cuts.some((cut, each) => cut > first[each]!);
      const isOpen = isRaised && standings.some((each) => each === 'limited' || each === 'floored');
      const total = { candidates: 0, belowFloor: 0, highest: known, isOpen };
      const add = (standing: Standing | undefined, count: number) => {
        if (standing === 'floored') total.belowFloor += count;
        if (standing === 'ranked') total.candidates += count;
      };
      const unseen = classes.length;
      add(standings[0], passed.counts[unseen]!);
      for (const [each, standing] of standings.entries()) {
        add(standing, passed.counts[each]!);
        const isAny = passed.counts[each]! + passed.counts[unseen]! > 0;
        if (cuts[each] === first[each] || !isAny || total.highest >= raisedFor) continue;
        const similarity = passed.highest[each]!;
        // Most classes reach less than another one even with a similarity rounded up to the next step, whose ceiling is
        // already known.
        const above = Math.max(0, Math.min(STEPS, Math.ceil(similarity * STEPS)));
        if (ofScore.upTo(each, above) + slack <= total.highest) continue;
        // Bounds add terms up in another order than scores do, so a score may be a rounding error higher.
        const high = ofScore.within(each, [0, similarity])[1] + slack;
        // A skipped row scores below the threshold that it was compared with, whatever other rows of its class reach.
        total.highest = Math.max(total.highest, Math.min(high, raisedFor));
      }
      return total;
    },
    byFloor: () => ({
      skim: { ...skim, cuts: first, passed: nothing() },
      reaching: first.map((_, each) => reachingFrom(each)),
    }),
  };
  return skim;
}

/** Finds the levels for the ranges of the classes. Queries whose classes have the same ends share them. */
function levelsFor(
  { bands }: QueryColumns['passable'],
  known: Ready['levels'],
  find: () => ReturnType<typeof levelsOf>,
): ReturnType<typeof levelsOf> {
  const classes = bands[0]!;
  const { lexical, sessionLexical } = classes.at(-1)!;
  const key = `${classes.length > 1} ${lexical} ${sessionLexical}`;
  if (known.has(key)) return known.get(key);
  if (known.size > MOST_TABLES) known.clear();
  const found = find();
  known.set(key, found);
  return found;
}

/** More than one query needs. When the cache is full, it is cleared. */
const MOST_TABLES = 512;

/** Returns, for each class, its table of ceilings by step of similarity. An entry is NaN until it is first computed. */
function tablesOf(
  known: Bounded['ceilings'],
  leveled: Node | undefined,
  classes: readonly Class[],
): readonly Float64Array[] {
  let tables = known.get(leveled);
  if (!tables || tables.size > MOST_TABLES) {
    tables = new Map();
    known.set(leveled, tables);
  }
  return classes.map(({ of, level }) => {
    const key = `${of.lexical} ${of.sessionLexical} ${level}`;
    const table = tables.get(key) ?? new Float64Array(STEPS + 1).fill(Number.NaN);
    tables.set(key, table);
    return table;
  });
}

/**
 * Returns the highest similarity, a multiple of 1 / STEPS, up to which `holds` is true for all lower steps too; −1 if
 * for none.
 */
function highestFor(holds: (step: number) => boolean): number {
  if (!holds(0)) return -1;
  if (holds(STEPS)) return 1;
  // Always halves at the same steps: most of their values are known from earlier queries.
  let [yes, no] = [0, STEPS];
  while (no - yes > 1) {
    const middle = (yes + no) >> 1;
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes / STEPS;
}
