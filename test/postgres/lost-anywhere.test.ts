import { afterAll, describe, expect, it } from 'vitest';
import { SalienceError } from '../../src/domain/errors.ts';
import { copySpaces, type MemoryEngine, openMemory } from '../../src/index.ts';
import { type PostgresPool, type PostgresQuery, postgres } from '../../src/stores/postgres/index.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { startPglite } from './pglite.ts';

const server = await startPglite();
afterAll(() => server[Symbol.asyncDispose]());

/** What drivers say when a server, a connection or the pool is gone. */
const failures: Readonly<Record<string, () => Error>> = {
  ERR_STREAM_DESTROYED: () =>
    Object.assign(new Error('Cannot call write after a stream was destroyed'), {
      code: 'ERR_STREAM_DESTROYED',
    }),
  'an ended pool': () => new Error('Cannot use a pool after calling end on the pool'),
};

/** A pool of which, once armed, all statements fail from one of them on, until it is mended. */
function failing() {
  let left = Number.POSITIVE_INFINITY;
  let fail = failures['an ended pool']!;
  const query = async (asked: PostgresQuery) => {
    if (left-- <= 0) throw fail();
    return server.pool.query(asked);
  };
  const pool: PostgresPool = {
    query,
    async connect() {
      if (left <= 0) throw fail();
      return {
        query,
        release: (error) => void (error && server.script('ROLLBACK').catch(() => undefined)),
      };
    },
  };
  return {
    pool,
    arm: (statements: number, why: () => Error) => {
      left = statements;
      fail = why;
    },
    hasFailed: () => left < 0,
    mend: () => {
      left = Number.POSITIVE_INFINITY;
    },
  };
}

type Call = (memory: MemoryEngine, turn: number) => Promise<unknown>;

const calls: Readonly<Record<string, Call>> = {
  recall: (memory) => memory.recall('tea', { strategy: 'retention' }),
  list: (memory) => memory.list({ count: true }),
  rememberMany: (memory, turn) =>
    memory.rememberMany([{ content: `Many ${turn}` }, { content: `More ${turn}` }]),
  reindex: (memory) => memory.reindex(),
  importMemories: async (memory, turn) => {
    const [known] = (await memory.list()).memories;
    return memory.importMemories([
      { ...known!, id: `many${turn}`, content: `Many ${turn} of old` },
      { ...known!, id: `more${turn}`, content: `More ${turn} of old` },
    ]);
  },
};

function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
}

describe.each(Object.keys(failures))('a server that is gone with %s, from any statement on', (name) => {
  it.each(Object.keys(calls))(
    'is a typed error of %s, leaves nothing half written, and passes',
    async (verb) => {
      const schema = `gone_${name}_${verb}`.toLowerCase().replaceAll(/\W/g, '_');
      const { pool, arm, mend, hasFailed } = failing();
      await using store = postgres(pool, { schema, busyTimeout: 1 });
      for (let statements = 0; ; statements++) {
        // A new one each time: what a process has kept would need no statement.
        const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
        if (statements === 0) await memory.remember('Prefers tea', { id: 'a' });
        arm(statements, failures[name]!);
        const error = await errorOf(calls[verb]!(memory, statements));
        const isOver = !hasFailed();
        mend();
        if (error !== undefined) {
          if (!SalienceError.isInstance(error)) throw error;
          expect(error.code).toBe(
            name === 'an ended pool' && !error.details['inDoubt'] ? 'closed' : 'store_failed',
          );
        }
        // The same handle goes on.
        expect(await memory.check()).toEqual([]);
        expect((await memory.recall('tea', { track: false })).hits[0]?.memory.id).toBe('a');
        const texts = (await memory.list({ limit: 1000 })).memories.map(({ content }) => content);
        const has = (kind: string) => texts.filter((text) => text.startsWith(kind)).length;
        expect(has('Many')).toBe(has('More'));
        await memory.close();
        if (isOver) {
          expect(error).toBeUndefined();
          expect(statements).toBeGreaterThan(0);
          return;
        }
      }
    },
  );

  it('is a typed error of a copy, which can be made again', async () => {
    const schema = `copied_${name}`.toLowerCase().replaceAll(/\W/g, '_');
    const { store: from, cleanup } = await server.freshStore();
    await (await openMemory({ store: from, space: 'alice', embedder: 'none' })).rememberMany([
      { content: 'Prefers tea' },
      { content: 'Plays the cello' },
    ]);
    const { pool, arm, mend, hasFailed } = failing();
    await using to = postgres(pool, { schema, busyTimeout: 1 });
    for (let statements = 0; ; statements++) {
      arm(statements, failures[name]!);
      const error: unknown = await copySpaces({ from, to, spaces: ['alice'] }).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      const isOver = !hasFailed();
      mend();
      if (isOver) {
        expect(error).toBeUndefined();
        break;
      }
      if (!SalienceError.isInstance(error)) throw error;
      expect(['closed', 'store_failed']).toContain(error.code);
      if ((await to.listSpaces()).length > 0) await to.deleteSpace('alice');
    }
    const memory = await openMemory({ store: to, space: 'alice', embedder: 'none' });
    expect((await memory.list()).memories).toHaveLength(2);
    expect(await memory.check()).toEqual([]);
    await memory.close();
    await cleanup();
  });
});

/** What a server says of a statement that its `statement_timeout` ended: a store says that it changed nothing. */
const ended = () => Object.assign(new Error('canceling statement'), { code: '57014' });

const day = 86_400_000;

const runs: Readonly<Record<string, Call>> = {
  maintain: (memory) => memory.maintain({ consolidate: true, run: 'R' }),
  curate: (memory) => memory.curate({ actions: ['consolidate', 'deduplicate', 'prune'], run: 'R' }),
  undo: (memory) => memory.undo({ run: 'R' }),
};

describe('a statement that takes too long, at any place of a run of several writes', () => {
  it.each(Object.keys(runs))('leaves a part of %s that the error tells of, and it goes on', async (verb) => {
    const { pool, arm, mend, hasFailed } = failing();
    await using store = postgres(pool, { schema: `parts_${verb}`, busyTimeout: 1 });
    let parts = 0;
    for (let statements = 0; ; statements += 2) {
      const clock = createFakeClock();
      const space = `s${statements}`;
      const memory = await openMemory({ store, space, fading: 'retention', clock: () => clock.now() });
      await memory.rememberMany([
        ...['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'].map((weekday) => ({
          content: `Went for a long run along the river on ${weekday}`,
          type: 'event',
          importance: 0.2,
        })),
        { content: 'Saw a heron by the old bridge', type: 'event', importance: 0 },
      ]);
      clock.advance(40 * day);
      if (verb === 'undo') await runs['maintain']!(memory, 0);
      const before = (await memory.operations({ limit: 100 })).length;
      arm(statements, ended);
      const error = await errorOf(runs[verb]!(memory, 0));
      const isOver = !hasFailed();
      mend();
      if (error !== undefined) {
        if (!SalienceError.isInstance(error)) throw error;
        expect(error.code).toBe('timed_out');
        if (verb !== 'undo') expect(error.details['run']).toBe('R');
        const hasPart = (await memory.operations({ limit: 100 })).length > before;
        if (hasPart) parts++;
        expect(/^part of the run "R" was (written|undone) and stays/.test(error.message)).toBe(hasPart);
        expect(error.message.includes('nothing was changed')).toBe(!hasPart);
        // What was written of a part is no answer to the whole.
        expect(error.details['written']).toBeUndefined();
        const isAllUndone = (reason: unknown) => {
          expect(verb === 'undo' && reason).toMatchObject({ code: 'cannot_undo' });
        };
        await runs[verb]!(memory, 0).catch(isAllUndone);
      }
      expect(await memory.check()).toEqual([]);
      await memory.close();
      if (isOver) break;
    }
    expect(parts).toBeGreaterThan(0);
  });
});
