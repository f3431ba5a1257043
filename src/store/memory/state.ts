import type { MemoryRecord } from '../../model/memory.ts';
import { saysElse } from '../comparison.ts';
import { type Derivation, deriveWith } from '../derived.ts';
import { cannotUndo, memoryExists, missingMemory, type UndoProblem } from '../faults.ts';
import { checkedLink, linkKey, orderedEnds } from '../links.ts';
import type { SearchableMemory } from '../naive-search.ts';
import type {
  Change,
  Decision,
  IndexedText,
  Link,
  LinkChange,
  MemoryEvent,
  NewUsage,
  SimilarPair,
  Usage,
  UseDecision,
  WriteEntry,
} from '../store.ts';
import { checkUsed, DYNAMICS } from '../using.ts';

/** Everything that a space holds. A write makes a new one; nothing in it is ever changed. */
export interface State extends Derivation {
  readonly memories: ReadonlyMap<string, SearchableMemory>;
  readonly events: readonly MemoryEvent[];
  /** The stored ones, by {@link linkKey}. */
  readonly links: ReadonlyMap<string, Link>;
  readonly usages: readonly Usage[];
  /** Similar pairs, by their ends, in the order of the queue. */
  readonly pairs: ReadonlyMap<string, KnownPair>;
  /** The ids of the memories that were compared with the others. */
  readonly compared: ReadonlySet<string>;
}

export interface KnownPair extends SimilarPair {
  readonly settled: boolean;
}

export const emptyState: State = {
  memories: new Map(),
  events: [],
  links: new Map(),
  usages: [],
  pairs: new Map(),
  compared: new Set(),
  embedding: undefined,
  analyzer: undefined,
};

export function lastSequence(state: State): number {
  return state.events.at(-1)?.sequence ?? 0;
}

/** The state after one operation. Throws what the port promises, and `state` is as before. */
export function afterWrite(state: State, entry: WriteEntry, decision: Decision<unknown>): State {
  if (entry.undoes !== undefined) {
    const problem = problemOfUndoing(state, entry.undoes);
    if (problem) throw cannotUndo(entry.undoes, problem);
  }
  const derivation = deriveWith(state, decision);
  const memories = new Map(state.memories);
  const links = new Map(state.links);
  const pairs = new Map(state.pairs);
  const compared = new Set(state.compared);
  const forgetComparison = (id: string) => {
    compared.delete(id);
    for (const [key, { ids }] of pairs) if (ids.includes(id)) pairs.delete(key);
  };
  let events = [...state.events];
  let { usages } = state;
  const operation = lastSequence(state) + 1;
  const at = Math.max(entry.at, state.events.at(-1)?.at ?? entry.at);
  const log = (event: Pick<MemoryEvent, 'memoryId' | 'before' | 'redacted' | 'link'>) => {
    const sequence = (events.at(-1)?.sequence ?? 0) + 1;
    events.push({ ...event, sequence, operation, at, verb: entry.verb, undoes: entry.undoes });
  };
  for (const change of decision.changes) {
    if (change.kind === 'link' || change.kind === 'unlink') {
      const changed =
        change.kind === 'link' ? [setLink(memories, links, change.link)] : removeLinks(links, change);
      for (const link of changed)
        log({ memoryId: link.link.ids[0], before: undefined, redacted: false, link });
      continue;
    }
    if (change.kind === 'queue-pair') {
      queuePair(memories, pairs, change.pair);
      continue;
    }
    if (change.kind === 'settle-pair') {
      const key = pairKey(change.ids);
      const pair = pairs.get(key);
      if (pair) pairs.set(key, { ...pair, settled: true });
      continue;
    }
    if (change.kind === 'compared') {
      for (const id of change.ids) if (memories.has(id)) compared.add(id);
      continue;
    }
    const memoryId = 'memory' in change ? change.memory.id : change.id;
    const before = memories.get(memoryId);
    checkExistence(change, memoryId, before !== undefined, events);
    const redacted = change.kind === 'redact';
    log({ memoryId, before: redacted ? undefined : before?.memory, redacted, link: undefined });
    if (redacted) {
      events = events.map((event) =>
        event.memoryId === memoryId || event.link?.link.ids.includes(memoryId)
          ? { ...event, before: undefined, link: undefined, redacted: true }
          : event,
      );
      usages = usages.map((usage) => ({ ...usage, used: usage.used.filter(({ id }) => id !== memoryId) }));
    }
    if (change.kind === 'remove' || change.kind === 'redact') {
      memories.delete(memoryId);
      for (const [key, { ids }] of links) if (ids.includes(memoryId)) links.delete(key);
      forgetComparison(memoryId);
    } else {
      memories.set(memoryId, stored(change.memory, change.indexed ?? (before as SearchableMemory)));
      if (before && saysElse(before.memory, change.memory)) forgetComparison(memoryId);
    }
  }
  return { memories, events, links, usages, pairs, compared, ...derivation };
}

/** The state after one use. */
export function afterUse(state: State, usage: NewUsage, decision: UseDecision): State {
  checkUsed(usage, decision);
  const memories = new Map(state.memories);
  for (const decided of decision.memories) {
    const present = memories.get(decided.id);
    if (!present) continue;
    const dynamics = Object.fromEntries(DYNAMICS.map((name) => [name, decided[name]]));
    memories.set(decided.id, stored({ ...present.memory, ...dynamics }, present));
  }
  const links = new Map(state.links);
  for (const given of decision.links) {
    const link = checkedLink(given);
    if (link.ids.every((id) => memories.has(id))) links.set(linkKey(link), deepFreeze(link));
  }
  const last = state.usages.at(-1);
  const row: Usage = {
    ...usage,
    sequence: (last?.sequence ?? 0) + 1,
    at: Math.max(usage.at, last?.at ?? usage.at),
    used: usage.used.filter(({ id }) => memories.has(id)),
  };
  return { ...state, memories, links, usages: [...state.usages, deepFreeze(structuredClone(row))] };
}

function setLink(
  memories: ReadonlyMap<string, SearchableMemory>,
  links: Map<string, Link>,
  given: Link,
): LinkChange {
  const link = checkedLink(given);
  const missing = link.ids.find((id) => !memories.has(id));
  if (missing !== undefined) throw missingMemory(missing);
  const key = linkKey(link);
  const before = links.get(key);
  links.set(key, deepFreeze(link));
  return changeOf(link, before);
}

function queuePair(
  memories: ReadonlyMap<string, SearchableMemory>,
  pairs: Map<string, KnownPair>,
  { ids: given, similarity, at }: SimilarPair,
): void {
  const ids = orderedEnds(given);
  const missing = ids.find((id) => !memories.has(id));
  if (missing !== undefined) throw missingMemory(missing);
  const key = pairKey(ids);
  if (!pairs.has(key)) pairs.set(key, { ids, similarity, at, settled: false });
}

function pairKey(ids: readonly [string, string]): string {
  return JSON.stringify(orderedEnds(ids));
}

function removeLinks(
  links: Map<string, Link>,
  { ids, kinds }: Extract<Change, { kind: 'unlink' }>,
): readonly LinkChange[] {
  const [a, b] = orderedEnds(ids);
  return [...links]
    .filter(([, link]) => link.ids[0] === a && link.ids[1] === b && (kinds?.includes(link.kind) ?? true))
    .sort(([, left], [, right]) => (left.kind < right.kind ? -1 : 1))
    .map(([key, link]) => {
      links.delete(key);
      return changeOf(link, link);
    });
}

function changeOf({ ids, kind }: Link, before: Link | undefined): LinkChange {
  return { link: { ids, kind }, before: before && { weight: before.weight, at: before.at } };
}

/** The events of the latest operation that can still be undone. */
export function undoableOperation(state: State): readonly MemoryEvent[] {
  const operations = [...new Set(state.events.map((event) => event.operation))].reverse();
  const found = operations.find((operation) => problemOfUndoing(state, operation) === undefined);
  return found === undefined ? [] : state.events.filter((event) => event.operation === found);
}

function problemOfUndoing(state: State, operation: number): UndoProblem | undefined {
  const events = state.events.filter((event) => event.operation === operation);
  if (events.length === 0) return 'unknown';
  if (events.some((event) => event.verb === 'undo')) return 'undo';
  if (events.some((event) => event.redacted)) return 'redacted';
  if (state.events.some((event) => event.undoes === operation)) return 'undone';
  return undefined;
}

function checkExistence(
  change: Extract<Change, { kind: 'insert' | 'replace' | 'remove' | 'redact' }>,
  id: string,
  exists: boolean,
  events: readonly MemoryEvent[],
): void {
  if (change.kind === 'insert') {
    if (exists) throw memoryExists(id);
    return;
  }
  // What was removed before is still in the log, and can be forgotten there.
  const inLog = change.kind === 'redact' && events.some((event) => event.memoryId === id);
  if (!exists && !inLog) throw missingMemory(id);
}

/** A copy that no caller can reach to change. */
export function stored(memory: MemoryRecord, indexed: IndexedText): SearchableMemory {
  return {
    memory: deepFreeze(structuredClone(memory)),
    terms: new Map(indexed.terms),
    vector: indexed.vector && new Float32Array(indexed.vector),
  };
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
