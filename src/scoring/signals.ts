import { CLOCK_NAMES, type ClockName } from '../model/fields.ts';
import { initialStability, type MemoryRecord } from '../model/memory.ts';
import type { Instant } from '../model/time.ts';

/** What a numeric signal may be, and its value when nothing is known. */
interface SignalDefinition {
  readonly range: readonly [low: number, high: number];
  readonly otherwise: number;
  readonly description: string;
}

/** Every number about a memory that a formula may read. The two that depend on the query come first. */
export const SIGNALS = {
  similarity: {
    range: [0, 1],
    otherwise: 0,
    description: 'cosine of query and memory, negatives clamped to 0',
  },
  lexical: { range: [0, 1], otherwise: 0, description: 'BM25 as a share of a full match' },
  importance: { range: [0, 1], otherwise: 0.5, description: 'how much it matters' },
  confidence: { range: [0, 1], otherwise: 0.8, description: 'how sure it is' },
  usefulness: { range: [0, 1], otherwise: 0.5, description: 'from votes' },
  weight: { range: [0, 1], otherwise: 1, description: "the caller's own factor" },
  stability: { range: [0, 1], otherwise: initialStability(0.5), description: 'resistance to fading' },
  accessCount: { range: [0, Infinity], otherwise: 0, description: 'how often it was recalled' },
  sessionCount: { range: [0, Infinity], otherwise: 0, description: 'distinct sessions that recalled it' },
  revisionCount: { range: [0, Infinity], otherwise: 1, description: 'how often it was written' },
  contested: {
    range: [0, 1],
    otherwise: 0,
    description: 'how near the nearest possible update is that nobody has judged; 0 without one',
  },
} as const satisfies Record<string, SignalDefinition>;

export type SignalName = keyof typeof SIGNALS;
export const SIGNAL_NAMES = Object.keys(SIGNALS) as readonly SignalName[];

/** The signals whose value depends on the query, and not on the memory alone. */
export const QUERY_SIGNALS = ['similarity', 'lexical'] as const satisfies readonly SignalName[];

/** Text-valued properties that `table` and `when` may look at, with the value of an unknown one. */
export const ATTRIBUTES = {
  type: 'other',
  scope: 'global',
  tier: 'hot',
  source: 'stated',
  core: 'false',
  superseded: 'false',
} as const;
export type AttributeName = keyof typeof ATTRIBUTES;
export const ATTRIBUTE_NAMES = Object.keys(ATTRIBUTES) as readonly AttributeName[];

/**
 * What is known about one memory at one moment, for one query: the input of a formula.
 * Clocks are milliseconds; anything absent takes its default.
 */
export type Signals = { readonly [Name in SignalName]?: number | undefined } & {
  readonly [Name in ClockName]?: Instant | undefined;
} & {
  readonly type?: string | undefined;
  readonly scope?: string | undefined;
  readonly tier?: string | undefined;
  readonly source?: string | undefined;
  readonly core?: boolean | undefined;
  readonly superseded?: boolean | undefined;
};

export function isSignalName(name: string): name is SignalName {
  return Object.hasOwn(SIGNALS, name);
}

export function isClockName(name: string): name is ClockName {
  return (CLOCK_NAMES as readonly string[]).includes(name);
}

/** An attribute as the text that formulas compare with. */
export function attributeText(signals: Signals, name: AttributeName): string {
  const value = signals[name];
  return value === undefined ? ATTRIBUTES[name] : String(value);
}

/** The signals of a stored memory, together with those that follow from the query and from other memories. */
export function signalsOf(
  memory: MemoryRecord,
  query: {
    readonly similarity?: number | undefined;
    readonly lexical?: number | undefined;
    readonly contested?: number | undefined;
    readonly superseded?: boolean | undefined;
  },
): Signals {
  return {
    similarity: query.similarity,
    lexical: query.lexical,
    importance: memory.importance,
    confidence: memory.confidence,
    usefulness: memory.usefulness,
    weight: memory.weight,
    stability: memory.stability,
    accessCount: memory.accessCount,
    sessionCount: memory.sessions.length,
    revisionCount: memory.revisionCount,
    contested: query.contested ?? 0,
    createdAt: memory.createdAt,
    updatedAt: memory.updatedAt,
    lastAccessedAt: memory.lastAccessedAt,
    validFrom: memory.validFrom,
    validUntil: memory.validUntil,
    expiresAt: memory.expiresAt,
    invalidatedAt: memory.invalidatedAt,
    consolidatedAt: memory.consolidatedAt,
    type: memory.type,
    scope: memory.scope,
    tier: memory.tier,
    source: memory.source,
    core: memory.core,
    superseded: query.superseded ?? false,
  };
}
