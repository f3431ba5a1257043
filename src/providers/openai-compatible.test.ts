import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import { type OpenAiCompatibleOptions, openAiCompatibleEmbedder } from './openai-compatible.ts';

interface Received {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: {
    readonly model: string;
    readonly input: readonly string[];
    readonly encoding_format: string;
    readonly dimensions?: number;
  };
}

type Answer = (response: ServerResponse, received: Received) => void;

const key = 'key-4242-abcdefgh-do-not-tell';
const closers: (() => Promise<void>)[] = [];

beforeEach(() => {
  vi.stubEnv('OPENAI_API_KEY', undefined);
  vi.stubEnv('SALIENCE_EMBEDDER_KEY', undefined);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closers.splice(0)) await close();
});

async function listen(listener: RequestListener): Promise<{ origin: string; close: () => Promise<void> }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  closers.push(close);
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** A server that returns the answers in order and repeats the last one. */
async function serve(...answers: readonly Answer[]) {
  const received: Received[] = [];
  const { origin } = await listen(async (request, response) => {
    const each = await receive(request);
    received.push(each);
    (answers[received.length - 1] ?? answers.at(-1))?.(response, each);
  });
  return { baseUrl: `${origin}/v1`, received };
}

async function receive(request: IncomingMessage): Promise<Received> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  return { path: request.url ?? '', authorization: request.headers.authorization, body: JSON.parse(body) };
}

/** A vector that identifies its text: (length of the text, 1). */
const vectorOf = (text: string) => [text.length, 1];
const unit = (numbers: readonly number[]) => {
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (value) => value / length);
};

const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
const good: Answer = (response, { body }) =>
  json({ data: body.input.map((text, index) => ({ index, embedding: vectorOf(text) })) })(
    response,
    {} as never,
  );
const embeddings = (...data: readonly unknown[]): Answer => json({ data });
const plain =
  (body: string, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(200, headers).end(body);

/** An embedder that does not wait; `waits` are the times that it would have waited. */
function embedderOn(baseUrl: string, options: Partial<OpenAiCompatibleOptions> = {}) {
  const waits: number[] = [];
  const sleep = async (milliseconds: number) => void waits.push(milliseconds);
  const embedder = openAiCompatibleEmbedder({
    baseUrl,
    model: 'tiny',
    dimensions: 2,
    apiKey: key,
    sleep,
    random: () => 0.5,
    ...options,
  });
  return { embedder, waits };
}

/** Returns the error of a call, after searching everything in it for the key and the given texts. */
async function failure(call: Promise<unknown>, ...confidential: readonly string[]): Promise<SalienceError> {
  const error = await call.then(
    () => expect.fail('the call did not fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof SalienceError)) throw error;
  let readable = '';
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    readable += [
      each.message,
      each.stack,
      JSON.stringify(each, Object.getOwnPropertyNames(each)),
      JSON.stringify(each),
    ].join('\n');
  }
  expect(readable).toContain(error.message);
  for (const secret of [key, ...confidential]) expect(readable).not.toContain(secret);
  return error;
}

describe('openAiCompatibleEmbedder', () => {
  it('sends what the API expects, and returns unit vectors in order', async () => {
    const { baseUrl, received } = await serve(good);
    const { embedder } = embedderOn(`${baseUrl}/`);
    expect(await embedder.embed(['a', 'bcd'])).toEqual([unit([1, 1]), unit([3, 1])]);
    expect(received).toEqual([
      {
        path: '/v1/embeddings',
        authorization: `Bearer ${key}`,
        body: { model: 'tiny', input: ['a', 'bcd'], encoding_format: 'float' },
      },
    ]);
  });

  it('requests shorter vectors if told to', async () => {
    const { baseUrl, received } = await serve(good);
    await embedderOn(baseUrl, { requestDimensions: true }).embedder.embed(['a']);
    expect(received[0]?.body.dimensions).toBe(2);
  });

  it('identifies its vectors by model, dimensions and memory prefix', () => {
    const name = (options: Partial<OpenAiCompatibleOptions>) =>
      openAiCompatibleEmbedder({ baseUrl: 'http://one/v1', model: 'm', dimensions: 3, ...options }).model;
    expect(name({})).toBe('openai-compatible:m:3');
    expect(name({ baseUrl: 'http://two/v1', queryPrefix: 'q: ' })).toBe('openai-compatible:m:3');
    expect(name({ memoryPrefix: 'passage: ' })).toBe('openai-compatible:m:3:"passage: "');
  });

  it('puts the prefix of the purpose before each text', async () => {
    const { baseUrl, received } = await serve(good);
    const { embedder } = embedderOn(baseUrl, { queryPrefix: 'query: ', memoryPrefix: 'passage: ' });
    await embedder.embed(['tea'], { purpose: 'query' });
    await embedder.embed(['tea'], { purpose: 'memory' });
    await embedder.embed(['tea']);
    expect(received.map(({ body }) => body.input)).toEqual([
      ['query: tea'],
      ['passage: tea'],
      ['passage: tea'],
    ]);
  });

  it('never sends blank texts', async () => {
    const { baseUrl, received } = await serve(good);
    const { embedder } = embedderOn(baseUrl, { memoryPrefix: 'p: ' });
    expect(await embedder.embed([' ', 'ab', '\n\u2003'])).toEqual([undefined, unit([5, 1]), undefined]);
    expect(await embedder.embed(['', ' '])).toEqual([undefined, undefined]);
    expect(await embedder.embed([])).toEqual([]);
    expect(received.map(({ body }) => body.input)).toEqual([['p: ab']]);
  });

  it('splits texts into batches, and keeps their order whichever answers first', async () => {
    const texts = Array.from({ length: 22 }, (_, index) => 'x'.repeat(index + 1));
    const held: (() => void)[] = [];
    // Two requests are held, then answered the later one first.
    const { baseUrl, received } = await serve((response, each) => {
      held.push(() => good(response, each));
      if (held.length === 2) for (const answer of held.splice(0).reverse()) answer();
    });
    const { embedder } = embedderOn(baseUrl, { batchSize: 4, concurrency: 2 });
    expect(await embedder.embed(texts)).toEqual(texts.map((text) => unit(vectorOf(text))));
    expect(received.map(({ body }) => body.input.length).sort()).toEqual([2, 4, 4, 4, 4, 4]);
  });

  it('limits its concurrent requests', async () => {
    let now = 0;
    let most = 0;
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
      const { input } = JSON.parse(String(init?.body));
      return Response.json({ data: input.map((text: string) => ({ embedding: vectorOf(text) })) });
    };
    const { embedder } = embedderOn('http://nowhere.test/v1', { fetch, batchSize: 1, concurrency: 3 });
    expect(await embedder.embed(Array.from('abcdefghij'))).toEqual(Array(10).fill(unit([1, 1])));
    expect(most).toBe(3);
  });

  it('reads vectors by their index, or in order if there is none', async () => {
    const [a, b] = [
      [3, 4],
      [0, -2],
    ];
    const { baseUrl } = await serve(
      embeddings({ index: 1, embedding: b }, { index: 0, embedding: a }),
      embeddings({ embedding: a }, { embedding: b }),
    );
    const { embedder } = embedderOn(baseUrl);
    const expected = [unit([3, 4]), unit([0, -1])];
    expect(await embedder.embed(['one', 'two'])).toEqual(expected);
    expect(await embedder.embed(['one', 'two'])).toEqual(expected);
  });

  it('normalises very large and very small vectors', async () => {
    const { baseUrl } = await serve(
      embeddings({ embedding: [3e300, 4e300] }, { embedding: [3e-310, -4e-310] }),
    );
    const vectors = await embedderOn(baseUrl).embedder.embed(['one', 'two']);
    for (const [index, expected] of [
      [0.6, 0.8],
      [0.6, -0.8],
    ].entries()) {
      expect(vectors[index]?.[0]).toBeCloseTo(expected[0] as number, 6);
      expect(vectors[index]?.[1]).toBeCloseTo(expected[1] as number, 6);
    }
  });
});

describe('an answer that cannot be used', () => {
  // More than the stack holds; with fewer bytes than are read.
  const nested = '['.repeat(20_000) + ']'.repeat(20_000);

  it.each<[string, Answer, RegExp]>([
    ['garbage', plain('{"data": [{"ind'), /not valid JSON, or is cut off/],
    ['nothing', plain(''), /not valid JSON/],
    ['a web page', plain('<!doctype html><title>Hello</title>'), /web page.*ends in \/v1/],
    ['no data', json({ object: 'list' }), /has no list "data"/],
    ['null', plain('null'), /has no list "data"/],
    ['lists in lists', plain(`{"list":${nested}}`), /has no list "data"/],
    ['an error with status 200', json({ error: 'Unexpected endpoint' }), /says: Unexpected endpoint/],
    ['too few vectors', embeddings({ index: 0, embedding: [1, 1] }), /holds 1 vectors for 2 texts/],
    [
      'one index twice',
      embeddings({ index: 0, embedding: [1, 1] }, { index: 0, embedding: [1, 1] }),
      /index 0/,
    ],
    [
      'an index too high',
      embeddings({ index: 0, embedding: [1, 1] }, { index: 2, embedding: [1, 1] }),
      /index 2/,
    ],
    ['an index missing', embeddings({ index: 0, embedding: [1, 1] }, { embedding: [1, 1] }), /undefined/],
    [
      'base64',
      embeddings({ embedding: 'AACAPwAAgD8=' }, { embedding: 'AACAPwAAgD8=' }),
      /base64.*update the server/,
    ],
    [
      'null for a number',
      embeddings({ embedding: [1, null] }, { embedding: [1, 1] }),
      /finite numbers.*text 0/,
    ],
    [
      'an infinite number',
      plain('{"data":[{"embedding":[1,1]},{"embedding":[1,1e999]}]}'),
      /finite numbers.*text 1/,
    ],
    ['zeros', embeddings({ embedding: [0, -0] }, { embedding: [1, 1] }), /vector of zeros for text 0/],
    ['no vector', embeddings({ embedding: [1, 1] }, null), /no list of numbers for text 1/],
    [
      'an empty vector',
      embeddings({ embedding: [] }, { embedding: [] }),
      /empty vector for text 0: is tiny a model for embeddings/,
    ],
    [
      'too much',
      plain(JSON.stringify({ data: 'x'.repeat(60_000) })),
      /more than 50000 bytes.*lower batchSize/,
    ],
  ])('%s', async (_name, answer, message) => {
    const { baseUrl, received } = await serve(answer);
    const { embedder } = embedderOn(baseUrl, { maxResponseBytes: 50_000 });
    const error = await failure(embedder.embed(['my first secret', 'my second secret']), 'secret');
    expect(error).toMatchObject({ code: 'embedder_failed', message: expect.stringMatching(message) });
    expect(received).toHaveLength(1);
  });

  it('names the right dimensions', async () => {
    const { baseUrl } = await serve(embeddings({ embedding: [1, 2, 3] }));
    const error = await failure(embedderOn(baseUrl).embedder.embed(['text']));
    expect(error.code).toBe('embedder_mismatch');
    expect(error.message).toMatch(/3 numbers, not 2: set dimensions: 3/);
    expect(error.details).toMatchObject({ expected: 2, received: 3, model: 'tiny' });
    const asked = await failure(embedderOn(baseUrl, { requestDimensions: true }).embedder.embed(['text']));
    expect(asked.message).toMatch(/set dimensions: 3 and leave requestDimensions out/);
  });
});

describe('a server in trouble', () => {
  it.each<[string, Answer]>([
    ['500', json({ error: 'model is loading' }, 500)],
    ['503', json({}, 503)],
    ['408', json({}, 408)],
    ['429', json({}, 429)],
    ['a closed socket', (response) => response.socket?.destroy()],
    [
      'half a body',
      (response) =>
        response.writeHead(200, { 'content-length': '99' }).write('{"da', () => response.socket?.destroy()),
    ],
  ])('is asked again after %s', async (_name, answer) => {
    const { baseUrl, received } = await serve(answer, answer, good);
    const { embedder, waits } = embedderOn(baseUrl);
    expect(await embedder.embed(['ab'])).toEqual([unit([2, 1])]);
    expect(received).toHaveLength(3);
    expect(waits).toEqual([250, 500]);
  });

  it('is not retried after the last retry, and its message is reported', async () => {
    const { baseUrl, received } = await serve(json({ error: { message: 'out of memory' } }, 500));
    const { embedder, waits } = embedderOn(baseUrl, { retries: 7, random: () => 0.999 });
    const error = await failure(embedder.embed(['ab']));
    expect(error.message).toMatch(/failed 8 times with status 500.*The server says: out of memory/);
    expect(error.details).toMatchObject({ status: 500, attempts: 8 });
    expect(received).toHaveLength(8);
    expect(waits.map(Math.round)).toEqual([500, 999, 1998, 3996, 7992, 15984, 19980]);
  });

  it('gets the wait that it asks for', async () => {
    const { baseUrl } = await serve(
      json({}, 429, { 'retry-after': '7' }),
      json({}, 503, {
        'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT',
        date: 'Sat, 21 Nov 2026 10:00:00 GMT',
      }),
      json({}, 503, {
        'retry-after': 'Sat, 21 Nov 2026 09:00:00 GMT',
        date: 'Sat, 21 Nov 2026 10:00:00 GMT',
      }),
      good,
    );
    const { embedder, waits } = embedderOn(baseUrl, { retries: 3 });
    expect(await embedder.embed(['ab'])).toEqual([unit([2, 1])]);
    expect(waits).toEqual([7000, 30_000, 1000]);
  });

  it('is not retried if it asks for too long a wait', async () => {
    const { baseUrl, received } = await serve(json({ error: 'slow down' }, 429, { 'retry-after': '3600' }));
    const { embedder, waits } = embedderOn(baseUrl);
    const error = await failure(embedder.embed(['ab']));
    expect(error.message).toMatch(/too many requests \(429\) and asks to wait 3600 s.*slow down/);
    expect([received.length, waits]).toEqual([1, []]);
  });

  it('that never answers is aborted after the timeout', async () => {
    const { baseUrl } = await serve(() => {});
    const { embedder } = embedderOn(baseUrl, { timeoutMs: 50, retries: 1 });
    const error = await failure(embedder.embed(['ab']));
    // The test does not count what the server received: on a busy machine the client gives up before the request
    // arrives.
    expect(error.message).toMatch(/no whole answer within 50 ms 2 times: raise timeoutMs/);
  });

  it('that stalls during its answer is aborted after the timeout', async () => {
    const { baseUrl } = await serve((response) => response.writeHead(200).write('{"data":['));
    const { embedder } = embedderOn(baseUrl, { timeoutMs: 50, retries: 0 });
    expect((await failure(embedder.embed(['ab']))).message).toMatch(/no whole answer within 50 ms:/);
  });

  it('that is down is named, with advice', async () => {
    const { origin, close } = await listen(() => {});
    await close();
    const error = await failure(embedderOn(`${origin}/v1`, { retries: 1 }).embedder.embed(['ab']));
    expect(error.code).toBe('embedder_failed');
    expect(error.message).toContain(`${origin}/v1/embeddings failed 2 times`);
    expect(error.message).toMatch(/ECONNREFUSED.*is the server running\? e\.g\. `ollama serve`/);
  });

  it('that is remote is reported without advice about a local server', async () => {
    const fetch = async () => {
      throw new TypeError('fetch failed', { cause: new Error(`no route for Bearer ${key} and ${key}`) });
    };
    const error = await failure(embedderOn('https://far.test/v1', { fetch }).embedder.embed(['ab']));
    expect(error.message).toMatch(/^https:\/\/far\.test\/v1\/embeddings failed 4 times \(no route/);
    expect(error.message).toMatch(/reachable from here\?$/);
  });
});

describe('a refusal', () => {
  it.each<[string, number, unknown, RegExp]>([
    [
      'key',
      401,
      { error: { message: `Incorrect API key: ${key}` } },
      /refuses the key in the option apiKey \(401\)/,
    ],
    ['model', 404, { error: { message: 'model "tiny" not found' } }, /`ollama pull tiny`.*\/v1.*not found/],
    ['path', 405, {}, /correct baseUrl/],
    [
      'permission',
      403,
      { error: `${key} may not, nor may sk-ab***yz, says Bearer abc` },
      /\[removed\] may not, nor may \[removed\], says Bearer \[removed\]/,
    ],
    [
      'length',
      400,
      { error: { message: 'input exceeds the maximum context length' } },
      /\(400\)\. The server says: input exceeds/,
    ],
    [
      'validation',
      422,
      { detail: [{ loc: ['body'], msg: 'not a valid list', input: 'my secret text' }] },
      /says: not a valid list/,
    ],
  ])('of the %s is not tried again, and explained', async (_name, status, body, message) => {
    const { baseUrl, received } = await serve(json(body, status));
    const { embedder, waits } = embedderOn(baseUrl);
    const error = await failure(embedder.embed(['my secret text']), 'secret');
    expect(error).toMatchObject({ code: 'embedder_failed', message: expect.stringMatching(message) });
    expect(error.details).toEqual({ url: `${baseUrl}/embeddings`, model: 'tiny', status, attempts: 1 });
    expect([received.length, waits]).toEqual([1, []]);
  });

  it('never repeats the texts, and is shortened', async () => {
    const { baseUrl } = await serve((response, { body }) =>
      json({ error: { message: `too long: ${body.input.join('')} ${'no '.repeat(500)}` } }, 400)(
        response,
        {} as never,
      ),
    );
    const secret = 'Alice keeps her "spare" key\nunder the mat';
    const error = await failure(embedderOn(baseUrl).embedder.embed([secret]), 'Alice', 'spare', 'the mat');
    const [, said = ''] = error.message.split('The server says: ');
    expect(said).toMatch(/^too long: \[text removed\] no no .*…$/);
    expect(said.length).toBeLessThanOrEqual(300);
  });

  it('of shortened vectors names the option', async () => {
    const { baseUrl } = await serve(json({ message: 'does not support matryoshka representation' }, 400));
    const error = await failure(embedderOn(baseUrl, { requestDimensions: true }).embedder.embed(['ab']));
    expect(error.message).toMatch(/leave requestDimensions out.*matryoshka/);
  });

  it('by redirect does not pass on key and texts', async () => {
    const other = await serve(good);
    const { baseUrl, received } = await serve((response) =>
      response.writeHead(307, { location: `${other.baseUrl}/embeddings?token=${key}` }).end(),
    );
    const error = await failure(embedderOn(baseUrl).embedder.embed(['ab']));
    expect(error.message).toContain(`redirects to ${other.baseUrl}/embeddings,`);
    expect([received.length, other.received.length]).toEqual([1, 0]);
  });
});

describe('the key', () => {
  it('comes from the environment, each host from its own variable', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'for-openai');
    vi.stubEnv('SALIENCE_EMBEDDER_KEY', 'for-others');
    vi.stubEnv('MINE', ' mine\n');
    const sent: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      sent.push(new Headers(init?.headers).get('authorization'));
      return Response.json({ data: [{ embedding: [1, 1] }] });
    };
    const base = { model: 'm', dimensions: 2, fetch };
    for (const options of [
      { baseUrl: 'https://api.openai.com/v1' },
      { baseUrl: 'https://api.openai.com.evil.test/v1' },
      { baseUrl: 'http://127.0.0.1:11434/v1' },
      { baseUrl: 'http://127.0.0.1:11434/v1', apiKeyEnv: 'MINE' },
      { baseUrl: 'http://127.0.0.1:11434/v1', apiKeyEnv: 'UNSET_VARIABLE' },
      { baseUrl: 'http://127.0.0.1:11434/v1', apiKey: '' },
    ]) {
      await openAiCompatibleEmbedder({ ...base, ...options }).embed(['a']);
    }
    expect(sent).toEqual([
      'Bearer for-openai',
      'Bearer for-others',
      'Bearer for-others',
      'Bearer mine',
      null,
      null,
    ]);
  });

  it('is named by its variable when it is missing', async () => {
    const { baseUrl } = await serve(json({}, 401));
    const none = openAiCompatibleEmbedder({ baseUrl, model: 'm', dimensions: 2 });
    expect((await failure(none.embed(['a']))).message).toMatch(
      /none in the environment variable SALIENCE_EMBEDDER_KEY/,
    );
    vi.stubEnv('SALIENCE_EMBEDDER_KEY', key);
    const wrong = openAiCompatibleEmbedder({ baseUrl, model: 'm', dimensions: 2 });
    expect((await failure(wrong.embed(['a']))).message).toMatch(
      /refuses the key in the environment variable SALIENCE/,
    );
  });

  it('is not visible in the embedder', () => {
    const { embedder } = embedderOn('http://127.0.0.1/v1');
    expect(JSON.stringify(embedder)).toContain('openai-compatible:tiny:2');
    expect(JSON.stringify(embedder)).not.toContain(key);
  });
});

describe('an abort', () => {
  const aborted = { code: 'aborted' };

  it('before the call prevents the request', async () => {
    const { baseUrl, received } = await serve(good);
    const { embedder } = embedderOn(baseUrl);
    await expect(embedder.embed(['a'], { signal: AbortSignal.abort() })).rejects.toMatchObject(aborted);
    expect(received).toEqual([]);
  });

  it('during a request ends it, and starts no other', async () => {
    const controller = new AbortController();
    const { baseUrl, received } = await serve(() => controller.abort());
    const { embedder } = embedderOn(baseUrl, { batchSize: 1, concurrency: 1 });
    const error = await failure(embedder.embed(['a', 'b'], { signal: controller.signal }));
    expect(error).toMatchObject(aborted);
    expect(received).toHaveLength(1);
  });

  it('during a request ends it even if fetch does not listen', async () => {
    const controller = new AbortController();
    const fetch = () => {
      queueMicrotask(() => controller.abort());
      return new Promise<Response>(() => {});
    };
    const { embedder } = embedderOn('http://nowhere.test/v1', { fetch });
    await expect(embedder.embed(['a'], { signal: controller.signal })).rejects.toMatchObject(aborted);
  });

  it('during a wait ends it', async () => {
    const controller = new AbortController();
    const { baseUrl, received } = await serve(json({}, 503));
    let heard = false;
    const { embedder } = embedderOn(baseUrl, {
      sleep: (_milliseconds, signal) => {
        signal.addEventListener('abort', () => {
          heard = true;
        });
        queueMicrotask(() => controller.abort());
        return new Promise<void>(() => {});
      },
    });
    await expect(embedder.embed(['a'], { signal: controller.signal })).rejects.toMatchObject(aborted);
    expect([received.length, heard]).toEqual([1, true]);
  });

  it('of the other batches follows the first failure, which is thrown', async () => {
    let gone: Promise<unknown> | undefined;
    const { baseUrl, received } = await serve(
      (response) => {
        gone = new Promise((resolve) => response.on('close', resolve));
      },
      (response) => json({ error: 'no' }, 400)(response, {} as never),
    );
    const { embedder } = embedderOn(baseUrl, { batchSize: 1, concurrency: 2 });
    const error = await failure(embedder.embed(['a', 'b', 'c', 'd']));
    expect(error).toMatchObject({ code: 'embedder_failed', details: { status: 400 } });
    expect(gone).toBeDefined();
    await gone;
    expect(received).toHaveLength(2);
  });
});

describe('options', () => {
  it.each<[string, object]>([
    ['baseUrl', { baseUrl: '127.0.0.1:11434' }],
    ['baseUrl', { baseUrl: 'localhost:11434/v1' }],
    ['baseUrl', { baseUrl: `http://me:${key}@host/v1` }],
    ['baseUrl', { baseUrl: undefined }],
    ['model', { model: ' ' }],
    ['dimensions', { dimensions: undefined }],
    ['dimensions', { dimensions: 1.5 }],
    ['apiKey', { apiKey: `${key}\nX-Other: 1` }],
    ['batchSize', { batchSize: 0 }],
    ['concurrency', { concurrency: 65 }],
    ['timeoutMs', { timeoutMs: Number.NaN }],
    ['retries', { retries: -1 }],
    ['maxResponseBytes', { maxResponseBytes: 1 }],
    ['calibration', { calibration: { floor: 0.5, ceiling: 0.5 } }],
    ['thresholds.conflict', { thresholds: { conflict: 2 } }],
    ['options.dimension', { dimension: 2 }],
  ])('refuse a wrong %s', async (field, wrong) => {
    const error = await failure(
      (async () => embedderOn('http://127.0.0.1/v1', wrong as Partial<OpenAiCompatibleOptions>))(),
    );
    expect(error).toMatchObject({ code: 'invalid_argument', details: { field } });
  });

  it('set calibration and single thresholds', () => {
    const { embedder } = embedderOn('http://127.0.0.1/v1', {
      calibration: { floor: 0.5, ceiling: 0.8 },
      thresholds: { conflict: 0.9 },
    });
    expect(embedder.calibration).toEqual({ floor: 0.5, ceiling: 0.8 });
    expect(embedder.thresholds).toEqual({
      conflict: 0.9,
      birthLink: 0.4,
      consolidation: 0.7,
      similarPair: 0.85,
    });
    expect(embedderOn('http://127.0.0.1/v1').embedder.calibration).toEqual({ floor: 0.2, ceiling: 0.9 });
  });
});
