import { deepFreeze } from '../domain/frozen.ts';
import { isReplacedBy, isStillEnded } from './belief-state.ts';
import { textChanged } from './comparison.ts';
import { deriveWith } from './derived.ts';
import { cannotUndo, memoryExists, missingMemory } from './faults.ts';
import { checkedLink, linkKey, orderedEnds } from './links.ts';
import { names, recordingWithout } from './recording.ts';
import {
  buriedKey,
  type KeptPair,
  lastSequence,
  problemOfUndoing,
  type SearchableMemory,
  type State,
  stored,
  WAITING,
} from './state.ts';
import type {
  Change,
  Decision,
  Link,
  LinkChange,
  MemoryEvent,
  NewPair,
  NewUsage,
  Usage,
  UseBefore,
  UseDecision,
  WriteEntry,
} from './store.ts';
import { checkUsed, dynamicsOf, usageWithout } from './using.ts';

/** Applies one operation and returns the new state. Throws the errors of `SpaceCore.write`; `state` is never changed. */
export function afterWrite(state: State, entry: WriteEntry, decision: Decision<unknown>): State {
  if (entry.undoes !== undefined) {
    const problem = problemOfUndoing(state, entry.undoes, entry.partly);
    if (problem) throw cannotUndo(entry.undoes, problem);
  }
  const derivation = deriveWith(state, decision);
  const memories = new Map(state.memories);
  const links = new Map(state.links);
  const pairs = new Map(state.pairs);
  const compared = new Set(state.compared);
  const sessions = new Map(state.sessions);
  const tombstones = new Map(state.tombstones);
  let { usages, lastPair, lastOrdinal, votes, recordings } = state;
  let events = [...state.events];
  const operation = lastSequence(state) + 1;
  const at = Math.max(entry.at, state.events.at(-1)?.at ?? entry.at);
  const end = { endedAt: at, endedBy: operation };
  /** The sequence of the redaction event of each forgotten id. Later events of the same id are not redacted. */
  const redactions = new Map<string, number>();
  const forgetComparison = (id: string) => {
    compared.delete(id);
    for (const [sequence, pair] of pairs) {
      if (!pair.dropped && concerns(pair, id))
        pairs.set(sequence, { ...(pair.endedAt === undefined ? { ...pair, ...end } : pair), dropped: true });
    }
  };
  const queue = (pair: NewPair) => {
    const known = knownPair(memories, pairs, pair);
    if (known && !isReplacedBy(known, pair)) return;
    if (known) pairs.set(known.sequence, { ...known, dropped: true, endedAt: at });
    lastPair++;
    const { older, newer, kind, similarity } = pair;
    pairs.set(lastPair, { older, newer, kind, similarity, sequence: lastPair, at, attempts: 0, ...WAITING });
  };
  const log = (
    event: Pick<MemoryEvent, 'memoryId' | 'before' | 'redacted' | 'link'> &
      Partial<Pick<MemoryEvent, 'settings'>>,
  ) => {
    const sequence = (events.at(-1)?.sequence ?? 0) + 1;
    const { verb, undoes, run } = entry;
    events.push({ settings: undefined, ...event, sequence, operation, at, verb, undoes, run });
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
      queue(change.pair);
      continue;
    }
    if (change.kind === 'attempt-pairs') {
      for (const sequence of change.sequences) {
        const pair = pairs.get(sequence);
        if (pair) pairs.set(sequence, { ...pair, attempts: pair.attempts + 1 });
      }
      continue;
    }
    if (change.kind === 'settle-pair') {
      const pair = pairs.get(change.sequence);
      if (pair && pair.endedAt === undefined)
        pairs.set(change.sequence, { ...pair, resolution: change.resolution, ...end });
      continue;
    }
    if (change.kind === 'requeue-pairs') {
      for (const [sequence, pair] of [...pairs]) {
        if (pair.endedBy !== change.operation || ![pair.older, pair.newer].every((id) => memories.has(id)))
          continue;
        if (isStillEnded(pair, change.unchanged)) continue;
        pairs.set(sequence, { ...pair, dropped: true });
        queue(pair);
      }
      continue;
    }
    if (change.kind === 'session') {
      sessions.set(change.session.id, deepFreeze(structuredClone(change.session)));
      continue;
    }
    if (change.kind === 'add-tombstone') {
      tombstones.set(buriedKey(change.statement), deepFreeze({ ...change.tombstone }));
      continue;
    }
    if (change.kind === 'remove-tombstone') {
      tombstones.delete(buriedKey(change.statement));
      continue;
    }
    if (change.kind === 'vote') {
      votes = [...votes, { ...change.vote, memoryId: change.id, operation }];
      continue;
    }
    if (change.kind === 'withdraw-votes') {
      votes = votes.filter((vote) => vote.operation !== change.operation);
      continue;
    }
    if (change.kind === 'compared') {
      for (const id of change.ids) if (memories.has(id)) compared.add(id);
      continue;
    }
    const memoryId = 'memory' in change ? change.memory.id : change.id;
    const before = memories.get(memoryId);
    checkExistence(change, memoryId, before !== undefined, events);
    const attached = [...links.values()].filter((link) => link.ids.includes(memoryId));
    if (change.kind === 'remove') {
      for (const link of attached.sort((a, b) => (linkKey(a) < linkKey(b) ? -1 : 1))) {
        log({ memoryId: link.ids[0], before: undefined, redacted: false, link: changeOf(link, link) });
      }
    }
    const redacted = change.kind === 'redact';
    log({ memoryId, before: redacted ? undefined : before?.memory, redacted, link: undefined });
    if (redacted) {
      redactions.set(memoryId, lastSequence({ events }));
      votes = votes.filter((vote) => vote.memoryId !== memoryId);
      for (const [sequence, pair] of pairs) if (concerns(pair, memoryId)) pairs.delete(sequence);
    }
    if (change.kind === 'remove' || change.kind === 'redact') {
      memories.delete(memoryId);
      for (const link of attached) links.delete(linkKey(link));
      forgetComparison(memoryId);
    } else {
      let { memory } = change;
      const ordinal = before?.memory.ordinal || memory.ordinal || lastOrdinal + 1;
      lastOrdinal = Math.max(lastOrdinal, ordinal);
      memory = { ...memory, ordinal };
      memories.set(memoryId, stored(memory, change.indexed ?? (before as SearchableMemory)));
      if (before && textChanged(before.memory, change.memory)) forgetComparison(memoryId);
    }
  }
  if (redactions.size > 0) {
    const forgotten = new Set(redactions.keys());
    usages = usages.map((usage) => usageWithout(usage, forgotten));
    recordings = recordings.map((each) =>
      names(each, forgotten) ? recordingWithout(each, forgotten) : each,
    );
    events = events.map((event) =>
      event.sequence <= (redactions.get(event.memoryId) ?? 0) ||
      (event.operation < operation && event.link?.link.ids.some((id) => forgotten.has(id)))
        ? { ...event, before: undefined, link: undefined, redacted: true }
        : event,
    );
  }
  if (decision.settings)
    log({ memoryId: '', before: undefined, redacted: false, link: undefined, settings: state.settings });
  // An operation without events cannot be undone, and the next operation gets the same number.
  const undoable = events.length > state.events.length;
  return {
    memories,
    events,
    links,
    usages,
    pairs: undoable ? pairs : withoutEndsBy(pairs, operation),
    lastPair,
    lastOrdinal,
    sessions,
    tombstones,
    votes,
    compared,
    settings: decision.settings ?? state.settings,
    generation: state.generation,
    recordings,
    lastRecording: state.lastRecording,
    ...derivation,
  };
}

/** Applies one use and returns the new state. */
export function afterUse(state: State, usage: NewUsage, decision: UseDecision): State {
  checkUsed(usage, decision);
  const memories = new Map(state.memories);
  const before: { memories: UseBefore['memories'][number][]; links: LinkChange[] } = {
    memories: [],
    links: [],
  };
  for (const decided of decision.memories) {
    const present = memories.get(decided.id);
    if (!present) continue;
    before.memories.push({ id: decided.id, ...dynamicsOf(present.memory) });
    const dynamics = dynamicsOf(decided);
    memories.set(decided.id, stored({ ...present.memory, ...dynamics }, present));
  }
  const links = new Map(state.links);
  for (const given of decision.links) {
    const link = checkedLink(given);
    if (!link.ids.every((id) => memories.has(id))) continue;
    before.links.push(changeOf(link, links.get(linkKey(link))));
    links.set(linkKey(link), deepFreeze(link));
  }
  const last = state.usages.at(-1);
  const row: Usage = {
    ...usage,
    sequence: (last?.sequence ?? 0) + 1,
    at: Math.max(usage.at, last?.at ?? usage.at),
    used: usage.used.filter(({ id }) => memories.has(id)),
    after: lastSequence(state),
    before,
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

function knownPair(
  memories: ReadonlyMap<string, SearchableMemory>,
  pairs: ReadonlyMap<number, KeptPair>,
  { older, newer }: NewPair,
): KeptPair | undefined {
  const missing = orderedEnds([older, newer]).find((id) => !memories.has(id));
  if (missing !== undefined) throw missingMemory(missing);
  return [...pairs.values()].find((pair) => !pair.dropped && concerns(pair, older) && concerns(pair, newer));
}

function withoutEndsBy(
  pairs: ReadonlyMap<number, KeptPair>,
  operation: number,
): ReadonlyMap<number, KeptPair> {
  return new Map(
    [...pairs].map(([sequence, pair]) => [
      sequence,
      pair.endedBy === operation ? { ...pair, endedBy: undefined } : pair,
    ]),
  );
}

function concerns({ older, newer }: Pick<NewPair, 'older' | 'newer'>, id: string): boolean {
  return older === id || newer === id;
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
  // A removed memory is still in the log and can be redacted there.
  const inLog = change.kind === 'redact' && events.some((event) => event.memoryId === id);
  if (!exists && !inLog) throw missingMemory(id);
}
