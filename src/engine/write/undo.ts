import { invalidArgument, text, wholeNumber } from '../../domain/check.ts';
import { SalienceError, throwIfAborted } from '../../domain/errors.ts';
import { DYNAMICS } from '../../domain/fields.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { cannotUndo } from '../../store/faults.ts';
import { linkKey } from '../../store/links.ts';
import type {
  Change,
  IndexedText,
  LinkChange,
  MemoryEvent,
  OperationSummary,
  SpaceReader,
  Verb,
} from '../../store/store.ts';
import { withFullText } from '../../store/tiers.ts';
import { readAfterWrite } from '../after-write.ts';
import { checkSupersession } from '../belief/supersession.ts';
import { type Dependencies, momentOf } from '../dependencies.ts';
import { trimRecordings } from '../recall/recording.ts';
import { shownAll } from '../recall/shown.ts';
import type { Memory, OperationOptions } from '../types.ts';
import { deriveTexts, sameText } from './derive.ts';
import { derivationOf, withDynamics } from './write.ts';

export interface UndoOptions extends OperationOptions {
  /** The operation to undo, as `history` numbers it. Default is the latest that can be undone. */
  readonly operation?: number | undefined;
  /** A whole run of maintenance or curation, or an import, by the id that its report gave; not together with `operation`. */
  readonly run?: string | undefined;
}

export interface UndoResult {
  /** Sequence of the operation that was undone; of a run, of its latest. */
  readonly operation: number;
  /** What it had done; of a run, what its first operation had. */
  readonly verb: Verb;
  /** The memories it had written, as they are again; `undefined` for one that it had made. */
  readonly memories: readonly { readonly id: string; readonly memory: Memory | undefined }[];
  /** Set when a run was undone. */
  readonly run?: string | undefined;
  /** Of a run: the memories that were left as they are, because they were changed or forgotten since. */
  readonly skipped?: readonly { readonly id: string; readonly reason: 'changed' | 'forgotten' }[] | undefined;
}

/**
 * Takes back an operation: the latest that can be undone with all of its run, or the one named; or a run. Throws
 * `cannot_undo` when there is none, when it was a `forget`, or, but for a run, when its memories were changed since.
 */
export async function undo(
  engine: Dependencies,
  { operation, run, ...options }: UndoOptions = {},
): Promise<UndoResult> {
  if (run !== undefined) {
    if (operation !== undefined) throw invalidArgument('run', 'name an operation or a run, not both');
    return undoRun(engine, text(run, 'run', { maxCharacters: 128 }), options);
  }
  if (operation !== undefined) wholeNumber(operation, 'operation', 0, Number.MAX_SAFE_INTEGER);
  const spent = new Set<string>();
  for (;;) {
    const events =
      operation === undefined ? await latestUndoable(engine, spent) : await engine.space.operation(operation);
    const [first] = events;
    if (!first) {
      throw new SalienceError(
        'cannot_undo',
        operation === undefined
          ? 'there is nothing to undo'
          : `operation ${operation} does not exist or cannot be undone; operations lists those that can`,
      );
    }
    try {
      // The latest may belong to a run, all of which goes then.
      if (operation === undefined && first.run !== undefined)
        return await undoRun(engine, first.run, options);
      return await undoWhole(engine, first, events, options);
    } catch (error) {
      // Whatever else failed may have failed after this one.
      if (operation !== undefined || !isBecauseUndone(error)) throw error;
      // Nothing of the run stands, or another undo came first: the latest is an earlier one then.
      if (first.run !== undefined) spent.add(first.run);
      else if (!(await isUndone(engine, events))) throw error;
    }
  }
}

/** Operations that are read together, while one that can be undone is looked for. */
const MOST_AT_ONCE = 100;

/** The events of the latest operation that can be undone as things are, in part where it belongs to a run; none of `spent` runs. */
async function latestUndoable(
  { space }: Dependencies,
  spent: ReadonlySet<string>,
): Promise<readonly MemoryEvent[]> {
  return space.snapshot(async (snapshot) => {
    // What cannot be undone may be many that stand together, each of which was undone, or forgotten.
    for (let limit = 1, before: number | undefined; ; limit = Math.min(2 * limit, MOST_AT_ONCE)) {
      const found = await snapshot.operations({ limit, before, ids: 0 });
      for (const each of found) {
        if (each.run !== undefined && spent.has(each.run)) continue;
        const problem = await whyNotUndoable(snapshot, each);
        const isInPart = problem === 'changed' || problem === 'redacted';
        if (problem === undefined || (isInPart && each.run !== undefined))
          return snapshot.operation(each.operation);
      }
      before = found.at(-1)?.operation;
      if (before === undefined) return [];
    }
  });
}

/** Why an operation cannot be undone as things are; `undefined` when it can. */
export async function whyNotUndoable(
  reader: SpaceReader,
  { operation, links, problem }: OperationSummary,
): Promise<OperationSummary['problem']> {
  if (problem !== undefined || links === 0) return problem;
  const gone = await goneEnd(reader, await reader.operation(operation));
  return gone === undefined ? undefined : 'changed';
}

async function undoWhole(
  engine: Dependencies,
  first: MemoryEvent,
  events: readonly MemoryEvent[],
  options: OperationOptions,
): Promise<UndoResult> {
  if (first.undoes !== undefined) {
    throw new SalienceError(
      'cannot_undo',
      `operation ${first.operation} undid operation ${first.undoes}, and an undo cannot be undone: write again what it took back`,
    );
  }
  if (events.some((event) => event.redacted || event.verb === 'forget')) {
    throw new SalienceError(
      'cannot_undo',
      `operation ${first.operation} forgot a memory, and forgetting is final`,
    );
  }
  return (await undoOperation(engine, events, options)).undone;
}

/** Undoes what still stands of a run, newest operation first. Each operation is undone as a whole or, where it was changed since, in part. */
async function undoRun(engine: Dependencies, run: string, options: OperationOptions): Promise<UndoResult> {
  const memories = new Map<string, UndoResult['memories'][number]>();
  const skipped = new Map<string, NonNullable<UndoResult['skipped']>[number]>();
  const already = new Set<number>();
  let latest: number | undefined;
  let verb: Verb | undefined;
  for (const operation of (await engine.space.run(run)).toReversed()) {
    throwIfAborted(options.signal);
    const events = await engine.space.operation(operation);
    // Newest first: what undid an operation comes before it, also where it left its first memory as it was.
    const undoes = events[0]?.undoes;
    if (undoes !== undefined) already.add(undoes);
    if (undoes !== undefined || already.has(operation)) continue;
    const { undone, links } = await undoOperation(engine, events, options, skipped);
    for (const each of undone.memories) memories.set(each.id, each);
    if (undone.memories.length === 0 && links === 0) continue;
    latest ??= undone.operation;
    ({ verb } = undone);
  }
  if (latest === undefined || verb === undefined) {
    throw new SalienceError(
      'cannot_undo',
      `nothing of the run ${JSON.stringify(run)} can be undone: the run is unknown (the reports of maintain, curate and import name it), or everything that it changed has been undone, changed or forgotten since`,
      { details: { problem: 'undone' } },
    );
  }
  return { operation: latest, verb, memories: [...memories.values()], run, skipped: [...skipped.values()] };
}

function isBecauseUndone(error: unknown): boolean {
  return (
    SalienceError.isInstance(error) && error.code === 'cannot_undo' && error.details['problem'] === 'undone'
  );
}

async function isUndone(engine: Dependencies, events: readonly MemoryEvent[]): Promise<boolean> {
  const [first] = events;
  if (!first) return true;
  const history = await engine.space.history(first.memoryId);
  return history.some(({ undoes }) => undoes === first.operation);
}

/**
 * Undoes one operation, by its events. What was changed since is an error, or, where `skipped` collects it, left as it
 * is.
 */
async function undoOperation(
  engine: Dependencies,
  events: readonly MemoryEvent[],
  options: OperationOptions,
  skipped?: Map<string, NonNullable<UndoResult['skipped']>[number]>,
): Promise<{ readonly undone: UndoResult; readonly links: number }> {
  const first = events[0] as MemoryEvent;
  const partly = skipped !== undefined;
  const intact = events.filter(({ redacted }) => !redacted);
  const settings = intact.find((event) => event.settings)?.settings;
  const written = intact.filter((event) => event.link === undefined && event.settings === undefined);
  const earlier = [...new Map([...written].reverse().map((event) => [event.memoryId, event.before]))];
  for (const { redacted, memoryId: id } of events) {
    // Of a memory that was written, it is a link with a forgotten one.
    if (redacted && !earlier.some(([each]) => each === id)) skipped?.set(id, { id, reason: 'forgotten' });
  }
  const restored = earlier.flatMap(([, before]) => (before ? [before] : []));
  const present = await engine.space.get(restored.map(({ id }) => id));
  // What says what it said keeps its vector and its words.
  const changed = restored.filter((memory, at) => {
    const now = present[at];
    return now === undefined || !sameText(memory, now);
  });
  const indexed = await deriveTexts(changed, engine, options);
  const derived = new Map(changed.map((memory, index) => [memory.id, indexed[index] as IndexedText]));
  const entry = {
    verb: 'undo',
    at: momentOf(engine, options),
    undoes: first.operation,
    partly,
    run: first.run,
  } as const;
  const passedOver = new Map<string, 'changed' | 'forgotten'>();
  const { done, links } = await engine.space.write(entry, async (reader) => {
    // It may be decided again.
    passedOver.clear();
    const mayUndo = async (id: string, concerns: (event: MemoryEvent) => boolean) => {
      const problem = await changedSince(reader, id, events, concerns);
      if (problem && !skipped) throw problem;
      if (problem) passedOver.set(id, problem.details['problem'] === 'redacted' ? 'forgotten' : 'changed');
      return problem === undefined;
    };
    if (settings) await mayUndo(SETTINGS, (event) => event.settings !== undefined);
    // A link needs both of its memories: those that come back come before it, those that go after it.
    const changes: Change[] = [];
    const links: Change[] = [];
    const removals: Change[] = [];
    const done: (readonly [string, MemoryRecord | undefined])[] = [];
    for (const [id, before] of earlier) {
      if (!(await mayUndo(id, (event) => event.link === undefined))) continue;
      const [now] = await reader.get([id]);
      const text = derived.get(id);
      if (before && now) {
        // It may have been changed after its text was looked at.
        if (!text && !sameText(before, now)) throw changedMeanwhile(id);
        // The tier is what the write found; what use has made of the memory since stays.
        const { seen } = now;
        const revived = before.tier !== 'hot' && now.tier === 'hot' && seen === first.at;
        const memory = { ...withDynamics(before, now, USED), seen: revived ? before.seen : seen };
        changes.push({ kind: 'replace', memory, ...(text ? { indexed: text } : {}) });
      } else if (before) {
        if (!text) throw changedMeanwhile(id);
        changes.push({ kind: 'insert', memory: before, indexed: text });
      } else if (now) removals.push({ kind: 'remove', id });
      if (before) changes.push(...(await tombstoneBefore(reader, first.verb, before)));
      done.push([id, before]);
    }
    const removed = new Set(removals.flatMap((change) => (change.kind === 'remove' ? [change.id] : [])));
    for (const event of [...intact].reverse()) {
      if (!event.link) continue;
      if (!(await mayUndo(event.memoryId, ({ link }) => sameLink(link, event.link)))) continue;
      const { ids } = event.link.link;
      const ends = await reader.get(ids);
      const back = new Set(done.flatMap(([id, before]) => (before ? [id] : [])));
      // In a run, an end may be gone for good.
      if (partly && !ids.every((id, at) => !removed.has(id) && (ends[at] !== undefined || back.has(id))))
        continue;
      links.push(linkBefore(event.link));
    }
    const gone = partly ? undefined : await goneEnd(reader, intact);
    if (gone !== undefined) {
      throw new SalienceError(
        'cannot_undo',
        `operation ${first.operation} changed a link of memory ${JSON.stringify(gone)}, which does not exist anymore`,
        { details: { id: gone, operation: first.operation } },
      );
    }
    // What was written since may lead back to what comes back.
    await checkSupersession(
      reader,
      done.flatMap(([, before]) => (before ? [before] : [])),
      engine.space.name,
      { lenient: true },
    );
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
      result: { done, links: links.length },
      ...derivationOf(engine, indexed),
      ...(settings ? { settings } : {}),
    };
  });
  for (const [id, reason] of passedOver) skipped?.set(id, { id, reason });
  if (settings) await trimRecordings(engine, settings);
  const back = done.flatMap(([, before]) => (before ? [before] : []));
  const read = await readAfterWrite(() => shownAll(engine, back, entry.at));
  const shown = new Map(read.map((memory) => [memory.id, memory]));
  const memories = done.map(([id]) => ({ id, memory: shown.get(id) }));
  return { undone: { operation: first.operation, verb: first.verb, memories }, links };
}

/** Events of the settings have no memory. */
const SETTINGS = '';

function changedMeanwhile(id: string): SalienceError {
  return new SalienceError(
    'store_busy',
    `memory ${JSON.stringify(id)} was changed while its last change was being undone; try again`,
    { details: { id } },
  );
}

const USED = DYNAMICS.filter(
  (field) => field !== 'tier' && field !== 'coldSince' && field !== 'consolidatedAt',
);

/**
 * What an invalidation left behind beside the memory goes with it, and comes back with its revival. Where the same statement is
 * invalidated as a memory of another type too, what was said of it last stands.
 */
async function tombstoneBefore(
  reader: SpaceReader,
  verb: Verb,
  before: MemoryRecord,
): Promise<readonly Change[]> {
  if (verb !== 'invalidate' && verb !== 'reinstate') return [];
  const statement = await withFullText(reader, before);
  const others = (await reader.find('content', [statement.content])).filter(
    ({ id, scope }) => id !== before.id && scope === before.scope,
  );
  const last = [before, ...others].reduce((a, b) =>
    (b.invalidatedAt ?? -Infinity) > (a.invalidatedAt ?? -Infinity) ? b : a,
  );
  if (last.invalidatedAt === undefined)
    return verb === 'invalidate' ? [{ kind: 'remove-tombstone', statement }] : [];
  const tombstone = { at: last.invalidatedAt, reason: last.invalidReason ?? '' };
  return [{ kind: 'add-tombstone', statement, tombstone }];
}

/**
 * A memory whose link these events changed, and that is gone, or was: the undo of its making took the link away, so
 * that nothing is left to take back, and a link that was there before cannot come back.
 */
async function goneEnd(reader: SpaceReader, events: readonly MemoryEvent[]): Promise<string | undefined> {
  const changes = events.flatMap(({ link }) => (link ? [link] : []));
  const ends = [...new Set(changes.flatMap(({ link }) => link.ids))];
  if (ends.length === 0) return undefined;
  // What the operation itself removed comes back with it.
  const back = new Set(events.flatMap(({ memoryId, before }) => (before ? [memoryId] : [])));
  const found = await reader.get(ends);
  const gone = ends.find((id, at) => found[at] === undefined && !back.has(id));
  if (gone !== undefined) return gone;
  // Another memory may have the id by now.
  const present = new Set((await reader.linksAmong(ends)).map(linkKey));
  return changes.find(({ link, before }) => !before && !present.has(linkKey(link)))?.link.ids[0];
}

function linkBefore({ link, before }: LinkChange): Change {
  return before
    ? { kind: 'link', link: { ...link, ...before } }
    : { kind: 'unlink', ids: link.ids, kinds: [link.kind] };
}

function sameLink(a: LinkChange | undefined, b: LinkChange | undefined): boolean {
  return a?.link.kind === b?.link.kind && a?.link.ids.join('\0') === b?.link.ids.join('\0');
}

/** The error that says what has changed a memory, or its link, since these events, or undone them; `undefined` when nothing has. */
async function changedSince(
  reader: SpaceReader,
  id: string,
  events: readonly MemoryEvent[],
  concerns: (event: MemoryEvent) => boolean,
): Promise<SalienceError | undefined> {
  const history = await reader.history(id);
  const { operation } = events[0] as MemoryEvent;
  const undoing = history.find(({ undoes }) => undoes !== undefined && undoes === operation);
  if (undoing) {
    return new SalienceError(
      'cannot_undo',
      `operation ${operation} was undone already, by operation ${undoing.operation}; operations lists those that can be undone`,
      { details: { operation, problem: 'undone', undoneBy: undoing.operation } },
    );
  }
  // What is redacted of a memory that was not forgotten is its link with one that was.
  const last = effectiveEvents(history).findLast((event) => !event.redacted && concerns(event));
  // The memory was forgotten after these events were read.
  if (!last) return cannotUndo(operation, 'redacted');
  if (events.some((event) => event.sequence === last.sequence)) return undefined;
  const forgot = (await reader.operation(last.operation)).some((each) => each.redacted);
  return new SalienceError(
    'cannot_undo',
    `${id === SETTINGS ? 'the settings were' : `memory ${JSON.stringify(id)} was`} changed again by operation ${last.operation}${forgot ? ', which forgot another memory and cannot be undone: update it instead' : '; undo that first'}`,
    { details: { id, operation: last.operation } },
  );
}

/** The events that are still in effect: without those that were undone, and without the undoing. */
export function effectiveEvents<Event extends Pick<MemoryEvent, 'operation' | 'undoes'>>(
  history: readonly Event[],
): readonly Event[] {
  const undone = new Set<number>();
  const left = [...history].reverse().filter((event) => {
    if (undone.has(event.operation)) return false;
    if (event.undoes !== undefined) undone.add(event.undoes);
    return event.undoes === undefined;
  });
  return left.reverse();
}
