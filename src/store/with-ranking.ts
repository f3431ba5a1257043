import { preconditionOfWork, runOfWork } from '../domain/work.ts';
import { isDone, noteWritten } from '../domain/written.ts';
import { checkMadeWith } from './derived.ts';
import { closedError } from './faults.ts';
import { again } from './moment.ts';
import { coreOfPast } from './past.ts';
import { convenient, readingVerbs } from './reader.ts';
import { rewind } from './rewind.ts';
import { type Room, UNBOUNDED } from './room.ts';
import { startScope } from './scope-of-work.ts';
import type { Snapshot, SpaceCore, SpaceReader, SpaceStore, StoreReader, StoreSnapshot } from './store.ts';

/** Ranks the memories of one space. */
export interface Ranking {
  /** Ranks the memories of one snapshot. `attempt` counts from 1; each attempt begins after the previous one has ended. */
  over(rows: StoreSnapshot, attempt: number, room: Room): RankedRows;
  /** About how many bytes closing the space would free. */
  bytes(): number;
  /** Called after memories were forgotten. Must drop everything in memory that was read from them. */
  forgotten?(): void;
  /** Called once, before the space is closed. */
  save?(core: SpaceCore): Promise<void>;
}

export interface RankedRows extends Pick<Snapshot, 'search' | 'inspect' | 'visible'> {
  /** Replaces the `links` of the store. */
  readonly links?: Snapshot['links'] | undefined;
  /** Called when the snapshot is over. */
  end?(): void;
}

/**
 * Builds the `SpaceStore` that the engine uses from the core of a store and a ranking. It runs each read in a snapshot of
 * its own, retries overtaken snapshots, throws instead of deadlocking when a space is used within its own snapshot or
 * write, throws after `close`, and looks back in time. Other handles of the space may share `ranking`.
 */
export function withRanking(
  core: SpaceCore,
  rank: (space: string) => Ranking,
  ranking: Ranking = rank(core.name),
  room: Room = UNBOUNDED,
): SpaceStore {
  const { name } = core;
  const scope = startScope(name);
  let closing: Promise<void> | undefined;
  const checkOpen = () => {
    if (closing) throw closedError(`space ${JSON.stringify(name)}`);
  };
  /** Checks, before the store is called, that the space is open and not used within its own snapshot or write. */
  const guarded =
    <Given extends unknown[], Result>(what: string, verb: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      checkOpen();
      scope.checkOutside(what);
      return verb(...given);
    };
  const reading = <Decided>(decide: (reader: SpaceReader) => Promise<Decided>) => {
    return (reader: StoreReader) => scope.within('decide', () => decide(convenient(reader)));
  };
  const snapshot = <Result>(work: (snapshot: Snapshot) => Promise<Result>): Promise<Result> =>
    again((attempt) =>
      core.snapshot(async (rows) => {
        const ranked = ranking.over(rows, attempt, room);
        try {
          const reader = convenient(rows);
          return await scope.within('a snapshot', () =>
            work({
              sequence: rows.sequence,
              version: async () => rows.version(),
              async search(request) {
                checkMadeWith(request.query, await reader.derivation());
                return ranked.search(request);
              },
              async inspect(ids, request) {
                checkMadeWith(request.query, await reader.derivation());
                return ranked.inspect(ids, request);
              },
              visible: ranked.visible,
              vectors: (ids) => vectorsOf(rows, ids),
              ...reader,
              links: ranked.links ?? reader.links,
            }),
          );
        } finally {
          ranked.end?.();
        }
      }),
    );
  const write: SpaceStore['write'] = async (entry, decide) => {
    let redacts = false;
    let changes = false;
    const precondition = preconditionOfWork();
    try {
      const result = await core.write(
        { ...entry, run: entry.run ?? runOfWork() },
        reading(async (reader) => {
          const [memory] = precondition ? await reader.get([precondition.id]) : [];
          if (memory) precondition?.check(memory);
          const decision = await decide(reader);
          changes = decision.changes.length > 0;
          redacts = decision.changes.some(({ kind }) => kind === 'redact');
          return decision;
        }),
      );
      if (changes) noteWritten();
      if (precondition) precondition.isMet = true;
      return result;
    } catch (error) {
      if (changes && isDone(error)) noteWritten();
      throw error;
    } finally {
      // Also after an error: the write may have been committed before the failure.
      if (redacts) ranking.forgotten?.();
    }
  };
  // No code of the caller runs within these snapshots, so they need neither ranking nor a scope of work.
  const verbs = readingVerbs((verb, work) =>
    guarded(verb, () => again(() => core.snapshot((rows) => work(convenient(rows)))))(),
  );
  const close = () => {
    closing ??= (async () => {
      await ranking.save?.(core);
      await core.close();
    })();
    return closing;
  };
  return {
    ...verbs,
    name,
    erases: core.erases,
    write: guarded('write', write) as SpaceStore['write'],
    use: guarded('use', async (usage, decide) => {
      const sequence = await core.use(usage, reading(decide));
      noteWritten();
      return sequence;
    }),
    record: guarded('record', (recording, keep) => core.record(recording, keep)),
    version: guarded('version', () => again(() => core.snapshot(async (rows) => rows.version()))),
    snapshot: guarded('snapshot', snapshot) as SpaceStore['snapshot'],
    info: guarded('info', () => core.info()),
    reindex: guarded('reindex', (request) => core.reindex(request)),
    backup: guarded('backup', (path, at) => core.backup(path, at)),
    asKnown: guarded('asKnown', async (known, derive) => {
      const past = await rewind(name, await core.everything(), known, derive);
      const { redacted, state } = past;
      return { ...withRanking(coreOfPast(past), rank), redacted, memories: state.memories.size };
    }),
    check: guarded('check', () => core.check()),
    residentBytes: ranking.bytes,
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function vectorsOf(
  rows: StoreSnapshot,
  ids: readonly string[],
): Promise<readonly (Float32Array | undefined)[]> {
  const keys = await rows.keysOf(ids);
  const found = keys.filter((key) => key !== undefined);
  const vectors = await rows.vectors(found);
  const byKey = new Map(found.map((key, at) => [key, vectors[at]]));
  return keys.map((key) => (key === undefined ? undefined : byKey.get(key)?.slice()));
}
