import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type MemoryEngine, openMemory } from '../../src/index.ts';
import type { Store } from '../../src/store/store.ts';
import { createSqliteStore } from '../../src/stores/sqlite/index.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { attempt } from '../../src/testing/random-steps.ts';
import { startAnyServer } from './any-server.ts';
import { everythingOf, plain, step } from './histories.ts';
import { SERVER } from './server.ts';

/** How many histories are drawn: SALIENCE_HISTORIES=5000 for a long run. As WebAssembly each takes a second. */
const HISTORIES = Number(process.env['SALIENCE_HISTORIES'] ?? (SERVER === undefined ? 30 : 200));

const server = await startAnyServer();
afterAll(() => server[Symbol.asyncDispose]());

const day = 86_400_000;

/** Two engines over two stores, with one clock and the same ids. */
async function both(stores: readonly Store[], fading: 'off' | 'retention') {
  const clock = createFakeClock();
  return {
    clock,
    memories: await Promise.all(
      stores.map((store) => {
        let ids = 0;
        return openMemory({
          space: 'default',
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
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(step, fc.constantFrom(0, 0, 1, 40)), { minLength: 3, maxLength: 12 }),
        fc.constantFrom('off' as const, 'retention' as const),
        fc.boolean(),
        async (steps, fading, reopened) => {
          const fresh = await server.freshStore();
          const files = createSqliteStore({ directory: ':memory:' });
          try {
            const { clock, memories } = await both([files, fresh.store], fading);
            const [sqlite, postgres] = memories as [MemoryEngine, MemoryEngine];
            let known = new Date(clock.now());
            for (const [at, [each, days]] of steps.entries()) {
              const expected = plain(await attempt(sqlite, each));
              expect(plain(await attempt(postgres, each)), each.title).toEqual(expected);
              if (at === Math.floor(steps.length / 2)) known = new Date(clock.now());
              clock.advance(days * day + 1000);
            }
            const expected = await everythingOf(sqlite, known);
            expect(await everythingOf(postgres, known)).toEqual(expected);
            if (!reopened) return;
            // An index that was made of the rows ranks as one that followed the feed.
            await postgres.close();
            const again = await openMemory({
              space: 'default',
              store: fresh.store,
              clock: () => clock.now(),
            });
            expect(await everythingOf(again, known)).toEqual(expected);
            await again.close();
          } finally {
            await files.close();
            await fresh.cleanup();
          }
        },
      ),
      { numRuns: HISTORIES },
    );
  });
});
