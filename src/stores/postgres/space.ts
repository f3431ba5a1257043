import { SalienceError } from '../../domain/errors.ts';
import type { Residence } from '../../search/residence.ts';
import { createResidence } from '../../search/residence.ts';
import { closedError, openedReadOnly } from '../../store/faults.ts';
import { isOvertaken } from '../../store/moment.ts';
import type { Queue } from '../../store/queue.ts';
import type { SpaceCore, SpaceStore, StoreReader } from '../../store/store.ts';
import { withRanking } from '../../store/with-ranking.ts';
import { findDamage } from './check.ts';
import { commit, pause } from './commit.ts';
import type { Following } from './feed.ts';
import { type Gathered, gatherForUse, gatherForWrite } from './gather.ts';
import { spaceInfo } from './info.ts';
import { type Moment, type SpacePlace, startMoment } from './moment.ts';
import { readState } from './past.ts';
import { createReader, readingSnapshot } from './reading.ts';
import { applyRecording } from './recordings.ts';
import { reindexSpace } from './reindex.ts';
import { type Plan, planUse, planWrite } from './write.ts';

/** What all handles of a space share in this process. */
export interface OpenSpace {
  readonly place: SpacePlace;
  /** Writes of one process take turns: they would only overtake each other. */
  readonly writes: Queue;
  readonly residence: Residence;
  readonly following: Following;
}

/** One handle of a space. */
export function openHandle(
  { place, writes, residence, following }: OpenSpace,
  readOnly: boolean,
  onClose: () => void,
): SpaceStore {
  const { name } = place;
  let closed = false;
  const checkOpen = () => {
    if (closed) throw closedError(`space ${JSON.stringify(name)}`);
  };
  const checkWritable = () => {
    checkOpen();
    if (readOnly) throw openedReadOnly(name);
  };
  const core: SpaceCore = {
    name,
    erases: 'rows',
    async write(entry, decide) {
      checkWritable();
      return writes.run(() =>
        deciding(place, decide, async (moment, decision) => {
          const gathered = await gatherForWrite(moment, entry, decision);
          return { gathered, plan: planWrite(gathered, entry, decision), result: decision.result };
        }),
      );
    },
    async use(usage, decide) {
      checkWritable();
      return writes.run(() =>
        deciding(place, decide, async (moment, decision) => {
          const gathered = await gatherForUse(moment, usage, decision);
          const plan = planUse(gathered, usage, decision);
          return { gathered, plan, result: plan.after.usage };
        }),
      );
    },
    async record(recording, keep) {
      checkWritable();
      return writes.run(async () => (await applyRecording(place, recording, keep)) ?? 0);
    },
    snapshot: (work) => readingSnapshot(place, following, work),
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
        'a space in PostgreSQL has no file to copy; use pg_dump, or "salience copy" into a file',
      );
    },
    async close() {
      closed = true;
      await writes.idle();
      onClose();
    },
  };
  return withRanking(core, createResidence, residence);
}

interface Planned<Result> {
  readonly gathered: Gathered;
  readonly plan: Plan | undefined;
  readonly result: Result;
}

/**
 * Decides outside of any transaction, on reads of one moment, and writes if that is still the present one; begins anew
 * when others were faster, for as long as `busyTimeout` says.
 */
async function deciding<Decided, Result>(
  place: SpacePlace,
  decide: (reader: StoreReader) => Promise<Decided>,
  plan: (moment: Moment, decided: Decided) => Promise<Planned<Result>>,
): Promise<Result> {
  const { database, name } = place;
  const deadline = Date.now() + database.busyTimeout;
  for (let attempt = 0; ; attempt++) {
    const moment = startMoment(place);
    try {
      const { gathered, plan: planned, result } = await plan(moment, await decide(createReader(moment)));
      if (!planned || (await commit(place, gathered.head, planned.after, planned.changes))) return result;
    } catch (error) {
      if (!isOvertaken(error) && !moment.isOvertaken) throw error;
    } finally {
      moment.end();
    }
    if (Date.now() > deadline) throw neverFirst(name, database.busyTimeout);
    // Others that were overtaken at the same moment wait for another while.
    if (attempt > 0) await pause(Math.random() * Math.min(2 ** attempt, 32));
  }
}

function neverFirst(space: string, busyTimeout: number): SalienceError {
  return new SalienceError(
    'store_busy',
    `space ${JSON.stringify(space)} was written to by others each time that this write was ready, for ${busyTimeout} ms; nothing was changed. Try again, or raise busyTimeout`,
    { details: { space } },
  );
}
