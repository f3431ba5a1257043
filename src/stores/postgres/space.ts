import { SalienceError } from '../../domain/errors.ts';
import { isInDoubt } from '../../domain/written.ts';
import type { Residence } from '../../search/residence.ts';
import { createResidence } from '../../search/residence.ts';
import { onBehalf } from '../../store/cancelling.ts';
import { closedError, openedReadOnly } from '../../store/faults.ts';
import { isOvertaken } from '../../store/moment.ts';
import type { Queue } from '../../store/queue.ts';
import type { Position } from '../../store/rows.ts';
import type { OpenSpaceOptions, SpaceCore, SpaceStore, StoreReader } from '../../store/store.ts';
import { withRanking } from '../../store/with-ranking.ts';
import { additionsOf, addUse } from './adding.ts';
import { findDamage } from './check.ts';
import { commit } from './commit.ts';
import { type Following, ROWS_AHEAD } from './feed.ts';
import { type Gathered, gatherForUse, gatherForWrite, readForUse } from './gather.ts';
import { spaceInfo } from './info.ts';
import { isFresh, type LastRead } from './known.ts';
import { type Moment, type SpacePlace, startMoment } from './moment.ts';
import { savePages } from './pages.ts';
import { readState } from './past.ts';
import { createReader, readingSnapshot } from './reading.ts';
import { applyRecording } from './recordings.ts';
import { reindexSpace } from './reindex.ts';
import { neverFirst, passTurn, takeTurn } from './turns.ts';
import { type Plan, planUse, planWrite } from './write.ts';

/** The data that all handles of a space in this process share. */
export interface OpenSpace {
  readonly place: SpacePlace;
  /** Writes of one process take turns; otherwise they would only conflict with each other. */
  readonly writes: Queue;
  readonly residence: Residence;
  readonly following: Following;
  /** How many of the next writes also take turns with other processes. */
  writesInTurn: number;
}

/** One handle of a space. */
export function openHandle(
  space: OpenSpace,
  { readOnly = false, room }: OpenSpaceOptions,
  onClose: () => void,
): SpaceStore {
  const { place, writes, residence, following } = space;
  const { name } = place;
  let closed = false;
  const checkOpen = () => {
    if (closed) throw closedError(`space ${JSON.stringify(name)}`);
  };
  const checkWritable = () => {
    checkOpen();
    if (readOnly) throw openedReadOnly(name);
  };
  let saving: Promise<void> | undefined;
  let saveAt = SAVED_EARLY;
  /** Saves the index in the background, so that it is there even if the process ends without closing the space. */
  const saveSoon = () => {
    following.unsaved = 0;
    // Save again when the number of events has doubled.
    saveAt = Math.max(SAVED_EARLY, following.position?.sequence ?? 0);
    saving = onBehalf(undefined, async () => {
      await saving;
      await residence.save?.(core);
    });
  };
  const core: SpaceCore = {
    name,
    erases: 'rows',
    async write(entry, decide) {
      checkWritable();
      return writes.run(() =>
        deciding(space, decide, async (moment, decision) => {
          const gathered = await gatherForWrite(moment, entry, decision);
          return { gathered, plan: planWrite(gathered, entry, decision), result: decision.result };
        }),
      );
    },
    async use(usage, decide) {
      checkWritable();
      if (usage.effect === 'reinforce') following.usesAhead = USES_AHEAD;
      return writes.run(() =>
        deciding(
          space,
          decide,
          async (moment, decision) => {
            const gathered = await gatherForUse(moment, usage, decision);
            const additions = additionsOf(gathered, usage, decision);
            const after = gathered.head.usage;
            if (additions) return { add: (turn) => addUse(place, usage, additions, { after, turn }) };
            const plan = planUse(gathered, usage, decision);
            return { gathered, plan, result: plan.after.usage };
          },
          (moment) => readForUse(moment, usage),
        ),
      );
    },
    async record(recording, keep) {
      checkWritable();
      return writes.run(async () => {
        const sequence = await applyRecording(place, recording, keep);
        following.begun = undefined;
        following.last = undefined;
        return sequence ?? 0;
      });
    },
    async snapshot(work) {
      const result = await readingSnapshot(place, following, work);
      if (!closed && !readOnly && following.unsaved >= saveAt) saveSoon();
      return result;
    },
    everything: () => readState(place),
    info: () => spaceInfo(place),
    check: () => findDamage(place),
    async reindex(request) {
      checkWritable();
      await reindexSpace(place, request, checkWritable);
    },
    async backup() {
      throw new SalienceError(
        'invalid_argument',
        'a space in PostgreSQL has no file to copy; use pg_dump, or export its memories',
      );
    },
    get savePages() {
      // Without a recall there is no index to save.
      if (readOnly || following.position === undefined) return undefined;
      return (parts: ReadonlyMap<string, Uint8Array>, position: Position) =>
        savePages(place, following.terms, parts, position);
    },
    async close() {
      closed = true;
      await saving;
      await writes.idle();
      onClose();
    },
  };
  const handle = withRanking(core, createResidence, residence, room);
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= place.database.unlessSilent(handle.close());
    return closing;
  };
  return { ...handle, close, [Symbol.asyncDispose]: close };
}

/** Events that are taken in before an index is saved while its space is open: what is made of fewer rows is made soon. */
const SAVED_EARLY = 2000;

/** Snapshots after a use that read along what another use would read. */
const USES_AHEAD = 16;

/** A write that verifies what it was decided on, or one that adds to whatever is there; `undefined` when it is another's turn. */
type Planned<Result> =
  | { readonly gathered: Gathered; readonly plan: Plan | undefined; readonly result: Result }
  | { readonly add: (turn: string | undefined) => Promise<Result | undefined> };

/** How many writes wait for a turn after one that was overtaken. */
const WRITES_IN_TURN = 16;

/**
 * Decides on reads of one moment, and writes if that is still the present one: nothing is locked meanwhile. Where others are
 * faster, the next writes wait for a turn before they decide, instead of overtaking each other; they too verify.
 */
async function deciding<Decided, Result>(
  space: OpenSpace,
  decide: (reader: StoreReader) => Promise<Decided>,
  plan: (moment: Moment, decided: Decided) => Promise<Planned<Result>>,
  /** Reads what it may be decided on. */
  prepare?: (moment: Moment) => Promise<void>,
): Promise<Result> {
  const { place } = space;
  const { busyTimeout } = place.database;
  const deadline = performance.now() + busyTimeout;
  /** `undefined` when it was overtaken. */
  const attempt = async ({
    begun,
    turn,
  }: {
    readonly begun?: LastRead | undefined;
    readonly turn?: string | undefined;
  }): Promise<{ readonly result: Result } | undefined> => {
    const moment = startMoment(place, { begun });
    let hasWritten = false;
    try {
      await prepare?.(moment);
      const planned = await plan(moment, await decide(createReader(moment)));
      if ('add' in planned) {
        const result = await planned.add(turn);
        hasWritten = result !== undefined;
        return result === undefined ? undefined : { result };
      }
      const { gathered, plan: change, result } = planned;
      if (!change) {
        await moment.verify();
        return { result };
      }
      hasWritten = await commit(place, gathered.head, change.after, change.changes, turn);
      return hasWritten ? { result } : undefined;
    } catch (error) {
      if (isInDoubt(error)) throw error;
      if (isOvertaken(error) || moment.isOvertaken) return undefined;
      // What was decided on an earlier read may have failed for a state that has passed.
      if (await isOfThePast(moment)) return undefined;
      throw error;
    } finally {
      moment.end();
      if (turn !== undefined && !hasWritten) await passTurn(place, turn);
    }
  };
  const { last } = space.following;
  // What was read until now is of the state before this write.
  space.following.begun = undefined;
  space.following.last = undefined;
  space.following.rowsAhead = ROWS_AHEAD;
  if (isFresh(last) && space.writesInTurn === 0) {
    // It was of another state, if another one has written since: nothing is lost but a statement.
    const done = await attempt({ begun: last });
    if (done) return done.result;
  }
  for (let round = 0; ; round++) {
    const inTurn = space.writesInTurn > 0;
    const done = await attempt(inTurn ? { turn: await takeTurn(place, round, deadline) } : {});
    if (inTurn) space.writesInTurn--;
    if (done) return done.result;
    if (inTurn && performance.now() > deadline) throw neverFirst(place.name, busyTimeout);
    space.writesInTurn = WRITES_IN_TURN;
  }
}

/** Whether others have written since what a moment began from. */
async function isOfThePast(moment: Moment): Promise<boolean> {
  try {
    await moment.verify();
    return false;
  } catch (error) {
    return isOvertaken(error);
  }
}
