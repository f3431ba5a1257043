import { AsyncResource } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { failureOf, verbs } from '../../src/api/index.ts';
import { list } from '../../src/api/read.ts';
import { connectMemory } from '../../src/client/index.ts';
import type { LogEntry } from '../../src/http/index.ts';
import { type MemoryEngine, openMemory, SalienceError } from '../../src/index.ts';
import { type AskOptions, startTestServer } from './fixture.ts';

describe('the routes', () => {
  it('answer what the verb answers', async () => {
    await using test = await startTestServer();
    const token = await test.token();
    const memory = await test.space();
    const made = await test.ask('POST', '/v1/memories', {
      token,
      body: { content: 'Prefers tea', id: 'tea' },
    });
    expect(made).toMatchObject({ status: 200, json: { id: 'tea', outcome: 'created' } });
    const { hits } = await memory.recall('tea');
    const recalled = await test.ask('POST', '/v1/recall', { token, body: { query: 'tea', explain: true } });
    expect(recalled.json.hits).toHaveLength(1);
    expect(recalled.json.hits[0].score).toBe(hits[0]!.score.value);
    expect(recalled.json.hits[0].explanation).toEqual(hits[0]!.explain());
    const listed = await test.ask('GET', '/v1/memories?types=fact&types=event&limit=5', { token });
    expect(listed.json.memories).toMatchObject([{ id: 'tea' }]);
    expect((await test.ask('GET', '/v1/memories?types=event', { token })).json.memories).toEqual([]);
    expect((await test.ask('GET', '/v1/stats', { token })).text).not.toContain(test.directory);
  });

  it('page through everything once, in an order that does not change', async () => {
    await using test = await startTestServer();
    const token = await test.token();
    const memory = await test.space();
    await memory.rememberMany(
      Array.from({ length: 25 }, (_, at) => ({ content: `Number ${at}`, id: `m${at}` })),
    );
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const query = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { json } = await test.ask('GET', `/v1/memories?limit=10${query}`, { token });
      seen.push(...json.memories.map(({ id }: { id: string }) => id));
      cursor = json.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual((await memory.list({ limit: 100 })).memories.map(({ id }) => id));
  });

  it('are those of the API document, whose references all lead somewhere', async () => {
    await using test = await startTestServer({ version: '1.2.3' });
    const { json, text } = await test.ask('GET', '/openapi.json');
    expect(json).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' }, security: [{ token: [] }] });
    for (const verb of verbs) {
      const operation = json.paths[verb.http.path][verb.http.method.toLowerCase()];
      expect(operation).toMatchObject({ operationId: verb.name, description: verb.description });
      const named = operation.parameters
        .filter((each: { in: string }) => each.in !== 'header')
        .map(({ name }: { name: string }) => name);
      const body = operation.requestBody?.content['application/json'].schema.properties ?? {};
      expect([...named, ...Object.keys(body)].sort()).toEqual(Object.keys(verb.input.shape).sort());
      const statuses = Object.keys(operation.responses);
      expect(statuses).toEqual(expect.arrayContaining(['200', '400', '401', '403', '429', 'default']));
      const inPath = operation.parameters.filter((each: { in: string }) => each.in === 'path');
      expect(inPath.map(({ name }: { name: string }) => `{${name}}`)).toEqual(
        verb.http.path.match(/\{\w+\}/g) ?? [],
      );
    }
    const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path as string);
    expect(new Set(references).size).toBeGreaterThan(2);
    for (const path of references) {
      expect(
        path.split('/').reduce((at, key) => at?.[key], json),
        path,
      ).toBeTypeOf('object');
    }
    expect(text).not.toMatch(/\$defs|"\$id"/);
  });

  it('and names If-Match where a write reads it, and nowhere else', async () => {
    await using test = await startTestServer();
    const token = await test.token();
    const { paths } = (await test.ask('GET', '/openapi.json')).json;
    for (const { name, http } of verbs.filter((verb) => verb.access === 'write')) {
      const operation: Operation = paths[http.path][http.method.toLowerCase()];
      const { parameters = [], responses } = operation;
      const isNamed = parameters.some((each) => each.name === 'If-Match');
      expect(412 in responses, name).toBe(isNamed);
      expect(isNamed, name).toBe(http.path.includes('{id}'));
    }
    await test.ask('POST', '/v1/memories', { token, body: { content: 'Drinks tea', id: 'a' } });
    const headers = { 'if-match': '"other"' };
    const voted = await test.ask('POST', '/v1/memories/a/feedback', { token, headers, body: { vote: 'up' } });
    expect(voted.status).toBe(412);
  });

  it('and its other paths answer as it says, with nothing beside', async () => {
    await using test = await startTestServer({ deleteSpaces: true });
    const token = await test.token({ rights: 'admin' });
    await test.token({ name: 'phone', scopes: ['project:x'], rights: 'read' });
    const { paths } = (await test.ask('GET', '/openapi.json')).json;
    const importing = { token, headers: { 'content-type': 'application/x-ndjson' } };
    const lines = '{"id":"tea","content":"Drinks tea"}\n{"id":"rye"}\n';
    const asked: readonly (readonly [method: string, path: string, options: AskOptions])[] = [
      ['POST', '/v1/import?update=false', { ...importing, body: lines }],
      ['GET', '/v1/token', { token }],
      ['GET', '/v1/tokens', { token }],
      ['GET', '/v1/spaces?offset=0', { token }],
      ['DELETE', '/v1/space?name=alice', { token }],
    ];
    const verbsAt = new Set(verbs.map(({ http }) => http.path));
    const others = Object.keys(paths).filter((path) => !verbsAt.has(path) && path !== '/v1/export');
    expect(asked.map(([, path]) => path.split('?')[0]).sort()).toEqual(others.sort());
    for (const [method, path, options] of asked) {
      const operation = paths[path.split('?')[0] as string][method.toLowerCase()];
      const { schema } = operation.responses[200].content['application/json'];
      const answer = await test.ask(method, path, options);
      expect(answer.status, answer.text).toBe(200);
      z.fromJSONSchema(strict(schema)).parse(answer.json);
      const named = (operation.parameters ?? []).map(({ name }: { name: string }) => name);
      expect(named).toEqual([...new URL(path, test.url).searchParams.keys()]);
    }
  });

  it('and every route names the answers that what is not there brings about', async () => {
    await using test = await startTestServer({ deleteSpaces: true });
    const paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> = (
      await test.ask('GET', '/openapi.json')
    ).json.paths;
    const tokens = [await test.token({ rights: 'admin' }), await test.token({ scopes: ['project:x'] })];
    const answered = new Map<string, ReadonlySet<number>>();
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { parameters = [], requestBody, responses, operationId }] of Object.entries(
        methods,
      )) {
        const { properties = {}, required = [] } = requestBody?.content['application/json']?.schema ?? {};
        const query = parameters.filter(({ in: place }) => place === 'query');
        const url = path.replaceAll(/\{\w+\}/g, 'never');
        const statuses = new Set<number>();
        // What must be given, and then each of what may be beside it.
        for (const name of [undefined, ...query.map((each) => each.name), ...Object.keys(properties)]) {
          const asked = query.filter((each) => each.required || each.name === name);
          const search = asked.map((each) => {
            const value = sample(each.schema ?? each.content?.['application/json']?.schema ?? {});
            return `${each.name}=${encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))}`;
          });
          const given = Object.entries(properties).filter(([key]) => required.includes(key) || key === name);
          const body = Object.fromEntries(given.map(([key, schema]) => [key, sample(schema)]));
          for (const token of tokens) {
            const { status } = await test.ask(method.toUpperCase(), `${url}?${search.join('&')}`, {
              token,
              ...(requestBody && { body }),
            });
            if (status < 500) statuses.add(status);
          }
        }
        const undocumented = [...statuses].filter((status) => !(status in responses));
        expect([operationId, undocumented]).toEqual([operationId, []]);
        answered.set(operationId, statuses);
      }
    }
    // What a sample does not have: a number for an id, and more of a memory than must be given.
    await test.ask('POST', '/v1/memories', { token: tokens[0], body: { id: 'there', content: 'Tea' } });
    const [exported] = (await test.ask('GET', '/v1/memories', { token: tokens[0] })).json.memories;
    const newer = { ...exported, id: 'newer', scope: 'project:x', supersedes: ['never'] };
    for (const [name, path, token, body] of [
      ['replay', '/v1/recalls/1/replay', tokens[0], {}],
      [
        'remember_many',
        '/v1/memories/batch',
        tokens[0],
        { memories: [{ content: 'Rye', supersedes: ['never'] }] },
      ],
      ['import_memories', '/v1/memories/import', tokens[1], { memories: [newer] }],
      ['maintain', '/v1/maintain', tokens[0], { consolidate: ['never'] }],
    ] as const) {
      const { status, text } = await test.ask('POST', path, { token, body });
      expect(status, text).toBe(404);
      answered.set(name, new Set([404]));
    }
    const missing = [...answered].filter(([, statuses]) => statuses.has(404)).map(([name]) => name);
    const said = Object.values(paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId, responses }) => (404 in responses ? [operationId] : [])),
    );
    expect(missing.sort()).toEqual(said.sort());
  });

  it('and an export takes the parameters that it says', async () => {
    await using test = await startTestServer();
    const token = await test.token();
    const { paths } = (await test.ask('GET', '/openapi.json')).json;
    const named: string[] = paths['/v1/export'].get.parameters.map(({ name }: { name: string }) => name);
    expect(named).toEqual(expect.arrayContaining(['types', 'tags', 'scope']));
    for (const name of named) {
      // A value that no parameter takes, unless it is any text: the name alone must be known.
      const { json } = await test.ask('GET', `/v1/export?${name}=%00`, { token });
      expect(json?.detail ?? '').not.toMatch(/unknown/);
    }
    for (const name of Object.keys(list.input.shape).filter((each) => !named.includes(each))) {
      const { status, json } = await test.ask('GET', `/v1/export?${name}=1`, { token });
      expect([status, json.details]).toEqual([400, { field: name }]);
    }
  });
});

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly minimum?: number;
  readonly minItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema?: Schema;
    readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

/** A value that the schema takes; a text is the id of nothing. */
function sample(schema: Schema): unknown {
  const { type, anyOf, items = {}, minItems = 1, properties = {}, required = [], minimum = 0.5 } = schema;
  if (schema.enum) return schema.enum[0];
  if (anyOf) return sample(anyOf[0] as Schema);
  if (type === 'array') return Array.from({ length: Math.max(1, minItems) }, () => sample(items));
  if (type === 'object')
    return Object.fromEntries(required.map((name) => [name, sample(properties[name] ?? {})]));
  if (type === 'integer') return Math.max(1, Math.ceil(minimum));
  if (type === 'number') return minimum;
  return type === 'boolean' ? true : 'never';
}

/** The same schema, of objects that have no other fields. */
function strict(schema: unknown): Parameters<typeof z.fromJSONSchema>[0] {
  return JSON.parse(JSON.stringify(schema), (_, value) =>
    value?.type === 'object' ? { ...value, additionalProperties: false } : value,
  );
}

describe('tags', () => {
  it('say whether anything is new, and keep one writer from undoing another unseen', async () => {
    await using test = await startTestServer();
    const token = await test.token();
    const memory = await test.space();
    await memory.remember('Prefers tea', { id: 'tea' });
    const path = '/v1/memories/tea';
    const first = await test.ask('GET', path, { token });
    const etag = first.headers.etag as string;
    const unchanged = await test.ask('GET', path, { token, headers: { 'if-none-match': etag } });
    expect(unchanged).toMatchObject({ status: 304, text: '' });

    // Use changes the representation, and what was read is still what would be changed.
    await memory.recall('tea', { strategy: 'five-factor' });
    expect((await test.ask('GET', path, { token, headers: { 'if-none-match': etag } })).status).toBe(200);
    const change = (content: string, tag: string) =>
      test.ask('PATCH', path, { token, body: { content }, headers: { 'if-match': tag } });
    const changed = await change('Prefers green tea', etag);
    expect(changed).toMatchObject({ status: 200, json: { revisionCount: 2 } });
    expect(await change('Prefers coffee', etag)).toMatchObject({
      status: 412,
      json: { code: 'precondition_failed' },
    });
    expect((await test.ask('DELETE', path, { token, headers: { 'if-match': etag } })).status).toBe(412);
    expect(await memory.get('tea')).toMatchObject({ content: 'Prefers green tea' });
    expect((await change('Prefers white tea', changed.headers.etag as string)).status).toBe(200);
    expect((await change('Prefers tea', '*')).status).toBe(200);
  });

  it('let one of many writers through that have read the same', async () => {
    await using test = await startTestServer({
      openSpace: async (name) => {
        const memory = await test.space(name);
        return {
          ...memory,
          // As long as it takes to embed a text: the others come in between.
          async update(...given) {
            for (let turn = 0; turn < 100; turn++) await setImmediate();
            return memory.update(...given);
          },
        };
      },
    });
    const token = await test.token();
    await (await test.space()).remember('0', { id: 'counter' });
    const path = '/v1/memories/counter';
    const { headers } = await test.ask('GET', path, { token });
    const tries = Array.from({ length: 20 }, (_, at) =>
      test.ask('PATCH', path, {
        token,
        body: { content: `${at}` },
        headers: { 'if-match': headers.etag as string },
      }),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 412)).toHaveLength(19);
  });

  it('refuse a change after anybody else changed the memory, by whatever way and until the write itself', async () => {
    const changes: Readonly<Record<string, (memory: MemoryEngine) => Promise<unknown>>> = {
      update: (memory) => memory.update('x', { title: 'By another one' }),
      'update by another process': async () => {
        await using other = await openMemory({ path: test.directory, space: 'alice', embedder: 'none' });
        await other.update('x', { title: 'By another one' });
      },
      setImportance: (memory) => memory.setImportance('x', 0.9),
      invalidate: (memory) => memory.invalidate('x', 'It is not true'),
      'forget and remember': async (memory) => {
        await memory.forget('x');
        test.clock.advance(1);
        await memory.remember('Another x', { id: 'x' });
      },
    };
    let meanwhile = async () => {};
    await using test = await startTestServer({
      openSpace: async (name) => {
        const memory = await test.space(name);
        const late = (verb: 'update' | 'forget') =>
          (async (...given: never[]) => {
            await meanwhile();
            return (memory[verb] as (...given: never[]) => unknown)(...given);
          }) as never;
        return { ...memory, update: late('update'), forget: late('forget') };
      },
    });
    const token = await test.token();
    const memory = await test.space();
    for (const method of ['PATCH', 'DELETE']) {
      for (const [how, change] of Object.entries(changes)) {
        await memory.remember('As it was read', { id: 'x' });
        const { headers } = await test.ask('GET', '/v1/memories/x', { token });
        // Not as a part of the request that it is in the way of.
        meanwhile = AsyncResource.bind(async () => void (await change(memory)));
        const answer = await test.ask(method, '/v1/memories/x', {
          token,
          headers: { 'if-match': headers.etag as string },
          body: method === 'PATCH' ? { content: 'Too late' } : undefined,
        });
        expect([method, how, answer.status]).toEqual([method, how, 412]);
        expect((await memory.get('x'))?.content).not.toBe('Too late');
        meanwhile = async () => {};
        await memory.forget('x');
        test.clock.advance(1);
      }
    }
    const refused = await test.ask('POST', '/v1/forget', {
      token,
      headers: { 'if-match': '"1"' },
      body: { ids: ['x'] },
    });
    expect(refused).toMatchObject({ status: 400, json: { details: { field: 'if-match' } } });
    const made = await test.ask('POST', '/v1/memories', {
      token,
      body: { content: 'Drinks mate', id: 'unseen' },
      headers: { 'if-match': '*' },
    });
    expect(made).toMatchObject({ status: 400, json: { details: { field: 'if-match' } } });
    expect((await test.ask('GET', '/v1/memories/unseen', { token })).status).toBe(404);
  });
});

describe('idempotency keys', () => {
  it('do a write once, however often it is asked, and refuse another one', async () => {
    await using test = await startTestServer();
    const token = await test.token();
    const memory = await test.space();
    await memory.remember('Prefers tea', { id: 'tea' });
    const write = (content: string, key: string, by = token) =>
      test.ask('PATCH', '/v1/memories/tea', {
        token: by,
        body: { content },
        headers: { 'idempotency-key': key },
      });
    const revision = async () => (await memory.get('tea'))?.revisionCount;
    const first = await write('Prefers green tea', 'k1');
    const again = await write('Prefers green tea', 'k1');
    expect(again).toMatchObject({
      status: 200,
      text: first.text,
      headers: { 'idempotency-replayed': 'true', etag: first.headers.etag },
    });
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    expect(await write('Prefers coffee', 'k1')).toMatchObject({
      status: 422,
      json: { code: 'idempotency_conflict' },
    });
    expect(await revision()).toBe(2);
    const together = await Promise.all(Array.from({ length: 10 }, () => write('Prefers cake', 'k2')));
    expect(new Set(together.map(({ text }) => text)).size).toBe(1);
    expect(await revision()).toBe(3);
    // The key of another token is another key.
    await write('Prefers green tea', 'k1', await test.token());
    expect(await revision()).toBe(4);

    test.clock.advance(86_400_001);
    await write('Prefers green tea', 'k1');
    expect(await revision()).toBe(5);
    expect((await write('x', 'a b')).status).toBe(400);
  });

  it('refuse the same request at another moment', async () => {
    await using test = await startTestServer();
    const token = await test.token();
    const at = (moment: string) =>
      test.ask('POST', '/v1/memories', {
        token,
        body: { content: 'Prefers tea' },
        headers: { 'idempotency-key': 'k', ...(moment && { 'salience-now': moment }) },
      });
    expect((await at('2026-01-01T00:00:00Z')).status).toBe(200);
    expect((await at('2026-01-01T00:00:00Z')).headers).toHaveProperty('idempotency-replayed');
    for (const other of ['2026-01-02T00:00:00Z', ''])
      expect(await at(other)).toMatchObject({ status: 422, json: { code: 'idempotency_conflict' } });
  });

  it('do not keep what failed', async () => {
    await using test = await startTestServer();
    const token = await test.token();
    const update = () =>
      test.ask('PATCH', '/v1/memories/later', {
        token,
        body: { title: 'T' },
        headers: { 'idempotency-key': 'k' },
      });
    expect((await update()).status).toBe(404);
    await (await test.space()).remember('It is there now', { id: 'later' });
    expect((await update()).status).toBe(200);
  });
});

describe('export and import', () => {
  it('carry a space over, line by line', async () => {
    await using test = await startTestServer();
    const token = await test.token();
    const memory = await test.space();
    await memory.rememberMany(
      Array.from({ length: 1201 }, (_, at) => ({ content: `Number ${at} — ünï`, id: `m${at}`, tags: ['t'] })),
    );
    const { text, headers } = await test.ask('GET', '/v1/export?tags=t', { token });
    expect(headers['content-type']).toBe('application/x-ndjson');
    const lines = text.trimEnd().split('\n');
    expect(lines).toHaveLength(1202);
    expect(JSON.parse(lines.at(-1) as string)).toEqual({ kind: 'end', count: 1201 });
    const other = await test.token({ space: 'bob' });
    const body = `${lines.join('\r\n')}\nno json\n\n{"content":"By hand"}`;
    const answer = await test.ask('POST', '/v1/import', { token: other, body });
    expect(answer.json).toEqual({
      imported: 1202,
      updated: 0,
      unchanged: 0,
      skipped: 1,
      problems: [{ line: '1203', reason: 'is not valid JSON, or is cut off' }],
      run: expect.any(String),
    });
    const copied = await (await test.space('bob')).get('m7');
    expect(copied).toEqual({ ...(await memory.get('m7')), space: 'bob' });
    const again = await test.ask('POST', '/v1/import', { token: other, body });
    expect(again.json).toMatchObject({ imported: 0, unchanged: 1202 });
    expect(again.json).not.toHaveProperty('run');
    const { run } = answer.json as { run: string };
    const undone = await test.ask('POST', '/v1/undo', { token: other, body: { run } });
    expect((undone.json as { memories: unknown[] }).memories).toHaveLength(1202);
    expect((await (await test.space('bob')).list()).memories).toEqual([]);
    expect((await test.ask('GET', '/v1/export?types=event', { token })).text).toBe(
      '{"kind":"end","count":0}\n',
    );
  });

  it('refuse what is of pages: an export is whole', async () => {
    await using test = await startTestServer();
    const token = await test.token();
    for (const [name, value] of Object.entries({
      limit: '1',
      sort: 'created',
      direction: 'asc',
      cursor: 'x',
      offset: '1',
      around: 'x',
      count: 'true',
    }))
      expect(await test.ask('GET', `/v1/export?${name}=${value}`, { token })).toMatchObject({
        status: 400,
        json: { code: 'invalid_argument', details: { field: name } },
      });
    const { json } = await test.ask('GET', '/v1/export?colour=red', { token });
    expect(json.detail).toMatch(/^export: unknown argument "colour" \(available: scope, .*tags,/);
    expect(json.detail).not.toMatch(/limit|sort|cursor/);
  });

  it('leave out the lines that cannot be used, whatever is wrong with them, and name them', async () => {
    await using test = await startTestServer();
    const token = await test.token();
    const good = Array.from({ length: 1001 }, (_, at) => JSON.stringify({ content: `Number ${at}` }));
    const body = Buffer.concat([
      Buffer.from(`${good.join('\n')}\n{"content":"x","supersedes":["missing"]}\n{"content":"`),
      Buffer.from([0xff]),
      Buffer.from('"}\n{"content":"last"}'),
    ]);
    const { status, json } = await test.ask('POST', '/v1/import', { token, body });
    expect([status, json]).toEqual([
      200,
      {
        imported: 1002,
        updated: 0,
        unchanged: 0,
        skipped: 2,
        problems: [
          { line: '1002', reason: 'memory "missing" does not exist in space "alice"' },
          { line: '1003', reason: 'is not valid UTF-8' },
        ],
        run: expect.any(String),
      },
    ]);
  });

  it.each([
    [
      'in UTF-16',
      Buffer.from('\uFEFF{"content":"One"}\n{"content":"Two"}\n', 'utf16le'),
      'the body is UTF-16; save the file as UTF-8',
    ],
    [
      'in a zip archive',
      Buffer.from('PK\u0003\u0004\u0014\n'),
      'the body is a zip archive; unpack it, and import the file in it',
    ],
  ])('%s are refused, for no line could be read', async (_, body, detail) => {
    await using test = await startTestServer();
    const answer = await test.ask('POST', '/v1/import', { token: await test.token(), body });
    expect([answer.status, answer.json]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_text', detail }),
    ]);
  });

  it('leave out the lines that a token of a scope may not store, tell nothing of what it does not see, and store the others', async () => {
    await using test = await startTestServer();
    const memory = await test.space();
    await memory.rememberMany([
      { id: 'hidden', content: 'Of another team', scope: 'team:b' },
      { id: 'above', content: 'Of everybody' },
    ]);
    const token = await test.token({ scopes: ['team:a'] });
    const line = (id: string, more = {}) =>
      JSON.stringify({ id, content: `Number ${id}`, scope: 'team:a', ...more });
    const lines = Array.from({ length: 1500 }, (_, at) => line(`m${at}`));
    lines.splice(1200, 0, line('hidden'));
    lines.splice(1250, 0, line('after', { supersedes: ['hidden'] }));
    lines.splice(1300, 0, line('above'));
    lines.splice(1350, 0, line('record', { createdAt: '2026-01-01', supersedes: ['hidden'] }));
    const { status, json } = await test.ask('POST', '/v1/import', { token, body: lines.join('\n') });
    expect([status, json]).toEqual([
      200,
      {
        imported: 1500,
        updated: 0,
        unchanged: 0,
        skipped: 4,
        problems: expect.arrayContaining([
          { line: '1201', reason: 'memory "hidden" exists already; update it, or use another id' },
          { line: '1251', reason: 'memory "hidden" does not exist in space "alice"' },
          { line: '1301', reason: 'this token may not write in scope "global"; it may in "team:a"' },
          { line: '1351', reason: 'memory "hidden" does not exist in space "alice"' },
        ]),
      },
    ]);
    expect((await memory.stats()).memories).toBe(1502);
    expect(await memory.get('hidden')).toMatchObject({ content: 'Of another team', scope: 'team:b' });
  });

  it('say that an export was cut off, or is not whole', async () => {
    await using test = await startTestServer();
    const token = await test.token();
    await (await test.space()).rememberMany([{ content: 'One' }, { content: 'Two' }]);
    const [first, second, end] = (await test.ask('GET', '/v1/export', { token })).text.split('\n');
    const other = await test.token({ space: 'bob' });
    for (const body of [`${first}\n${second}`, `${first}\n${end}\n`]) {
      const { json } = await test.ask('POST', '/v1/import', { token: other, body });
      expect(json).toMatchObject({
        skipped: 1,
        problems: [{ reason: expect.stringMatching(/^incomplete export: /) }],
      });
    }
    const whole = [first, second, end].join('\n');
    const { json } = await test.ask('POST', '/v1/import', { token: other, body: `${whole}\n${whole}` });
    expect(json).toMatchObject({ skipped: 0, problems: [] });
  });

  it('break off an export when its space is deleted and made anew, instead of ending it with another one', async () => {
    const many = (word: string) => Array.from({ length: 501 }, (_, at) => ({ content: `${word} ${at}` }));
    await using test = await startTestServer({
      deleteSpaces: true,
      openSpace: async (name) => {
        const memory = await test.space(name);
        const list: typeof memory.list = async (options) => {
          if (options?.cursor !== undefined) {
            await test.ask('DELETE', `/v1/space?name=${name}`, { token: admin });
            test.clock.advance(1);
            await memory.rememberMany(many('New'));
          }
          return memory.list(options);
        };
        return { ...memory, list };
      },
    });
    const admin = await test.token({ rights: 'admin' });
    await (await test.space()).rememberMany(many('Old'));
    const logged = test.logged('/v1/export');
    await expect(test.ask('GET', '/v1/export', { token: admin })).rejects.toThrow();
    expect(await logged).toMatchObject({ status: 200, failure: expect.stringContaining('cursor') });
    expect(test.log.filter(({ route }) => route === '/v1/export')).toHaveLength(1);
  });

  it('end an import when its space is deleted, instead of going on with the rest in a new one', async () => {
    let deleted = 0;
    await using test = await startTestServer({
      deleteSpaces: true,
      openSpace: async (name) => {
        const memory = await test.space(name);
        const rememberMany: typeof memory.rememberMany = async (inputs, options) => {
          const remembered = await memory.rememberMany(inputs, options);
          if (deleted++ === 0) await test.ask('DELETE', `/v1/space?name=${name}`, { token: admin });
          return remembered;
        };
        return { ...memory, rememberMany };
      },
    });
    const admin = await test.token({ rights: 'admin' });
    const lines = Array.from({ length: 1001 }, (_, at) => JSON.stringify({ content: `Statement ${at}` }));
    const { status, json } = await test.ask('POST', '/v1/import', { token: admin, body: lines.join('\n') });
    expect(status).toBe(503);
    expect(json).toMatchObject({ code: 'aborted', detail: expect.stringContaining('was deleted') });
    expect(await (await test.space()).list()).toMatchObject({ total: 0 });
  });

  it('page by bytes: large memories are listed, recalled and exported whole', async () => {
    await using test = await startTestServer({ spaces: { maxMetadataBytes: Number.POSITIVE_INFINITY } });
    const token = await test.token();
    const memory = await test.space();
    const blob = 'x'.repeat(1.5 * 2 ** 20);
    await memory.rememberMany(
      Array.from({ length: 12 }, (_, at) => ({
        content: 'Large tea',
        id: `m${at}`,
        type: `t${at}`,
        metadata: { blob },
      })),
    );
    const pages: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await memory.list({ limit: 100, cursor });
      pages.push(page.memories.length);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(pages).toEqual([2, 2, 2, 2, 2, 2]);
    const { text } = await test.ask('GET', '/v1/export', { token });
    expect(text.trimEnd().split('\n').at(-1)).toBe('{"kind":"end","count":12}');
    const { hits, trace } = await memory.recall('large tea', { limit: 100, strategy: 'bm25' });
    expect(hits).toHaveLength(10);
    expect(trace.upperBound).toBe(hits[0]?.score.value);
  });
});

describe('limits of a token', () => {
  it('count each message of a batch', async () => {
    await using test = await startTestServer({
      requestsPerMinute: 6,
      mount: { '/mcp': async (request) => new Response(await request.text()) },
    });
    const token = await test.token();
    const ask = (body: unknown) => test.ask('POST', '/mcp', { token, body });
    expect((await ask({})).status).toBe(200);
    expect((await ask('[not JSON')).status).toBe(200);
    expect((await ask([{}, {}])).status).toBe(200);
    // It came in with two requests left, and those that follow wait for it.
    expect((await ask(Array(14).fill({}))).status).toBe(200);
    const refused = await ask({});
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '130']);
    test.clock.advance(129_000);
    expect((await ask({})).status).toBe(429);
    test.clock.advance(1000);
    expect((await ask({})).status).toBe(200);
  });

  it('come back after a minute, however long a batch was that nobody answers', async () => {
    await using test = await startTestServer({
      requestsPerMinute: 200,
      mount: { '/mcp': async () => new Response(null, { status: 400 }) },
    });
    const token = await test.token();
    expect((await test.ask('POST', '/mcp', { token, body: Array(10_000).fill(1) })).status).toBe(400);
    const refused = await test.ask('GET', '/v1/token', { token });
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '61']);
    test.clock.advance(61_000);
    expect((await test.ask('GET', '/v1/token', { token })).status).toBe(200);
  });

  it('come back with time, and are its own', async () => {
    await using test = await startTestServer({ requestsPerMinute: 6 });
    const token = await test.token();
    const ask = (by = token) => test.ask('GET', '/v1/token', { token: by });
    for (let at = 0; at < 6; at++) expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect(refused).toMatchObject({ status: 429, json: { code: 'rate_limited' } });
    expect(refused.headers['retry-after']).toBe('10');
    expect((await ask(await test.token())).status).toBe(200);
    expect((await test.ask('GET', '/healthz')).status).toBe(200);
    test.clock.advance(10_000);
    expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(429);
    test.clock.advance(-3_600_000);
    expect((await ask()).status).toBe(429);
    test.clock.advance(10_000);
    expect((await ask()).status).toBe(200);
  });
});

describe('a write that failed', () => {
  it.each([{ inDoubt: true }, { written: true }])('says what became of it, and no more: %o', async (fate) => {
    const place = 'db.internal:5432';
    await using test = await startTestServer({
      openSpace: async (name) => ({
        ...(await test.space(name)),
        async remember() {
          throw new SalienceError('store_failed', `PostgreSQL at ${place}: it is away`, {
            details: { place, ...fate },
          });
        },
      }),
    });
    const token = await test.token();
    const answer = await test.ask('POST', '/v1/memories', { token, body: { content: 'Prefers tea' } });
    expect(answer).toMatchObject({ status: 500, json: { code: 'store_failed' } });
    expect(answer.json.details).toEqual(fate);
    expect(answer.json.detail).toMatch(/read the data/);
    expect(answer.text).not.toContain(place);
    expect(test.log.find(({ status }) => status === 500)?.failure).toContain(place);
    const memory = await connectMemory({ url: test.url, token });
    const error = await memory.remember('Prefers tea').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'store_failed', details: fate });
    expect(failureOf(error).message).toBe(answer.json.detail);
    // An agent has no idempotency key.
    expect(answer.json.detail).not.toMatch(/key/);
  });
});

describe('what is said of requests', () => {
  it('holds no token, no id, no text', async () => {
    await using test = await startTestServer({
      openSpace: async (name) => {
        if (name === 'broken') throw new TypeError('Unexpected token in "Allergic to walnuts"');
        return test.space(name);
      },
    });
    const token = await test.token();
    const body = { content: 'Allergic to walnuts', id: 'walnuts' };
    await test.ask('POST', '/v1/memories', { token, body });
    await test.ask('POST', '/v1/recall', { token, body: { query: 'walnuts' } });
    await test.ask('GET', '/v1/memories/walnuts?colour=walnuts', { token });
    await test.ask('GET', '/v1/memories?tags=walnuts', { token, headers: { 'user-agent': 'walnuts' } });
    await test.ask('GET', '/walnuts', { token: 'walnuts' });
    await test.ask('WALNUTS', '/v1/walnuts', { token }).catch(() => {});
    const broken = await test.ask('GET', '/v1/stats', { token: await test.token({ space: 'broken' }) });
    expect(broken).toMatchObject({ status: 500, json: { code: 'server_failed' } });
    const metrics = await test.ask('GET', '/metrics', { token });
    for (const said of [JSON.stringify(test.log), metrics.text, broken.text]) {
      expect(said).not.toMatch(/walnuts/i);
      expect(said).not.toContain(token);
      expect(said).not.toContain(token.slice(26));
    }
    const grant = (await test.tokens.list()).find(({ space }) => space === 'alice');
    expect(test.log[0]).toEqual({
      at: '2026-01-01T00:00:00.000Z',
      method: 'POST',
      route: '/v1/memories',
      status: 200,
      milliseconds: expect.any(Number),
      token: grant!.id,
    } satisfies LogEntry);
    expect(test.log.find(({ status }) => status === 500)?.failure).toMatch(
      /^internal: TypeError\n +at .*api\.test\.ts/,
    );
  });

  it('counts by route, method and status in the format of Prometheus', async () => {
    await using test = await startTestServer();
    const token = await test.token();
    for (const id of ['a', 'b', 'c']) await test.ask('GET', `/v1/memories/${id}`, { token });
    const { text, headers } = await test.ask('GET', '/metrics', { token });
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    const labels = 'route="/v1/memories/{id}",method="GET",status="404"';
    expect(text).toContain(`salience_http_request_duration_seconds_count{${labels}} 3\n`);
    expect(text).toContain(`salience_http_request_duration_seconds_bucket{${labels},le="+Inf"} 3\n`);
    expect(text).toContain('salience_http_requests_running 1\n');
    expect(text).toContain('salience_spaces_open 1\n');
    for (const line of text.trimEnd().split('\n')) {
      expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[^}]*\}|\{.*\})? [\d.e+-]+)$/);
    }
  });
});

describe('many clients at once', () => {
  it('lose no write', async () => {
    await using test = await startTestServer();
    const token = await test.token();
    const client = async (number: number) => {
      for (let at = 0; at < 5; at++) {
        const body = { content: `Client ${number} says ${at}`, id: `c${number}-${at}` };
        expect(await test.ask('POST', '/v1/memories', { token, body })).toMatchObject({ status: 200 });
        const recalled = await test.ask('POST', '/v1/recall', { token, body: { query: `says ${at}` } });
        expect(recalled.status).toBe(200);
      }
    };
    await Promise.all(Array.from({ length: 50 }, (_, number) => client(number)));
    expect((await (await test.space()).stats()).memories).toBe(250);
  });
});

describe('closing', () => {
  it('lets a write end that is under way, and takes no other', async () => {
    const signals = new EventEmitter();
    const begun = once(signals, 'begun');
    await using test = await startTestServer({
      openSpace: async (name) => {
        const memory = await test.space(name);
        return {
          ...memory,
          async remember(content, options) {
            signals.emit('begun');
            await once(signals, 'release');
            return memory.remember(content, options);
          },
        };
      },
    });
    const token = await test.token();
    const idle = connect(test.port, '127.0.0.1');
    idle.on('error', () => {});
    await once(idle, 'connect');
    const writing = test.ask('POST', '/v1/memories', { token, body: { content: 'In flight', id: 'flight' } });
    await begun;
    const closed = test.server.close();
    // Nobody waits for whoever has not asked yet.
    await once(idle, 'close');
    await expect(test.ask('GET', '/healthz')).rejects.toThrow(/ECONNREFUSED/);
    signals.emit('release');
    expect(await writing).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await closed;
    const { openMemory } = await import('../../src/index.ts');
    await using again = await openMemory({ path: test.directory, space: 'alice', embedder: 'none' });
    expect(await again.get('flight')).toMatchObject({ content: 'In flight' });
  });

  it('cuts off what never ends', async () => {
    await using test = await startTestServer({
      closeTimeout: 50,
      mount: { '/never': () => new Promise<Response>(() => {}) },
    });
    const token = await test.token();
    const asking = test.ask('GET', '/never', { token });
    const cut = expect(asking).rejects.toThrow(/hang up|ECONNRESET/);
    while ((await test.ask('GET', '/metrics', { token })).text.includes('requests_running 1\n'));
    await test.server.close();
    await cut;
  });
});

describe('what is mounted beside the verbs', () => {
  it('needs a token, keeps the limits of the server, and sees what the token may read', async () => {
    const bodies: string[] = [];
    await using test = await startTestServer({
      bodyLimit: 100,
      mount: {
        '/mcp': async (request, { grant, memory }) => {
          bodies.push(await request.text());
          const { memories } = await memory.list();
          return Response.json({
            path: new URL(request.url).pathname,
            token: grant.name,
            memories: memories.length,
          });
        },
      },
    });
    await (await test.space()).remember('For team b', { scope: 'team:b' });
    const token = await test.token({ name: 'agent', scopes: ['team:a'] });
    const answer = await test.ask('POST', '/mcp/x', { token, body: { hello: 1 } });
    expect(answer).toMatchObject({ status: 200, json: { path: '/mcp/x', token: 'agent', memories: 0 } });
    expect(bodies).toEqual(['{"hello":1}']);
    expect((await test.ask('GET', '/mcp')).status).toBe(401);
    expect((await test.ask('GET', '/mcp', { token, headers: { host: 'evil.example' } })).status).toBe(403);
    expect((await test.ask('POST', '/mcp', { token, body: 'x'.repeat(101) })).status).toBe(413);
  });

  it('is limited to the time that a verb may take, as the routes are', async () => {
    const generate = ({ signal }: { readonly signal?: AbortSignal | undefined }) =>
      new Promise<never>((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    const languageModel = { name: 'never answers', contextTokens: 8000, generate };
    const messages = [{ role: 'user', content: 'I moved to Oslo' }] as const;
    await using test = await startTestServer({
      workTimeout: 1,
      spaces: { languageModel },
      mount: {
        '/observe': async (_, { memory }) => {
          const { code, message } = await memory.observe(messages).catch((error) => error);
          return Response.json({ code, detail: message });
        },
      },
    });
    const token = await test.token();
    const late = { code: 'aborted', detail: expect.stringContaining('than the 1 ms that the server allows') };
    expect((await test.ask('POST', '/observe', { token })).json).toEqual(late);
    const answer = await test.ask('POST', '/v1/observe', { token, body: { messages } });
    expect(answer).toMatchObject({ status: 503, json: late });
  });

  it('is logged and timed until the end of its answer, which may begin before the work is done', async () => {
    const parts = new TransformStream<Uint8Array, Uint8Array>();
    await using test = await startTestServer({ mount: { '/stream': () => new Response(parts.readable) } });
    const headers = { authorization: `Bearer ${await test.token()}` };
    const writer = parts.writable.getWriter();
    const [response] = await Promise.all([
      fetch(`${test.url}/stream`, { headers }),
      writer.write(Buffer.from('begun, ')),
    ]);
    expect(test.log).toEqual([]);
    const logged = test.logged('/stream');
    await Promise.all([writer.write(Buffer.from('done')), writer.close()]);
    expect(await response.text()).toBe('begun, done');
    expect(await logged).toMatchObject({ status: 200, method: 'GET' });
  });

  it('is never asked with TRACE, which no Request can hold', async () => {
    await using test = await startTestServer({ mount: { '/x': () => new Response('reached') } });
    const token = await test.token();
    const answer = await test.raw(
      `TRACE /x HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\nconnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 501 /);
    expect(answer).toContain('"code":"unsupported"');
    expect(test.log).toMatchObject([{ route: '/x', status: 501 }]);
    expect(test.log[0]).not.toHaveProperty('failure');
  });
});
