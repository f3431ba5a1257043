import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LONGEST_PROBE } from '../../src/http/app.ts';
import { type LogEntry, openTokenStore, startServer } from '../../src/http/index.ts';
import { openSpaces } from '../../src/index.ts';
import { type PostgresPool, type PostgresQuery, postgres } from '../../src/stores/postgres/index.ts';
import { SCHEMA_VERSION } from '../../src/stores/postgres/schema.ts';
import { gate } from '../../src/testing/gate.ts';
import { startPglite, type TestServer } from './pglite.ts';

/*
 * What a service over PostgreSQL relies on: whether it is ready, and how much it keeps in memory.
 */
let pglite: TestServer;
let directory: string;
beforeAll(async () => {
  pglite = await startPglite();
  directory = mkdtempSync(join(tmpdir(), 'salience-service-'));
});
afterAll(async () => {
  await pglite[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

/** A pool of which `before` may make a statement wait or fail. */
function disturbed(before: (query: PostgresQuery) => Promise<void> | void): PostgresPool {
  return {
    async query(query) {
      await before(query);
      return pglite.pool.query(query);
    },
  };
}

describe('/readyz', () => {
  it('waits three seconds at most for a store that does not answer', async () => {
    await using store = postgres(pglite.pool, { schema: 'silent' });
    let ask = () => {};
    const asked = new Promise<void>((resolve) => {
      ask = resolve;
    });
    await using server = await startServer({
      spaces: openSpaces({ path: 'none', store, embedder: 'none' }),
      tokens: openTokenStore(join(directory, 'tokens')),
      port: 0,
      ready: () => {
        ask();
        return new Promise(() => {});
      },
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const answer = fetch(`${server.url}/readyz`);
      await asked;
      await vi.advanceTimersByTimeAsync(LONGEST_PROBE);
      expect((await answer).status).toBe(503);
    } finally {
      vi.useRealTimers();
    }
  });

  it('asks for the connection, the schema and room to write; its log says what is wrong, its answer does not', async () => {
    let fails: { readonly when: RegExp; readonly code: string } | undefined;
    const pool = disturbed(({ text }) => {
      if (fails?.when.test(text)) throw Object.assign(new Error('canary'), { code: fails.code });
    });
    const log: LogEntry[] = [];
    /** A server that has just started, which probes at once. */
    const asked = async () => {
      await using store = postgres(pool, { schema: 'ready' });
      const spaces = openSpaces({ path: 'none', store, embedder: 'none' });
      const server = await startServer({
        spaces,
        tokens: openTokenStore(join(directory, 'tokens')),
        port: 0,
        log: (entry) => void log.push(entry),
      });
      try {
        log.length = 0;
        const answer = await fetch(`${server.url}/readyz`);
        const body = await answer.text();
        return { status: answer.status, body, code: JSON.parse(body).code, log: JSON.stringify(log) };
      } finally {
        await server.close();
      }
    };
    expect(await asked()).toMatchObject({ status: 200 });
    for (const [when, code, ours] of [
      [/./, 'ECONNREFUSED', 'store_failed'],
      [/INSERT INTO "ready"\.shared/, '53100', 'store_full'],
      [/INSERT INTO "ready"\.shared/, '25006', 'store_read_only'],
      [/./, '57014', 'timed_out'],
      [/./, '53300', 'store_busy'],
    ] as const) {
      fails = { when, code };
      const found = await asked();
      expect(found).toMatchObject({ status: 503, code: ours, log: expect.stringContaining(ours) });
      expect(found.body).not.toMatch(/canary|given pool/);
    }
    fails = undefined;
    await pglite.script(`UPDATE ready.meta SET value = '99'`);
    expect(await asked()).toMatchObject({ status: 503, log: expect.stringContaining('newer_store') });
    await pglite.script(`UPDATE ready.meta SET value = '${SCHEMA_VERSION}'`);
    expect(await asked()).toMatchObject({ status: 200 });
  });
});

describe('a database that is away', () => {
  it.each([
    ['ECONNREFUSED', 'store_failed'],
    ['57P03', 'store_failed'],
    ['EAI_AGAIN', 'store_failed'],
    ['57014', 'timed_out'],
  ])('is 503 with Retry-After while statements fail with %s: %s', async (code, ours) => {
    let isAway = false;
    const pool = disturbed(() => {
      if (isAway) throw Object.assign(new Error('canary'), { code });
    });
    await using store = postgres(pool, { schema: 'away' });
    const tokens = openTokenStore(join(directory, `away-${code}`));
    const { token } = await tokens.create({ space: 'alice' }, Date.now());
    const log: LogEntry[] = [];
    await using server = await startServer({
      spaces: openSpaces({ path: 'none', store, embedder: 'none' }),
      tokens,
      port: 0,
      log: (entry) => void log.push(entry),
    });
    const asked = async (method: 'GET' | 'POST') => {
      const answer = await fetch(`${server.url}/v1/memories`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(method === 'POST' ? { body: JSON.stringify({ content: 'Prefers coffee' }) } : {}),
      });
      const body = await answer.text();
      return { status: answer.status, retry: answer.headers.get('retry-after'), body };
    };
    expect(await asked('POST')).toMatchObject({ status: 200, retry: null });
    isAway = true;
    for (const method of ['GET', 'POST'] as const) {
      log.length = 0;
      const { status, retry, body } = await asked(method);
      expect({ status, retry, code: JSON.parse(body).code }).toEqual({ status: 503, retry: '5', code: ours });
      expect(body).not.toMatch(/canary|given pool/);
      expect(log).toMatchObject([{ status: 503, failure: expect.stringContaining(ours) }]);
    }
    isAway = false;
    expect(await asked('GET')).toMatchObject({ status: 200 });
  });
});

describe('the memory of a process', () => {
  async function filled(schema: string): Promise<void> {
    await using store = postgres(pglite.pool, { schema });
    const spaces = openSpaces({ path: 'none', store, embedder: 'none' });
    for (const [name, count] of [
      ['large', 200],
      ['small', 3],
    ] as const) {
      const memory = await spaces.get(name);
      await memory.rememberMany(Array.from({ length: count }, (_, at) => ({ content: `tea of case ${at}` })));
      await memory.close();
    }
    await spaces.close();
  }

  it('holds no space that is larger than it may be: who asks is told so, and others are served', async () => {
    await filled('budget');
    await using store = postgres(pglite.pool, { schema: 'budget' });
    const spaces = openSpaces({ path: 'none', store, embedder: 'none', maxResidentBytes: 40_000 });
    await expect((await spaces.get('large')).recall('tea')).rejects.toMatchObject({
      code: 'space_too_large',
      message: expect.stringMatching(/raise maxResidentBytes/),
    });
    expect((await (await spaces.get('small')).recall('tea')).hits).toHaveLength(3);
    await spaces.close();
  });

  it('is filled once for all who wait, no longer than they wait', async () => {
    await filled('waiting');
    const [begun, goesOn] = [gate(), gate()];
    let reads = 0;
    const pool = disturbed(async ({ text }) => {
      if (!/memory\.key >|encode\(bytes/.test(text)) return;
      reads++;
      begun.open();
      await goesOn.opened;
    });
    await using store = postgres(pool, { schema: 'waiting' });
    const spaces = openSpaces({ path: 'none', store, embedder: 'none', waitTimeout: 1 });
    const memory = await spaces.get('large');
    const first = memory.recall('tea', { track: false });
    await begun.opened;
    await expect(memory.recall('tea', { track: false })).rejects.toMatchObject({
      code: 'store_busy',
      message: expect.stringMatching(/raise waitTimeout/),
    });
    goesOn.open();
    expect((await first).hits).toHaveLength(10);
    const loaded = reads;
    expect((await memory.recall('tea', { track: false })).hits).toHaveLength(10);
    expect(reads).toBe(loaded);
    await spaces.close();
  });
});
