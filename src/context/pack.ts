import { invalidArgument, number, oneOf, wholeNumber } from '../domain/check.ts';
import { evidenceValue } from '../scoring/evidence.ts';
import { compareCandidates, type PackCandidate, worthOf } from './candidate.ts';
import { repetitionsAmong } from './duplicates.ts';
import { solveKnapsack } from './knapsack.ts';
import type { Omission, OmissionReason } from './omission.ts';

export const PACK_STRATEGIES = ['optimal', 'greedy'] as const;
export type PackStrategy = (typeof PACK_STRATEGIES)[number];

/**
 * What `optimal` maximises: the sum of the scores, or of the values of memories as evidence. After reranking, both use
 * the score at a memory's new place.
 */
export const PACK_OBJECTIVES = ['score', 'evidence'] as const;
export type PackObjective = (typeof PACK_OBJECTIVES)[number];

export interface PackOptions {
  /** A whole number ≥ 0. */
  readonly maxTokens: number;
  /**
   * `optimal` finds the choice with the highest total by `objective`. `greedy` takes memories by score, skips those
   * that do not fit, and stops after three in a row did not. Default is `optimal`.
   */
  readonly strategy?: PackStrategy | undefined;
  /** Default is `score`. */
  readonly objective?: PackObjective | undefined;
  /** The lowest score that enters. Default is 0; a score of 0 never enters. */
  readonly minScore?: number | undefined;
  /** The most memories. Must-includes count, but enter even beyond it. Default is unlimited. */
  readonly maxItems?: number | undefined;
  /**
   * `remove`: if not everything fits, memories whose whole text another one says are left out first. `keep`: they are
   * treated like all others. Default is `remove`.
   */
  readonly duplicates?: 'remove' | 'keep' | undefined;
  /**
   * What each section may claim, above 0, by name. If not everything fits, each section with candidates first gets the
   * best choice of its own memories within its share of the room: its number divided by the sum for all sections with
   * candidates. The rest is open to all. Without `shares`, all of the room is open to all.
   */
  readonly shares?: Readonly<Record<string, number>> | undefined;
}

export interface Packed<Candidate extends PackCandidate = PackCandidate> {
  /** Must-includes first, then by worth, place in the answer and id. */
  readonly included: readonly Candidate[];
  /** Everything else, in the same order. */
  readonly omitted: readonly Omission[];
  /** The total of what is included. */
  readonly tokens: number;
  readonly totalScore: number;
  /** The total by the objective: of the scores, or of the values as evidence. */
  readonly totalValue: number;
  /**
   * With `optimal`: no other choice that keeps the must-includes and the guaranteed shares has a total value that is
   * higher by more than this. It is 0, except for thousands of candidates of nearly the same value with a budget of
   * tens of thousands of tokens. `undefined` with `greedy`, which guarantees nothing.
   */
  readonly lossBound: number | undefined;
}

export const DUPLICATE_CHOICES = ['remove', 'keep'] as const;

/** How often the choice is repeated to recover text that would be lost. After that, nothing counts as a duplicate. */
const ROUNDS = 3;

/** How many in a row may not fit before `greedy` stops. */
const MISSES = 3;

/** The most tokens of one memory. */
const MOST_TOKENS = 1_000_000_000;

interface Room {
  readonly tokens: number;
  readonly places: number;
}

/**
 * Chooses which memories enter a context.
 *
 * Must-includes enter first, best first, as far as they fit. Of the others, those below the minimum score are left out,
 * and, if not everything fits, those whose whole text another chosen memory says. Then the strategy chooses. `optimal`
 * leaves out a duplicate only if there is no room for it, and only if the memory that repeats it is chosen. With
 * `duplicates: 'keep'` it never has a lower total value than `greedy`. The order of the candidates does not matter.
 *
 * Throws `invalid_argument` naming the value that is out of range.
 */
export function pack<Candidate extends PackCandidate>(
  candidates: readonly Candidate[],
  options: PackOptions,
): Packed<Candidate> {
  check(candidates, options);
  const { minScore = 0, maxItems = Number.POSITIVE_INFINITY, duplicates = 'remove' } = options;
  const reasons = new Map<string, OmissionReason>();
  const ranked = [...candidates].sort(compareCandidates);
  const scored = ranked.filter((candidate) => {
    const enters = candidate.mustInclude === true || (candidate.score > 0 && candidate.score >= minScore);
    if (!enters)
      reasons.set(candidate.id, { reason: 'below-minimum-score', score: candidate.score, minScore });
    return enters;
  });
  const fits =
    scored.length <= maxItems && scored.reduce((sum, { tokens }) => sum + tokens, 0) <= options.maxTokens;
  const said =
    duplicates === 'keep' || fits ? new Map<Candidate, readonly Candidate[]>() : repetitionsAmong(scored);

  const taken = new Set<Candidate>();
  let room: Room = { tokens: options.maxTokens, places: maxItems };
  const take = (chosen: Iterable<Candidate>) => {
    for (const candidate of chosen) {
      taken.add(candidate);
      room = { tokens: room.tokens - candidate.tokens, places: Math.max(0, room.places - 1) };
    }
  };
  const kept = scored.filter((candidate) => !said.has(candidate));
  for (const candidate of kept.filter(({ mustInclude }) => mustInclude === true)) {
    if (candidate.tokens <= room.tokens) take([candidate]);
    else reasons.set(candidate.id, doesNotFit(candidate, room.tokens));
  }
  const others = kept.filter(({ mustInclude }) => mustInclude !== true);
  const valued = options.objective === 'evidence' ? evidenceOf : worthOf;
  const guaranteed = guarantee(others, room, options.shares ?? {}, valued);
  take(guaranteed.taken);
  const sayerOf = (candidate: Candidate, among: ReadonlySet<Candidate>) =>
    said.get(candidate)?.find((other) => among.has(other));
  let { lossBound } = guaranteed;
  if (options.strategy === 'greedy') {
    const rest = scored.filter((candidate) => !taken.has(candidate) && candidate.mustInclude !== true);
    take(chooseGreedily(rest, room, maxItems, reasons, sayerOf, taken));
  } else {
    const open = room.tokens;
    const { pool, best } = chooseDistinct(others, room, valued, said, taken);
    lossBound += best.lossBound;
    take(best.taken);
    const rest = ranked.filter((candidate) => pool.has(candidate) && !taken.has(candidate));
    for (const candidate of [...rest, ...ranked.filter((each) => said.has(each) && !pool.has(each))]) {
      // Even a memory of little value may use room that no other needs.
      if (candidate.tokens <= room.tokens && room.places > 0) {
        take([candidate]);
        continue;
      }
      const sayer = pool.has(candidate) ? undefined : sayerOf(candidate, taken);
      if (sayer) {
        reasons.set(candidate.id, { reason: 'duplicate', of: sayer.id });
        continue;
      }
      const most = Math.max(open, guaranteed.tokens.get(candidate.section) ?? 0);
      if (candidate.tokens > most) reasons.set(candidate.id, doesNotFit(candidate, most));
      else if (room.places === 0 && candidate.tokens <= room.tokens)
        reasons.set(candidate.id, { reason: 'too-many', maxItems });
      else
        reasons.set(candidate.id, {
          reason: 'worse-value',
          score: candidate.score,
          tokens: candidate.tokens,
        });
    }
  }
  const included = ranked.filter((candidate) => taken.has(candidate));
  return {
    included,
    omitted: ranked.filter(({ id }) => reasons.has(id)).map(({ id }) => ({ id, ...reasons.get(id)! })),
    tokens: included.reduce((sum, { tokens }) => sum + tokens, 0),
    totalScore: included.reduce((sum, { score }) => sum + score, 0),
    totalValue: included.reduce((sum, candidate) => sum + valued(candidate), 0),
    lossBound: options.strategy === 'greedy' ? undefined : lossBound,
  };
}

/** Chooses the best memories of each section within its share of the room. */
function guarantee<Candidate extends PackCandidate>(
  candidates: readonly Candidate[],
  room: Room,
  shares: Readonly<Record<string, number>>,
  valued: Valued,
) {
  const sections = new Map<string | undefined, Candidate[]>();
  for (const candidate of candidates) {
    if (candidate.section === undefined || !Object.hasOwn(shares, candidate.section)) continue;
    const members = sections.get(candidate.section);
    if (members) members.push(candidate);
    else sections.set(candidate.section, [candidate]);
  }
  const shareOf = (section: string | undefined) => shares[section ?? ''] ?? 0;
  const sum = [...sections.keys()].reduce((total, section) => total + shareOf(section), 0);
  const taken: Candidate[] = [];
  const tokens = new Map<string | undefined, number>();
  let lossBound = 0;
  for (const [section, members] of sections) {
    const part = shareOf(section) / sum;
    tokens.set(section, Math.floor(part * room.tokens));
    const best = chooseBest(
      members,
      {
        tokens: Math.floor(part * room.tokens),
        places: Math.floor(part * room.places),
      },
      valued,
    );
    taken.push(...best.taken);
    lossBound += best.lossBound;
  }
  return { taken, tokens, lossBound };
}

type Valued = (candidate: PackCandidate) => number;

const evidenceOf: Valued = (candidate) => evidenceValue(worthOf(candidate), candidate.tokens);

function chooseBest<Candidate extends PackCandidate>(
  candidates: readonly Candidate[],
  room: Room,
  valued: Valued,
) {
  const choice = solveKnapsack({
    values: candidates.map(valued),
    weights: candidates.map(({ tokens }) => tokens),
    capacity: room.tokens,
    most: room.places,
  });
  return { taken: candidates.filter((_, at) => choice.taken[at]), lossBound: choice.lossBound };
}

/**
 * Finds the best choice among memories that do not repeat each other. If all memories that repeat a duplicate are left
 * out, its text would be lost: it is added to the pool, and the choice is repeated.
 */
function chooseDistinct<Candidate extends PackCandidate>(
  distinct: readonly Candidate[],
  room: Room,
  valued: Valued,
  said: ReadonlyMap<Candidate, readonly Candidate[]>,
  taken: ReadonlySet<Candidate>,
) {
  const pool = new Set(distinct.filter((candidate) => !taken.has(candidate)));
  for (let round = 1; ; round++) {
    const best = chooseBest([...pool].sort(compareCandidates), room, valued);
    const chosen = new Set([...taken, ...best.taken]);
    const lost = [...said].filter(
      ([candidate, sayers]) => !pool.has(candidate) && !sayers.some((sayer) => chosen.has(sayer)),
    );
    if (lost.length === 0) return { pool, best };
    for (const candidate of round < ROUNDS ? lost.map(([each]) => each) : said.keys()) pool.add(candidate);
  }
}

function chooseGreedily<Candidate extends PackCandidate>(
  ranked: readonly Candidate[],
  room: Room,
  maxItems: number,
  reasons: Map<string, OmissionReason>,
  sayerOf: (candidate: Candidate, among: ReadonlySet<Candidate>) => Candidate | undefined,
  before: ReadonlySet<Candidate>,
): readonly Candidate[] {
  const there = new Set(before);
  const taken: Candidate[] = [];
  let left = room.tokens;
  let misses = 0;
  for (const candidate of ranked) {
    const sayer = sayerOf(candidate, there);
    if (sayer) {
      reasons.set(candidate.id, { reason: 'duplicate', of: sayer.id });
    } else if (taken.length >= room.places) {
      reasons.set(candidate.id, { reason: 'too-many', maxItems });
    } else if (misses === MISSES) {
      reasons.set(candidate.id, { reason: 'stopped', misses });
    } else if (candidate.tokens > left) {
      reasons.set(candidate.id, doesNotFit(candidate, left));
      misses += 1;
    } else {
      taken.push(candidate);
      there.add(candidate);
      left -= candidate.tokens;
      misses = 0;
    }
  }
  return taken;
}

function doesNotFit({ tokens }: PackCandidate, tokensLeft: number): OmissionReason {
  return { reason: 'does-not-fit', tokens, tokensLeft };
}

function check(candidates: readonly PackCandidate[], options: PackOptions): void {
  wholeNumber(options.maxTokens, 'maxTokens', 0, MOST_TOKENS);
  if (options.strategy !== undefined) oneOf(options.strategy, 'strategy', PACK_STRATEGIES);
  if (options.duplicates !== undefined) oneOf(options.duplicates, 'duplicates', DUPLICATE_CHOICES);
  if (options.objective !== undefined) oneOf(options.objective, 'objective', PACK_OBJECTIVES);
  if (options.minScore !== undefined) number(options.minScore, 'minScore', 0, Number.MAX_VALUE);
  if (options.maxItems !== undefined) wholeNumber(options.maxItems, 'maxItems', 0, MOST_TOKENS);
  for (const [section, share] of Object.entries(options.shares ?? {})) {
    number(share, `shares.${section}`, Number.MIN_VALUE, Number.MAX_VALUE);
  }
  const ids = new Set<string>();
  for (const [at, { id, score, worth = score, tokens }] of candidates.entries()) {
    number(score, `candidates[${at}].score`, 0, Number.MAX_VALUE);
    number(worth, `candidates[${at}].worth`, 0, Number.MAX_VALUE);
    wholeNumber(tokens, `candidates[${at}].tokens`, 0, MOST_TOKENS);
    if (ids.has(id)) throw invalidArgument(`candidates[${at}].id`, `${JSON.stringify(id)} is there twice`);
    ids.add(id);
  }
}
