import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copySpaces, type MemoryEngine, openMemory } from '../../src/index.ts';
import { copySpace } from '../../src/store/copy-space.ts';
import type { CopySource } from '../../src/store/copying.ts';
import type { Store } from '../../src/store/store.ts';
import { postgres } from '../../src/stores/postgres/index.ts';
import { createSqliteStore } from '../../src/stores/sqlite/index.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { attempt } from '../../src/testing/random-steps.ts';
import { scaledRuns } from '../../src/testing/runs.ts';
import { startAnyServer } from './any-server.ts';
import { answersTo, EVERYTHING, plain, step } from './histories.ts';
import { startPglite } from './pglite.ts';
import { freshSchema, SERVER, WITHOUT_SERVER } from './server.ts';

const server = await startAnyServer();
afterAll(() => server[Symbol.asyncDispose]());

const day = 86_400_000;
let directory: string;
let database: Awaited<ReturnType<typeof server.freshStore>>;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'salience-copy-'));
  database = await server.freshStore();
});
afterEach(async () => {
  await database.cleanup();
  rmSync(directory, { recursive: true, force: true });
});

const files = (name: string) => createSqliteStore({ directory: join(directory, name) });

async function fill(store: Store, count: number): Promise<MemoryEngine> {
  const memory = await openMemory({ store, space: 'alice', recordRecalls: { days: 30, texts: true } });
  await memory.rememberMany(
    Array.from({ length: count }, (_, at) => ({
      id: `m${at}`,
      content: `${at % 3 ? 'Anna drinks coffee' : 'The train leaves'} in the morning, case ${at}`,
      sessionId: `s${at % 20}`,
    })),
  );
  await memory.link('m0', 'm1');
  await memory.recall('coffee in the morning');
  return memory;
}

describe('copySpaces', () => {
  it('gives the same answers as the original, there and back (random histories)', {
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(step, fc.constantFrom(0, 0, 1, 40)), { minLength: 3, maxLength: 12 }),
        async (steps) => {
          const fresh = await server.freshStore();
          const root = mkdtempSync(join(directory, 'history-'));
          const [one, two] = ['one', 'two'].map((name) => createSqliteStore({ directory: join(root, name) }));
          const stores = [one, fresh.store, two] as Store[];
          try {
            const clock = createFakeClock();
            let ids = 0;
            const options = { space: 'default', clock: () => clock.now(), newId: () => `n${ids++}` };
            const memory = await openMemory({
              ...options,
              store: one as Store,
              recordRecalls: { days: 30, texts: true },
            });
            let known = new Date(clock.now());
            for (const [at, [each, days]] of steps.entries()) {
              await attempt(memory, each);
              if (at === Math.floor(steps.length / 2)) known = new Date(clock.now());
              clock.advance(days * day + 1000);
            }
            const expected = await answersTo(memory, EVERYTHING, known);
            const reports = [];
            for (const [at, to] of stores.slice(1).entries()) {
              const [copy] = await copySpaces({ from: stores[at] as Store, to });
              reports.push(copy);
              const copied = await openMemory({ ...options, store: to });
              expect(await answersTo(copied, EVERYTHING, known)).toEqual(expected);
              await copied.close();
              const space = await to.openSpace('default', { readOnly: true });
              expect(await space.check()).toEqual([]);
              await space.close();
            }
            expect(reports[0]?.checksums).toEqual(reports[1]?.checksums);
            // It goes on in the same way.
            const next = {
              title: 'n',
              run: (each: MemoryEngine) => each.remember('Carol plays the cello', { id: 'next' }),
            };
            const answers = [];
            for (const store of stores) {
              const copied = await openMemory({ ...options, store });
              answers.push(
                plain([
                  await attempt(copied, next),
                  await copied.recall('cello', { track: false }),
                  await copied.undo(),
                ]),
              );
              await copied.close();
            }
            expect(answers[1]).toEqual(answers[0]);
            expect(answers[2]).toEqual(answers[0]);
            await memory.close();
          } finally {
            await Promise.all([one, two].map((store) => store?.close()));
            await fresh.cleanup();
          }
        },
      ),
      { numRuns: scaledRuns(8) },
    );
  });

  it('goes on where it was interrupted, and nobody can open what is incomplete', async () => {
    const here = files('here');
    const memory = await fill(here, 1200);
    await memory.close();
    for (const to of [database.store, files('there')]) {
      const controller = new AbortController();
      const options = { from: here, to, spaces: ['alice'] };
      await expect(
        copySpaces({
          ...options,
          signal: controller.signal,
          progress: (_, done) => done >= 500 && controller.abort(),
        }),
      ).rejects.toMatchObject({ code: 'aborted' });
      expect(await to.listSpaces()).toEqual([]);
      await expect(to.openSpace('alice', { readOnly: true })).rejects.toMatchObject({
        code: to === database.store ? 'store_busy' : 'not_found',
      });
      const [copy] = await copySpaces(options);
      const all = Object.values(copy?.rows ?? {}).reduce((sum, count) => sum + count, 0);
      expect(copy?.rows.memory).toBe(1200);
      expect(copy?.written).toBeLessThanOrEqual(all - 500);
      expect(await to.listSpaces()).toEqual(['alice']);
      await expect(copySpaces(options)).rejects.toMatchObject({ code: 'already_exists' });
      await to.close();
    }
    expect(readdirSync(join(directory, 'there')).filter((name) => !name.endsWith('.db'))).toEqual([]);
    await here.close();
  });

  it('takes in what is written, used and forgotten meanwhile', async () => {
    const here = files('here');
    const memory = await fill(here, 600);
    const [from, to] = [here.copying, database.store.copying];
    if (!from || !to) throw new Error('both stores copy');
    const source = await from.from('alice');
    const works: (() => Promise<unknown>)[] = [
      () => memory.remember('Ben drinks green tea', { id: 'late' }),
      () => memory.forget('m3'),
      () => memory.recall('coffee in the morning'),
      () => memory.link('m4', 'm599'),
      () => memory.update('m5', { content: 'Anna drinks water' }),
      () => memory.feedback('m6', 'up', { voter: 'Ben' }),
      () => memory.invalidate('m7', 'it was tea'),
      async () => {
        await memory.forget('m8');
        await memory.remember('Another one under the same id', { id: 'm8' });
      },
      () => memory.reindex(),
      () => memory.undo(),
    ];
    let reads = 0;
    const busy: CopySource = {
      ...source,
      async rows(part, range) {
        const rows = await source.rows(part, range);
        if (reads++ % 4 === 1) await works.shift()?.();
        return rows;
      },
    };
    const report = await copySpace(busy, await to.into('alice'));
    expect(works).toHaveLength(0);
    await memory.close();
    await here.close();
    // One came, one was forgotten; of the one that came back under its id the last write was undone.
    expect(report.rows.memory).toBe(599);
    // Copied again without anybody writing, every row is the same.
    const back = await copySpaces({ from: database.store, to: join(directory, 'back') });
    const again = await copySpaces({ from: join(directory, 'here'), to: join(directory, 'again') });
    expect(back[0]?.checksums).toEqual(again[0]?.checksums);
  });

  it('is told apart from what it should be', async () => {
    const here = files('here');
    await (await fill(here, 20)).close();
    const [from, to] = [here.copying, database.store.copying];
    if (!from || !to) throw new Error('both stores copy');
    const target = await to.into('alice');
    const lossy = { ...target, put: async () => {} };
    await expect(copySpace(await from.from('alice'), lossy)).rejects.toMatchObject({ code: 'store_corrupt' });
    expect(await database.store.listSpaces()).toEqual([]);
    await database.store.deleteSpace('alice');
    await here.close();
  });

  it('is refused onto the same store by another way, and goes to any other', async () => {
    await using lite = await startPglite();
    const { store: from, schema } = await lite.freshStore();
    const { store: other } = await lite.freshStore();
    const again = postgres(lite.pool, { schema });
    await (await fill(from, 5)).close();
    await expect(copySpaces({ from, to: again })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'to: this is the store to copy from; name another one',
    });
    // Twice: it is another one too when it holds the same spaces.
    expect(await copySpaces({ from, to: other })).toMatchObject([{ space: 'alice' }]);
    await expect(copySpaces({ from, to: other })).rejects.toMatchObject({ code: 'already_exists' });
    for (const store of [again, from, other]) await store.close();
  });

  it.skipIf(SERVER === undefined)(
    `is refused onto a URL that is spelled differently (${WITHOUT_SERVER})`,
    async () => {
      await using fresh = freshSchema();
      const from = fresh.open();
      const url = new URL(fresh.url);
      url.searchParams.set('application_name', 'another');
      await using to = postgres(String(url), { schema: fresh.schema });
      await (await fill(from, 5)).close();
      await expect(copySpaces({ from, to })).rejects.toMatchObject({ code: 'invalid_argument' });
    },
  );

  it('is refused to a second one at the same time', async () => {
    const here = files('here');
    await (await fill(here, 20)).close();
    const source = await here.copying?.from('alice');
    const rows = (await source?.rows('session', {})) ?? [];
    const [first, second] = [
      await database.store.copying?.into('alice'),
      await database.store.copying?.into('alice'),
    ];
    await first?.put('session', rows, []);
    await second?.put('session', rows, []);
    await expect(first?.put('session', rows, [])).rejects.toMatchObject({ code: 'store_busy' });
    const there = createSqliteStore({ directory: join(directory, 'there'), busyTimeout: 20 });
    const only = await there.copying?.into('alice');
    await expect(there.copying?.into('alice')).rejects.toMatchObject({ code: 'store_busy' });
    for (const end of [only, source]) await end?.[Symbol.asyncDispose]();
    await there.close();
    await here.close();
  });

  it('copies an empty space, and refuses what is not there', async () => {
    const here = files('here');
    const memory = await openMemory({
      store: here,
      space: 'empty',
      embedder: 'none',
      timeZone: 'Europe/Paris',
    });
    await memory.close();
    const [copy] = await copySpaces({ from: here, to: database.store });
    expect(copy).toMatchObject({ space: 'empty', written: 0 });
    const copied = await openMemory({ store: database.store, space: 'empty', embedder: 'none' });
    expect((await copied.configure()).timeZone).toBe('Europe/Paris');
    await copied.close();
    await expect(copySpaces({ from: here, to: database.store, spaces: ['bob'] })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(copySpaces({ from: ':memory:', to: database.store })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    await expect(
      copySpaces({ from: here, to: database.store, space: 'empty' } as never),
    ).rejects.toMatchObject({ code: 'invalid_argument' });
    await here.close();
  });
});
