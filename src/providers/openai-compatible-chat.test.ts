import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { SalienceError } from '../domain/errors.ts';
import type { GenerateRequest } from './language-model.ts';
import { type OpenAiCompatibleModelOptions, openAiCompatibleModel } from './openai-compatible-chat.ts';

interface Received {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
    readonly response_format?: {
      readonly type: string;
      readonly json_schema?: { readonly schema: object; readonly strict: boolean };
    };
    readonly temperature?: number;
    readonly max_tokens?: number;
    readonly max_completion_tokens?: number;
  };
}
type Script = (response: ServerResponse, received: Received) => void;

const key = 'key-4242-abcdefgh-do-not-tell';
const MOST_BYTES = 50_000;
const secretText = 'the treasure is buried under the old oak';
const closers: (() => Promise<void>)[] = [];

beforeEach(() => {
  vi.stubEnv('OPENAI_API_KEY', undefined);
  vi.stubEnv('SALIENCE_MODEL_KEY', undefined);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closers.splice(0)) await close();
});

/** A server that follows the script and repeats its last line. */
async function serve(...script: readonly Script[]) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    received.push(await receive(request));
    (script[received.length - 1] ?? script.at(-1))?.(response, received.at(-1)!);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  closers.push(close);
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, received, close };
}

async function receive(request: IncomingMessage): Promise<Received> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  return { path: request.url ?? '', authorization: request.headers.authorization, body: JSON.parse(body) };
}

const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Script =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
const says = (content: unknown, finish = 'stop', usage: unknown = usageOf(11, 7)): Script =>
  json({ choices: [{ message: { role: 'assistant', content }, finish_reason: finish }], usage });
const usageOf = (prompt_tokens: number, completion_tokens: number) => ({ prompt_tokens, completion_tokens });
const refuses = (message: string, status = 400) => json({ error: { message } }, status);
const silent: Script = () => {};
const colour = z.object({ colour: z.string(), share: z.number().min(0).max(1) });
const good = says('{"colour":"red","share":0.5}');

const timeoutMs = 12_345;

/** A model that does not wait; `waits` are the times between its attempts. */
function modelOn(baseUrl: string, options: Partial<OpenAiCompatibleModelOptions> = {}) {
  const waits: number[] = [];
  const sleep = async (milliseconds: number) => void waits.push(milliseconds);
  const model = openAiCompatibleModel({
    baseUrl,
    model: 'tiny',
    apiKey: key,
    timeoutMs,
    sleep,
    random: () => 0.5,
    ...options,
  });
  const generate = (request: Partial<GenerateRequest<z.infer<typeof colour>>> = {}) =>
    model.generate({ system: 'Name a colour.', prompt: secretText, schema: colour, ...request });
  return { model, generate, waits };
}

/** Returns the error of a call, after checking that nothing in it contains the key or the prompt. */
async function failure(call: Promise<unknown>): Promise<SalienceError> {
  const error = await call.then(
    () => expect.fail('the call did not fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof SalienceError)) throw error;
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    const readable = `${each.stack} ${JSON.stringify(each, Object.getOwnPropertyNames(each))}`;
    for (const secret of [key, secretText]) expect(readable).not.toContain(secret);
  }
  return error;
}

describe('a request', () => {
  it('asks for the schema, and returns the value with its usage', async () => {
    const { baseUrl, received } = await serve(good);
    const { model, generate } = modelOn(baseUrl);
    expect(model.name).toBe('openai-compatible:tiny');
    expect(await generate({ maxOutputTokens: 99 })).toEqual({
      value: { colour: 'red', share: 0.5 },
      promptTokens: 11,
      completionTokens: 7,
      calls: 1,
    });
    const { path, authorization, body } = received[0]!;
    expect(path).toBe('/v1/chat/completions');
    expect(authorization).toBe(`Bearer ${key}`);
    expect(body).toMatchObject({ model: 'tiny', temperature: 0, max_tokens: 99, stream: false });
    expect(body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { schema: { type: 'object', required: ['colour', 'share'] }, strict: false },
    });
    expect(body.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(body.messages[0]?.content).toMatch(/^Name a colour\.\n\n.*JSON object.*\n\{"type":"object"/);
    expect(body.messages[1]?.content).toBe(secretText);
  });

  it.each([
    ['every object lists and needs all it has', { share: z.number() }, true],
    ['a property may be missing', { share: z.number().optional() }, false],
    ['an inner object is open', { share: z.object({ part: z.number() }).optional().nullable() }, false],
    ['an inner object is closed', { share: z.array(z.strictObject({ part: z.number() })) }, true],
  ])('is strict only where the schema allows it: %s', async (_, fields, strict) => {
    const { baseUrl, received } = await serve(says('{"colour":"red","share":1}'));
    const { model } = modelOn(baseUrl);
    const schema = z.strictObject({ colour: z.string(), ...fields });
    await model.generate({ system: 's', prompt: 'p', schema }).catch(() => {});
    expect(received[0]?.body.response_format?.json_schema?.strict).toBe(strict);
  });

  it('accepts a JSON Schema with a parser', async () => {
    const { baseUrl } = await serve(good);
    const { model } = modelOn(baseUrl);
    const schema = {
      jsonSchema: { type: 'object' },
      parse: (value: unknown) => Object.keys(value as object),
    };
    expect((await model.generate({ system: 's', prompt: 'p', schema })).value).toEqual(['colour', 'share']);
  });

  it.each<[string, unknown]>([
    ['request: expected an object, not null', null],
    ['request: expected an object, not undefined', undefined],
    ['schema: expected a type of zod 4', { system: 's', prompt: 'p' }],
    ['schema: expected a type of zod 4', { system: 's', prompt: 'p', schema: {} }],
    ['schema: expected a type of zod 4', { system: 's', prompt: 'p', schema: null }],
    ['schema: expected a type of zod 4', { system: 's', prompt: 'p', schema: { jsonSchema: {} } }],
  ])('refuses what is no question: %s', async (message, request) => {
    const { model } = modelOn('http://127.0.0.1:1');
    await expect(model.generate(request as never)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining(message),
    });
  });

  it('sends OpenAI its own parameter names and key', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-of-openai');
    vi.stubEnv('SALIENCE_MODEL_KEY', 'of-another');
    const seen: { url: string; key: string | null; body: object }[] = [];
    const fetch: typeof globalThis.fetch = async (url, init) => {
      const headers = new Headers(init?.headers);
      seen.push({
        url: String(url),
        key: headers.get('authorization'),
        body: JSON.parse(String(init?.body)),
      });
      return Response.json({ choices: [{ message: { content: '{"colour":"red","share":1}' } }] });
    };
    const at = (baseUrl: string) =>
      modelOn(baseUrl, { apiKey: undefined, fetch }).generate({ maxOutputTokens: 5 });
    await at('https://api.openai.com/v1');
    await at('https://models.example/v1/');
    expect(seen[0]).toMatchObject({ key: 'Bearer sk-of-openai', body: { max_completion_tokens: 5 } });
    expect(seen[1]).toMatchObject({
      url: 'https://models.example/v1/chat/completions',
      key: 'Bearer of-another',
      body: { max_tokens: 5 },
    });
  });

  it('counts bytes if the server does not count tokens', async () => {
    const { baseUrl, received } = await serve(says('{"colour":"red","share":0.5}', 'stop', null));
    const { promptTokens, completionTokens } = await modelOn(baseUrl).generate();
    const bytes = received[0]!.body.messages.map(({ content }) => Math.ceil(content.length / 4));
    expect(promptTokens).toBe(bytes[0]! + bytes[1]!);
    expect(completionTokens).toBe(7);
  });
});

describe('an answer', () => {
  it.each([
    ['in a code block', 'Here you are:\n```json\n{"colour":"red","share":0.5}\n```\nEnjoy!'],
    ['between words', 'Sure! {"colour":"red","share":0.5} is the one.'],
    ['after thinking aloud', '<think>{"colour": maybe}</think>\n{"colour":"red","share":0.5}'],
    [
      'in parts',
      [
        { type: 'text', text: '{"colour":"red",' },
        { type: 'text', text: '"share":0.5}' },
      ],
    ],
  ])('%s is read', async (_, content) => {
    const { baseUrl, received } = await serve(says(content));
    expect((await modelOn(baseUrl).generate()).value).toEqual({ colour: 'red', share: 0.5 });
    expect(received).toHaveLength(1);
  });

  it.each([
    ['no JSON', says('red'), /not JSON/],
    ['empty', says(''), /the answer is empty/],
    ['null', says(null), /the answer is empty/],
    ['a list', says('["red"]'), /not one object/],
    ['out of range', says('{"colour":"red","share":7}'), /share: .*<=1/],
    ['without a field', says('{"share":1}'), /colour: .*expected string/],
    ['cut off', says('{"colour":"re', 'length'), /cut off/],
    ['cut off behind a whole object', says('{"colour":"red","share":1} and', 'length'), /cut off/],
  ])('that is %s is shown to the model, once, with what is wrong', async (_, first, problem) => {
    const { baseUrl, received } = await serve(first, good);
    const { value, ...usage } = await modelOn(baseUrl).generate();
    expect(value).toEqual({ colour: 'red', share: 0.5 });
    expect(usage).toEqual({ promptTokens: 22, completionTokens: 14, calls: 2 });
    const messages = received[1]!.body.messages;
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(messages[2]?.content).not.toBe('');
    expect(messages[3]?.content).toMatch(problem);
  });

  it('that stays broken is an error with its usage', async () => {
    const { baseUrl, received } = await serve(says(`I saw ${secretText}`));
    const error = await failure(modelOn(baseUrl).generate());
    expect(error.code).toBe('model_invalid_output');
    expect(error.details).toMatchObject({ promptTokens: 22, completionTokens: 14, calls: 2 });
    expect(received).toHaveLength(2);
  });

  it.each([
    ['a filter', says('', 'content_filter')],
    ['the model', json({ choices: [{ message: { content: null, refusal: 'No.' }, finish_reason: 'stop' }] })],
  ])('that %s declined is an error, and not asked for again', async (_, script) => {
    const { baseUrl, received } = await serve(script);
    const error = await failure(modelOn(baseUrl).generate());
    expect(error).toMatchObject({
      code: 'model_failed',
      message: expect.stringMatching(/declined to answer/),
    });
    expect(received).toHaveLength(1);
  });

  it.each([
    [
      'no completion',
      json({ error: `bad ${key} ${secretText}` }),
      /no "choices" with a message, but says: bad/,
    ],
    [
      'nothing but lists in lists',
      (response: ServerResponse) => response.end(`${'['.repeat(20_000)}${']'.repeat(20_000)}`),
      /has no "choices" with a message$/,
    ],
    ['no JSON', (response: ServerResponse) => response.end('<html>'), /a web page, not JSON/],
    [
      'a redirect',
      (response: ServerResponse) => response.writeHead(302, { location: '/x' }).end(),
      /redirects to/,
    ],
    ['too long', says('x'.repeat(MOST_BYTES)), /more than 50000 bytes: request less at a time/],
  ] as const)('of the server that is %s is an error at once', async (_, script, message) => {
    const { baseUrl, received } = await serve(script);
    const error = await failure(modelOn(baseUrl, { maxResponseBytes: MOST_BYTES }).generate());
    expect(error).toMatchObject({ code: 'model_failed', message: expect.stringMatching(message) });
    expect(received).toHaveLength(1);
  });
});

describe('a failing server', () => {
  it('is retried after growing waits', async () => {
    const broken = (response: ServerResponse) =>
      void response.writeHead(200).write('{"cho', () => response.destroy());
    const { baseUrl } = await serve(refuses('busy', 503), refuses('', 500), broken, good);
    const { generate, waits } = modelOn(baseUrl);
    expect(await generate()).toMatchObject({ calls: 4, promptTokens: 11 });
    expect(waits).toEqual([250, 500, 1000]);
  });

  it('gets the wait that it asks for', async () => {
    const { baseUrl } = await serve(json({}, 429, { 'retry-after': '7' }), good);
    const { generate, waits } = modelOn(baseUrl);
    await generate();
    expect(waits).toEqual([7000]);
  });

  it('that asks for more than a minute is not retried', async () => {
    const { baseUrl } = await serve(json({}, 429, { 'retry-after': '61' }));
    const { generate, waits } = modelOn(baseUrl);
    const error = await failure(generate());
    expect(error.message).toMatch(/too many requests \(429\) and asks to wait 61 s/);
    expect(waits).toEqual([]);
  });

  it('is not retried after the last retry', async () => {
    const { baseUrl, received } = await serve(refuses(`overloaded by ${key} and ${secretText}`, 500));
    const error = await failure(modelOn(baseUrl, { retries: 2 }).generate());
    expect(error.message).toMatch(/failed 3 times with status 500.*overloaded by \[removed\]/);
    expect(error.details).toMatchObject({ attempts: 3, status: 500, calls: 3 });
    expect(received).toHaveLength(3);
  });

  it('that is unreachable causes an error that says so', async () => {
    const { baseUrl, close } = await serve(good);
    await close();
    const error = await failure(modelOn(baseUrl, { retries: 1 }).generate());
    expect(error.message).toMatch(/failed 2 times .*is the server running\?/);
  });

  it.each([
    [401, /refuses the key in the option apiKey \(401\)/],
    [403, /does not allow this \(403\)/],
    [404, /has no model "tiny", or does not serve the chat API \(404\)/],
    [413, /refused the request \(413\)/],
  ])('that answers %i is not asked again', async (status, message) => {
    const { baseUrl, received } = await serve(refuses(`no, ${key.slice(0, 8)}`, status));
    const error = await failure(modelOn(baseUrl).generate());
    expect(error).toMatchObject({ code: 'model_failed', message: expect.stringMatching(message) });
    expect(received).toHaveLength(1);
  });
});

describe('a server with limited support of the API', () => {
  it('gets json_object, then plain text, which is remembered', async () => {
    const formats: (string | undefined)[] = [];
    const { baseUrl } = await serve((response, received) => {
      const format = received.body.response_format?.type;
      formats.push(format);
      (format === undefined ? good : refuses(`response_format ${format} is not known`))(response, received);
    });
    const { generate } = modelOn(baseUrl);
    expect((await generate()).calls).toBe(3);
    expect((await generate()).calls).toBe(1);
    expect(formats).toEqual(['json_schema', 'json_object', undefined, undefined]);
  });

  it('gets the limit under its other name, and no temperature', async () => {
    const { baseUrl, received } = await serve(
      refuses("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
      refuses("Unsupported value: 'temperature' does not support 0 with this model.", 422),
      good,
    );
    await modelOn(baseUrl).generate({ maxOutputTokens: 50 });
    const { body } = received.at(-1)!;
    expect(body).toMatchObject({ max_completion_tokens: 50, response_format: { type: 'json_schema' } });
    expect(body).not.toHaveProperty('max_tokens');
    expect(body).not.toHaveProperty('temperature');
  });

  it('that refuses everything fails with its first reason, and nothing is remembered', async () => {
    const { baseUrl, received } = await serve(
      refuses('the context is too long'),
      refuses('second'),
      refuses('third'),
      good,
    );
    const { generate } = modelOn(baseUrl);
    const error = await failure(generate());
    expect(error.message).toMatch(/refused the request \(400\).*the context is too long/);
    expect(error.details['calls']).toBe(3);
    await generate();
    expect(received.at(-1)?.body.response_format?.type).toBe('json_schema');
  });
});

describe('a time limit', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('ends a request without an answer, which is retried', async () => {
    let asked = 0;
    const { baseUrl, received } = await serve(() => void asked++);
    const { generate } = modelOn(baseUrl, { retries: 1 });
    const error = await failure(overAfter(received, [1, 2], generate()));
    expect(error.message).toMatch(/gave no whole answer within 12345 ms 2 times: raise timeoutMs/);
    expect(error.details).toMatchObject({ calls: 2, attempts: 2 });
    expect(asked).toBe(2);
  });

  it('counts the requests of an adaptation in progress', async () => {
    const half = [refuses('response_format is not supported'), silent];
    const { baseUrl, received } = await serve(...half, ...half, ...half, ...half);
    const { generate } = modelOn(baseUrl, { budget: { maxCalls: 4 } });
    const error = await failure(overAfter(received, [2, 4], generate()));
    expect(error.message).toMatch(/gave no whole answer/);
    expect(error.details).toMatchObject({ calls: 4, attempts: 2 });
    expect(received).toHaveLength(4);
  });

  it('ends an answer that stalls', async () => {
    const half: Script = (response) => void response.writeHead(200).write('{"choices":');
    const { baseUrl, received } = await serve(half, good);
    const { generate } = modelOn(baseUrl);
    expect(await overAfter(received, [1], generate())).toMatchObject({ value: { colour: 'red' }, calls: 2 });
  });

  it('does not delay an abort while the server is silent', async () => {
    const stop = new AbortController();
    const { baseUrl } = await serve(() => stop.abort(new Error('enough')));
    const error = await failure(modelOn(baseUrl).generate({ signal: stop.signal }));
    expect(error.code).toBe('aborted');
  });

  it('does not delay an abort while waiting for the next attempt', async () => {
    const stop = new AbortController();
    const { baseUrl, received } = await serve(refuses('busy', 503));
    const sleep = async () => {
      stop.abort();
      await new Promise(() => {});
    };
    expect((await failure(modelOn(baseUrl, { sleep }).generate({ signal: stop.signal }))).code).toBe(
      'aborted',
    );
    expect(received).toHaveLength(1);
  });

  it('does not start after an abort', async () => {
    const { baseUrl, received } = await serve(good);
    const error = await failure(modelOn(baseUrl).generate({ signal: AbortSignal.abort() }));
    expect(error.code).toBe('aborted');
    expect(received).toHaveLength(0);
  });

  /** Lets the timeout pass each time that so many requests have reached the server. */
  async function overAfter<Value>(
    received: readonly unknown[],
    counts: readonly number[],
    call: Promise<Value>,
  ): Promise<Value> {
    let isOver = false;
    const ends = () => {
      isOver = true;
    };
    call.then(ends, ends);
    for (const count of counts) {
      while (!isOver && received.length < count) await new Promise((resolve) => setImmediate(resolve));
      vi.advanceTimersByTime(timeoutMs);
    }
    return call;
  }
});

describe('a budget', () => {
  it('of calls ends the retries', async () => {
    const { baseUrl, received } = await serve(refuses('busy', 503));
    const error = await failure(modelOn(baseUrl, { budget: { maxCalls: 2 } }).generate());
    expect(error.message).toMatch(/failed 2 times with status 503/);
    expect(received).toHaveLength(2);
  });

  it('of calls prevents a repair, or its retries', async () => {
    const one = await serve(says('?'));
    const error = await failure(modelOn(one.baseUrl, { budget: { maxCalls: 1 } }).generate());
    expect(error).toMatchObject({
      code: 'model_invalid_output',
      message: expect.stringMatching(/cannot be read, and has used up budget.maxCalls \(1\): raise it$/),
    });
    const two = await serve(says('?'), refuses('busy', 503));
    expect(
      (await failure(modelOn(two.baseUrl, { budget: { maxCalls: 2 } }).generate())).details,
    ).toMatchObject({
      calls: 2,
      status: 503,
    });
    expect([one.received.length, two.received.length]).toEqual([1, 2]);
  });

  it('of tokens limits the answer, and is consumed by it', async () => {
    const { baseUrl, received } = await serve(says('?', 'stop', usageOf(100, 890)), good);
    const error = await failure(modelOn(baseUrl, { budget: { maxTokens: 1000 } }).generate());
    expect(error).toMatchObject({ code: 'model_invalid_output', details: { promptTokens: 100, calls: 1 } });
    expect(error.message).toMatch(/was not asked again: a prompt of about \d+ tokens/);
    const prompt = received[0]!.body.messages.reduce(
      (sum, each) => sum + Math.ceil(each.content.length / 4),
      0,
    );
    expect(received[0]?.body.max_tokens).toBe(1000 - prompt);
    expect(received).toHaveLength(1);
  });

  it('of tokens that the prompt alone exceeds prevents the request', async () => {
    const { baseUrl, received } = await serve(good);
    const error = await failure(modelOn(baseUrl, { budget: { maxTokens: 20 } }).generate());
    expect(error.message).toMatch(/was not asked: a prompt of about \d+ tokens/);
    expect(received).toHaveLength(0);
  });
});

describe('options', () => {
  it.each([
    ['baseUrl', { baseUrl: 'localhost:11434' }],
    ['baseUrl', { baseUrl: `http://user:${key}@localhost/v1` }],
    ['model', { model: ' ' }],
    ['apiKey', { apiKey: `${key}\nx` }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['retries', { retries: -1 }],
    ['maxResponseBytes', { maxResponseBytes: 1 }],
    ['budget.maxCalls', { budget: { maxCalls: 0 } }],
    ['budget.maxTokens', { budget: { maxTokens: 0.5 } }],
    ['budget.tokens', { budget: { tokens: 5 } as object }],
    ['options.modle', { modle: 'x' } as object],
  ])('%s is checked', async (field, options) => {
    const error = await failure((async () => modelOn('http://127.0.0.1:1/v1', options))());
    expect(error).toMatchObject({ code: 'invalid_argument', details: { field } });
  });

  it.each([
    ['system', { system: '' }],
    ['prompt', { prompt: '  ' }],
    ['temperature', { temperature: 3 }],
    ['maxOutputTokens', { maxOutputTokens: 0 }],
    ['schema', { schema: z.array(z.string()) as never }],
  ])('%s of a request is checked', async (field, request) => {
    const { baseUrl, received } = await serve(silent);
    const error = await failure(modelOn(baseUrl).generate(request));
    expect(error).toMatchObject({ code: 'invalid_argument', details: { field } });
    expect(received).toHaveLength(0);
  });
});
