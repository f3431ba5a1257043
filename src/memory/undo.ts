import { wholeNumber } from '../model/check.ts';
import { SalienceError } from '../model/errors.ts';
import type { MemoryRecord } from '../model/memory.ts';
import type { Change, IndexedText, LinkChange, MemoryEvent, SpaceReader, Verb } from '../store/store.ts';
import { withFullText } from '../store/tiers.ts';
import { DYNAMICS } from '../store/using.ts';
import { deriveTexts } from './derive.ts';
import { type Engine, momentOf } from './engine.ts';
import { shownAll } from './shown.ts';
import { checkSupersession } from './supersession.ts';
import type { Memory, OperationOptions } from './types.ts';
import { derivationOf, withDynamics } from './write.ts';

export interface Undone {
  /** Sequence of the operation that was undone. */
  readonly operation: number;
  readonly verb: Verb;
  /** The memories it had written, as they are again; `undefined` for one that it had made. */
  readonly memories: readonly { readonly id: string; readonly memory: Memory | undefined }[];
}

/**
 * Takes back an operation: the latest that can be undone, or the one named. Throws `cannot_undo` when there is none,
 * when it was a `forget`, or when its memories have been changed since.
 */
export async function undo(
  engine: Engine,
  operation?: number,
  options: OperationOptions = {},
): Promise<Undone> {
  if (operation !== undefined) wholeNumber(operation, 'operation', 0, Number.MAX_SAFE_INTEGER);
  const events = await engine.space.operation(operation);
  const [first] = events;
  if (!first) {
    throw new SalienceError(
      'cannot_undo',
      operation === undefined
        ? 'there is nothing to undo'
        : `there is no operation ${operation} that can be undone; history lists them`,
    );
  }
  if (events.some((event) => event.redacted || event.verb === 'forget')) {
    throw new SalienceError(
      'cannot_undo',
      `operation ${first.operation} forgot a memory, and forgetting is for good`,
    );
  }
  const written = events.filter((event) => event.link === undefined);
  const earlier = [...new Map([...written].reverse().map((event) => [event.memoryId, event.before]))];
  const restored = earlier.flatMap(([, before]) => (before ? [before] : []));
  const indexed = await deriveTexts(restored, engine, options);
  const derived = new Map(restored.map((memory, index) => [memory.id, indexed[index] as IndexedText]));
  const entry = { verb: 'undo', at: momentOf(engine, options), undoes: first.operation } as const;
  await engine.space.write(entry, async (reader) => {
    // A link needs both of its memories: those that come back come before it, those that go after it.
    const changes: Change[] = [];
    const links: Change[] = [];
    const removals: Change[] = [];
    for (const event of [...events].reverse()) {
      if (!event.link) continue;
      await checkUnchanged(reader, event.memoryId, events, ({ link }) => sameLink(link, event.link));
      links.push(linkBefore(event.link));
    }
    for (const [id, before] of earlier) {
      await checkUnchanged(reader, id, events, ({ link }) => link === undefined);
      const [present] = await reader.get([id]);
      const text = derived.get(id);
      if (before && text && present) {
        // The tier is what the write found; what use has made of the memory since stays.
        changes.push({ kind: 'replace', memory: withDynamics(before, present, USED), indexed: text });
      } else if (before && text) changes.push({ kind: 'insert', memory: before, indexed: text });
      else if (present) removals.push({ kind: 'remove', id });
      if (before) changes.push(...(await tombstoneBefore(reader, first.verb, before)));
    }
    // What was written since may lead back to what comes back.
    await checkSupersession(reader, restored, engine.space.name, 'lenient');
    const votes: readonly Change[] =
      first.verb === 'feedback' ? [{ kind: 'withdraw-votes', operation: first.operation }] : [];
    return {
      changes: [
        ...changes,
        ...links,
        ...removals,
        ...votes,
        { kind: 'requeue-pairs', operation: first.operation },
      ],
      result: undefined,
      ...derivationOf(engine, indexed),
    };
  });
  const memories = new Map((await shownAll(engine, restored, entry.at)).map((memory) => [memory.id, memory]));
  return {
    operation: first.operation,
    verb: first.verb,
    memories: earlier.map(([id]) => ({ id, memory: memories.get(id) })),
  };
}

const USED = DYNAMICS.filter(
  (field) => field !== 'tier' && field !== 'coldSince' && field !== 'consolidatedAt',
);

/** What an invalidation left behind beside the memory goes with it, and comes back with its revival. */
async function tombstoneBefore(
  reader: SpaceReader,
  verb: Verb,
  before: MemoryRecord,
): Promise<readonly Change[]> {
  if (verb !== 'invalidate' && verb !== 'revive') return [];
  const statement = await withFullText(reader, before);
  if (before.invalidatedAt === undefined) return verb === 'invalidate' ? [{ kind: 'exhume', statement }] : [];
  const tombstone = { at: before.invalidatedAt, reason: before.invalidReason ?? '' };
  return [{ kind: 'bury', statement, tombstone }];
}

function linkBefore({ link, before }: LinkChange): Change {
  return before
    ? { kind: 'link', link: { ...link, ...before } }
    : { kind: 'unlink', ids: link.ids, kinds: [link.kind] };
}

function sameLink(a: LinkChange | undefined, b: LinkChange | undefined): boolean {
  return a?.link.kind === b?.link.kind && a?.link.ids.join('\0') === b?.link.ids.join('\0');
}

async function checkUnchanged(
  reader: SpaceReader,
  id: string,
  events: readonly MemoryEvent[],
  concerns: (event: MemoryEvent) => boolean,
): Promise<void> {
  const last = standing(await reader.history(id))
    .filter(concerns)
    .at(-1);
  if (last && events.some((event) => event.sequence === last.sequence)) return;
  const forgot = last !== undefined && (await reader.operation(last.operation)).some((each) => each.redacted);
  throw new SalienceError(
    'cannot_undo',
    `memory ${JSON.stringify(id)} was changed again by operation ${last?.operation}${forgot ? ', which forgot another memory and cannot be undone: update it instead' : '; undo that first'}`,
    { details: { id, operation: last?.operation } },
  );
}

/** The events that still stand: without those that were undone, and without the undoing. */
export function standing(history: readonly MemoryEvent[]): readonly MemoryEvent[] {
  const undone = new Set<number>();
  const left = [...history].reverse().filter((event) => {
    if (undone.has(event.operation)) return false;
    if (event.undoes !== undefined) undone.add(event.undoes);
    return event.undoes === undefined;
  });
  return left.reverse();
}
