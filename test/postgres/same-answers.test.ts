import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type MemoryEngine, openMemory } from '../../src/index.ts';
import type { Store } from '../../src/store/store.ts';
import { createSqliteStore } from '../../src/stores/sqlite/index.ts';
import { countingEmbedder } from '../../src/testing/counting-embedder.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { attempt } from '../../src/testing/random-steps.ts';
import { scaledRuns } from '../../src/testing/runs.ts';
import { startAnyServer } from './any-server.ts';
import { answersTo, DRAWN, EVERYTHING, plain, someOfIt, step } from './histories.ts';

const HISTORIES = scaledRuns(50);

const server = await startAnyServer();
// One store for all, each in a space of its own: tables are made once, and what the others hold is in the way.
const { store, cleanup } = await server.freshStore();
afterAll(async () => {
  await cleanup();
  await server[Symbol.asyncDispose]();
});

const day = 86_400_000;

/** Two engines over two stores, with one clock and the same ids. */
async function both(space: string, stores: readonly Store[], fading: 'off' | 'retention') {
  const clock = createFakeClock();
  return {
    clock,
    memories: await Promise.all(
      stores.map((store) => {
        let ids = 0;
        return openMemory({
          space,
          store,
          fading,
          recordRecalls: { days: 30, texts: true },
          clock: () => clock.now(),
          newId: () => `n${ids++}`,
        });
      }),
    ),
  };
}

describe('the same history in PostgreSQL and in SQLite', () => {
  it(`gives the same answers, bit for bit (${HISTORIES} histories)`, { timeout: 3_600_000 }, async () => {
    const titles: string[] = [];
    const asked = new Set<unknown>();
    let histories = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(step, fc.constantFrom(0, 0, 1, 40)), { minLength: 3, maxLength: 9 }),
        fc.constantFrom('off' as const, 'retention' as const),
        someOfIt,
        fc.constantFrom(true, false, false, false),
        async (steps, fading, some, reopened) => {
          const files = createSqliteStore({ directory: ':memory:' });
          const space = `history-${++histories}`;
          for (const each of [...some.questions, ...some.recalls, ...some.past.map((at) => `past ${at}`)])
            asked.add(each);
          try {
            const { clock, memories } = await both(space, [files, store], fading);
            const [sqlite, postgres] = memories as [MemoryEngine, MemoryEngine];
            let known = new Date(clock.now());
            for (const [at, [each, days]] of steps.entries()) {
              titles.push(each.title);
              const expected = plain(await attempt(sqlite, each));
              expect(plain(await attempt(postgres, each)), each.title).toEqual(expected);
              if (at === Math.floor(steps.length / 2)) known = new Date(clock.now());
              clock.advance(days * day + 1000);
            }
            const expected = await answersTo(sqlite, some, known);
            expect(await answersTo(postgres, some, known)).toEqual(expected);
            await postgres.close();
            if (!reopened) return;
            // An index that was made of the rows ranks as one that followed the feed.
            const again = await openMemory({ space, store, clock: () => clock.now() });
            expect(await answersTo(again, some, known)).toEqual(expected);
            await again.close();
          } finally {
            await files.close();
          }
        },
      ),
      { numRuns: HISTORIES },
    );
    // Of fifty histories, chance leaves something out once in thirty runs.
    if (HISTORIES < 100) return;
    expect(DRAWN.filter((text) => !titles.some((title) => title.includes(text)))).toEqual([]);
    expect(asked.size).toBe(EVERYTHING.questions.length + 2 * EVERYTHING.recalls.length);
  });
});

it('words of another language are indexed again, and vectors kept', async () => {
  const embedder = countingEmbedder();
  const place = { store, space: 'language', embedder } as const;
  await (await openMemory(place)).remember('Anna kauft Bücher');
  const before = embedder.asked;
  await openMemory({ ...place, language: 'german', reindex: true });
  expect(embedder.asked).toBe(before);
  const memory = await openMemory(place);
  expect(await memory.stats()).toMatchObject({ vectors: 1, analyzer: 'german-snowball-1' });
  const { hits, trace } = await memory.recall('Buch', { strategy: 'bm25' });
  expect(hits).toHaveLength(1);
  expect(trace.spelling).toBeUndefined();
});
