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
import { tellingPart } from '../part-written.ts';
import { trimRecordings } from '../recall/recording.ts';
import { shownAll } from '../recall/shown.ts';
import type { Memory, OperationOptions } from '../types.ts';
import { deriveTexts, sameText } from './derive.ts';
import { type Reinstated, reinstatedAmong } from './derived.ts';
import { derivationOf, withDynamics } from './write.ts';

export interface UndoOptions extends OperationOptions {
  /** The operation to undo, as `history` numbers it. Default is the latest that can be undone. */
  readonly operation?: number | undefined;
  /**
   * The id of a run of maintenance, curation or an import, as its report gives it. All of it is undone. Not together
   * with `operation`.
   */
  readonly run?: string | undefined;
}

export interface UndoResult {
  /** Number of the operation that was undone; for a run, of its latest. */
  readonly operation: number;
  /** The verb of that operation; for a run, the verb of its first operation. */
  readonly verb: Verb;
  /** The memories that it had written, as they are now; `undefined` for a memory that it had created. */
  readonly memories: readonly { readonly id: string; readonly memory: Memory | undefined }[];
  /** Set when a run was undone. */
  readonly run?: string | undefined;
  /**
   * For a run: the memories that were left unchanged because they were changed or forgotten since. A memory whose
   * consolidation was undone is not among them: it keeps its later changes, and is recalled on its own again.
   */
  readonly skipped?: readonly { readonly id: string; readonly reason: 'changed' | 'forgotten' }[] | undefined;
}

/**
 * Undoes an operation or a run. By default it undoes the latest operation that can be undone, with all of its run.
 * Throws `cannot_undo` if there is none, if it was a `forget`, or, except for a run, if its memories were changed
 * since.
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
      // If the latest operation belongs to a run, the whole run is undone.
      if (operation === undefined && first.run !== undefined)
        return await undoRun(engine, first.run, options);
      return await undoWhole(engine, first, events, options);
    } catch (error) {
      // Only this error says that another operation can be tried: any other may come from after the undo was written.
      if (operation !== undefined || !isBecauseUndone(error)) throw error;
      // Nothing of the run is left to undo, or another undo was faster: try an earlier operation.
      if (first.run !== undefined) spent.add(first.run);
      else if (!(await isUndone(engine, events))) throw error;
    }
  }
}

/** Operations in one page, at most. */
const MOST_AT_ONCE = 100;

/**
 * Returns the events of the latest operation that can be undone now, or undone in part if it belongs to a run. Skips
 * the runs in `spent`.
 */
async function latestUndoable(
  { space }: Dependencies,
  spent: ReadonlySet<string>,
): Promise<readonly MemoryEvent[]> {
  return space.snapshot(async (snapshot) => {
    // There may be many consecutive operations that cannot be undone, so the pages grow.
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

/** Returns why an operation cannot be undone now; `undefined` if it can. */
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

/**
 * Undoes the operations of a run that are still in effect, newest first. An operation whose memories were changed since
 * is undone in part.
 */
function undoRun(engine: Dependencies, run: string, options: OperationOptions): Promise<UndoResult> {
  const stays = `part of the run ${JSON.stringify(run)} was undone and stays so; undo the run again to undo the rest`;
  return tellingPart(stays, () => undoOperationsOf(engine, run, options));
}

async function undoOperationsOf(
  engine: Dependencies,
  run: string,
  options: OperationOptions,
): Promise<UndoResult> {
  const memories = new Map<string, UndoResult['memories'][number]>();
  const skipped = new Map<string, NonNullable<UndoResult['skipped']>[number]>();
  const already = new Set<number>();
  let latest: number | undefined;
  let verb: Verb | undefined;
  for (const operation of (await engine.space.run(run)).toReversed()) {
    throwIfAborted(options.signal);
    const events = await engine.space.operation(operation);
    // Newest first: the undo of an operation comes before it, even one that left its first memory unchanged.
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
 * Undoes one operation, given its events. Throws if a memory was changed since, unless `skipped` is given: then the
 * memory is left as it is and added to `skipped`.
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
  const logged = [...new Map([...written].reverse().map((event) => [event.memoryId, event.before]))];
  for (const { redacted, memoryId: id } of events) {
    // A memory with no other event was forgotten. On any other memory a redacted event is its link with a forgotten
    // one.
    if (redacted && !logged.some(([each]) => each === id)) skipped?.set(id, { id, reason: 'forgotten' });
  }
  const present = await engine.space.get(logged.map(([id]) => id));
  const earlier = await Promise.all(
    logged.map(
      async ([id, before], at) =>
        [id, before && (await restorable(engine.space, before, present[at]))] as const,
    ),
  );
  // A memory whose text is unchanged keeps its vector and its terms.
  const changed = earlier.flatMap(([, before], at) => {
    const now = present[at];
    return before && !(now && sameText(before, now)) ? [before] : [];
  });
  // What may be reinstated although it was changed since. Only stubs must be indexed again.
  const archived = partly
    ? (await originalsOf(engine.space, createdBy(earlier))).flatMap(({ memory, wasArchived }) =>
        wasArchived ? [memory] : [],
      )
    : [];
  const indexed = await deriveTexts([...changed, ...archived], engine, options);
  const derived = new Map(changed.map((memory, index) => [memory.id, indexed[index] as IndexedText]));
  const wholeTexts = new Map(
    archived.map((memory, index) => [
      memory.id,
      { memory, indexed: indexed[changed.length + index] as IndexedText },
    ]),
  );
  const entry = {
    verb: 'undo',
    at: momentOf(engine, options),
    undoes: first.operation,
    partly,
    run: first.run,
  } as const;
  const passedOver = new Map<string, 'changed' | 'forgotten'>();
  const { done, links } = await engine.space.write(entry, async (reader) => {
    // The callback may run more than once.
    passedOver.clear();
    const mayUndo = async (id: string, concerns: (event: MemoryEvent) => boolean) => {
      const problem = await changedSince(reader, id, events, concerns);
      if (problem && !skipped) throw problem;
      if (problem) passedOver.set(id, problem.details['problem'] === 'redacted' ? 'forgotten' : 'changed');
      return problem === undefined;
    };
    if (settings) await mayUndo(SETTINGS, (event) => event.settings !== undefined);
    // A link needs both of its memories, so memories are restored before links and removed after them.
    const changes: Change[] = [];
    const links: Change[] = [];
    const removals: Change[] = [];
    const done: (readonly [string, MemoryRecord | undefined])[] = [];
    for (const [id, before] of earlier) {
      if (!(await mayUndo(id, (event) => event.link === undefined))) continue;
      const [now] = await reader.get([id]);
      const text = derived.get(id);
      if (before && now) {
        // The memory may have been changed after its text was compared.
        if (!text && !sameText(before, now)) throw changedMeanwhile(id);
        if (before.consolidatedAt !== undefined && now.consolidatedAt === undefined)
          throw changedMeanwhile(id);
        // Restores the tier from before the write, but keeps what use has changed since.
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
    // No recall would find an original whose consolidation is removed: it is recalled on its own again, and keeps what
    // was changed since.
    for (const { memory, wasArchived } of await originalsOf(reader, removed)) {
      if (!passedOver.has(memory.id)) continue;
      const whole = wholeTexts.get(memory.id);
      if (wasArchived && !(whole && sameText(whole.memory, memory))) throw changedMeanwhile(memory.id);
      changes.push({ kind: 'replace', memory, ...(wasArchived ? { indexed: whole?.indexed } : {}) });
      passedOver.delete(memory.id);
      done.push([memory.id, memory]);
    }
    for (const event of [...intact].reverse()) {
      if (!event.link) continue;
      if (!(await mayUndo(event.memoryId, ({ link }) => sameLink(link, event.link)))) continue;
      const { ids } = event.link.link;
      const ends = await reader.get(ids);
      const back = new Set(done.flatMap(([id, before]) => (before ? [id] : [])));
      // When a run is undone in part, a memory of the link may no longer exist.
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
    // A memory that was written since may form a cycle with a restored one.
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
        { kind: 'requeue-pairs', operation: first.operation, unchanged: [...passedOver.keys()] },
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

/** Returns what an undo restores. A consolidation that was undone or forgotten since does not replace it again. */
async function restorable(
  reader: SpaceReader,
  before: MemoryRecord,
  now: MemoryRecord | undefined,
): Promise<MemoryRecord> {
  if (before.consolidatedAt === undefined || !now || now.consolidatedAt !== undefined) return before;
  const { tier, coldSince } = now;
  return { ...(await withFullText(reader, before)), consolidatedAt: undefined, tier, coldSince };
}

/** Returns the ids of the memories that an operation created. */
function createdBy(earlier: readonly (readonly [string, MemoryRecord | undefined])[]): ReadonlySet<string> {
  return new Set(earlier.flatMap(([id, before]) => (before ? [] : [id])));
}

/** Returns the originals of the consolidations among `removed`, as they are without them. */
async function originalsOf(
  reader: SpaceReader,
  removed: ReadonlySet<string>,
): Promise<readonly Reinstated[]> {
  const originals = (await reader.get([...removed])).flatMap((memory) =>
    memory?.source === 'consolidated' ? memory.derivedFrom : [],
  );
  return reinstatedAmong(reader, [...new Set(originals)], ({ id, derivedFrom }) =>
    removed.has(id) ? [] : derivedFrom,
  );
}

/** The memory id of events that change settings. */
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
 * Returns the changes that restore the tombstone from before an `invalidate` or `reinstate`. If a memory of another
 * type with the same statement is invalidated too, the tombstone has the later of the two.
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
 * Finds a memory whose link these events changed and that does not exist anymore, or did not for a while. Undoing its
 * creation removed the link: a new link is gone already, and an earlier one cannot be restored.
 */
async function goneEnd(reader: SpaceReader, events: readonly MemoryEvent[]): Promise<string | undefined> {
  const changes = events.flatMap(({ link }) => (link ? [link] : []));
  const ends = [...new Set(changes.flatMap(({ link }) => link.ids))];
  if (ends.length === 0) return undefined;
  // The undo restores what the operation itself removed.
  const back = new Set(events.flatMap(({ memoryId, before }) => (before ? [memoryId] : [])));
  const found = await reader.get(ends);
  const gone = ends.find((id, at) => found[at] === undefined && !back.has(id));
  if (gone !== undefined) return gone;
  // Another memory may have taken the id: then the link is missing.
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

/**
 * Returns an error if a memory, or its link, was changed after these events, or if they were undone; otherwise
 * `undefined`. `concerns` selects the events to look at.
 */
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
  // On a memory that was not forgotten, a redacted event is its link with a forgotten one.
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

/** Returns the events that are still in effect: without undone ones and without the undos. */
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
