import { SalienceError } from '../domain/errors.ts';
import type { Metadata } from '../domain/memory.ts';
import { redactMetadata, redactPrivate } from '../domain/redaction.ts';
import { GLOBAL_SCOPE } from '../domain/scope.ts';
import { parseInstant } from '../domain/time.ts';
import type { Memory, MemoryChanges, MemoryEngine, RememberInput } from '../index.ts';
import type { ImportItem } from './item.ts';

export type Usable = Extract<ImportItem, { kind: 'statement' | 'record' }>;
type Statement = Extract<ImportItem, { kind: 'statement' }>;

/** What the space knows of an item. */
export interface Known {
  readonly existing: Memory;
  /** What to change for it to say what the item says; `undefined` when it does, or says something newer. */
  readonly changes: MemoryChanges | undefined;
  /** Whether the item is an export that says something else and is no newer: which one holds is for people to say. */
  readonly differs: boolean;
  /** Whether it is what is believed about the topic of the item, which the engine then replaces. */
  readonly byTopic: boolean;
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
    if (topic !== undefined) topics.set(topic, [...(topics.get(topic) ?? []), item]);
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

/** The memory of an item: of its id, or else what is believed about its topic. `undefined` for what is new. */
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
  const isNewer =
    item.kind !== 'record' || Date.parse(item.memory.updatedAt) > Date.parse(existing.updatedAt);
  return { existing, byTopic, changes, differs: changes !== undefined && !isNewer };
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
 * When a statement was said last. `undefined` when the source does not tell, or not in a way that can be read: what has
 * no `createdAt` is as old as its import.
 */
function saidAt(item: Usable): number | undefined {
  if (item.kind !== 'statement') return undefined;
  const { createdAt, updatedAt = createdAt } = item.input;
  if (createdAt === undefined || updatedAt === undefined) return undefined;
  try {
    return Math.max(parseInstant(createdAt), parseInstant(updatedAt));
  } catch {
    return undefined;
  }
}

const changeable = [
  'content',
  'title',
  'type',
  'scope',
  'tags',
  'metadata',
  'topicKey',
  'aliases',
  'kind',
  'author',
  'role',
  'importance',
  'confidence',
  'weight',
] as const satisfies readonly (keyof MemoryChanges & keyof RememberInput)[];

/** What an item says that the memory does not; `undefined` for nothing. */
function changesOf(existing: Memory, item: Usable): MemoryChanges | undefined {
  const input = item.kind === 'statement' ? item.input : item.memory;
  const given = changeable.filter((field) => input[field] !== undefined);
  // As the engine keeps it: what is private never reached the store.
  const said = redactMetadata(Object.fromEntries(given.map((field) => [field, input[field]])) as Metadata);
  const changed = given.filter((field) => JSON.stringify(said[field]) !== JSON.stringify(existing[field]));
  return changed.length === 0 ? undefined : Object.fromEntries(changed.map((field) => [field, said[field]]));
}
