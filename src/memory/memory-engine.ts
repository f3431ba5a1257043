import type { MemoryEvent, SpaceInfo } from '../store/store.ts';
import { similarPairsOf } from './compare.ts';
import { deriveTexts } from './derive.ts';
import { type Engine, filterOf, limitOf } from './engine.ts';
import { link, linksOf, type MemoryLink, unlink } from './links.ts';
import { maintain } from './maintain.ts';
import type { MaintainOptions, MaintenanceReport, SimilarPair } from './maintenance-types.ts';
import { type Recall, recall } from './recall.ts';
import { importedRecord, toMemory } from './record.ts';
import type {
  ListOptions,
  Memory,
  MemoryChanges,
  OperationOptions,
  RecallOptions,
  Remembered,
  RememberInput,
  RememberOptions,
} from './types.ts';
import { explainMemory, type MemoryExplanation, type WhyNot, whyNot } from './why-not.ts';
import {
  type BatchOptions,
  forget,
  inContext,
  insertRecords,
  remember,
  rememberMany,
  type Undone,
  undo,
  update,
} from './write.ts';

/** A page of memories, newest update first. */
export interface MemoryPage {
  readonly memories: readonly Memory[];
  /** Absent on the last page. */
  readonly nextCursor?: string | undefined;
}

/** One write of the past: the memory as it was before it. */
export interface HistoryEntry extends Omit<MemoryEvent, 'at' | 'before'> {
  readonly at: string;
  readonly before: Memory | undefined;
}

/** The strategies that come with the engine. */
export type BuiltinStrategyName =
  | 'lexical'
  | 'ambient'
  | 'retention'
  | 'balanced'
  | 'five-factor'
  | 'scoped'
  | 'hybrid'
  | 'bm25'
  | 'vector';

/** The memory of one space. Every method is atomic, and sees what other processes have written before. */
export interface MemoryEngine extends AsyncDisposable {
  readonly space: string;
  /** Remembers one statement. */
  remember(content: string, options?: RememberOptions & OperationOptions): Promise<Remembered>;
  /** Remembers many statements in one transaction: all, or none. */
  rememberMany(inputs: readonly RememberInput[], options?: BatchOptions): Promise<readonly Remembered[]>;
  /** Finds what matters now: the exact top of the strategy's whole score. Default strategy is `hybrid`. */
  recall<Strategy extends BuiltinStrategyName | (string & {}) = 'hybrid'>(
    query: string | undefined,
    options?: RecallOptions<Strategy>,
  ): Promise<Recall<Strategy>>;
  /** The memory, or `undefined`. */
  get(id: string): Promise<Memory | undefined>;
  list(options?: ListOptions): Promise<MemoryPage>;
  /** Changes a memory in place. Throws `not_found`. */
  update(id: string, changes: MemoryChanges, options?: OperationOptions): Promise<Memory>;
  /** Erases a memory, its history included. There is no undo. Throws `not_found`. */
  forget(id: string, options?: OperationOptions): Promise<void>;
  /** Takes back the latest operation, or the one named. Throws `cannot_undo`. */
  undo(operation?: number, options?: OperationOptions): Promise<Undone>;
  /** The writes of a memory, oldest first. Empty when there never was one. */
  history(id: string): Promise<readonly HistoryEntry[]>;
  /** The associations of a memory, strongest first. Throws `not_found`. */
  links(id: string, options?: OperationOptions): Promise<readonly MemoryLink[]>;
  /** States that two memories belong together. Default weight is .8. Throws `not_found`. */
  link(a: string, b: string, options?: Parameters<typeof link>[3]): Promise<void>;
  /** Takes links between two memories away. Throws `not_found`. */
  unlink(a: string, b: string, options?: Parameters<typeof unlink>[3]): Promise<void>;
  /** Lets time do its work: cools, archives, expires, consolidates. Idempotent; may be run while others recall. */
  maintain(options?: MaintainOptions): Promise<MaintenanceReport>;
  /** The similar memories that wait to be judged, in the order in which they were noticed. Default limit is 20. */
  similarPairs(limit?: number): Promise<readonly SimilarPair[]>;
  stats(): Promise<SpaceInfo>;
  /** The score of one memory for a query, as a tree. Throws `not_found`. */
  explain(query: string | undefined, id: string, options?: RecallOptions): Promise<MemoryExplanation>;
  /** Why a recall does not return a memory, and what would have had to differ. Throws `not_found`. */
  whyNot(query: string | undefined, id: string, options?: RecallOptions): Promise<WhyNot>;
  /** Restores memories that were listed or exported, every field as it was; all in one transaction. */
  restore(memories: readonly Memory[], options?: BatchOptions): Promise<readonly Remembered[]>;
  /** Computes vectors and terms of all memories anew, with the embedder and analyzer in use. */
  reindex(options?: BatchOptions): Promise<void>;
  /** Writes a complete copy of the store into a new file. */
  backup(path: string): Promise<void>;
  /** What is wrong with the store: empty when it is healthy. */
  check(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** The verbs of one space, over an open store. `close` also runs `afterwards`. */
export function createMemoryEngine(engine: Engine, afterwards: () => Promise<void>): MemoryEngine {
  const { space } = engine;
  const close = async () => {
    await space.close();
    await afterwards();
  };
  return {
    space: space.name,
    remember: (content, options) => remember(engine, content, options),
    rememberMany: (inputs, options) => rememberMany(engine, inputs, options),
    recall: (query, options) => recall(engine, query, options),
    async get(id) {
      const [record] = await space.get([id]);
      return record && toMemory(record, space.name);
    },
    async list(options = {}) {
      const request = {
        filter: filterOf(options),
        limit: limitOf(options.limit, 20, 1000),
        cursor: options.cursor,
      };
      const { memories, nextCursor } = await space.list(request);
      return {
        memories: memories.map((each) => toMemory(each, space.name)),
        ...(nextCursor ? { nextCursor } : {}),
      };
    },
    update: (id, changes, options) => update(engine, id, changes, options),
    forget: (id, options) => forget(engine, id, options),
    undo: (operation, options) => undo(engine, operation, options),
    async history(id) {
      const events = await space.history(id);
      return events.map((event) => ({
        ...event,
        at: new Date(event.at).toISOString(),
        before: event.before && toMemory(event.before, space.name),
      }));
    },
    links: (id, options) => linksOf(engine, id, options),
    link: (a, b, options) => link(engine, a, b, options),
    unlink: (a, b, options) => unlink(engine, a, b, options),
    maintain: (options) => maintain(engine, options),
    similarPairs: (limit) => similarPairsOf(engine, limit),
    stats: () => space.info(),
    explain: (query, id, options) => explainMemory(engine, query, id, options),
    whyNot: (query, id, options) => whyNot(engine, query, id, options),
    restore(memories, options = {}) {
      const records = memories.map((memory, index) =>
        inContext(index, memories.length, () => importedRecord(memory, engine.limits)),
      );
      return insertRecords(engine, records, 'import', engine.clock(), options);
    },
    reindex: (options = {}) =>
      space.reindex({
        analyzer: engine.analyzer.id,
        embedding: engine.embedder && {
          model: engine.embedder.model,
          dimensions: engine.embedder.dimensions,
        },
        derive: (memories) => deriveTexts(memories, engine, { signal: options.signal }),
        ...(options.progress ? { progress: options.progress } : {}),
      }),
    backup: (path) => space.backup(path),
    check: () => space.check(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
