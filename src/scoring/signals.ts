import { CLOCK_NAMES, type ClockName } from '../domain/fields.ts';
import { initialStability, type MemoryRecord, textChangeOf } from '../domain/memory.ts';
import type { Instant } from '../domain/time.ts';

/**
 * Where the value of a signal or an attribute comes from. `memory`: from the memory alone, by {@link signalsOf}.
 * `relations`: from other memories that are visible and believed in this recall. `query`: it is known only during a
 * recall.
 */
type Source = 'memory' | 'relations' | 'query';

/** What a numeric signal is. */
export interface Signal {
  readonly range: readonly [low: number, high: number];
  /** Which values of the range are possible: `whole` numbers, or only the two `ends`. Default is all. */
  readonly only?: 'whole' | 'ends';
  /** Its default when it is unknown. */
  readonly otherwise: number;
  readonly description: string;
  readonly source: Source;
}

interface Attribute {
  /** Its default when it is unknown. Its type says whether the attribute is a text or a flag. */
  readonly otherwise: string | boolean;
  readonly source: Exclude<Source, 'query'>;
}

/**
 * Every number about a memory that a formula may read. The type checker makes sure that each is provided: a signal of a
 * memory by {@link signalsOf}, one of relations or of a query wherever those are known.
 */
export const SIGNALS = {
  similarity: {
    range: [0, 1],
    otherwise: 0,
    description: 'cosine of query and memory, negatives clamped to 0',
    source: 'query',
  },
  lexical: {
    range: [0, 1],
    otherwise: 0,
    description: 'BM25 as a share of a full match',
    source: 'query',
  },
  contextLexical: {
    range: [0, 1],
    otherwise: 0,
    description: 'lexical, with a share of the words of the two turns before and after in its session',
    source: 'query',
  },
  sessionLexical: {
    range: [0, 1],
    otherwise: 0,
    description: 'lexical of its whole session, among sessions',
    source: 'query',
  },
  authorNamed: {
    range: [0, 1],
    only: 'ends',
    otherwise: 0,
    description: '1 if the query names its author, and no other; unknown if the query names no author',
    source: 'query',
  },
  dateMatch: {
    range: [0, 1],
    otherwise: 0,
    description: 'how near its date is to a date that the query names; unknown if the query names none',
    source: 'query',
  },
  saidByUser: {
    range: [0, 1],
    only: 'ends',
    otherwise: 0,
    description: '1 if its role is user or absent; unknown if no memory has a role',
    source: 'query',
  },
  importance: {
    range: [0, 1],
    otherwise: 0.5,
    description: 'how much it matters',
    source: 'memory',
  },
  confidence: {
    range: [0, 1],
    otherwise: 0.8,
    description: 'how sure it is',
    source: 'memory',
  },
  usefulness: {
    range: [0, 1],
    otherwise: 0.5,
    description: 'from votes',
    source: 'memory',
  },
  weight: {
    range: [0, 1],
    otherwise: 1,
    description: "the caller's own factor",
    source: 'memory',
  },
  stability: {
    range: [0, 1],
    otherwise: initialStability(0.5),
    description: 'resistance to fading',
    source: 'memory',
  },
  accessCount: {
    range: [0, Infinity],
    only: 'whole',
    otherwise: 0,
    description: 'how often it was recalled',
    source: 'memory',
  },
  sessionCount: {
    range: [0, Infinity],
    only: 'whole',
    otherwise: 0,
    description: 'distinct sessions that recalled it',
    source: 'memory',
  },
  revisionCount: {
    range: [0, Infinity],
    only: 'whole',
    otherwise: 1,
    description: 'how often it was written',
    source: 'memory',
  },
  conflict: {
    range: [0, 1],
    otherwise: 0,
    description: 'how similar the most similar unjudged possible update is; 0 without one',
    source: 'relations',
  },
} as const satisfies Readonly<Record<string, Signal>>;

/** Text-valued properties that `table` and `when` may look at. */
export const ATTRIBUTES = {
  type: { otherwise: 'other', source: 'memory' },
  scope: { otherwise: 'global', source: 'memory' },
  tier: { otherwise: 'hot', source: 'memory' },
  source: { otherwise: 'stated', source: 'memory' },
  author: { otherwise: '', source: 'memory' },
  role: { otherwise: '', source: 'memory' },
  core: { otherwise: false, source: 'memory' },
  superseded: { otherwise: false, source: 'relations' },
} as const satisfies Readonly<Record<string, Attribute>>;

export type SignalName = keyof typeof SIGNALS;
export type AttributeName = keyof typeof ATTRIBUTES;
export const SIGNAL_NAMES = Object.keys(SIGNALS) as readonly SignalName[];
export const ATTRIBUTE_NAMES = Object.keys(ATTRIBUTES) as readonly AttributeName[];

type Where<Table, Entry> = {
  [Name in keyof Table]: Table[Name] extends Entry ? Name : never;
}[keyof Table];

/** The signals whose value depends on the query, and not on the memory alone. */
export type QuerySignalName = Where<typeof SIGNALS, { readonly source: 'query' }>;
/** The signals that a row of an index has, independent of the query. */
export type RowSignalName = Exclude<SignalName, QuerySignalName>;
/** The signals that come from the memory alone. */
export type StoredSignalName = Where<typeof SIGNALS, { readonly source: 'memory' }>;
/** The attributes that come from the memory alone. */
export type StoredAttributeName = Where<typeof ATTRIBUTES, { readonly source: 'memory' }>;

export const QUERY_SIGNALS = SIGNAL_NAMES.filter(isQuerySignal);
/** The query signals that an index knows exactly. For the similarity, its codes give only an interval. */
export type ExactSignalName = Exclude<QuerySignalName, 'similarity'>;
export const EXACT_SIGNALS = QUERY_SIGNALS.filter((name): name is ExactSignalName => name !== 'similarity');
export const STORED_SIGNAL_NAMES = SIGNAL_NAMES.filter(
  (name): name is StoredSignalName => SIGNALS[name].source === 'memory',
);
export const STORED_ATTRIBUTE_NAMES = ATTRIBUTE_NAMES.filter(
  (name): name is StoredAttributeName => ATTRIBUTES[name].source === 'memory',
);

type Numbers = { readonly [Name in SignalName]: number };
type Instants = { readonly [Name in ClockName]: Instant };
type Texts = {
  readonly [Name in AttributeName]: (typeof ATTRIBUTES)[Name]['otherwise'] extends boolean ? boolean : string;
};
type Unknown<Values> = { readonly [Name in keyof Values]?: Values[Name] | undefined };

/**
 * What is known about one memory at one moment, for one query: the input of a formula.
 * Clocks are milliseconds; anything absent takes its default.
 */
export type Signals = Unknown<Numbers> & Unknown<Instants> & Unknown<Texts>;

/** The query signals of a memory. Each must be given, as `undefined` if it is unknown. */
export type QuerySignals = { readonly [Name in QuerySignalName]: number | undefined };

/** The signals that come from a memory's relations to others, as seen by one recall. */
export type RelationSignals = Pick<Numbers, Where<typeof SIGNALS, { readonly source: 'relations' }>> &
  Pick<Texts, Where<typeof ATTRIBUTES, { readonly source: 'relations' }>>;

/** All signals that come from the memory alone. */
export type StoredSignals = Pick<Numbers, StoredSignalName> & {
  readonly [Name in ClockName]: Instant | undefined;
} & Pick<Texts, StoredAttributeName>;

/** All signals of a memory for a query. */
export type CompleteSignals = StoredSignals & RelationSignals & QuerySignals;

/** The relation signals of a memory that is looked at alone. */
export const UNRELATED: RelationSignals = { conflict: 0, superseded: false };

/** Returns the signals that come from the memory alone. */
export function signalsOf(memory: MemoryRecord): StoredSignals {
  return {
    importance: memory.importance,
    confidence: memory.confidence,
    usefulness: memory.usefulness,
    weight: memory.weight,
    stability: memory.stability,
    accessCount: memory.accessCount,
    sessionCount: memory.sessions.length,
    revisionCount: memory.revisionCount,
    createdAt: memory.createdAt,
    updatedAt: memory.updatedAt,
    textChangedAt: textChangeOf(memory),
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
    author: memory.author ?? '',
    role: memory.role ?? '',
    core: memory.core,
  };
}

export function isSignalName(name: string): name is SignalName {
  return Object.hasOwn(SIGNALS, name);
}

export function isQuerySignal(name: SignalName): name is QuerySignalName {
  return SIGNALS[name].source === 'query';
}

export function isAttributeName(name: string): name is AttributeName {
  return Object.hasOwn(ATTRIBUTES, name);
}

export function isClockName(name: string): name is ClockName {
  return (CLOCK_NAMES as readonly string[]).includes(name);
}

/** Whether an attribute is a flag, not a text. */
export function isFlag(name: AttributeName): boolean {
  return typeof ATTRIBUTES[name].otherwise === 'boolean';
}

/** Returns an attribute as the text that formulas compare with. */
export function attributeText(signals: Signals, name: AttributeName): string {
  return String(signals[name] ?? ATTRIBUTES[name].otherwise);
}
