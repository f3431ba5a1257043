import { invalidArgument, number } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import type { MemoryType } from '../domain/memory.ts';
import { isPlain, onlyKeys } from '../domain/options.ts';
import type { Instant } from '../domain/time.ts';
import { cappedLinear as capped, exponentialDecay as decay } from './arithmetic.ts';
import { features, partValue, readInstant, type SignalInput, score } from './score.ts';

type Time = Instant | string | Date;

/**
 * 2^(−age/halfLife): 1 at age 0, 0.5 at one half-life. Both in the same unit. An age below 0 gives more than 1.
 * Throws `invalid_argument` for a half-life that is not above 0.
 *
 * @example
 * ```ts
 * exponentialDecay(60, 30); // 0.25: two half-lives
 * ```
 */
export function exponentialDecay(age: number, halfLife: number): number {
  return decay(finite(age, 'age'), above0(halfLife, 'halfLife'));
}

/**
 * min(max(n, 0), cap)/cap: linear up to a cap. Throws `invalid_argument` for a cap that is not above 0.
 *
 * @example
 * ```ts
 * cappedLinear(3, 10); // 0.3
 * cappedLinear(25, 10); // 1
 * ```
 */
export function cappedLinear(n: number, cap: number): number {
  return capped(finite(n, 'n'), above0(cap, 'cap'));
}

/**
 * How recent a moment is: 1 now or later, 0.5 after one half-life. Default half-life is 30 days. Throws `invalid_time`,
 * and `invalid_argument` for a half-life below 0.000001 days.
 *
 * @example
 * ```ts
 * recencyScore('2026-04-06T00:00:00Z', { now: '2026-04-20T00:00:00Z', halfLifeDays: 14 }); // 0.5
 * ```
 */
export function recencyScore(
  at: Time,
  options: { readonly now: Time; readonly halfLifeDays?: number | undefined },
): number {
  onlyKeys(options, ['now', 'halfLifeDays'], 'options');
  const createdAt = readInstant(at, 'at');
  const recencyHalfLifeDays = number(options.halfLifeDays ?? 30, 'halfLifeDays', 1e-6, Number.MAX_VALUE);
  return partValue(
    'balanced',
    'recency',
    { createdAt },
    { now: options.now, parameters: { recencyHalfLifeDays } },
  );
}

/**
 * Linear in the number of revisions, full at 10.
 *
 * @example
 * ```ts
 * revisionScore(5); // 0.5
 * ```
 */
export function revisionScore(count: number): number {
  return partValue('lexical', 'revision', { revisionCount: count });
}

/**
 * How much a type matters by default: profile 1, preference 0.9, decision 0.7, pattern 0.6, summary 0.3, others 0.5.
 *
 * @example
 * ```ts
 * typePriority('preference'); // 0.9
 * ```
 */
export function typePriority(type: MemoryType): number {
  return partValue('ambient', 'typePriority', { type });
}

/**
 * R, what is left of a memory, in [0, 1]. Floors: 0.60 core, 0.02 otherwise; procedures 1; stubs 0.
 *
 * @example
 * ```ts
 * const note = { type: 'fact', stability: 0.25, importance: 0.5, createdAt: '2026-03-20T00:00:00Z' };
 * const left = retention(note, { now: '2026-04-20T00:00:00Z' });
 * ```
 */
export function retention(
  memory: SignalInput,
  options: { readonly now: Time; readonly curve?: 'exponential' | 'power' | undefined },
): number {
  onlyKeys(options, ['now', 'curve'], 'options');
  return partValue('retention', 'retention', memory, {
    now: options.now,
    parameters: { curve: options.curve ?? 'exponential' },
  });
}

export interface CompositeScoreInput {
  readonly similarity?: number | undefined;
  readonly createdAt: Time;
  readonly lastAccessedAt?: Time | undefined;
  /** Default is 0.5. */
  readonly importance?: number | undefined;
  /** Merged over 0.4/0.3/0.3 and divided by their sum. */
  readonly weights?:
    | { readonly semantic?: number; readonly recency?: number; readonly importance?: number }
    | undefined;
  /** Default is 14. */
  readonly recencyHalfLifeDays?: number | undefined;
  readonly now: Time;
}

/**
 * The `balanced` score: similarity, recency and importance as a weighted mean.
 *
 * @example
 * ```ts
 * const score = computeCompositeScore({
 *   similarity: 0.8,
 *   importance: 0.9,
 *   createdAt: '2026-04-06T00:00:00Z',
 *   now: '2026-04-20T00:00:00Z',
 * });
 * ```
 */
export function computeCompositeScore(input: CompositeScoreInput): number {
  if (!isPlain(input)) throw invalidArgument('input', `expected an object, not ${describe(input)}`);
  const { similarity, createdAt, lastAccessedAt, importance, weights, recencyHalfLifeDays, now } = input;
  return score(
    'balanced',
    { similarity, createdAt, lastAccessedAt, importance },
    {
      now,
      parameters: {
        ...(weights ? { weights } : {}),
        ...(recencyHalfLifeDays !== undefined ? { recencyHalfLifeDays } : {}),
      },
    },
  );
}

export interface FiveFactorBreakdown {
  readonly compositeScore: number;
  readonly relevanceScore: number;
  readonly recencyScore: number;
  readonly usefulnessScore: number;
  readonly confidenceScore: number;
  readonly frequencyScore: number;
}

/**
 * The `five-factor` score and its five parts, each rounded to 6 decimals: for showing, not for sorting.
 *
 * @example
 * ```ts
 * const now = '2026-04-20T00:00:00Z';
 * const note = { createdAt: '2026-04-06T00:00:00Z', usefulness: 0.75, confidence: 0.8, accessCount: 3 };
 * const { compositeScore, recencyScore } = fiveFactorScore(note, { similarity: 0.8, now });
 * ```
 */
export function fiveFactorScore(
  memory: SignalInput,
  options: { readonly similarity?: number | undefined; readonly now: Time },
): FiveFactorBreakdown {
  onlyKeys(options, ['similarity', 'now'], 'options');
  if (!isPlain(memory))
    throw invalidArgument('memory', `expected an object of signals, not ${describe(memory)}`);
  const signals = { ...memory, similarity: options.similarity ?? memory.similarity };
  const parts = features('five-factor', signals, { now: options.now });
  return {
    compositeScore: sixDecimals(score('five-factor', signals, { now: options.now })),
    relevanceScore: sixDecimals(parts['relevance']),
    recencyScore: sixDecimals(parts['recency']),
    usefulnessScore: sixDecimals(parts['usefulness']),
    confidenceScore: sixDecimals(parts['confidence']),
    frequencyScore: sixDecimals(parts['frequency']),
  };
}

/**
 * The `scoped` score: similarity × scope weight × weight × decay since the last update.
 *
 * @example
 * ```ts
 * const now = '2026-04-20T00:00:00Z';
 * const note = { similarity: 0.92, scope: 'project:shop', updatedAt: '2026-04-15T00:00:00Z' };
 * scopedScore(note, { now }); // 0.897
 * scopedScore({ ...note, scope: 'global' }, { now }); // 0.718: a project's note counts for more
 * ```
 */
export function scopedScore(signals: SignalInput, options: { readonly now: Time }): number {
  onlyKeys(options, ['now'], 'options');
  return score('scoped', signals, { now: options.now });
}

/**
 * Returns usefulness by votes: (p+1)/(p+n+2), 0.5 without votes. Source: the rule of succession. Throws
 * `invalid_argument` for a count below 0.
 *
 * @example
 * ```ts
 * usefulness(0, 0); // 0.5
 * usefulness(3, 0); // 0.8
 * ```
 */
export function usefulness(positive: number, negative: number): number {
  for (const [field, count] of Object.entries({ positive, negative })) {
    if (Number.isFinite(count) && count >= 0) continue;
    throw invalidArgument(field, `${describe(count)} is not a valid number of votes; give 0 or more`);
  }
  return (positive + 1) / (positive + negative + 2);
}

function finite(value: number, field: string): number {
  if (Number.isFinite(value)) return value;
  throw invalidArgument(field, `${describe(value)} must be a finite number`);
}

function above0(value: number, field: string): number {
  if (Number.isFinite(value) && value > 0) return value;
  throw invalidArgument(field, `${describe(value)} must be a number above 0`);
}

function sixDecimals(value = 0): number {
  return Math.round(value * 1e6) / 1e6;
}
