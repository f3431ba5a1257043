import { problemOfUndoing, type State } from './state.ts';
import type { MemoryEvent, OperationSummary, OperationsRequest } from './store.ts';

/** See `SpaceReader.operations`. */
export function operationsOf(
  state: State,
  { limit, before = Infinity, verb, ids }: OperationsRequest,
): readonly OperationSummary[] {
  const firsts = state.events.filter(
    (event) =>
      event.sequence === event.operation &&
      event.operation < before &&
      (verb === undefined || event.verb === verb),
  );
  return firsts
    .reverse()
    .slice(0, limit)
    .map((event) => summaryOf(state, event, ids));
}

function summaryOf(state: State, first: MemoryEvent, most: number): OperationSummary {
  const { operation, at, verb, undoes, run } = first;
  const events = state.events.filter((event) => event.operation === operation);
  const written = events.filter(({ link, settings }) => link === undefined && settings === undefined);
  const ids = [...new Set(written.map(({ memoryId }) => memoryId))];
  const problem = problemOfUndoing(state, operation);
  return {
    operation,
    at,
    verb,
    undoes,
    run,
    memories: ids.length,
    ids: ids.slice(0, most),
    links: events.filter(({ link }) => link !== undefined).length,
    undoneBy: state.events.find((event) => event.undoes === operation)?.operation,
    problem:
      problem === 'unknown' ? undefined : (problem ?? (isChanged(state, events) ? 'changed' : undefined)),
  };
}

/**
 * Whether a later operation that was not undone wrote to the same memory, link or settings. Redacted events do not count:
 * for a memory that was not forgotten, such an event is about its link with one that was.
 */
function isChanged({ events: all }: State, events: readonly MemoryEvent[]): boolean {
  const about = ({ memoryId, link }: MemoryEvent) =>
    JSON.stringify([memoryId, link?.link.ids, link?.link.kind]);
  return events.some((event) =>
    all.some(
      (later) =>
        later.sequence > event.sequence &&
        later.operation !== event.operation &&
        later.undoes === undefined &&
        !later.redacted &&
        about(later) === about(event) &&
        !all.some((undo) => undo.undoes === later.operation && undo.memoryId === later.memoryId),
    ),
  );
}
