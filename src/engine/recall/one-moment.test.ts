import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Reranker } from '../../providers/reranker.ts';
import type { Snapshot, SpaceStore, Store } from '../../store/store.ts';
import { createSqliteStore } from '../../stores/sqlite/index.ts';
import { liveOnDisk } from '../../testing/live-memory.ts';
import type { RecallOptions } from '../types.ts';
import type { Recall } from './recall.ts';

/** A store whose snapshots call `pause` before each read and after the last one. */
function pausing(store: Store, pause: () => Promise<void>): Store {
  const wrap = (space: SpaceStore): SpaceStore => ({
    ...space,
    async snapshot(work) {
      const result = await space.snapshot((snapshot) =>
        work(
          new Proxy(snapshot, {
            get(target, name: keyof Snapshot) {
              const member: unknown = target[name];
              if (typeof member !== 'function') return member;
              return async (...given: readonly unknown[]) => {
                await pause();
                return member(...given) as unknown;
              };
            },
          }),
        ),
      );
      await pause();
      return result;
    },
  });
  return { ...store, openSpace: async (...given) => wrap(await store.openSpace(...given)) };
}

const statements = [
  { id: 'tea', content: 'Tea is drunk in the garden' },
  { id: 'pot', content: 'The pot stands on the shelf' },
  { id: 'cup', content: 'A cup of tea costs two coins' },
  { id: 'shelf', content: 'The shelf was made by Ada' },
];

/** Writes of another process that change what is found, linked, scored or believed. */
const changes = {
  'a better hit': (memory) => memory.remember('Tea, tea and more tea', { id: 'new' }),
  'a link away': (memory) => memory.unlink('tea', 'pot'),
  'a new link': (memory) => memory.link('cup', 'shelf', { weight: 0.9 }),
  'a text': (memory) => memory.update('pot', { content: 'The tea pot is broken' }),
  'a belief': (memory) => memory.invalidate('cup', 'it costs three'),
  'a memory in its place': (memory) => memory.remember('The shelf was made by Bo', { supersedes: ['shelf'] }),
} satisfies Record<string, (memory: Awaited<ReturnType<typeof liveOnDisk>>['memory']) => Promise<unknown>>;

/** A model that likes the last best, and takes its time. */
function reversing(pause: () => Promise<void>): Reranker {
  return {
    model: 'reversing',
    async rerank(_, passages) {
      await pause();
      return { results: passages.map((__, index) => ({ index, score: index })) };
    },
  };
}

const options = { association: 'propagated', track: false, limit: 3 } as const satisfies RecallOptions;

const told = ({ hits, evidenceChains, trace }: Recall) => ({
  hits: hits.map(({ memory, score, path }) => ({ memory, score: score.value, path })),
  chains: evidenceChains,
  sequence: trace.sequence,
  bound: trace.upperBound,
});

describe('recall', () => {
  it.each([
    ['without a model', {}],
    ['with a reranker', { rerank: true }],
  ] as const)('%s sees one moment, wherever another process writes', async (_, more) => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...(Object.keys(changes) as (keyof typeof changes)[])),
        fc.nat({ max: 12 }),
        async (change, place) => {
          const { directory, memory, reopen, cleanUp } = await liveOnDisk({ embedder: 'none' });
          let pauses = 0;
          let write: (() => Promise<unknown>) | undefined;
          const pause = async () => {
            if (pauses++ !== place) return;
            const now = write;
            write = undefined;
            await now?.();
          };
          const sqlite = createSqliteStore({ directory, synchronous: 'normal' });
          const reader = await reopen({
            store: pausing(sqlite, pause),
            reranker: reversing(pause),
          });
          try {
            await memory.rememberMany(statements);
            await memory.link('tea', 'pot', { weight: 0.9 });
            await memory.link('pot', 'shelf', { weight: 0.9 });
            const ask = async () => told(await reader.recall('tea', { ...options, ...more }));
            const before = await ask();
            pauses = 0;
            write = () => changes[change](memory);
            const during = await ask();
            await write?.();
            const after = await ask();
            expect(after.sequence).toBeGreaterThan(before.sequence);
            expect(during).toEqual(during.sequence === before.sequence ? before : after);
          } finally {
            await reader.close();
            await sqlite.close();
            await memory.close();
            await cleanUp();
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
