import { SalienceError } from '../domain/errors.ts';
import { CHANGE_FIELDS, type ChangeField, FIELDS, isClearable } from '../domain/fields.ts';
import { addTo } from '../domain/lists.ts';
import type { JsonValue, Metadata } from '../domain/memory.ts';
import { redactMetadata, redactPrivate } from '../domain/redaction.ts';
import { parseRelations, type Relation, shownRelation } from '../domain/relation.ts';
import { GLOBAL_SCOPE } from '../domain/scope.ts';
import { formatInstant, parseInstant } from '../domain/time.ts';
import type { Memory, MemoryChanges, MemoryEngine, RememberInput } from '../index.ts';
import type { ImportItem } from './item.ts';

export type Usable = Extract<ImportItem, { kind: 'statement' | 'record' }>;
type Statement = Extract<ImportItem, { kind: 'statement' }>;

/** How an item compares to the memory that the space has for it. */
export interface Known {
  readonly existing: Memory;
  /**
   * The changes that make `existing` say what the item says; `undefined` if it does already or the item is `outdated`.
   */
  readonly changes: MemoryChanges | undefined;
  /**
   * The invalidation of an exported memory, if `existing` is not invalidated. `isOlder`: it predates the last change.
   */
  readonly invalidation: { readonly reason: string; readonly isOlder: boolean } | undefined;
  /** Whether the item differs and is not newer, so that a person must decide which one is correct. */
  readonly differs: boolean;
  /** Whether `existing` is the current belief about the item's topic, which the engine replaces by itself. */
  readonly byTopic: boolean;
  /** Whether the item is an earlier statement of its topic than `existing`, or not the last one in its batch. */
  readonly outdated: boolean;
  /** When the item was said; `Infinity` if the source does not tell, which counts as now. */
  readonly said: number;
}

export function idOf(item: Usable): string {
  return item.kind === 'statement' ? item.input.id : item.memory.id;
}

/** Returns a key of the scope and topic of a statement, for comparisons; `undefined` if it has no topic. */
function topicOf(item: Usable): string | undefined {
  if (item.kind !== 'statement') return undefined;
  const { topicKey, scope = GLOBAL_SCOPE } = item.input;
  // A line of JSON may hold any value here. The engine checks it later.
  if (typeof topicKey !== 'string' || topicKey.trim() === '') return undefined;
  return JSON.stringify([scope, redactPrivate(topicKey)]);
}

/**
 * Groups the items of each topic and sorts them by time, because each one replaces the one before. `last` holds the
 * items that no other item of the list replaces.
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
    // An item without a date counts as said now.
    return [group.toSorted((a, b) => (saidAt(a) ?? Number.MAX_VALUE) - (saidAt(b) ?? Number.MAX_VALUE))];
  });
  return { ordered: groups.flat(), last: new Set(groups.flatMap((group) => group.at(-1) ?? [])) };
}

/**
 * Finds the memory of an item: the one with its id, or else the current belief about its topic. Resolves with
 * `undefined` for a new item. Throws the engine's error for an item that is invalid.
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

/** Whether the item was changed after `existing`. An item without a date counts as changed now. */
function isNewer(existing: Memory, item: Usable): boolean {
  const said = changedAt(item);
  if (said === undefined) return true;
  const known = parseInstant(existing.updatedAt);
  // Other systems may change a record twice within one instant, so a statement with the same time counts as newer.
  return item.kind === 'record' ? said > known : said >= known;
}

/**
 * Returns when the item was changed last; `Infinity` if the source has no such time, which counts as now; `undefined` for
 * an unreadable time.
 */
export function lastSaid(item: Usable): number | undefined {
  const { updatedAt } = item.kind === 'record' ? item.memory : item.input;
  return updatedAt === undefined ? Number.POSITIVE_INFINITY : changedAt(item);
}

/** Returns when the item was changed last; `undefined` if the source has no such time or an unreadable one. */
function changedAt(item: Usable): number | undefined {
  const { updatedAt } = item.kind === 'record' ? item.memory : item.input;
  if (updatedAt === undefined) return undefined;
  try {
    return parseInstant(updatedAt);
  } catch {
    return undefined;
  }
}

/** Returns the invalidation of an exported memory that `existing` does not have. Throws `invalid_time`. */
function invalidationOf(existing: Memory, item: Usable): Known['invalidation'] {
  if (item.kind !== 'record' || existing.invalidatedAt !== undefined) return undefined;
  const { invalidatedAt, invalidReason: reason = 'imported as invalidated' } = item.memory;
  if (invalidatedAt === undefined) return undefined;
  // Invalidating a memory does not change its `updatedAt`.
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
    // The engine reports an invalid scope when the item is written.
    if (SalienceError.isInstance(error) && error.code === 'invalid_scope') return undefined;
    throw error;
  }
}

/**
 * Returns the later of `createdAt` and `updatedAt` of a statement; `undefined` if there is no `createdAt` or
 * `updatedAt`.
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
 * The fields that an item may change. A statement does not change `sourceRef`, which moves with every line inserted
 * above it.
 */
const changeable = {
  record: CHANGE_FIELDS,
  statement: CHANGE_FIELDS.filter((field) => field !== 'sourceRef'),
};

/** Returns the changes that make `existing` say what the item says; `undefined` if there are none. */
function changesOf(existing: Memory, item: Usable): MemoryChanges | undefined {
  const input: Partial<RememberInput> = item.kind === 'statement' ? inputOf(item, existing) : item.memory;
  const fields = changeable[item.kind];
  const given = fields.filter((field) => input[field] !== undefined);
  // Compared in the form that the engine stores: with private passages redacted.
  const said = redactMetadata(
    Object.fromEntries(given.map((field) => [field, asKept(field, input[field])])) as Metadata,
  );
  const isLater = (changedAt(item) ?? 0) > parseInstant(existing.updatedAt);
  const changed = given.filter((field) =>
    field === 'relations' && item.kind === 'statement' && !isLater
      ? !includesRelations(existing.relations, said[field])
      : JSON.stringify(said[field]) !== JSON.stringify(existing[field]),
  );
  const changes = Object.fromEntries(changed.map((field) => [field, said[field]]));
  // An exported memory has all its fields, so a missing field was removed.
  const cleared =
    item.kind === 'record'
      ? fields.filter(
          (field) => input[field] === undefined && existing[field] !== undefined && isClearable(field),
        )
      : [];
  for (const field of cleared) changes[field] = null;
  // Of another system's record, a missing field was removed if the record was changed after the memory.
  const removed = item.kind === 'statement' && isLater ? removedFrom(existing, item) : {};
  Object.assign(changes, removed);
  if (Object.keys(changes).length === 0) return undefined;
  // With the source's own time, its next change counts as newer. With the time of the import it might not.
  return input.updatedAt === undefined ? changes : { ...changes, updatedAt: input.updatedAt };
}

/** Returns the fields of `existing` that the source of `item` can tell but no longer does, with empty values. */
function removedFrom(existing: Memory, { input, tells = [] }: Statement): Record<string, JsonValue> {
  return Object.fromEntries(
    changeable.statement.flatMap((field): (readonly [string, JsonValue])[] => {
      if (!tells.includes(field) || input[field] !== undefined) return [];
      const empty = isClearable(field) ? null : field === 'tags' ? [] : undefined;
      const has = existing[field] !== undefined && JSON.stringify(existing[field]) !== '[]';
      return has && empty !== undefined ? [[field, empty]] : [];
    }),
  );
}

/**
 * Whether a memory states all of these relations, in the form of a stored memory. It may state others, and a relation
 * may have ended since.
 */
function includesRelations(stated: readonly Relation[] = [], given: unknown): boolean {
  if (!Array.isArray(given)) return false;
  return given.every((one: object) =>
    stated.some((each) => {
      const shown: object = 'validUntil' in one ? each : { ...each, validUntil: undefined };
      return JSON.stringify(shown) === JSON.stringify(one);
    }),
  );
}

/** Returns the input of a statement, with `apart` as its content if the memory was stored with that. */
function inputOf({ input, apart }: Statement, { content }: Memory): Partial<RememberInput> {
  return content === apart ? { ...input, content } : input;
}

/** Returns a time or relations in the form of a stored memory. Invalid values stay, for the engine to refuse later. */
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
