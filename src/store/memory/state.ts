import type { MemoryRecord } from '../../model/memory.ts';
import { type Derivation, deriveWith } from '../derived.ts';
import { cannotUndo, memoryExists, missingMemory, type UndoProblem } from '../faults.ts';
import type { SearchableMemory } from '../naive-search.ts';
import type { Change, Decision, IndexedText, MemoryEvent, WriteEntry } from '../store.ts';

/** Everything that a space holds. A write makes a new one; nothing in it is ever changed. */
export interface State extends Derivation {
  readonly memories: ReadonlyMap<string, SearchableMemory>;
  readonly events: readonly MemoryEvent[];
}

export const emptyState: State = {
  memories: new Map(),
  events: [],
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
  let events = [...state.events];
  const operation = lastSequence(state) + 1;
  const at = Math.max(entry.at, state.events.at(-1)?.at ?? entry.at);
  for (const change of decision.changes) {
    const memoryId = 'memory' in change ? change.memory.id : change.id;
    const before = memories.get(memoryId);
    checkExistence(change, memoryId, before !== undefined, events);
    const redacted = change.kind === 'redact';
    events.push({
      sequence: (events.at(-1)?.sequence ?? 0) + 1,
      operation,
      at,
      verb: entry.verb,
      memoryId,
      before: redacted ? undefined : before?.memory,
      redacted,
      undoes: entry.undoes,
    });
    if (redacted) {
      events = events.map((event) =>
        event.memoryId === memoryId ? { ...event, before: undefined, redacted: true } : event,
      );
    }
    if (change.kind === 'remove' || change.kind === 'redact') memories.delete(memoryId);
    else memories.set(memoryId, stored(change.memory, change.indexed ?? (before as SearchableMemory)));
  }
  return { memories, events, ...derivation };
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

function checkExistence(change: Change, id: string, exists: boolean, events: readonly MemoryEvent[]): void {
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
