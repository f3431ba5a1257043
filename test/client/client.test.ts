import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { connectMemory } from '../../src/client/index.ts';
import { openMemory } from '../../src/index.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { startTestServer } from '../http/fixture.ts';
import { memoryBehaviour } from './behaviour.ts';

describe('a memory in this process', () => {
  memoryBehaviour(async () => {
    const memory = await openMemory({ path: ':memory:', space: 'alice', clock: createFakeClock().now });
    return { memory, [Symbol.asyncDispose]: () => memory.close() };
  });
});

describe('a memory that a server keeps', () => {
  memoryBehaviour(async () => {
    const test = await startTestServer({ spaces: { path: ':memory:', embedder: 'builtin' } });
    const memory = await connectMemory({ url: `${test.url}/`, token: await test.token() });
    return { memory, [Symbol.asyncDispose]: () => test[Symbol.asyncDispose]() };
  });
});

describe('the client', () => {
  it('says what no server does for it', async () => {
    await using test = await startTestServer();
    const memory = await connectMemory({ url: test.url, token: await test.token(), explain: false });
    await expect(memory.backup('copy.db')).rejects.toMatchObject({ code: 'unsupported' });
    await expect(memory.currentSession({ renew: true })).rejects.toMatchObject({ code: 'unsupported' });
    await memory.remember('Prefers tea');
    const [hit] = (await memory.recall('tea')).hits;
    expect(hit!.score.value).toBeGreaterThan(0);
    expect(() => hit!.explain()).toThrow(/explain: false/);
    expect(() => hit!.features).toThrow(/explain: false/);
  });

  it.each(['.', '..', '~.', '~..', 'a/../b', '%2e%2e', 'a b?c#d'])(
    'reaches the memory with the id %j',
    async (id) => {
      await using test = await startTestServer({ spaces: { path: ':memory:', embedder: 'none' } });
      const memory = await connectMemory({ url: test.url, token: await test.token() });
      await memory.remember('Prefers tea', { id });
      await memory.remember('Prefers coffee', { id: 'other' });
      expect(await memory.get(id)).toMatchObject({ id, content: 'Prefers tea' });
      await memory.link(id, 'other', { weight: 0.5 });
      expect((await memory.links(id)).map(({ id: other }) => other)).toEqual(['other']);
      await memory.unlink('other', id);
      expect(await memory.links(id)).toEqual([]);
      expect(await memory.update(id, { content: 'Prefers green tea' })).toMatchObject({ id });
      expect(await memory.history(id)).not.toEqual([]);
      await memory.forget(id);
      expect(await memory.get(id)).toBeUndefined();
    },
  );

  it('answers for an empty id as the library does', async () => {
    await using test = await startTestServer({ spaces: { path: ':memory:', embedder: 'none' } });
    const remote = await connectMemory({ url: test.url, token: await test.token() });
    for (const memory of [remote, await test.space()]) {
      expect(await memory.history('')).toEqual([]);
      await expect(memory.replay('')).rejects.toMatchObject({
        code: 'invalid_argument',
        message: 'recallId: "" is none; recalls lists them',
        details: { field: 'recallId' },
      });
    }
  });

  it('says how many memories one transaction takes, and writes none of more', async () => {
    await using test = await startTestServer({ spaces: { path: ':memory:', embedder: 'none' } });
    const memory = await connectMemory({ url: test.url, token: await test.token() });
    const createdAt = '2026-01-01T00:00:00.000Z';
    const many = Array.from({ length: 10_001 }, (_, at) => ({
      id: `m${at}`,
      content: `Tea ${at}`,
      createdAt,
    }));
    for (const write of [memory.rememberMany, memory.importMemories])
      await expect(write(many as never)).rejects.toMatchObject({
        code: 'invalid_argument',
        message: expect.stringMatching(
          /: memories: 10001 are too many; at most 10000 are allowed in one call, which is one transaction\. Give them in several calls$/,
        ),
        details: { field: 'memories' },
      });
    expect((await memory.list()).memories).toEqual([]);
  });

  it('says what is wrong with its token and its server', async () => {
    await using test = await startTestServer();
    await expect(connectMemory({ url: test.url, token: 'wrong' })).rejects.toMatchObject({
      code: 'unauthorized',
    });
    await using other = await listening(createServer((_, response) => response.end('<html>')));
    await expect(connectMemory({ url: other.url, token: 'x' })).rejects.toMatchObject({
      code: 'server_failed',
      message: expect.stringContaining('is it a salience server'),
    });
    const gone = test.url;
    await test.server.close();
    await expect(connectMemory({ url: gone, token: 'x' })).rejects.toMatchObject({ code: 'server_failed' });
  });

  it('says which URL is likely right where one has the path of a route', async () => {
    await using test = await startTestServer({
      mount: { '/mcp': () => new Response(null, { status: 405 }) },
    });
    const token = await test.token();
    for (const [path, likely] of [
      ['/v1', ''],
      ['/v1/', ''],
      ['/v1/memories', ''],
      ['/mcp', ''],
      ['/inspector/', ''],
      ['/api', ''],
      ['/prefix/v1', '/prefix'],
    ]) {
      await expect(connectMemory({ url: `${test.url}${path}`, token }), path).rejects.toMatchObject({
        code: 'invalid_argument',
        message: expect.stringMatching(
          new RegExp(`give the URL of the server, probably ${test.url}${likely}$`),
        ),
        details: { field: 'url' },
      });
    }
    await using other = await listening(
      createServer((_, response) =>
        response.writeHead(404).end('{"code":"not_found","detail":"no","details":{}}'),
      ),
    );
    await expect(connectMemory({ url: other.url, token })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('asks once more when a connection ends, with the same key', async () => {
    const keys: unknown[] = [];
    const server = createServer((request, response) => {
      if (request.method === 'GET') return void response.end('{"space":"alice"}');
      keys.push(request.headers['idempotency-key']);
      if (keys.length === 1) request.socket.destroy();
      else response.end('{"id":"x","outcome":"created"}');
    });
    await using other = await listening(server);
    const memory = await connectMemory({ url: other.url, token: 'x' });
    expect(await memory.remember('tea')).toEqual({ id: 'x', outcome: 'created' });
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
    await memory.remember('tea');
    expect(keys[2]).not.toBe(keys[0]);
  });

  it('follows no redirect with its token', async () => {
    const server = createServer((_, response) =>
      response.writeHead(307, { location: 'http://evil.example/' }).end(),
    );
    await using other = await listening(server);
    await expect(connectMemory({ url: other.url, token: 'x' })).rejects.toMatchObject({
      code: 'server_failed',
    });
  });
});

async function listening(server: Server): Promise<AsyncDisposable & { readonly url: string }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
