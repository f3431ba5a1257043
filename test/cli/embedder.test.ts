import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWorkplace, type Workplace } from './cli.ts';

let work: Workplace;
let server: Server;
let url: string;
const requests: { authorization: string | undefined; model: string; input: string[] }[] = [];

/** A server with a model of three numbers: one for tea, one for buses, one for everything else. */
beforeAll(async () => {
  work = createWorkplace();
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { model, input } = JSON.parse(body) as { model: string; input: string[] };
    requests.push({ authorization: request.headers.authorization, model, input });
    const data = input.map((text, index) => ({
      index,
      embedding: [Number(/tea|drink/i.test(text)), Number(/bus|vehicle/i.test(text)), 0.1],
    }));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(() => {
  server.close();
  work[Symbol.dispose]();
});

it('asks a server for vectors, with the key from the environment', async () => {
  const env = {
    SALIENCE_EMBEDDER: 'openai:tiny:latest:3',
    SALIENCE_EMBEDDER_URL: url,
    SALIENCE_EMBEDDER_KEY: 'secret-of-the-server',
    OPENAI_API_KEY: 'secret-of-another',
  };
  await work.json(['remember', 'Ann drinks tea', '--id', 'tea'], { env });
  await work.json(['remember', 'Bob drives a bus', '--id', 'bus'], { env });
  const { hits } = (await work.json(['recall', 'a vehicle', '--strategy', 'vector'], { env })) as {
    hits: { memory: { id: string } }[];
  };
  expect(hits[0]?.memory.id).toBe('bus');
  expect(requests.map(({ model }) => model)).toEqual(['tiny:latest', 'tiny:latest', 'tiny:latest']);
  expect(new Set(requests.map(({ authorization }) => authorization))).toEqual(
    new Set(['Bearer secret-of-the-server']),
  );
  // Never the key of OpenAI to a server that is another's.
  requests.length = 0;
  const { SALIENCE_EMBEDDER_KEY: _, ...without } = env;
  await work.json(['recall', 'a vehicle'], { env: without });
  expect(requests[0]?.authorization).toBeUndefined();
});

it('asks no server in a dry run of an import', async () => {
  const env = { SALIENCE_EMBEDDER: 'openai:tiny:latest:3', SALIENCE_EMBEDDER_URL: url };
  const said = work.file('said.jsonl', '{"id":"cat","content":"Ann has a cat"}');
  const args = ['import', said, '--path', 'tried'];
  await work.json(['remember', 'Ann drinks tea', '--path', 'tried'], { env });
  requests.length = 0;
  const tried = await work.json([...args, '--dry-run'], { env });
  expect(tried).toMatchObject({ dryRun: true, imported: 1 });
  expect(requests).toEqual([]);
  // The import itself would be refused.
  const other = await work.salience([...args, '--dry-run']);
  expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('embedder_mismatch') });
});

it('finds the length of the vectors out by itself', async () => {
  const args = ['--embedder', 'openai:tiny', '--base-url', url];
  const { embedder } = (await work.json(['doctor', '--path', 'none', ...args])) as { embedder: object };
  expect(embedder).toMatchObject({ name: 'openai:tiny', dimensions: 3 });
});

it('does not mix the vectors of two models, and says what to do', async () => {
  const mixed = await work.salience(['recall', 'tea', '--json']);
  expect(mixed.code).toBe(1);
  expect(JSON.parse(mixed.stderr)).toMatchObject({
    error: { code: 'embedder_mismatch', message: expect.stringContaining('salience reindex') },
  });
  const { warnings } = (await work.json(['doctor'])) as { warnings: string[] };
  expect(warnings).toEqual([expect.stringContaining('salience reindex')]);
  // Who names a language alone does not ask for other vectors.
  const german = await work.salience(['reindex', '--language', 'german']);
  expect(german).toMatchObject({ code: 1, stderr: expect.stringContaining('tiny:latest') });
  expect(await work.json(['reindex'])).toMatchObject({
    memories: 2,
    vectors: 2,
    embedding: { model: 'builtin-1' },
  });
  expect((await work.salience(['recall', 'tea'])).code).toBe(0);
});

it('writes nothing when the server is down', async () => {
  const before = await work.json(['stats']);
  const down = [
    '--embedder',
    'openai:tiny:3',
    '--base-url',
    'http://127.0.0.1:1/v1',
    '--space',
    'down',
    '--json',
  ];
  const { code, stderr } = await work.salience(['remember', 'lost?', ...down]);
  expect(code).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'embedder_failed' } });
  expect(await work.json(['stats'])).toEqual(before);
  const probed = await work.salience(['remember', 'lost?', '--embedder', 'openai:tiny', ...down.slice(2)]);
  expect(JSON.parse(probed.stderr)).toMatchObject({ error: { code: 'embedder_failed' } });
});

it('knows the encoder of salience/use-lite by its name', async () => {
  const chosen = ['--embedder', 'use-lite', '--space', 'encoded'];
  await work.json(['remember', 'Bob drives a bus', '--id', 'bus', ...chosen]);
  await work.json(['remember', 'Ann drinks tea', '--id', 'tea', ...chosen]);
  const { hits } = (await work.json(['recall', 'a vehicle', '--strategy', 'vector', ...chosen])) as {
    hits: { memory: { id: string } }[];
  };
  expect(hits[0]?.memory.id).toBe('bus');
  const { embedder } = (await work.json(['doctor', ...chosen])) as { embedder: object };
  expect(embedder).toMatchObject({ name: 'use-lite', model: 'use-lite-1', dimensions: 512 });
});
