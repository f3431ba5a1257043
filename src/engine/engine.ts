import { AsyncLocalStorage } from 'node:async_hooks';
import { filePath, listOf } from '../domain/check.ts';
import { onBehalf } from '../store/cancelling.ts';
import { closedError } from '../store/faults.ts';
import type { SpaceInfo } from '../store/store.ts';
import { beliefsAbout, historyOf } from './belief/belief.ts';
import { conflictsOf, resolve } from './belief/conflicts.ts';
import { feedback, markUsed, setImportance } from './belief/judgement.ts';
import { invalidate, reinstate } from './belief/validity.ts';
import { importedVotes } from './belief/votes.ts';
import type { Dependencies } from './dependencies.ts';
import { withDiagnostics } from './diagnostics.ts';
import { entities } from './graph/entities.ts';
import { mergeEntities } from './graph/merge.ts';
import { relate, unrelate } from './graph/relate.ts';
import { splitEntity } from './graph/split.ts';
import { neighbours, paths } from './graph/walk.ts';
import { activity } from './looking/activity.ts';
import { operations } from './looking/operations.ts';
import { strategies } from './looking/strategies.ts';
import type { Timer } from './looking/watch.ts';
import type { MemoryEngine } from './memory-engine.ts';
import { observe } from './observe/observe.ts';
import { compare } from './recall/compare.ts';
import { bootstrap, context, pinned } from './recall/context.ts';
import { get, list } from './recall/read.ts';
import { recall } from './recall/recall.ts';
import { recalls, replay } from './recall/replay.ts';
import { explainMemory, whyNot } from './recall/why-not.ts';
import { currentSession, endSession, saveSummary, startSession, timeline } from './sessions/sessions.ts';
import type { BatchOptions, Memory, RememberResult } from './types.ts';
import { configure } from './upkeep/configure.ts';
import { curate } from './upkeep/curate.ts';
import { curve } from './upkeep/curve.ts';
import { fit } from './upkeep/fit.ts';
import { health } from './upkeep/health.ts';
import { maintain } from './upkeep/maintain.ts';
import { reindex } from './upkeep/reindex.ts';
import { type EngineVerb, type Verbs, withVerbChecks } from './verb-options.ts';
import { forget } from './write/forget.ts';
import { link, linksOf, unlink } from './write/links.ts';
import { importedRecord } from './write/record.ts';
import { insertRecords, remember, rememberMany } from './write/remember.ts';
import { undo } from './write/undo.ts';
import { inContext, update } from './write/write.ts';

/** The function of each verb. It gets the dependencies before the arguments of the verb. */
const FUNCTIONS: {
  readonly [Verb in EngineVerb]: (
    engine: Dependencies,
    ...given: Parameters<Verbs[Verb]>
  ) => ReturnType<Verbs[Verb]>;
} = {
  remember,
  rememberMany,
  observe,
  recall,
  context,
  bootstrap,
  pinned,
  get,
  list,
  update,
  setImportance,
  feedback,
  markUsed,
  forget,
  undo,
  invalidate,
  reinstate,
  conflicts: conflictsOf,
  resolve,
  recalls,
  replay,
  history: historyOf,
  operations,
  activity,
  beliefs: beliefsAbout,
  startSession,
  currentSession,
  endSession,
  saveSummary,
  timeline,
  links: linksOf,
  link,
  unlink,
  relate,
  unrelate,
  mergeEntities,
  splitEntity,
  entities,
  neighbours,
  paths,
  configure,
  maintain,
  curate,
  curve,
  fit,
  stats: ({ space }): Promise<SpaceInfo> => space.info(),
  explain: explainMemory,
  whyNot,
  compare,
  strategies,
  importMemories,
  reindex,
  backup: ({ space, clock }, path) => space.backup(filePath(path, 'path'), clock()),
  check: ({ space }) => space.check(),
  health,
};

/** Verbs that work in steps and may take minutes. Closing ends them between two steps. */
const ENDED_BY_CLOSE: ReadonlySet<string> = new Set<EngineVerb>([
  'observe',
  'maintain',
  'curate',
  'fit',
  'reindex',
]);

/** The longest time that `close` waits for running calls, in milliseconds: a model or an embedder may never answer. */
export const LONGEST_CLOSE = 5000;

/** A running call that `close` waits for. */
interface Call {
  /** All running calls of its space. */
  readonly among: Set<Call>;
  readonly ended: Promise<void>;
  readonly end: () => void;
  /** The call that made this one. */
  readonly outer: Call | undefined;
}

/** Shared by all spaces: up to Node.js 22, each promise costs time for every `AsyncLocalStorage` that was ever used. */
const current = new AsyncLocalStorage<Call>();

/**
 * Makes the engine of one open space. `close` waits for running calls, except those that it is called from, and then
 * runs `afterwards`.
 */
export function createMemoryEngine(
  engine: Dependencies,
  timer: Timer,
  afterwards: () => Promise<void>,
): MemoryEngine {
  const { space, watch } = engine;
  const calls = new Set<Call>();
  let closing: Promise<void> | undefined;

  const counted = async (work: () => Promise<unknown>): Promise<unknown> => {
    const call = newCall(calls, current.getStore());
    calls.add(call);
    try {
      return await current.run(call, work);
    } finally {
      calls.delete(call);
      call.end();
    }
  };
  const close = () => {
    // A call from which `close` is called is not waited for: it waits for `close` itself.
    for (let call = current.getStore(); call; call = call.outer) if (call.among === calls) call.end();
    closing ??= (async () => {
      watch.close();
      await atMost(LONGEST_CLOSE, timer, Promise.all([...calls].map(({ ended }) => ended)));
      await space.close();
      await afterwards();
    })();
    return closing;
  };
  const verbs = Object.fromEntries(
    Object.entries(FUNCTIONS).map(([name, run]) => [
      name,
      async (...given: readonly unknown[]) => {
        if (closing) throw closedError(`space ${JSON.stringify(space.name)}`);
        const work = () => (run as (...all: unknown[]) => Promise<unknown>)(engine, ...given);
        return ENDED_BY_CLOSE.has(name) ? work() : counted(work);
      },
    ]),
  ) as unknown as Verbs;
  return withDiagnostics(
    withVerbChecks({ ...verbs, space: space.name, close, [Symbol.asyncDispose]: close }, onBehalf),
  );
}

function newCall(among: Set<Call>, outer: Call | undefined): Call {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { among, ended, end, outer };
}

async function atMost(milliseconds: number, timer: Timer, work: Promise<unknown>): Promise<void> {
  let cancel = () => {};
  const late = new Promise<void>((resolve) => {
    cancel = timer(resolve, milliseconds);
  });
  await Promise.race([work, late]);
  cancel();
}

/** Imports memories as they were listed or exported, in one transaction. */
async function importMemories(
  engine: Dependencies,
  memories: readonly Memory[],
  options: BatchOptions = {},
): Promise<readonly RememberResult[]> {
  const given = listOf(memories, 'memories');
  const restored = given.map((memory, index) =>
    inContext(index, given.length, () => ({
      record: importedRecord(memory, engine.limits),
      votes: importedVotes(memory),
    })),
  );
  return insertRecords(engine, restored, 'import', engine.clock(), options);
}
