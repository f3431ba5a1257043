import type { SpaceInfo } from '../store/store.ts';
import { beliefsAbout, historyOf } from './belief.ts';
import { configure } from './configure.ts';
import { conflictsOf, resolve } from './conflicts.ts';
import { bootstrap, context, pinned } from './context.ts';
import { curate } from './curate.ts';
import { deriveTexts } from './derive.ts';
import { withDiagnostics } from './diagnostics.ts';
import type { Engine } from './engine.ts';
import { forget } from './forget.ts';
import { feedback, markUsed, setImportance } from './judgement.ts';
import { link, linksOf, unlink } from './links.ts';
import { maintain } from './maintain.ts';
import type { MemoryEngine } from './memory-engine.ts';
import { observe } from './observe.ts';
import { get, list } from './read.ts';
import { recall } from './recall.ts';
import { importedRecord } from './record.ts';
import { insertRecords, remember, rememberMany } from './remember.ts';
import { currentSession, endSession, saveSummary, startSession, timeline } from './sessions.ts';
import type { BatchOptions, Memory, Remembered } from './types.ts';
import { undo } from './undo.ts';
import { invalidate, revive } from './validity.ts';
import { type EngineVerb, type Verbs, withVerbChecks } from './verb-options.ts';
import { importedVotes } from './votes.ts';
import { explainMemory, whyNot } from './why-not.ts';
import { inContext, update } from './write.ts';

/** What each verb does, with one space and its tools before the arguments of the verb. */
const FUNCTIONS: {
  readonly [Verb in EngineVerb]: (
    engine: Engine,
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
  revive,
  conflicts: conflictsOf,
  resolve,
  history: historyOf,
  beliefs: beliefsAbout,
  startSession,
  currentSession,
  endSession,
  saveSummary,
  timeline,
  links: linksOf,
  link,
  unlink,
  configure,
  maintain,
  curate,
  stats: ({ space }): Promise<SpaceInfo> => space.info(),
  explain: explainMemory,
  whyNot,
  restore,
  reindex,
  backup: ({ space }, path) => space.backup(path),
  check: ({ space }) => space.check(),
};

/** The verbs of one space, over an open store. `close` also runs `afterwards`. */
export function createMemoryEngine(engine: Engine, afterwards: () => Promise<void>): MemoryEngine {
  const { space } = engine;
  const close = async () => {
    await space.close();
    await afterwards();
  };
  const verbs = Object.fromEntries(
    Object.entries(FUNCTIONS).map(([name, run]) => [
      name,
      (...given: readonly unknown[]) => (run as (...all: unknown[]) => Promise<unknown>)(engine, ...given),
    ]),
  ) as unknown as Verbs;
  return withDiagnostics(
    withVerbChecks({ ...verbs, space: space.name, close, [Symbol.asyncDispose]: close }),
  );
}

/** Imports memories as they were listed or exported, in one transaction. */
async function restore(
  engine: Engine,
  memories: readonly Memory[],
  options: BatchOptions = {},
): Promise<readonly Remembered[]> {
  const restored = memories.map((memory, index) =>
    inContext(index, memories.length, () => ({
      record: importedRecord(memory, engine.limits),
      votes: importedVotes(memory),
    })),
  );
  return insertRecords(engine, restored, 'import', engine.clock(), options);
}

/** Computes what is derived from all texts anew, with the embedder and the analyzer in use. */
async function reindex(engine: Engine, options: BatchOptions = {}): Promise<void> {
  const { space, analyzer, embedder } = engine;
  await space.reindex({
    analyzer: analyzer.id,
    embedding: embedder && { model: embedder.model, dimensions: embedder.dimensions },
    derive: (memories) => deriveTexts(memories, engine, { signal: options.signal }),
    ...(options.progress ? { progress: options.progress } : {}),
  });
}
