import { SalienceError } from '../domain/errors.ts';
import { CHANGE_FIELDS, type ChangeField, FIELDS, isClearable } from '../domain/fields.ts';
import { addTo } from '../domain/lists.ts';
import type { Metadata } from '../domain/memory.ts';
import { redactMetadata, redactPrivate } from '../domain/redaction.ts';
import { parseRelations, shownRelation } from '../domain/relation.ts';
import { GLOBAL_SCOPE } from '../domain/scope.ts';
import { formatInstant, parseInstant } from '../domain/time.ts';
import type { Memory, MemoryChanges, MemoryEngine, RememberInput } from '../index.ts';
import type { ImportItem } from './item.ts';

export type Usable = Extract<ImportItem, { kind: 'statement' | 'record' }>;
type Statement = Extract<ImportItem, { kind: 'statement' }>;

/** What the space knows of an item. */
export interface Known {
  readonly existing: Memory;
  /** What to change for it to say what the item says; `undefined` when it does, or says something newer. */
  readonly changes: MemoryChanges | undefined;
  /** Why the item no longer holds, where the space does not know that. */
  readonly invalidation: { readonly reason: string; readonly isOlder: boolean } | undefined;
  /** Whether the item says something else and is no newer: which one holds is for people to say. */
  readonly differs: boolean;
  /** Whether it is what is believed about the topic of the item, which the engine then replaces. */
  readonly byTopic: boolean;
  /** Whether the item says what was believed about the topic before. */
  readonly outdated: boolean;
  /** When the item was said; `Infinity` where the source does not tell: then it is said now. */
  readonly said: number;
}

export function idOf(item: Usable): string {
  return item.kind === 'statement' ? item.input.id : item.memory.id;
}

/** The topic of a statement in its scope, for comparisons. */
function topicOf(item: Usable): string | undefined {
  if (item.kind !== 'statement') return undefined;
  const { topicKey, scope = GLOBAL_SCOPE } = item.input;
  // What a line of JSON holds is checked by the engine, later.
  if (typeof topicKey !== 'string' || topicKey.trim() === '') return undefined;
  return JSON.stringify([scope, redactPrivate(topicKey)]);
}

/**
 * The items in the order in which they were said, where that matters: of those about one topic the newest comes last,
 * because each takes the place of the one before. `last` are those that nothing in the list takes the place of.
 */
export function inOrder(items: readonly Usable[]): {
  readonly ordered: readonly Usable[];
  readonly last: ReadonlySet<Usable>;
} {
  const topics = new Map<string, Usable[]>();
  for (const item of items) {
    const topic = topicOf(item);
    if (topic !== undefined) addTo(topics, topic, item);
  }
  const groups = items.flatMap((item): (readonly Usable[])[] => {
    const topic = topicOf(item);
    if (topic === undefined) return [[item]];
    const group = topics.get(topic) ?? [];
    topics.delete(topic);
    // What is not dated is said now.
    return [group.toSorted((a, b) => (saidAt(a) ?? Number.MAX_VALUE) - (saidAt(b) ?? Number.MAX_VALUE))];
  });
  return { ordered: groups.flat(), last: new Set(groups.flatMap((group) => group.at(-1) ?? [])) };
}

/**
 * The memory of an item: of its id, or else what is believed about its topic. `undefined` for what is new. Throws what is
 * wrong with the item.
 */
export async function knownAs(
  memory: MemoryEngine,
  item: Usable,
  isLast: boolean,
): Promise<Known | undefined> {
  const byId = await memory.get(idOf(item));
  const about = item.kind === 'statement' ? await believedAbout(memory, item) : undefined;
  const existing = byId ?? about;
  if (!existing) return undefined;
  const byTopic = existing.id === about?.id;
  const at = saidAt(item);
  const outdated = byTopic && (!isLast || (at !== undefined && at < parseInstant(existing.updatedAt)));
  const changes = outdated ? undefined : changesOf(existing, item);
  const invalidation = invalidationOf(existing, item);
  const isOlder = changes !== undefined && !isNewer(existing, item);
  const said = (byTopic ? at : changedAt(item)) ?? Number.POSITIVE_INFINITY;
  const differs = isOlder || invalidation?.isOlder === true;
  return { existing, byTopic, outdated, changes, invalidation, differs, said };
}

/** Whether it was said later than what is known. What does not tell when is said now. */
function isNewer(existing: Memory, item: Usable): boolean {
  const said = changedAt(item);
  if (said === undefined) return true;
  const known = parseInstant(existing.updatedAt);
  // Another product changes records within one moment, and says so by what is in them.
  return item.kind === 'record' ? said > known : said >= known;
}

/** `undefined` when the source does not tell, or not in a way that can be read. */
function changedAt(item: Usable): number | undefined {
  const { updatedAt } = item.kind === 'record' ? item.memory : item.input;
  if (updatedAt === undefined) return undefined;
  try {
    return parseInstant(updatedAt);
  } catch {
    return undefined;
  }
}

/** The invalidation that an export has, and the space does not. Throws `invalid_time`. */
function invalidationOf(existing: Memory, item: Usable): Known['invalidation'] {
  if (item.kind !== 'record' || existing.invalidatedAt !== undefined) return undefined;
  const { invalidatedAt, invalidReason: reason = 'imported as invalidated' } = item.memory;
  if (invalidatedAt === undefined) return undefined;
  // An invalidation leaves the time of the last change as it was.
  return { reason, isOlder: parseInstant(invalidatedAt, 'invalidatedAt') < parseInstant(existing.updatedAt) };
}

async function believedAbout(memory: MemoryEngine, item: Statement): Promise<Memory | undefined> {
  const topic = topicOf(item);
  const { topicKey, scope } = item.input;
  if (topic === undefined || topicKey === undefined) return undefined;
  try {
    const beliefs = await memory.beliefs(topicKey, { scope: scope ?? GLOBAL_SCOPE });
    const current = beliefs.filter(
      (each) =>
        (each.believed || each.because === 'not-yet-valid') &&
        JSON.stringify([each.memory.scope, each.memory.topicKey]) === topic,
    );
    return current.at(-1)?.memory;
  } catch (error) {
    // A scope that is none: the engine says so when the item is written.
    if (SalienceError.isInstance(error) && error.code === 'invalid_scope') return undefined;
    throw error;
  }
}

/**
 * When a statement was said last. `undefined` when the source does not tell, or not in a way that can be read.
 */
function saidAt(item: Usable): number | undefined {
  if (item.kind !== 'statement') return undefined;
  const { updatedAt, createdAt = updatedAt } = item.input;
  if (createdAt === undefined) return undefined;
  try {
    return Math.max(parseInstant(createdAt), parseInstant(updatedAt ?? createdAt));
  } catch {
    return undefined;
  }
}

/**
 * What an item may change. A statement does not say where it lies, which a line more before it changes, nor all that it
 * relates: links of its source are added to that.
 */
const changeable = {
  record: CHANGE_FIELDS,
  statement: CHANGE_FIELDS.filter((field) => field !== 'sourceRef' && field !== 'relations'),
};

/** What an item says that the memory does not; `undefined` for nothing. */
function changesOf(existing: Memory, item: Usable): MemoryChanges | undefined {
  const input: Partial<RememberInput> = item.kind === 'statement' ? inputOf(item, existing) : item.memory;
  const fields = changeable[item.kind];
  const given = fields.filter((field) => input[field] !== undefined);
  // As the engine keeps it: what is private never reached the store.
  const said = redactMetadata(
    Object.fromEntries(given.map((field) => [field, asKept(field, input[field])])) as Metadata,
  );
  const changed = given.filter((field) => JSON.stringify(said[field]) !== JSON.stringify(existing[field]));
  const changes = Object.fromEntries(changed.map((field) => [field, said[field]]));
  // An export has every field that there is: what it lacks was taken away.
  const cleared =
    item.kind === 'record'
      ? fields.filter(
          (field) => input[field] === undefined && existing[field] !== undefined && isClearable(field),
        )
      : [];
  for (const field of cleared) changes[field] = null;
  if (changed.length + cleared.length === 0) return undefined;
  // What the source says next must be newer than this, and not than the moment of the import.
  return input.updatedAt === undefined ? changes : { ...changes, updatedAt: input.updatedAt };
}

/** What a statement says, in the words that it was given where another memory had its own. */
function inputOf({ input, apart }: Statement, { content }: Memory): Partial<RememberInput> {
  return content === apart ? { ...input, content } : input;
}

/** Times and relations as memories show them. What is none the engine refuses later. */
function asKept(field: ChangeField, value: unknown): unknown {
  const { kind } = FIELDS[field];
  try {
    if (kind === 'relations') return parseRelations(value, field).map(shownRelation);
    if (kind !== 'instant') return value;
    return formatInstant(parseInstant(value as string | Date));
  } catch {
    return value;
  }
}
