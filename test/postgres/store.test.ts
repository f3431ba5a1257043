import { afterAll, describe, expect, it } from 'vitest';
import { copySpaces, openMemory } from '../../src/index.ts';
import type { SpaceStore } from '../../src/store/store.ts';
import { postgres } from '../../src/stores/postgres/index.ts';
import { SCHEMA_VERSION } from '../../src/stores/postgres/schema.ts';
import { insert, write } from '../../src/testing/store-contract/harness.ts';
import { startAnyServer } from './any-server.ts';
import { startPglite } from './pglite.ts';

const any = await startAnyServer();
const pglite = await startPglite();
afterAll(async () => {
  await any[Symbol.asyncDispose]();
  await pglite[Symbol.asyncDispose]();
});

/** Two stores over one schema: what two processes have. */
function twoStores(schema: string) {
  const options = { schema };
  return [postgres(pglite.pool, options), postgres(pglite.pool, options)] as const;
}

describe('the one connection of PGlite', () => {
  it('is not waited for for ever by who holds it: the statement that waits is named', async () => {
    await using server = await startPglite({ patience: 50 });
    await expect(
      server.hold(() => server.pool.query({ text: 'SELECT 1', values: [], rowMode: 'array' })),
    ).rejects.toThrow('no answer to SELECT 1');
  });
});

describe('what is particular to PostgreSQL', () => {
  it('a space that another process deleted is an error, and can be made again', async () => {
    const [one, two] = twoStores('deleted');
    const memory = await openMemory({ store: one, space: 'alice', embedder: 'none' });
    await memory.remember('Prefers tea', { id: 'a' });
    await two.deleteSpace('alice');
    await expect(memory.recall('tea')).rejects.toMatchObject({ code: 'not_found' });
    await expect(memory.remember('Prefers coffee')).rejects.toMatchObject({ code: 'not_found' });
    const again = await openMemory({ store: two, space: 'alice', embedder: 'none' });
    await again.remember('Plays the cello', { id: 'b' });
    // An index of what is gone is not used for what has come in its place.
    expect((await memory.recall('tea cello', { strategy: 'bm25' })).hits.map((hit) => hit.memory.id)).toEqual(
      ['b'],
    );
    await one.close();
    await two.close();
  });

  it('is checked while others write between any two of its statements', async () => {
    const schema = 'checked';
    await using other = postgres(pglite.pool, { schema });
    const writer = await openMemory({ store: other, space: 'alice', embedder: 'none' });
    await writer.rememberMany(
      Array.from({ length: 1001 }, (_, at) => ({ id: `m${at}`, content: `Case ${at}` })),
    );
    let writes: number | undefined;
    await using store = postgres(
      {
        async query(query) {
          const answer = await pglite.pool.query(query);
          if (writes === undefined) return answer;
          const at = writes++;
          await writer.remember(`Prefers tea number ${at}`, { id: `n${at}` });
          await writer.forget(at % 2 ? `n${at}` : `m${at}`);
          return answer;
        },
      },
      { schema },
    );
    const checker = await openMemory({ store, space: 'alice', embedder: 'none' });
    await checker.recall('case');
    writes = 0;
    expect(await checker.check()).toEqual([]);
    expect(writes).toBeGreaterThanOrEqual(3);
  });

  it('an older state that was restored under a running process is noticed', async () => {
    const [one] = twoStores('restored');
    const memory = await openMemory({ store: one, space: 'alice', embedder: 'none' });
    await memory.remember('Prefers tea', { id: 'a' });
    const tables = ['space', 'memory', 'derived', 'event', 'usage'];
    for (const table of tables)
      await pglite.script(`CREATE TABLE restored.kept_${table} AS SELECT * FROM restored.${table}`);
    await memory.remember('Prefers coffee', { id: 'b' });
    expect((await memory.recall('prefers', { strategy: 'bm25' })).hits).toHaveLength(2);
    for (const table of tables)
      await pglite.script(
        `DELETE FROM restored.${table}; INSERT INTO restored.${table} SELECT * FROM restored.kept_${table}`,
      );
    const { hits, trace } = await memory.recall('prefers', { strategy: 'bm25' });
    expect(hits.map((hit) => hit.memory.id)).toEqual(['a']);
    expect(trace.indexRebuilt).toBe(true);
    await memory.remember('Prefers water', { id: 'c' });
    expect((await memory.recall('prefers', { strategy: 'bm25' })).hits).toHaveLength(2);
    await one.close();
  });

  it('handles that were open before neither read nor write what is being copied, until the copy has ended', async () => {
    const [one, two] = twoStores('copied');
    const [from] = twoStores('original');
    const original = await openMemory({ store: from, space: 'alice', embedder: 'none' });
    await original.rememberMany(
      Array.from({ length: 600 }, (_, at) => ({ id: `m${at}`, content: `tea ${at}` })),
    );
    const memory = await openMemory({
      store: one,
      space: 'alice',
      embedder: 'none',
      recordRecalls: { days: 30, texts: true },
    });
    await memory.remember('Prefers tea', { id: 'm0' });
    await memory.recall('tea');
    const space = await one.openSpace('alice');
    await two.deleteSpace('alice');
    const controller = new AbortController();
    const options = { from, to: two, spaces: ['alice'] };
    const stopped = copySpaces({
      ...options,
      signal: controller.signal,
      progress: (_, done) => done >= 500 && controller.abort(),
    });
    await expect(stopped).rejects.toMatchObject({ code: 'aborted' });

    const refused = {
      code: 'store_busy',
      message: expect.stringContaining(
        'is being copied or restored into this store; let salience copy or restore end',
      ),
    };
    await expect(memory.remember('Plays the cello', { id: 'lost' })).rejects.toMatchObject(refused);
    await expect(memory.markUsed(['m0'])).rejects.toMatchObject(refused);
    await expect(memory.list()).rejects.toMatchObject(refused);
    await expect(memory.reindex()).rejects.toMatchObject(refused);
    const recording = { at: 0, strategy: 'bm25', sessionId: undefined, query: undefined, hits: [] };
    const keep = { most: 10, since: 0, texts: true };
    expect(await space.record({ ...recording, details: {} as never }, keep)).toBe(0);

    const [copy] = await copySpaces(options);
    expect(copy?.rows).toMatchObject({ memory: 600, usage: 0, recall: 0 });
    await memory.remember('Plays the cello', { id: 'kept' });
    expect((await memory.list({ limit: 1, count: true })).total).toBe(601);
    expect(await memory.check()).toEqual([]);
    await Promise.all([one, two, from].map((store) => store.close()));
  });

  it('of reindexes at the same time the first one counts, and the others take nothing from it', async () => {
    const stores = ['reindexes', 'reindexes'].map((schema) => postgres(pglite.pool, { schema }));
    const [one, two] = await Promise.all(stores.map((store) => store.openSpace('alice')));
    if (!one || !two) throw new Error('two stores');
    const count = 501;
    await write(
      one,
      Array.from({ length: count }, (_, at) => insert({ id: `m${at}`, content: 'tea' })),
    );
    /** Reindexes, waiting before the second page. */
    const reindex = (space: SpaceStore, analyzer: string, wait: () => Promise<unknown>) => {
      let pages = 0;
      return space.reindex({
        analyzer,
        embedding: undefined,
        async derive(page) {
          if (++pages === 2) await wait();
          return page.map(() => ({ terms: new Map([[analyzer, 1]]), vector: undefined }));
        },
      });
    };
    const generations = async () => {
      const text = 'SELECT generation FROM reindexes.derived GROUP BY generation';
      return (await pglite.pool.query({ text, values: [], rowMode: 'array' })).rows.length;
    };
    const failure = new Error('the embedder failed');
    for (const [analyzer, ends] of [
      ['failing', async () => Promise.reject(failure)],
      ['other', async () => {}],
      ['same', async () => {}],
    ] as const) {
      let second: Promise<void> | undefined;
      const first: Promise<void> = reindex(
        one,
        analyzer === 'other' ? 'first' : analyzer,
        () =>
          new Promise((resolve) => {
            second = reindex(two, analyzer, async () => {
              resolve(undefined);
              await first;
              await ends();
            });
          }),
      );
      await first;
      if (analyzer === 'failing') await expect(second).rejects.toBe(failure);
      else if (analyzer === 'same') await second;
      else await expect(second).rejects.toMatchObject({ code: 'store_busy' });
      expect(await one.check()).toEqual([]);
      expect(await two.info()).toMatchObject({
        terms: 1,
        analyzer: analyzer === 'other' ? 'first' : analyzer,
      });
      expect(await generations()).toBe(1);
    }
    await Promise.all(stores.map((store) => store.close()));
  });

  it('texts of a server are shared, added once, and removed once', async () => {
    const [one, two] = twoStores('texts');
    expect(await one.shared?.get('token', 'a')).toBeUndefined();
    expect(await one.shared?.ids('token')).toEqual([]);
    await one.shared?.add('token', 'a', 'text');
    await expect(two.shared?.add('token', 'a', 'other')).rejects.toMatchObject({ code: 'already_exists' });
    expect(await two.shared?.get('token', 'a')).toBe('text');
    expect(await two.shared?.ids('other')).toEqual([]);
    await two.shared?.put('token', 'a', 'another');
    expect(await one.shared?.get('token', 'a')).toBe('another');
    expect(await two.shared?.remove('token', 'a')).toBe(true);
    expect(await one.shared?.remove('token', 'a')).toBe(false);
    await one.close();
    await two.close();
  });

  it('is ready while it can be written to, and its schema fits', async () => {
    const [one] = twoStores('readiness');
    await one.ready?.();
    await one.ready?.();
    await pglite.script(`UPDATE readiness.meta SET value = '99'`);
    await expect(one.ready?.()).rejects.toMatchObject({ code: 'newer_store' });
    await pglite.script(`UPDATE readiness.meta SET value = '${SCHEMA_VERSION}'`);
    await one.ready?.();
    await one.close();
    await expect(one.ready?.()).rejects.toMatchObject({ code: 'closed' });
    // A standby takes no writes.
    const [two] = twoStores('readiness');
    await pglite.script('SET default_transaction_read_only = on');
    await expect(two.ready?.()).rejects.toMatchObject({ code: 'store_read_only' });
    await pglite.script('SET default_transaction_read_only = off');
    await two.ready?.();
    await two.close();
  });

  it('what cannot be stored is refused by the names that SQLite gives it', async () => {
    const { store, cleanup } = await any.freshStore();
    const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    for (const text of ['\0', '\ud800']) {
      const relation = { from: 'a', name: 'n', to: 'b' };
      const refused = (field: string) => ({ code: 'invalid_text', details: { field } });
      await expect(memory.remember('tea', { sessionId: text })).rejects.toMatchObject(refused('sessionId'));
      for (const field of ['from', 'name', 'to']) {
        const changed = [{ ...relation, weight: 1, confidence: 1, [field]: text }];
        const space = await store.openSpace('alice');
        await expect(write(space, [insert({ id: 'a', relations: changed })])).rejects.toMatchObject(
          refused(field),
        );
      }
    }
    expect((await memory.list()).memories).toEqual([]);
    await store.close();
    await cleanup();
  });

  it('a use in a session whose id cannot be stored names the session', async () => {
    const { store, cleanup } = await any.freshStore();
    const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    await memory.remember('Prefers tea', { id: 'a' });
    await expect(memory.recall('tea', { strategy: 'retention', sessionId: 's\0' })).rejects.toMatchObject({
      code: 'invalid_text',
      details: { field: 'sessionId' },
    });
    await store.close();
    await cleanup();
  });

  it('nothing that is asked for is part of a statement', async () => {
    const { store, cleanup } = await any.freshStore();
    const nasty = ["'; DROP TABLE memory; --", '"', '$1', '\\', '\0', '\ud800', "x' OR '1'='1", '%_', '{}'];
    const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    await memory.remember('Prefers tea', { id: 'a' });
    const space = await store.openSpace('alice');
    for (const text of nasty) {
      const asked = await Promise.all([
        space.get([text]),
        space.find('topicKey', [text]),
        space.find('names', [text]),
        space.find('ends', [text]),
        space.find('supersedes', [text]),
        space.find('derivedFrom', [text]),
        space.history(text),
        space.run(text),
        space.votes(text),
        space.session(text),
        space.knownPairs([text]),
        space.links([text]),
        space.standing([text]),
        space.stated({ ends: [text] }),
        space.stated({ subjects: [{ from: text, name: text }] }),
        space.recordings({ limit: 1, strategy: text, sessionId: text }),
        space.list({
          filter: { scopes: [text], types: [text], tags: [text], inScope: `${text}:*` },
          limit: 1,
        }),
        space.list({ filter: { metadata: [{ key: text, test: { in: [text] } }] }, limit: 1 }),
        space.list({ filter: {}, where: [{ field: 'author', compare: 'is', value: text }], limit: 1 }),
      ]);
      expect(JSON.stringify(asked), text).not.toContain('Prefers tea');
    }
    expect((await memory.list()).memories).toHaveLength(1);
    await store.close();
    await cleanup();
  });
});
