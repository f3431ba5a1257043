import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type MemoryEngine, openMemory } from '../../src/index.ts';
import type { Store } from '../../src/store/store.ts';
import { createSqliteStore } from '../../src/stores/sqlite/index.ts';
import { answersOf } from '../../src/testing/answers.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { arbitraryStep, attempt, type Step } from '../../src/testing/random-steps.ts';
import { startAnyServer } from './any-server.ts';
import { SERVER } from './server.ts';

/** How many histories are drawn: SALIENCE_HISTORIES=5000 for a long run. As WebAssembly each takes a second. */
const HISTORIES = Number(process.env['SALIENCE_HISTORIES'] ?? (SERVER === undefined ? 30 : 200));

const server = await startAnyServer();
afterAll(() => server[Symbol.asyncDispose]());

const day = 86_400_000;

/** Ids and values that databases are apt to compare, order or round in ways of their own. */
const edge: fc.Arbitrary<Step> = fc
  .record({
    id: fc.constantFrom(
      'é',
      'e\u0301',
      'Z',
      'a',
      '\u{1fad6}',
      '\u{ff5e}',
      '\u{10fffd}',
      "x' OR '1'='1",
      '"; --',
      '\\',
    ),
    importance: fc.constantFrom(-0, 5e-324, 2.2250738585072014e-308, 0.1 + 0.2, 1 - 2 ** -53),
    metadata: fc.constantFrom<object>(
      { n: 2 ** 53, z: -0, deep: { '\u{1fad6}': [null, 1e-7] } },
      { n: '\ud800', k: '\u0000' },
      { ['k'.repeat(3000)]: 'v'.repeat(3000) },
      {},
    ),
    content: fc.constantFrom(
      'Anna drinks coffee in Lisbon',
      'Ana bebe café em Lisboa \u{1fad6}',
      '東京でお茶を飲む',
    ),
    title: fc.constantFrom(undefined, '\u{1fad6} and ~'),
    sessionId: fc.constantFrom(undefined, 's\u{10fffd}'),
  })
  .map(({ id, content, ...given }) => ({
    title: `edge ${JSON.stringify({ id, ...given })}`,
    run: (memory: MemoryEngine) => memory.remember(content, { id, ...given } as object),
  }));

const graph: fc.Arbitrary<Step> = fc
  .tuple(fc.constantFrom('Anna', 'Ben'), fc.constantFrom('Lisbon', 'Porto'), fc.boolean())
  .map(([from, to, ends]) => ({
    title: `${ends ? 'unrelate' : 'relate'} ${from} ${to}`,
    async run(memory: MemoryEngine) {
      for (const title of [from, to])
        await memory.remember(title, { type: 'entity', title, topicKey: `entity/${title}` });
      return ends ? memory.unrelate(from, 'lives in', to) : memory.relate(from, 'lives in', to);
    },
  }));

const step = fc.oneof(
  { weight: 6, arbitrary: arbitraryStep({ forgetting: true }) },
  { weight: 2, arbitrary: edge },
  { weight: 1, arbitrary: graph },
);

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

/** All that may be asked, as plain data without times that were measured. */
async function everythingOf(memory: MemoryEngine, known: Date): Promise<unknown> {
  const answers = await answersOf(memory);
  const { hits, trace } = await memory.recall('coffee in Lisbon', {
    deep: true,
    include: ['edges'],
    track: false,
  });
  const ids = answers.memories.map(({ id }) => id);
  const some = ids.slice(0, 3);
  return plain({
    answers,
    past: await answersOf(memory, { known }).catch(String),
    explained: hits.map((hit) => hit.explain()),
    trace,
    whyNot: await Promise.all(some.map((id) => memory.whyNot(id, { query: 'green tea' }))),
    context: (await memory.context('what does Anna drink?', { maxTokens: 300, track: false })).items,
    histories: await Promise.all(ids.map((id) => memory.history(id))),
    operations: await memory.operations({ limit: 50 }),
    entities: await memory.entities(),
    replays: await Promise.all(
      (await memory.recalls({ limit: 5 })).map(({ recallId }) => memory.replay(recallId).catch(String)),
    ),
  });
}

const OWN: ReadonlySet<string> = new Set(['durationMs', 'totalMs', 'erased']);

/** Without times that were measured, and without what a store says of itself: how far it erases. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null, (key, each: unknown) => (OWN.has(key) ? undefined : each)));
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
