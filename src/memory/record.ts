import {
  instant,
  invalidArgument,
  metadata,
  number,
  oneOf,
  text,
  texts,
  wholeNumber,
} from '../model/check.ts';
import { parseTimeToLive } from '../model/duration.ts';
import { SalienceError } from '../model/errors.ts';
import {
  initialStability,
  JUDGES,
  type MemoryRecord,
  type Metadata,
  SOURCES,
  TIERS,
  TRANSIENT_TYPES,
} from '../model/memory.ts';
import { keysOf, onlyKeys } from '../model/options.ts';
import { redactMetadata, redactPrivate } from '../model/redaction.ts';
import { GLOBAL_SCOPE, parseScope } from '../model/scope.ts';
import { isInvisible, normalisedContent } from '../model/statement.ts';
import { formatInstant, type Instant } from '../model/time.ts';
import { findTextProblem } from '../text/wellformed.ts';
import type { Memory, MemoryChanges, RememberInput } from './types.ts';

/** What the texts of a memory may be. */
export interface TextLimits {
  /** Bytes of UTF-8; `Infinity` for none. */
  readonly maxContentBytes: number;
  /** Bytes of metadata as JSON in UTF-8; `Infinity` for none. */
  readonly maxMetadataBytes: number;
}

/** Of a memory that nobody has voted on. */
const NEUTRAL_USEFULNESS = 0.5;

/** The most that a superseded memory weighs. */
const SUPERSEDED_WEIGHT = 0.1;

const inputKeys = keysOf<RememberInput>()({
  content: true,
  id: true,
  scope: true,
  type: true,
  title: true,
  tags: true,
  metadata: true,
  author: true,
  role: true,
  sessionId: true,
  createdAt: true,
  updatedAt: true,
  validFrom: true,
  validUntil: true,
  expiresAt: true,
  importance: true,
  confidence: true,
  weight: true,
  source: true,
  sourceRef: true,
  topicKey: true,
  supersedes: true,
  ttl: true,
});

const memoryKeys = keysOf<Memory & Pick<RememberInput, 'ttl'>>()({
  id: true,
  ordinal: true,
  scope: true,
  type: true,
  title: true,
  content: true,
  tags: true,
  metadata: true,
  topicKey: true,
  author: true,
  role: true,
  sessionId: true,
  bornIn: true,
  createdAt: true,
  updatedAt: true,
  lastAccessedAt: true,
  seen: true,
  validFrom: true,
  validUntil: true,
  expiresAt: true,
  invalidatedAt: true,
  invalidReason: true,
  coldSince: true,
  consolidatedAt: true,
  importance: true,
  importanceJudge: true,
  confidence: true,
  usefulness: true,
  weight: true,
  stability: true,
  accessCount: true,
  sessions: true,
  revisionCount: true,
  tier: true,
  core: true,
  supersedes: true,
  source: true,
  sourceRef: true,
  derivedFrom: true,
  space: true,
  effectiveWeight: true,
  votes: true,
  ttl: true,
});

const changeKeys = keysOf<MemoryChanges>()({
  content: true,
  title: true,
  type: true,
  scope: true,
  tags: true,
  metadata: true,
  importance: true,
  confidence: true,
  weight: true,
  validFrom: true,
  validUntil: true,
  expiresAt: true,
  ttl: true,
  topicKey: true,
  author: true,
  role: true,
  sourceRef: true,
});

/** Makes a new memory of what a caller says, checked. Throws a typed error that names the field. */
export function newRecord(
  input: RememberInput,
  context: {
    readonly now: Instant;
    readonly newId: () => string;
    readonly limits: TextLimits;
    /** Whether this may be the summary of a session. Default is false. */
    readonly summaries?: boolean | undefined;
  },
): MemoryRecord {
  onlyKeys(input, inputKeys, 'memory');
  const { now, limits } = context;
  const importance = input.importance === undefined ? 0.5 : number(input.importance, 'importance', 0, 1);
  const givenCreatedAt = instant(input.createdAt, 'createdAt');
  const createdAt = Math.min(givenCreatedAt ?? now, now);
  const updatedAt = instant(input.updatedAt, 'updatedAt');
  if (givenCreatedAt !== undefined && updatedAt !== undefined && updatedAt < givenCreatedAt)
    throw invalidArgument(
      'updatedAt',
      'it must not lie before createdAt; correct one of them, or leave it out',
    );
  const type = input.type === undefined ? 'fact' : memoryType(input.type);
  if (!context.summaries) refuseSummary(type);
  const sessionId =
    input.sessionId === undefined ? undefined : text(input.sessionId, 'sessionId', { maxCharacters: 200 });
  return {
    ordinal: 0,
    id:
      input.id === undefined
        ? context.newId()
        : wellFormed(text(input.id, 'id', { maxCharacters: 128 }), 'id'),
    scope: input.scope === undefined ? GLOBAL_SCOPE : parseScope(input.scope),
    type,
    title:
      input.title === undefined
        ? undefined
        : plain(text(input.title, 'title', { maxCharacters: 1000 }), 'title'),
    content: checkContent(input.content, limits),
    tags: input.tags === undefined ? [] : checkTags(input.tags),
    metadata: input.metadata === undefined ? {} : checkMetadata(input.metadata, limits),
    topicKey: input.topicKey === undefined ? undefined : topicKey(input.topicKey),
    author: input.author === undefined ? undefined : authorName(input.author),
    role: input.role === undefined ? undefined : roleName(input.role),
    sessionId,
    bornIn: sessionId,
    createdAt,
    updatedAt: Math.max(createdAt, Math.min(updatedAt ?? createdAt, now)),
    lastAccessedAt: undefined,
    seen: undefined,
    ...checkValidity({
      validFrom: instant(input.validFrom, 'validFrom'),
      validUntil: instant(input.validUntil, 'validUntil'),
      expiresAt: instant(input.expiresAt, 'expiresAt'),
      ...endOf(input, type, createdAt),
    }),
    invalidatedAt: undefined,
    invalidReason: undefined,
    coldSince: undefined,
    consolidatedAt: undefined,
    importance,
    importanceJudge: input.importance === undefined ? 'default' : 'caller',
    confidence: input.confidence === undefined ? 0.8 : number(input.confidence, 'confidence', 0, 1),
    usefulness: NEUTRAL_USEFULNESS,
    weight: input.weight === undefined ? 1 : number(input.weight, 'weight', 0.1, 1),
    stability: initialStability(importance),
    accessCount: 0,
    sessions: [],
    revisionCount: 1,
    tier: 'hot',
    core: false,
    supersedes: input.supersedes === undefined ? [] : ids([input.supersedes].flat(), 'supersedes'),
    source: input.source === undefined ? 'stated' : oneOf(input.source, 'source', SOURCES),
    sourceRef:
      input.sourceRef === undefined
        ? undefined
        : plain(text(input.sourceRef, 'sourceRef', { maxCharacters: 2000 }), 'sourceRef'),
    derivedFrom: [],
  };
}

/** A memory after changes: its revision is counted and its clock of updates set to now. */
export function changedRecord(
  before: MemoryRecord,
  changes: MemoryChanges,
  context: { readonly now: Instant; readonly limits?: TextLimits | undefined },
): MemoryRecord {
  onlyKeys(changes, changeKeys, 'changes');
  const moment = (field: 'validFrom' | 'validUntil' | 'expiresAt'): Instant | undefined => {
    const value = changes[field];
    return value === undefined ? before[field] : value === null ? undefined : instant(value, field);
  };
  const type = changes.type === undefined ? before.type : memoryType(changes.type);
  if (type !== before.type) refuseSummary(type);
  const content =
    changes.content === undefined
      ? before.content
      : checkContent(changes.content, context.limits ?? noLimits);
  const saysTheSame = normalisedContent(content) === normalisedContent(before.content);
  return {
    ...before,
    content,
    // Votes are on what it said.
    usefulness: saysTheSame ? before.usefulness : NEUTRAL_USEFULNESS,
    title:
      changes.title === undefined
        ? before.title
        : changes.title === null
          ? undefined
          : plain(text(changes.title, 'title', { maxCharacters: 1000 }), 'title'),
    type,
    scope: changes.scope === undefined ? before.scope : parseScope(changes.scope),
    tags: changes.tags === undefined ? before.tags : checkTags(changes.tags),
    metadata:
      changes.metadata === undefined
        ? before.metadata
        : checkMetadata(changes.metadata, context.limits ?? noLimits),
    topicKey:
      changes.topicKey === undefined
        ? before.topicKey
        : changes.topicKey === null
          ? undefined
          : topicKey(changes.topicKey),
    author:
      changes.author === undefined
        ? before.author
        : changes.author === null
          ? undefined
          : authorName(changes.author),
    role:
      changes.role === undefined ? before.role : changes.role === null ? undefined : roleName(changes.role),
    sourceRef:
      changes.sourceRef === undefined
        ? before.sourceRef
        : changes.sourceRef === null
          ? undefined
          : plain(text(changes.sourceRef, 'sourceRef', { maxCharacters: 2000 }), 'sourceRef'),
    importance:
      changes.importance === undefined ? before.importance : number(changes.importance, 'importance', 0, 1),
    importanceJudge: changes.importance === undefined ? before.importanceJudge : 'caller',
    confidence:
      changes.confidence === undefined ? before.confidence : number(changes.confidence, 'confidence', 0, 1),
    weight: changes.weight === undefined ? before.weight : number(changes.weight, 'weight', 0.1, 1),
    ...checkValidity({
      validFrom: moment('validFrom'),
      validUntil: moment('validUntil'),
      expiresAt: moment('expiresAt'),
      ...endOf(changes, type, context.now),
    }),
    updatedAt: Math.max(before.updatedAt, context.now),
    revisionCount: before.revisionCount + 1,
  };
}

/** A memory as it was exported, checked like a new one and otherwise kept as it is. */
export function importedRecord(memory: Memory, limits: TextLimits): MemoryRecord {
  onlyKeys(memory, memoryKeys, 'memory');
  if (memory.createdAt === undefined)
    throw invalidArgument('createdAt', 'an exported memory has one; remember new ones instead');
  const given = Object.fromEntries(inputKeys.map((key) => [key, memory[key as keyof Memory]]));
  const base = newRecord(given as unknown as RememberInput, {
    now: Infinity,
    newId: () => memory.id,
    limits,
    summaries: true,
  });
  return {
    ...base,
    bornIn:
      memory.bornIn === undefined ? base.sessionId : text(memory.bornIn, 'bornIn', { maxCharacters: 200 }),
    lastAccessedAt: instant(memory.lastAccessedAt, 'lastAccessedAt'),
    seen: instant(memory.seen, 'seen'),
    derivedFrom: ids(memory.derivedFrom ?? [], 'derivedFrom'),
    invalidatedAt: instant(memory.invalidatedAt, 'invalidatedAt'),
    invalidReason:
      memory.invalidReason === undefined
        ? undefined
        : plain(text(memory.invalidReason, 'invalidReason', { maxCharacters: 1000 }), 'invalidReason'),
    coldSince: instant(memory.coldSince, 'coldSince'),
    consolidatedAt: instant(memory.consolidatedAt, 'consolidatedAt'),
    importanceJudge: oneOf(memory.importanceJudge ?? base.importanceJudge, 'importanceJudge', JUDGES),
    usefulness: number(memory.usefulness ?? base.usefulness, 'usefulness', 0, 1),
    stability: number(memory.stability ?? base.stability, 'stability', 0, 1),
    accessCount: wholeNumber(memory.accessCount ?? 0, 'accessCount', 0, Number.MAX_SAFE_INTEGER),
    sessions: texts(memory.sessions ?? [], 'sessions', 100_000, 200),
    revisionCount: wholeNumber(memory.revisionCount ?? 1, 'revisionCount', 1, Number.MAX_SAFE_INTEGER),
    tier: oneOf(memory.tier ?? 'hot', 'tier', TIERS),
    core: memory.core === true,
  };
}

/**
 * The record as callers see it; `superseded` where another memory has taken its place, as one that it was joined into
 * always has.
 */
export function toMemory(record: MemoryRecord, space: string, superseded: boolean): Memory {
  const time = (at: Instant | undefined) => (at === undefined ? undefined : formatInstant(at));
  return {
    ...record,
    space,
    createdAt: formatInstant(record.createdAt),
    updatedAt: formatInstant(record.updatedAt),
    lastAccessedAt: time(record.lastAccessedAt),
    seen: time(record.seen),
    validFrom: time(record.validFrom),
    validUntil: time(record.validUntil),
    expiresAt: time(record.expiresAt),
    invalidatedAt: time(record.invalidatedAt),
    coldSince: time(record.coldSince),
    consolidatedAt: time(record.consolidatedAt),
    effectiveWeight:
      superseded || record.consolidatedAt !== undefined
        ? Math.min(record.weight, SUPERSEDED_WEIGHT)
        : record.weight,
  };
}

/** The text that is searched: title, content and tags. */
export function searchableText(memory: Pick<MemoryRecord, 'title' | 'content' | 'tags'>): string {
  return [memory.title, memory.content, ...memory.tags].filter((part) => part !== undefined).join('\n');
}

function checkContent(value: unknown, limits: TextLimits): string {
  const content = plain(text(value, 'content'), 'content');
  if (isInvisible(content))
    throw invalidArgument('content', 'it must not be empty: nothing in it can be seen');
  const bytes = Buffer.byteLength(content);
  if (bytes <= limits.maxContentBytes) return content;
  throw new SalienceError(
    'content_too_large',
    `content: ${bytes} bytes are more than the limit of ${limits.maxContentBytes}; remember its parts, or raise maxContentBytes`,
    { details: { field: 'content', bytes, limit: limits.maxContentBytes } },
  );
}

const noLimits: TextLimits = { maxContentBytes: Infinity, maxMetadataBytes: Infinity };

function checkMetadata(value: unknown, limits: TextLimits): Metadata {
  const checked = redactMetadata(metadata(value, 'metadata'));
  const bytes = Buffer.byteLength(JSON.stringify(checked));
  if (bytes <= limits.maxMetadataBytes) return checked;
  throw new SalienceError(
    'content_too_large',
    `metadata: ${bytes} bytes as JSON are more than the limit of ${limits.maxMetadataBytes}; keep less of it, or raise maxMetadataBytes`,
    { details: { field: 'metadata', bytes, limit: limits.maxMetadataBytes } },
  );
}

function checkTags(value: unknown): readonly string[] {
  return texts(value, 'tags', 64, 128).map((tag, index) => plain(tag, `tags[${index}]`));
}

function memoryType(value: unknown): string {
  return plain(text(value, 'type', { maxCharacters: 64 }), 'type');
}

function refuseSummary(type: string): void {
  if (type !== 'summary') return;
  throw invalidArgument(
    'type',
    'summaries are written by sessions: use saveSummary or endSession, or another type',
  );
}

function topicKey(value: unknown): string {
  return plain(text(value, 'topicKey', { maxCharacters: 512 }), 'topicKey');
}

function authorName(value: unknown): string {
  return plain(text(value, 'author', { maxCharacters: 200 }), 'author');
}

function roleName(value: unknown): string {
  return plain(text(value, 'role', { maxCharacters: 64 }), 'role');
}

function ids(value: unknown, field: string): readonly string[] {
  return texts(value, field, 1000, 128).map((id) => wellFormed(id, field));
}

/** What a time to live ends: the validity of what is true for a while, the life of everything else. */
function endOf(
  { ttl, validUntil, expiresAt }: Pick<MemoryChanges, 'ttl' | 'validUntil' | 'expiresAt'>,
  type: string,
  from: Instant,
): { readonly validUntil?: Instant; readonly expiresAt?: Instant } {
  if (ttl === undefined) return {};
  const field = TRANSIENT_TYPES.includes(type) ? 'validUntil' : 'expiresAt';
  if ((field === 'validUntil' ? validUntil : expiresAt) !== undefined) {
    throw invalidArgument('ttl', `it sets ${field}, which is given as well: leave one of them out`);
  }
  return { [field]: parseTimeToLive(ttl, from) };
}

function checkValidity(times: {
  readonly validFrom: Instant | undefined;
  readonly validUntil: Instant | undefined;
  readonly expiresAt: Instant | undefined;
}) {
  const { validFrom, validUntil } = times;
  if (validFrom !== undefined && validUntil !== undefined && validFrom > validUntil) {
    throw invalidArgument('validUntil', 'it lies before validFrom');
  }
  return times;
}

/** A text as it is kept: without what is marked as private. */
function plain(value: string, field: string): string {
  return redactPrivate(wellFormed(value, field));
}

function wellFormed(value: string, field: string): string {
  const problem = findTextProblem(value);
  if (problem === undefined) return value;
  throw new SalienceError(
    'invalid_text',
    problem === 'invalid-utf16'
      ? `${field}: the text has half of a surrogate pair; decode it as UTF-8 or UTF-16 before handing it in`
      : `${field}: the text has a control character; only tab, line feed and carriage return are allowed`,
    { details: { field, problem } },
  );
}
