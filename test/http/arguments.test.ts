import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { verbs } from '../../src/api/index.ts';
import { connectMemory } from '../../src/client/index.ts';
import { mem } from '../../src/mcp/dialects/mem.ts';
import { salience } from '../../src/mcp/dialects/salience.ts';
import { scoped } from '../../src/mcp/dialects/scoped.ts';
import { startTestServer } from './fixture.ts';

const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'nobodyReadsThis'];
const pathOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, 'a');

describe('arguments that nobody reads', () => {
  it('are refused in the query of every route', async () => {
    await using test = await startTestServer();
    const token = await test.token({ rights: 'admin' });
    await (await test.space()).remember('tea', { id: 'a' });
    const before = await (await test.space()).history('a');
    expect(verbs.length).toBeGreaterThan(30);
    for (const { name, http } of verbs) {
      for (const argument of names) {
        const { status, json } = await test.ask(http.method, `${pathOf(http.path)}?${argument}=1`, { token });
        expect([name, argument, status, json.code]).toEqual([name, argument, 400, 'invalid_argument']);
      }
    }
    for (const argument of names) {
      expect((await test.ask('GET', `/v1/export?${argument}=1`, { token })).status).toBe(400);
    }
    expect(await (await test.space()).history('a')).toEqual(before);
  });

  it('are refused in the body of every route', async () => {
    await using test = await startTestServer();
    const token = await test.token({ rights: 'admin' });
    await (await test.space()).remember('tea', { id: 'a' });
    const routes = verbs.filter(({ http: { method } }) => method !== 'GET' && method !== 'DELETE');
    expect(routes.length).toBeGreaterThan(10);
    for (const { name, http } of routes) {
      for (const argument of names) {
        const { status, json } = await test.ask(http.method, pathOf(http.path), {
          token,
          headers: { 'content-type': 'application/json' },
          body: `{${JSON.stringify(argument)}: 1}`,
        });
        expect([name, argument, status, json.code]).toEqual([name, argument, 400, 'invalid_argument']);
      }
    }
  });

  it('are refused as the body of a request that takes none', async () => {
    await using test = await startTestServer();
    const token = await test.token({ rights: 'admin' });
    await (await test.space()).remember('tea', { id: 'a' });
    const bodiless = [
      ...verbs.flatMap(({ http }) => (/GET|DELETE/.test(http.method) ? [http] : [])),
      { method: 'GET', path: '/v1/export' },
      { method: 'DELETE', path: '/v1/space' },
    ];
    expect(bodiless.length).toBeGreaterThan(10);
    for (const { method, path } of bodiless) {
      for (const headers of [{ 'content-length': '7' }, { 'transfer-encoding': 'chunked' }]) {
        const { status, json } = await test.ask(method, pathOf(path), { token, headers, body: '{"a":1}' });
        expect([method, path, status, json.code]).toEqual([method, path, 400, 'invalid_argument']);
        expect(json.details.field).toBe('body');
      }
      const headers = { 'content-length': '0' };
      const { json } = await test.ask(method, pathOf(path), { token, headers });
      expect(json?.details?.field).not.toBe('body');
    }
    expect((await (await test.space()).history('a')).length).toBeGreaterThan(0);
  });

  it('are refused where they are compressed, and nothing is skipped as unreadable', async () => {
    await using test = await startTestServer({ mount: { '/own': () => new Response('read') } });
    const token = await test.token();
    const body = gzipSync('{"content":"tea"}');
    for (const path of ['/v1/memories', '/v1/import', '/own']) {
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      const { status, json } = await test.ask('POST', path, { token, headers, body });
      expect([path, status, json?.details?.field]).toEqual([path, 400, 'content-encoding']);
    }
    const headers = { 'content-encoding': 'identity' };
    expect(
      (await test.ask('POST', '/v1/memories', { token, headers, body: { content: 'tea' } })).status,
    ).toBe(200);
  });

  it('have their field in the problem, as other wrong arguments have', async () => {
    await using test = await startTestServer();
    const token = await test.token({ rights: 'admin' });
    const json = { 'content-type': 'application/json' };
    const fields: (readonly [string, ...Parameters<typeof test.ask>])[] = [
      ['limit', 'GET', '/v1/memories?limit=1&limit=2'],
      ['metadata', 'GET', '/v1/memories?metadata={'],
      ['content-type', 'POST', '/v1/recall', { body: '{}' }],
      ['body', 'POST', '/v1/recall', { body: '{"query":', headers: json }],
      ['body', 'POST', '/v1/recall', { body: [] }],
      ['id', 'PATCH', '/v1/memories/a', { body: { id: 'b' } }],
      ['idempotency-key', 'POST', '/v1/memories', { body: {}, headers: { 'idempotency-key': 'a b' } }],
      ['expect', 'POST', '/v1/recall', { body: {}, headers: { expect: 'more' } }],
      ['name', 'DELETE', '/v1/space?name=bob'],
    ];
    for (const [field, method, path, options] of fields) {
      const answer = await test.ask(method, path, { token, ...options });
      expect(answer.json).toMatchObject({ code: 'invalid_argument', details: { field } });
    }
  });

  it('are refused by the client before anything is sent', async () => {
    await using test = await startTestServer();
    const url = test.url;
    const memory = await connectMemory({ url, token: await test.token() });
    await expect(memory.forget('a', { reason: 'x' } as never)).rejects.toThrow(
      'forget: unknown option "reason"',
    );
    await expect(memory.recall('tea', { topK: 3 } as never)).rejects.toThrow('recall: unknown option "topK"');
    await expect(connectMemory({ url, token: 'x', space: 'bob' } as never)).rejects.toThrow(
      'connectMemory: unknown option "space"',
    );
  });
});

describe('metadata named __proto__', () => {
  it.each([
    ['POST', '/v1/memories', '{"content": "x", "metadata": {"__proto__": {"user": "bob"}}}'],
    ['POST', '/v1/memories', '{"content": "x", "metadata": {"a": [{"__proto__": 1}]}}'],
    ['POST', '/v1/recall', '{"query": "tea", "metadata": {"__proto__": {"user": "bob"}}}'],
    ['GET', `/v1/memories?metadata=${encodeURIComponent('{"__proto__": "bob"}')}`, undefined],
  ])('%s %s %s is refused, and never means no filter', async (method, path, body) => {
    await using test = await startTestServer();
    await (await test.space()).remember('tea of Ann');
    const { status, json } = await test.ask(method, path, {
      token: await test.token(),
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect([status, json.code]).toEqual([400, 'invalid_argument']);
    expect(json.details.field).toMatch(/^metadata\..*__proto__$/);
    expect((await (await test.space()).list()).memories).toHaveLength(1);
  });
});

function mostOf({ checks = [] }: z.core.$ZodArrayDef): number | undefined {
  const limit = checks.map(({ _zod: { def } }) => def).find(({ check }) => check === 'max_length');
  return (limit as z.core.$ZodCheckMaxLengthDef | undefined)?.maximum;
}

/** The lists that an input may hold, each with what it may be given as. */
function listsIn(schema: z.core.$ZodType, place: string): readonly (readonly [string, number | undefined])[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional':
    case 'nullable':
      return listsIn(def.innerType, place);
    case 'union':
      return def.options.flatMap((each) => listsIn(each, place));
    case 'array':
      return [[place, mostOf(def)], ...listsIn(def.element, `${place}[]`)];
    case 'object':
      return Object.entries(def.shape).flatMap(([name, each]) => listsIn(each, `${place}.${name}`));
    case 'record':
      return listsIn(def.valueType, `${place}.*`);
    default:
      return [];
  }
}

describe('what is too long', () => {
  it('is a list that has more entries than the schema says, which every list does', () => {
    const dialectTools = [...scoped.tools, ...mem().tools, ...salience('all').tools];
    const lists = [...verbs, ...dialectTools].flatMap(({ name, input }) => listsIn(input, name));
    expect(lists.length).toBeGreaterThan(40);
    expect(lists.filter(([, most]) => most === undefined || most > 100_000)).toEqual([]);
  });

  it.each([
    ['/v1/recall', 'types', { query: 'x' }, 'types: 10001 are too many; at most 10000 are allowed'],
    ['/v1/forget', 'ids', {}, 'ids: 10001 are too many; at most 10000 are allowed'],
    [
      '/v1/observe',
      'messages',
      {},
      'messages: 10001 are too many; at most 10000 are allowed in one call. Give them in several calls',
    ],
  ])('%s: %s are counted before one of them is looked at', async (path, field, more, problem) => {
    await using test = await startTestServer();
    const token = await test.token();
    const body = { ...more, [field]: Array.from({ length: 10_001 }, () => 5) };
    const { status, json } = await test.ask('POST', path, { token, body });
    expect([status, json.code, json.details]).toEqual([400, 'invalid_argument', { field }]);
    expect(json.detail).toBe(
      `${path.slice('/v1/'.length) === 'forget' ? 'forget_many' : path.slice(4)}: ${problem}`,
    );
  });

  it('says how long a list within others is, and where', async () => {
    await using test = await startTestServer();
    const tags = Array.from({ length: 65 }, () => 5);
    const { json } = await test.ask('POST', '/v1/memories/batch', {
      token: await test.token(),
      body: { memories: [{ content: 'tea' }, { content: 'milk', tags }] },
    });
    expect(json).toMatchObject({ code: 'invalid_argument', details: { field: 'tags', index: 1 } });
    expect(json.detail).toContain('memories[1].tags: 65 are too many; at most 64 are allowed');
  });

  it('is a list of values of a metadata filter, which may be one value too', async () => {
    await using test = await startTestServer();
    const metadata = { status: Array.from({ length: 10_001 }, () => ({})) };
    const { json } = await test.ask('POST', '/v1/recall', {
      token: await test.token(),
      body: { query: 'tea', metadata },
    });
    expect(json.detail).toBe('recall: metadata.status: 10001 are too many; at most 10000 are allowed');
  });

  it('is a query of more than 32,768 characters, and the document says so', async () => {
    await using test = await startTestServer({ spaces: { path: ':memory:', embedder: 'none' } });
    const token = await test.token();
    await (await test.space()).remember('tea', { id: 'tea' });
    const document = (await test.ask('GET', '/openapi.json', { token })).json;
    const takers = verbs.filter(({ input, http }) => 'query' in input.shape && http.method === 'POST');
    expect(takers.map(({ name }) => name)).toEqual(['recall', 'context', 'explain', 'why_not', 'compare']);
    for (const { http } of takers) {
      const path = http.path.replace('{id}', 'tea');
      const more = http.path.endsWith('context') ? { maxTokens: 100 } : {};
      const ask = (length: number) =>
        test.ask('POST', path, { token, body: { query: 'x'.repeat(length), ...more } });
      expect([path, (await ask(32_768)).status]).toEqual([path, 200]);
      expect((await ask(32_769)).json).toMatchObject({
        status: 400,
        code: 'invalid_argument',
        detail: expect.stringMatching(/: query: 32769 characters are too many .* the part that matters$/),
        details: { field: 'query' },
      });
      const { schema } = document.paths[http.path].post.requestBody.content['application/json'];
      expect(schema.properties.query).toMatchObject({ maxLength: 32_768 });
    }
  });
});

describe('who says when and by whom', () => {
  it('the clock is the server’s own unless it is started to take another', async () => {
    await using test = await startTestServer({ acceptNow: false });
    for (const rights of ['read', 'write'] as const) {
      const answer = await test.ask('POST', '/v1/recall', {
        token: await test.token({ rights }),
        headers: { 'salience-now': '2030-01-01T00:00:00Z' },
        body: { query: 'x' },
      });
      expect([answer.status, answer.json.code]).toEqual([403, 'forbidden']);
    }
  });

  it('a token has votes of its own, whatever voter it names', async () => {
    await using test = await startTestServer();
    const space = await test.space();
    const { id } = await space.remember('tea');
    const up = async (token: string, voter?: string) => {
      const body = { vote: 'up', voter };
      return (await test.ask('POST', `/v1/memories/${id}/feedback`, { token, body })).json.usefulness;
    };
    const [ann, ben] = [await test.token(), await test.token()];
    expect(await up(ann)).toBeCloseTo(2 / 3);
    expect(await up(ann)).toBeCloseTo(2 / 3);
    expect(await up(ben)).toBeCloseTo(3 / 4);
    // The same name from two tokens is two voters, and none of them is the owner's "user".
    expect(await up(ann, 'user')).toBeCloseTo(4 / 5);
    expect(await up(ben, 'user')).toBeCloseTo(5 / 6);
    expect((await space.feedback(id, 'down')).usefulness).toBeCloseTo(5 / 7);
    for (const voter of ['', ' ']) {
      const body = { vote: 'up', voter };
      const path = `/v1/memories/${id}/feedback`;
      expect((await test.ask('POST', path, { token: ann, body })).json).toMatchObject({
        code: 'invalid_argument',
        details: { field: 'voter' },
      });
    }
  });
});
