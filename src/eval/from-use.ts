import { idSet, list } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { keysOf, onlyKeys } from '../domain/options.ts';
import { normalisedContent } from '../domain/statement.ts';
import { type Instant, parseInstant } from '../domain/time.ts';
import type { DatasetQuery } from './dataset.ts';

/** A recall that was recorded, with its query. */
export interface AskedQuestion {
  /** When it was asked, ISO 8601. */
  readonly at: string;
  /** The moment for which it was computed. Default is `at`. */
  readonly now?: string | undefined;
  readonly strategy: string;
  /** Absent where only its hash was kept. */
  readonly query?: string | undefined;
  readonly sessionId?: string | undefined;
  /** What was shown, best first. */
  readonly hits: readonly { readonly id: string }[];
}

/** Memories that helped: a vote for one, or what `markUsed` was told. */
export interface PositiveUse {
  /** ISO 8601. */
  readonly at: string;
  readonly ids: readonly string[];
  readonly sessionId?: string | undefined;
}

export interface QuestionsFromUseOptions {
  readonly recalls: readonly AskedQuestion[];
  readonly uses: readonly PositiveUse[];
  /** Ids of the memories that the set will hold. */
  readonly memories: ReadonlySet<string>;
  /** The strategy that the set is to measure. Default is `hybrid`. */
  readonly strategy?: string | undefined;
  /** A use belongs to a recall at most so many minutes before it. Default is 30. */
  readonly minutes?: number | undefined;
}

/** Why a recorded recall became no question. */
export type DropReason =
  /** Only the hash of its query was kept. */
  | 'query-not-recorded'
  /** Nothing that it showed was used, which says nothing of what it showed. */
  | 'nothing-used'
  /** What was used is not in the set: it is no longer there, or no longer recalled. */
  | 'memory-gone'
  /** The strategy to be measured showed it first: that it was used may be because it stood there. */
  | 'first-of-strategy'
  /** Its query was asked before; what was used counts for that question. */
  | 'asked-again';

export interface QuestionsFromUse {
  /** In the order in which they were first asked, of type `used`. */
  readonly queries: readonly DatasetQuery[];
  /** Recalls by why they became no question. */
  readonly dropped: Readonly<Record<DropReason, number>>;
  /** Used memories that no recall of the minutes before had shown. */
  readonly unexplained: number;
}

const optionKeys = keysOf<QuestionsFromUseOptions>()({
  recalls: true,
  uses: true,
  memories: true,
  strategy: true,
  minutes: true,
});

const MINUTE = 60_000;
/** A use far down counts for this many at most, so that no single question decides. */
const MOST_WEIGHT = 10;

/**
 * Questions with known answers from what people asked and then used. Only positive use is evidence: what was not used may
 * not have been looked at. A use is put down to the latest recall in the minutes before it that showed the memory, in the
 * same session where both name one. People look at what stands high, so a question counts by the rank at which its best
 * evidence was used (inverse propensity 1/rank, at most 10), and one whose whole evidence the measured strategy itself had
 * put first is left out. What was never shown cannot become evidence. Throws `invalid_argument`, `invalid_time`.
 *
 * Source: Joachims, Swaminathan and Schnabel, 2017, doi:10.1145/3018661.3018699.
 *
 * @example
 * ```ts
 * const { queries, dropped } = questionsFromUse({
 *   recalls: [
 *     { at: '2026-03-01T10:00:00Z', strategy: 'hybrid', query: 'what does Ann drink?', hits: [{ id: 'bus' }, { id: 'tea' }] },
 *   ],
 *   uses: [{ at: '2026-03-01T10:01:00Z', ids: ['tea'] }],
 *   memories: new Set(['tea', 'bus']),
 * });
 * console.log(queries[0]?.relevant, queries[0]?.weight); // [ 'tea' ] 2
 * ```
 */
export function questionsFromUse(options: QuestionsFromUseOptions): QuestionsFromUse {
  onlyKeys(options, optionKeys, 'questionsFromUse');
  const { memories, strategy = 'hybrid', minutes = 30 } = options;
  idSet(memories, 'memories');
  if (!(minutes > 0)) {
    throw new SalienceError('invalid_argument', `minutes is ${minutes}; it must be above 0`, {
      details: { field: 'minutes' },
    });
  }
  const recalls = list(options.recalls, 'recalls')
    .map((recall, at) => ({
      ...recall,
      asked: parseInstant(recall?.at, `recalls[${at}].at`),
      hits: list(recall.hits, `recalls[${at}].hits`),
      used: new Set<string>(),
    }))
    .sort((left, right) => left.asked - right.asked);
  let unexplained = 0;
  for (const [index, use] of list(options.uses, 'uses').entries()) {
    const usedAt = parseInstant(use?.at, `uses[${index}].at`);
    const { ids, sessionId } = use;
    for (const id of list(ids, `uses[${index}].ids`)) {
      const recall = recalls.findLast((each) => explains(each, id, usedAt, sessionId, minutes));
      if (recall) recall.used.add(id);
      else unexplained++;
    }
  }

  const dropped = {
    'query-not-recorded': 0,
    'nothing-used': 0,
    'memory-gone': 0,
    'first-of-strategy': 0,
    'asked-again': 0,
  } satisfies Record<DropReason, number>;
  const questions = new Map<string, Question>();
  for (const recall of recalls) {
    const evidence = evidenceOf(recall, memories, strategy);
    if (typeof evidence === 'string') {
      dropped[evidence]++;
      continue;
    }
    const key = normalisedContent(evidence.query).toLowerCase();
    const known = questions.get(key);
    questions.set(key, known ? joined(known, evidence) : evidence);
  }
  // Not before: what was used when it was asked once more would count as no answer.
  const decided = [...questions.values()].filter(({ isFirst }) => isFirst);
  const open = [...questions.values()].filter(({ isFirst }) => !isFirst);
  for (const { recalls } of decided) dropped['first-of-strategy'] += recalls;
  for (const { recalls } of open) dropped['asked-again'] += recalls - 1;
  const queries = open.map(({ query, now, relevant, rank }, at) => ({
    ...{ id: `use-${at + 1}`, query, now, type: 'used' },
    relevant: [...relevant],
    stale: [],
    weight: Math.min(rank, MOST_WEIGHT),
  }));
  return { queries, dropped, unexplained };
}

interface TimedRecall extends AskedQuestion {
  readonly asked: Instant;
  readonly used: ReadonlySet<string>;
}

interface Question {
  readonly query: string;
  readonly now: Instant;
  readonly relevant: ReadonlySet<string>;
  /** The best at which evidence was shown, from 1. */
  readonly rank: number;
  /** Whether the measured strategy had put all of the evidence first, whenever it was asked. */
  readonly isFirst: boolean;
  /** In how many recalls it was asked. */
  readonly recalls: number;
}

function explains(
  { asked, hits, sessionId }: TimedRecall,
  id: string,
  usedAt: Instant,
  inSession: string | undefined,
  minutes: number,
): boolean {
  const sameSession = sessionId === undefined || inSession === undefined || sessionId === inSession;
  const inTime = asked <= usedAt && usedAt - asked <= minutes * MINUTE;
  return inTime && sameSession && hits.some((hit) => hit.id === id);
}

function evidenceOf(
  recall: TimedRecall,
  memories: ReadonlySet<string>,
  strategy: string,
): Question | Exclude<DropReason, 'asked-again' | 'first-of-strategy'> {
  const { used, hits, query, asked, now } = recall;
  if (used.size === 0) return 'nothing-used';
  if (query === undefined || query.trim() === '') return 'query-not-recorded';
  const relevant = new Set([...used].filter((id) => memories.has(id)));
  if (relevant.size === 0) return 'memory-gone';
  const ranks = [...relevant].map((used) => hits.findIndex(({ id }) => id === used) + 1);
  return {
    ...{ query, now: now === undefined ? asked : parseInstant(now), relevant, rank: Math.min(...ranks) },
    ...{ isFirst: recall.strategy === strategy && ranks.every((rank) => rank === 1), recalls: 1 },
  };
}

/** Asked again later: all that was used counts, as of the later moment. */
function joined(first: Question, again: Question): Question {
  return {
    query: first.query,
    now: again.now,
    relevant: new Set([...first.relevant, ...again.relevant]),
    rank: Math.min(first.rank, again.rank),
    isFirst: first.isFirst && again.isFirst,
    recalls: first.recalls + again.recalls,
  };
}
