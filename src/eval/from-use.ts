import { idSet, invalidArgument, list } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { SalienceError } from '../domain/errors.ts';
import { keysOf, onlyKeys } from '../domain/options.ts';
import { normalisedContent } from '../domain/statement.ts';
import { type Instant, parseInstant } from '../domain/time.ts';
import type { DatasetQuery } from './dataset.ts';

/** A recorded recall. */
export interface AskedQuestion {
  /** When it was asked, ISO 8601. */
  readonly at: string;
  /** The moment as of which it was computed. Default is `at`. */
  readonly now?: string | undefined;
  readonly strategy: string;
  /** Absent if only its hash was recorded. */
  readonly query?: string | undefined;
  readonly sessionId?: string | undefined;
  /** The hits that were shown, best first. */
  readonly hits: readonly { readonly id: string }[];
}

/** Memories that helped, known from a vote or from `markUsed`. */
export interface PositiveUse {
  /** ISO 8601. */
  readonly at: string;
  readonly ids: readonly string[];
  readonly sessionId?: string | undefined;
}

export interface QuestionsFromUseOptions {
  readonly recalls: readonly AskedQuestion[];
  readonly uses: readonly PositiveUse[];
  /** Ids of the memories that the dataset will contain. */
  readonly memories: ReadonlySet<string>;
  /** The strategy that the dataset is to measure. Default is `hybrid`. */
  readonly strategy?: string | undefined;
  /** A use is attributed to a recall at most this many minutes before it. Default is 30. */
  readonly minutes?: number | undefined;
}

/** Why a recorded recall did not become a question. */
export type DropReason =
  /** Only the hash of its query was recorded. */
  | 'query-not-recorded'
  /** None of its hits was used, which is no evidence for or against them. */
  | 'nothing-used'
  /** The used memories are not in `memories`: they no longer exist or can no longer be recalled. */
  | 'memory-gone'
  /** The measured strategy had ranked it first, which may be why it was used. */
  | 'first-of-strategy'
  /** Its query was asked before; its uses count for that question. */
  | 'asked-again';

export interface QuestionsFromUse {
  /** The questions, of type `used`, in the order in which they were first asked. */
  readonly queries: readonly DatasetQuery[];
  /** The number of recalls that did not become a question, by reason. */
  readonly dropped: Readonly<Record<DropReason, number>>;
  /** The number of used memories that no recall within `minutes` before had shown. */
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
/** The largest weight of a question, so that no single one dominates. */
const MOST_WEIGHT = 10;

/**
 * Derives questions with known answers from recorded recalls and uses. Only positive use is evidence: a memory that was
 * not used may not have been looked at. A use is attributed to the latest recall within `minutes` before it that showed
 * the memory, and in the same session if both name one. People look at high ranks first, so a question is weighted by
 * the rank of its best used evidence (inverse propensity with propensity 1/rank, at most 10). A question whose evidence
 * the measured strategy itself had ranked first is left out. A memory that was never shown cannot become evidence.
 * Throws
 * `invalid_argument`, `invalid_time`.
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
      query: recall.query === undefined ? undefined : string(recall.query, `recalls[${at}].query`),
      hits: list(recall.hits, `recalls[${at}].hits`).map((hit, rank) => ({
        id: string(hit?.id, `recalls[${at}].hits[${rank}].id`),
      })),
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
  // Only now: a use after the same question was asked again may still add evidence.
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

function string(value: unknown, field: string): string {
  if (typeof value === 'string') return value;
  throw invalidArgument(field, `expected a string, not ${describe(value)}`);
}

interface TimedRecall extends AskedQuestion {
  readonly asked: Instant;
  readonly used: ReadonlySet<string>;
}

interface Question {
  readonly query: string;
  readonly now: Instant;
  readonly relevant: ReadonlySet<string>;
  /** The best rank at which evidence was shown, from 1. */
  readonly rank: number;
  /** Whether the measured strategy had ranked all of the evidence first each time the question was asked. */
  readonly isFirst: boolean;
  /** The number of recalls that asked it. */
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

/** Merges a question with a later recall of the same query: all uses count, as of the later moment. */
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
