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
 * Which rows are passed over by their similarity alone. Rows that no word of a query touches differ in nothing else that the
 * query says, and rows of which the words are about as strong in little: for each class of such rows, the whole formula is bounded once,
 * with every other part as high as it is anywhere.
 */
export interface Skim {
  /** Ascending: rows that are never passed over, visible or not. */
  readonly strong: Int32Array;
  /** How well the words of each row can match, and of each group; which strengths are one band: see {@link QueryColumns.passable}. */
  readonly strengths: Uint8Array | undefined;
  readonly tops: Uint8Array | undefined;
  readonly bandOf: Uint8Array;
  readonly bandCount: number;
  /** By the index's number of a session: the class of it. */
  readonly classOf: Uint8Array;
  /** By row: between which values the part of the formula lies that counts most of what no query changes. One level is all of them. */
  readonly levels: Levels | undefined;
  /** How many levels there are. The class of a row is that of its session × this + its level… */
  readonly levelCount: number;
  /** … and its band × this more. */
  readonly bandSize: number;
  /** Of each class: up to which similarity rows are passed over; `Infinity` for all of them, −1 for none. */
  readonly cuts: Float64Array;
  /** Raises the cuts to what cannot reach a score any more. */
  raise(threshold: number): void;
  /**
   * Whether rows of all classes count as the same where they are passed over: then it need not be known which class they are of.
   */
  readonly areAlike: boolean;
  /**
   * How many rows of each class were passed over, and the highest similarity that one of them can have. The last count is that of rows
   * whose classes nobody looked at.
   */
  readonly passed: {
    readonly counts: Float64Array;
    readonly highest: Float64Array;
  };
  /** What rows that were passed over are counted as, and how high one of them can score, if higher than is known of another one. */
  outcome(known: number): {
    readonly candidates: number;
    readonly belowFloor: number;
    readonly highest: number;
    /** Some of them may reach the floor, or meet a requirement of the similarity alone, and nobody looked which. */
    readonly isOpen: boolean;
  };
  /** The same with nothing passed over yet, and cuts that tell which rows are below the floor, and nothing else. */
  byFloor(): ByFloor;
}

export interface ByFloor {
  readonly skim: Skim;
  /** Of each class: from which similarity on a row reaches the floor for certain. */
  readonly reaching: Float64Array;
}

/**
 * What rows of a class are that were passed over before a score was known: such that fail a requirement, for certain or by their
 * similarity, or are below the floor, or none at all.
 */
type Standing = 'refused' | 'limited' | 'floored' | 'ranked';

/** How low and how high the rows of a class can get. */
interface Height {
  within(each: number, similarity: Interval): Interval;
  /** How high, with a similarity of so many steps at most. */
  upTo(each: number, step: number): number;
}

/** Cuts are multiples of 1 / STEPS. */
const STEPS = 128;
/** The cuts are raised again when the threshold has grown by this share. */
const GROWTH = 1.03;

/**
 * `undefined` where it would be of no use: a formula that reads nothing of the query, or what is not known of all rows.
 * `compared` says whether rows have a similarity at all.
 */
export function createSkim(
  { root, require, floor }: ResolvedProfile,
  { columns, facts, score, floor: floored, levels }: Ready,
  columnsOfQuery: QueryColumns,
  compared: boolean,
): Skim | undefined {
  // What is asked of the query here is as much a condition of using ceilings again as what a formula asks.
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
  /** Up to which similarity rows of a class fail a requirement, for certain. */
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
  /** Up to which similarity rows of a class reach less than so much, for certain. */
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
      // Who is below the floor is told afterwards, of all that were not looked at.
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
        // Most classes reach less than another one, also where they are taken for a little more similar, which is known.
        const above = Math.max(0, Math.min(STEPS, Math.ceil(similarity * STEPS)));
        if (ofScore.upTo(each, above) + slack <= total.highest) continue;
        // Sums are added up in another order than in scores, which may lie a rounding above.
        const high = ofScore.within(each, [0, similarity])[1] + slack;
        // What was passed over is below what it was compared with, whatever others of its class reach.
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

/** Of queries whose classes have the same ends. */
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

/** More of them than one query has: those that none has asked for in a while go with the others. */
const MOST_TABLES = 512;

/** Of each class: how high it can score with a similarity of so many steps at most; NaN where no query has asked. */
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

/** The highest similarity, in steps, for which something holds that holds for all lower ones too; −1 where it holds for none. */
function highestFor(holds: (step: number) => boolean): number {
  if (!holds(0)) return -1;
  if (holds(STEPS)) return 1;
  // Always by the same steps, of which most are known from other queries.
  let [yes, no] = [0, STEPS];
  while (no - yes > 1) {
    const middle = (yes + no) >> 1;
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes / STEPS;
}
