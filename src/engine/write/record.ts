import { invalidArgument } from '../../domain/check.ts';
import { describe } from '../../domain/describe.ts';
import { parseTimeToLive } from '../../domain/duration.ts';
import { checkedChanges, checkedFields, NO_LIMITS, type TextLimits } from '../../domain/field-checks.ts';
import {
  CHANGE_FIELDS,
  CREATE_FIELDS,
  type CreateField,
  FIELD_NAMES,
  FIELDS,
  type Field,
  INSTANT_FIELDS,
  withPresentNames,
} from '../../domain/fields.ts';
import { initialStability, type MemoryRecord, TRANSIENT_TYPES, textChangeOf } from '../../domain/memory.ts';
import { isPlain, onlyKeys } from '../../domain/options.ts';
import { shownRelation } from '../../domain/relation.ts';
import { normalisedContent } from '../../domain/statement.ts';
import { formatInstant, type Instant, parseInstant } from '../../domain/time.ts';
import type { Memory, MemoryChanges, RememberInput } from '../types.ts';

/** The highest effective weight of a superseded memory. */
const SUPERSEDED_WEIGHT = 0.1;

/**
 * Fields of an exported memory that are not fields of a record. They are there for readers and are not imported, except
 * `votes`.
 */
const EXPORTED_BESIDES = ['space', 'effectiveWeight', 'votes'] as const;
const INPUT_KEYS = [...CREATE_FIELDS, 'ttl'];
const CHANGE_KEYS = [...CHANGE_FIELDS, 'ttl', 'updatedAt'];
const EXPORT_KEYS = [...FIELD_NAMES, ...EXPORTED_BESIDES, 'ttl'];

/** The fields that only an import may set. The store itself assigns `ordinal`. */
const ENGINE_FIELDS = FIELD_NAMES.filter((name) => FIELDS[name].set === 'engine' && name !== 'ordinal');

/** The value of each field that the caller does not set. */
const INITIAL = Object.fromEntries(
  FIELD_NAMES.map((name) => [name, (FIELDS[name] as Field).initial]),
) as unknown as Pick<MemoryRecord, Exclude<keyof MemoryRecord, 'id' | 'content' | 'createdAt' | 'updatedAt'>>;

/** Checks an input and makes a new record from it. Throws a typed error that names the field. */
export function newRecord(
  input: RememberInput,
  context: {
    readonly now: Instant;
    readonly newId: () => string;
    readonly limits: TextLimits;
    /** Whether the type may be `summary`. Default is false. */
    readonly summaries?: boolean | undefined;
  },
): MemoryRecord {
  onlyKeys(input, INPUT_KEYS, 'memory');
  const own = { ...input };
  if (own.content === undefined) throw invalidArgument('content', 'expected a string, not undefined');
  const { now, limits, newId } = context;
  const given = checkedFields(own, CREATE_FIELDS, limits) as Partial<Pick<MemoryRecord, CreateField>> & {
    readonly content: string;
  };
  // A memory that was last changed at some time already existed then.
  const createdAt = Math.min(given.createdAt ?? given.updatedAt ?? now, now);
  if (given.createdAt !== undefined && given.updatedAt !== undefined && given.updatedAt < given.createdAt)
    throw invalidArgument(
      'updatedAt',
      'it must not lie before createdAt; correct one of them, or leave it out',
    );
  if (!context.summaries) refuseSummary(given.type);
  const record = { ...INITIAL, ...given, ...endOf(input, given.type ?? INITIAL.type, createdAt) };
  checkValidity(record);
  return {
    ...record,
    id: given.id ?? newId(),
    createdAt,
    updatedAt: Math.max(createdAt, Math.min(given.updatedAt ?? createdAt, now)),
    bornIn: given.sessionId,
    importanceSource: given.importance === undefined ? 'default' : 'caller',
    stability: initialStability(record.importance),
  };
}

/** Returns a memory with checked changes, its revision count and `updatedAt` advanced. */
export function changedRecord(
  before: MemoryRecord,
  changes: MemoryChanges,
  context: { readonly now: Instant; readonly limits?: TextLimits | undefined },
): MemoryRecord {
  onlyKeys(changes, CHANGE_KEYS, 'changes');
  const { updatedAt } = changes;
  const said = updatedAt === undefined ? context.now : parseInstant(updatedAt, 'updatedAt');
  const changed = checkedChanges({ ...changes }, CHANGE_FIELDS, context.limits ?? NO_LIMITS);
  const record = { ...before, ...changed };
  if (record.type !== before.type) refuseSummary(record.type);
  const after = { ...record, ...endOf(changes, record.type, context.now) };
  checkValidity(after);
  return revised(before, {
    ...after,
    // Votes are about the old content: a new content starts without them.
    usefulness:
      normalisedContent(after.content) === normalisedContent(before.content)
        ? before.usefulness
        : INITIAL.usefulness,
    importanceSource: changed.importance === undefined ? before.importanceSource : 'caller',
    updatedAt: Math.max(before.updatedAt, Math.min(said, context.now)),
  });
}

/**
 * Returns `after` as the next revision of `before`, with the time of the last change of the text. `before` must have
 * its full text.
 */
export function revised(before: MemoryRecord, after: MemoryRecord): MemoryRecord {
  const isSame = searchableText(after) === searchableText(before);
  return {
    ...after,
    textChangedAt: isSame ? (textChangeOf(before) ?? before.createdAt) : after.updatedAt,
    revisionCount: before.revisionCount + 1,
  };
}

/** Makes a record from an exported memory. The input is checked like a new one; all other fields are kept. */
export function importedRecord(exported: Memory, limits: TextLimits): MemoryRecord {
  if (!isPlain(exported))
    throw invalidArgument('memory', `expected an exported memory, not ${describe(exported)}`);
  const memory = withPresentNames(exported);
  onlyKeys(memory, EXPORT_KEYS, 'memory');
  if (memory.createdAt === undefined)
    throw invalidArgument('createdAt', 'an exported memory has one; remember new ones instead');
  const given = Object.fromEntries(INPUT_KEYS.map((key) => [key, memory[key as keyof Memory]]));
  const base = newRecord(given as unknown as RememberInput, {
    now: Infinity,
    newId: () => memory.id,
    limits,
    summaries: true,
  });
  return {
    ...base,
    // A real export has an `ordinal` and names `bornIn` if there was one: its `sessionId` may be that of a later
    // session. Any other input was made in the session that it names.
    bornIn: memory.ordinal === undefined ? base.bornIn : undefined,
    ...checkedFields({ ...memory }, ENGINE_FIELDS, limits),
  };
}

/**
 * Returns a record as callers see it. `superseded` says whether another memory has replaced it; a consolidated memory
 * always counts as superseded.
 */
export function toMemory(record: MemoryRecord, space: string, superseded: boolean): Memory {
  const { weight, relations, consolidatedAt } = record;
  const memory: Record<string, unknown> = {
    ...UNKNOWN,
    ...record,
    relations: relations?.map(shownRelation),
    space,
    effectiveWeight:
      superseded || consolidatedAt !== undefined ? Math.min(weight, SUPERSEDED_WEIGHT) : weight,
  };
  // Most memories were never updated, so consecutive times are often equal: each is formatted once.
  let [last, text]: [Instant | undefined, string | undefined] = [undefined, undefined];
  for (const name of INSTANT_FIELDS) {
    const at = record[name];
    if (at !== last) [last, text] = [at, at === undefined ? undefined : formatInstant(at)];
    memory[name] = text;
  }
  // Lists and objects are copied: callers may change what they get, and the record may be cached.
  for (const name of COMPOSED_FIELDS) memory[name] = copied(record[name]);
  return memory as unknown as Memory;
}

const COMPOSED_FIELDS = FIELD_NAMES.filter((name) =>
  ['texts', 'names', 'metadata'].includes((FIELDS[name] as Field).kind),
);

function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.length === 0 ? [] : value.map(copied);
  const entries = Object.entries(value);
  return entries.length === 0 ? {} : Object.fromEntries(entries.map(([key, each]) => [key, copied(each)]));
}

/**
 * Every field of a {@link Memory}, in order. Adding fields to a copy would give each object a hidden class of its own,
 * which takes ten times as long as the copy and holds memory until the next full garbage collection.
 */
const UNKNOWN = Object.fromEntries(
  [...FIELD_NAMES, 'space', 'effectiveWeight'].map((name) => [name, undefined]),
);

/** Returns the text that is searched by words: title, content and tags. */
export function searchableText(memory: Pick<MemoryRecord, 'title' | 'content' | 'tags'>): string {
  if (memory.title === undefined && memory.tags.length === 0) return memory.content;
  return [memory.title, memory.content, ...memory.tags].filter((part) => part !== undefined).join('\n');
}

function refuseSummary(type: string | undefined): void {
  if (type !== 'summary') return;
  throw invalidArgument(
    'type',
    'summaries are written by sessions: use saveSummary or endSession, or another type',
  );
}

/** Returns the field that a time to live sets: `validUntil` for transient types, `expiresAt` for all others. */
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

function checkValidity({ validFrom, validUntil }: Pick<MemoryRecord, 'validFrom' | 'validUntil'>): void {
  if (validFrom !== undefined && validUntil !== undefined && validFrom > validUntil)
    throw invalidArgument('validUntil', 'it lies before validFrom');
}
