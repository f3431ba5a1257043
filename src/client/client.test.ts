import { describe, expect, test, vi } from 'vitest';
import type { SalienceError } from '../domain/errors.ts';
import { connectMemory } from './index.ts';
import { requestOf } from './routes.ts';
import { createTransport } from './transport.ts';

interface Asked {
  readonly url: string;
  readonly method: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A fake server that answers with these in order; an error stands for a connection that ends. */
function answering(...answers: readonly (readonly [status: number, body: unknown] | Error)[]) {
  const asked: Asked[] = [];
  const fetch = (async (url: string, init: RequestInit) => {
    const headers = init.headers as Record<string, string>;
    asked.push({ url, method: init.method, headers, body: init.body });
    const answer = answers[asked.length - 1];
    if (answer === undefined) throw new Error('asked too often');
    if (answer instanceof Error) throw answer;
    const [status, body] = answer;
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });
  }) as typeof globalThis.fetch;
  return { asked, options: { url: 'http://memory.test/', token: 'secret', fetch } };
}

const ended = new TypeError('fetch failed');

describe('the request of a verb', () => {
  test('path parameters are escaped, and left out of the body', () => {
    expect(requestOf('link', { id: 'a/b', to: 'c d', weight: 0.5 })).toEqual({
      method: 'PUT',
      path: '/v1/memories/a%2Fb/links/c%20d',
      body: '{"weight":0.5}',
    });
  });

  test('reads and deletes use a query: repeated lists, objects as JSON, nothing for missing fields', () => {
    expect(
      requestOf('list', { types: ['fact', 'event'], metadata: { a: 1 }, limit: 5, tags: undefined }),
    ).toEqual({
      method: 'GET',
      path: '/v1/memories?types=fact&types=event&metadata=%7B%22a%22%3A1%7D&limit=5',
      body: undefined,
    });
    expect(requestOf('list', {}).path).toBe('/v1/memories');
    expect(requestOf('forget', { id: 'a' })).toEqual({
      method: 'DELETE',
      path: '/v1/memories/a',
      body: undefined,
    });
  });

  test('an empty path parameter is refused, because it would select another route', async () => {
    expect(() => requestOf('timeline', { id: '' })).toThrow(/^id: nothing has an empty id/);
    const { asked, options } = answering([200, { space: 'alice' }]);
    const memory = await connectMemory(options);
    expect(await memory.get('')).toBeUndefined();
    await expect(memory.link('a', '')).rejects.toMatchObject({ code: 'not_found', details: { to: '' } });
    expect(asked).toHaveLength(1);
  });

  test.each([null, 5, ['a']])('%j is refused as a path parameter', (id) => {
    for (const verb of ['get', 'history', 'forget', 'link'] as const)
      expect(() => requestOf(verb, { id, to: 'b' })).toThrow(/^id: expected a string, not /);
  });

  test('a text is refused as a list in a query', () => {
    const fields = { id: 'a', to: 'b', kinds: 'stated' };
    expect(() => requestOf('unlink', fields)).toThrow('kinds: expected a list');
  });

  test('a request without fields has no body', () => {
    expect(requestOf('maintain', { limit: undefined })).toEqual({
      method: 'POST',
      path: '/v1/maintain',
      body: undefined,
    });
  });
});

describe('asking a server', () => {
  test('reports the tag of a memory, and makes a write depend on it', async () => {
    const asked: RequestInit[] = [];
    const fetch = (async (_: string, init: RequestInit) => {
      asked.push(init);
      return new Response('{"id":"x"}', { headers: { etag: '"1.a"' } });
    }) as typeof globalThis.fetch;
    const transport = createTransport({ url: 'http://memory.test', token: 'secret', fetch });
    const tags: string[] = [];
    await transport.ask('get', { id: 'x' }, { tagged: (etag) => tags.push(etag) });
    await transport.ask('update', { id: 'x', content: 'tea' }, { ifMatch: tags[0] });
    expect(tags).toEqual(['"1.a"']);
    expect(asked.map(({ headers }) => new Headers(headers).get('if-match'))).toEqual([null, '"1.a"']);
  });

  test('sends the token, an idempotency key for writes, and the time', async () => {
    const { asked, options } = answering([200, { id: 'x' }], [200, { memories: [] }]);
    const transport = createTransport(options);
    const now = new Date(Date.UTC(2026, 0, 1));
    expect(await transport.ask('remember', { content: 'tea' }, { now })).toEqual({ id: 'x' });
    await transport.ask('list', {});
    expect(asked).toHaveLength(2);
    const [write, read] = asked;
    expect(write).toMatchObject({
      url: 'http://memory.test/v1/memories',
      method: 'POST',
      body: '{"content":"tea"}',
    });
    expect(write!.headers).toMatchObject({
      authorization: 'Bearer secret',
      'content-type': 'application/json',
      'salience-now': '2026-01-01T00:00:00.000Z',
      'idempotency-key': expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(Object.keys(read!.headers)).toEqual(['authorization']);
  });

  test('retries once with the same key when a connection ends', async () => {
    const twice = answering(ended, [200, { id: 'x' }]);
    await createTransport(twice.options).ask('remember', { content: 'tea' });
    const keys = twice.asked.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
    const never = answering(ended, ended, [200, {}]);
    await expect(createTransport(never.options).ask('remember', {})).rejects.toMatchObject({
      code: 'server_failed',
      message: expect.stringContaining('http://memory.test cannot be reached'),
    });
    expect(never.asked).toHaveLength(2);
  });

  test('sends at most 32 requests at once, besides those that wait for activity', async () => {
    const answers: (() => void)[] = [];
    const fetch = (() =>
      new Promise<Response>((resolve) => {
        answers.push(() => resolve(new Response('{"memories":[]}')));
      })) as typeof globalThis.fetch;
    const transport = createTransport({ url: 'http://memory.test', token: 'secret', fetch });
    const reads = Array.from({ length: 100 }, () => transport.ask('list', {}));
    expect(answers).toHaveLength(32);
    const waiting = transport.ask('activity', { after: 'end', wait: 30_000 });
    expect(answers).toHaveLength(33);
    // Every answer lets another request go.
    for (let at = 0; at < 101; at++) {
      await vi.waitUntil(() => answers.length > at);
      answers[at]?.();
    }
    await Promise.all([...reads, waiting]);
    expect(answers).toHaveLength(101);
  });

  test('an aborted request is not tried again', async () => {
    const { asked, options } = answering(ended, [200, {}]);
    const asking = createTransport(options).ask('list', {}, { signal: AbortSignal.abort() });
    await expect(asking).rejects.toMatchObject({ code: 'aborted' });
    expect(asked).toHaveLength(1);
  });

  test('throws refusals of the server like the engine', async () => {
    const refusal = { code: 'not_found', detail: 'memory "x" does not exist', details: { id: 'x' } };
    const { asked, options } = answering([404, refusal]);
    await expect(createTransport(options).ask('history', { id: 'x' })).rejects.toMatchObject({
      code: 'not_found',
      message: 'memory "x" does not exist',
      details: { id: 'x' },
    });
    expect(asked).toHaveLength(1);
  });

  test.each([
    ['a page of something else', [200, '<html>']],
    ['an error without a code', [502, { error: 'bad gateway' }]],
  ] as const)('%s is no answer', async (_, answer) => {
    await expect(createTransport(answering(answer).options).askPath('/v1/token')).rejects.toMatchObject({
      code: 'server_failed',
      details: { status: answer[0] },
    });
  });
});

describe('a write without a readable answer', () => {
  const refused = new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
  const unreachable = new TypeError('fetch failed', { cause: { code: 'EHOSTUNREACH', syscall: 'connect' } });
  const lost = new TypeError('fetch failed', { cause: { code: 'EHOSTUNREACH', syscall: 'read' } });
  const late = new TypeError('fetch failed', { cause: { code: 'UND_ERR_CONNECT_TIMEOUT' } });
  test.each([
    ['connections end', 'remember', [ended, ended], true],
    ['one connection ends, and then the server is gone', 'remember', [ended, refused], true],
    ['nothing was ever sent', 'remember', [refused, refused], false],
    ['the server is not reached', 'remember', [unreachable, unreachable], false],
    ['the server does not answer to a connection', 'remember', [late, late], false],
    ['the server is lost under way', 'remember', [lost, unreachable], true],
    ['it only reads', 'list', [ended, ended], false],
    ['it counts what it would forget', 'forgetMany', [ended, ended], false],
    ['the answer is cut off', 'remember', [[200, '{"id":']], true],
    ['a proxy waited too long', 'remember', [[504, '<html>']], true],
    ['a proxy lets nothing through', 'remember', [[403, '<html>']], false],
    ['it only reads, and a proxy waited too long', 'list', [[504, '<html>']], false],
  ] as const)('is in doubt only where it may have been done: %s', async (_, verb, answers, inDoubt) => {
    const { options } = answering(...answers);
    const fields = verb === 'forgetMany' ? { ids: ['a'], dryRun: true } : {};
    const failure = await createTransport(options)
      .ask(verb, fields)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'server_failed' });
    const { message, details } = failure as SalienceError;
    expect(details['inDoubt']).toBe(inDoubt ? true : undefined);
    expect(message.includes('unknown whether this was written')).toBe(inDoubt);
  });

  test.each([
    ['rate_limited', 429, true],
    ['unauthorized', 401, true],
    ['timed_out', 408, true],
    ['closed', 503, true],
    ['not_found', 404, false],
    ['redacted', 410, false],
  ] as const)(
    'is in doubt when the second request is refused before its key is looked at: %s',
    async (code, status, inDoubt) => {
      const refusal = [status, { code, detail: 'no', details: { retryAfter: 1 } }] as const;
      const failureOf = (verb: 'remember' | 'list', ...answers: readonly (typeof refusal | Error)[]) =>
        createTransport(answering(...answers).options)
          .ask(verb, {})
          .catch((error: unknown) => error as SalienceError);
      const failure = (await failureOf('remember', ended, refusal)) as SalienceError;
      expect(failure).toMatchObject({ code, details: { retryAfter: 1 } });
      expect(failure.details['inDoubt']).toBe(inDoubt ? true : undefined);
      expect(failure.message.includes('unknown whether this was written')).toBe(inDoubt);
      // The first request was never sent, or was answered, or only reads.
      for (const asked of [
        failureOf('remember', refused, refusal),
        failureOf('remember', refusal),
        failureOf('list', ended, refusal),
      ])
        expect(await asked).toMatchObject({ code, message: 'no', details: { retryAfter: 1 } });
    },
  );

  test.each([
    [200, '<html>'],
    [307, ''],
    [403, '<html>'],
  ])('is in doubt when something else answers the second request with %d', async (status, body) => {
    const { options } = answering(ended, [status, body]);
    await expect(createTransport(options).ask('remember', {})).rejects.toMatchObject({
      code: 'server_failed',
      message: expect.stringContaining('unknown whether this was written'),
      details: { status, inDoubt: true },
    });
  });

  test.each([
    ['this was written, but the result could not be read', { written: true }],
    ['it is unknown whether this was written', { inDoubt: true }],
  ])('reports what the server knows of it, and no more: %s', async (detail, details) => {
    const { options } = answering(ended, [500, { code: 'store_failed', detail, details }]);
    const failure = await createTransport(options)
      .ask('remember', {})
      .catch((error: unknown) => error as SalienceError);
    expect(failure).toMatchObject({ message: detail });
    expect((failure as SalienceError).details).toEqual(details);
  });

  test('is in doubt if it was aborted in progress', async () => {
    const controller = new AbortController();
    const fetch = (async () => {
      controller.abort();
      throw controller.signal.reason;
    }) as typeof globalThis.fetch;
    const transport = createTransport({ url: 'http://memory.test', token: 'secret', fetch });
    const { signal } = controller;
    await expect(transport.ask('remember', {}, { signal })).rejects.toMatchObject({
      code: 'aborted',
      details: { inDoubt: true },
    });
    // Aborted before anything was sent.
    const unsent = await transport.ask('remember', {}, { signal }).catch((error: unknown) => error);
    expect(unsent).toMatchObject({ code: 'aborted' });
    expect((unsent as SalienceError).details).not.toHaveProperty('inDoubt');
  });
});

test.each([null, 'x', 5, ['inDoubt']])('details that are no object (%j) are none', async (details) => {
  const { options } = answering([418, { code: 'server_failed', detail: 'a teapot', details }]);
  const error: unknown = await createTransport(options)
    .ask('list', {})
    .catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 'server_failed', message: 'a teapot' });
  expect((error as SalienceError).details).toEqual({});
});

test.each([
  ['a server', { code: 'store_busy', detail: 'later', details: {} }, 'store_busy'],
  ['a proxy', '<html>', 'server_failed'],
] as const)('tells when %s wants to be asked again, and does not ask by itself', async (_, body, code) => {
  const failureOf = (retryAfter: string) => {
    let asked = 0;
    const fetch = (async () => {
      asked++;
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return new Response(text, { status: 503, headers: { 'retry-after': retryAfter } });
    }) as typeof globalThis.fetch;
    return createTransport({ url: 'http://memory.test', token: 'secret', fetch })
      .ask('list', {})
      .then(
        () => undefined,
        (error: unknown) => ({ asked, error: error as SalienceError }),
      );
  };
  const failure = await failureOf('5');
  expect(failure).toMatchObject({ asked: 1, error: { code, details: { retryAfter: 5 } } });
  const dated = await failureOf('Wed, 21 Oct 2026 07:28:00 GMT');
  expect(dated?.error.details).not.toHaveProperty('retryAfter');
});

test('an answer that never ends is not read to its end, and not asked for again', async () => {
  const asked: string[] = [];
  let cancelled = 0;
  const fetch = (async (url: string) => {
    asked.push(url);
    let pieces = 0;
    const body = new ReadableStream({
      pull(controller) {
        // Larger than the limit at once, so that nothing has to be decoded. It fails if the client reads on.
        if (pieces++ === 0) controller.enqueue(new Uint8Array(2 ** 28 + 1));
        else if (pieces > 3) controller.error(new Error('read on'));
        else controller.enqueue(new Uint8Array(1));
      },
      cancel: () => void cancelled++,
    });
    return new Response(body);
  }) as typeof globalThis.fetch;
  const transport = createTransport({ url: 'http://memory.test', token: 'secret', fetch });
  const failure = await transport.ask('remember', { content: 'tea' }).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    code: 'server_failed',
    message: expect.stringMatching(/an answer of more than 256 MiB.*unknown whether this was written/),
    details: { limit: 2 ** 28, inDoubt: true },
  });
  expect([asked.length, cancelled]).toEqual([1, 1]);
});

test('an answer whose pieces divide a character is read as it was sent', async () => {
  const bytes = new TextEncoder().encode('{"id":"é\u{1f375}"}');
  const fetch = (async () =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
          controller.close();
        },
      }),
    )) as typeof globalThis.fetch;
  const transport = createTransport({ url: 'http://memory.test', token: 'secret', fetch });
  expect(await transport.ask('remember', { content: 'tea' })).toEqual({ id: 'é\u{1f375}' });
});

test('a write without a body has an idempotency key too', async () => {
  const { asked, options } = answering([200, { outcome: 'removed' }]);
  await createTransport(options).ask('unlink', { id: 'x', to: 'y' });
  const [{ headers, body } = { headers: {}, body: '' }] = asked;
  expect(body).toBeUndefined();
  expect(headers).toMatchObject({ 'idempotency-key': expect.stringMatching(/^[0-9a-f]{32}$/) });
});

test('an answer without a stream is read too', async () => {
  const fetch = (async () => {
    const response = new Response('{"memories":[]}');
    Object.defineProperty(response, 'body', { value: undefined });
    return response;
  }) as typeof globalThis.fetch;
  const transport = createTransport({ url: 'http://memory.test', token: 'secret', fetch });
  expect(await transport.ask('list', {})).toEqual({ memories: [] });
});

test('a redirect is not followed, and its target is named', async () => {
  const asked: unknown[] = [];
  const fetch = (async (_: string, init: RequestInit) => {
    asked.push(init.redirect);
    return new Response(null, { status: 308, headers: { location: 'https://memory.test/v1/memories' } });
  }) as typeof globalThis.fetch;
  const transport = createTransport({ url: 'http://memory.test', token: 'secret', fetch });
  await expect(transport.ask('remember', {})).rejects.toMatchObject({
    code: 'server_failed',
    message: expect.stringContaining('redirects to https://memory.test/v1/memories'),
  });
  expect(asked).toEqual(['manual']);
});

const tooLong = { code: 'content_too_large', detail: 'send what is long in a body' };

test.each([
  [414, ''],
  [431, ''],
  [431, tooLong],
])('arguments that no server reads in a path, status %d %j, are too long', async (status, body) => {
  const { options } = answering([status, body]);
  await expect(createTransport(options).ask('list', { topicKey: 'x'.repeat(20_000) })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('too long'),
  });
});

describe('connecting', () => {
  test.each([[{}], [[]], [5], [null], [{ space: 5 }], ['"text"']])(
    'to what answers %j is not connecting to this API',
    async (answer) => {
      const { options } = answering([200, answer]);
      await expect(connectMemory(options)).rejects.toMatchObject({
        code: 'server_failed',
        message: expect.stringContaining('is it a salience server'),
      });
    },
  );

  test.each([
    ['token', 'salience_0f3a…', /no token has the character "…"; give the whole token/],
    ['token', 'two words', /no token has the character " "/],
    ['fetch', 5, /fetch: 5 must be a function/],
    ['url', 'nonsense', /url: "nonsense" is not the URL of a server/],
    ['url', 'ftp://memory.test', /is not the URL of a server/],
    ['url', 'http://memory.test/?space=alice', /is not the URL of a server/],
    ['url', 'http://memory.test/#alice', /is not the URL of a server/],
    [
      'url',
      'http://ann:s3cret@memory.test',
      /^(?!.*s3cret)url: it names a user or a password; leave them out/,
    ],
  ])('with a wrong %s asks nobody, and says what to give', async (name, value, message) => {
    const { asked, options } = answering();
    const wrong = connectMemory({ ...options, [name]: value });
    await expect(wrong).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(message),
    });
    expect(asked).toEqual([]);
  });

  test('the URL may be a path of the server in a browser', async () => {
    vi.stubGlobal('location', { href: 'http://memory.test/page' });
    try {
      const { asked, options } = answering([200, { space: 'alice' }]);
      expect((await connectMemory({ ...options, url: '/memory' })).space).toBe('alice');
      expect(asked[0]?.url).toBe('/memory/v1/token');
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test('a token may have a line end or a byte order mark, and a URL spaces around it', async () => {
    const { asked, options } = answering([200, { space: 'alice' }]);
    const [token, url] = ['\ufeffsecret\n', ' http://memory.test/ '];
    expect((await connectMemory({ ...options, token, url })).space).toBe('alice');
    expect(asked).toMatchObject([
      { url: 'http://memory.test/v1/token', headers: { authorization: 'Bearer secret' } },
    ]);
  });
});

describe('a connected memory', () => {
  const space = [200, { space: 'alice' }] as const;

  test('knows its space, and sends nothing after it was closed', async () => {
    const { asked, options } = answering(space, [200, {}]);
    const memory = await connectMemory(options);
    expect(memory.space).toBe('alice');
    expect(asked[0]?.url).toBe('http://memory.test/v1/token');
    await memory.close();
    await expect(memory.list()).rejects.toMatchObject({ code: 'closed' });
    expect(asked).toHaveLength(1);
  });

  test('sends inherited options, so that a dry run stays one', async () => {
    const { asked, options } = answering(space, [200, {}], [200, { memories: [] }]);
    const memory = await connectMemory(options);
    await memory.forget('x', Object.create({ dryRun: true }));
    class Filter {
      get scope() {
        return 'team:a';
      }
    }
    await memory.list(new Filter());
    expect(JSON.parse(String(asked[1]?.body))).toEqual({ ids: ['x'], dryRun: true });
    expect(asked[2]?.url).toContain('scope=team%3Aa');
  });

  test('a missing memory is undefined; other refusals are thrown', async () => {
    const refused = (code: string) => [404, { code, detail: 'no' }] as const;
    const { options } = answering(space, refused('not_found'), refused('forbidden'));
    const memory = await connectMemory(options);
    expect(await memory.get('x')).toBeUndefined();
    await expect(memory.get('x')).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('scores are scores of their strategy, in the order of the answer', async () => {
    const answer = {
      hits: [
        { memory: { id: 'a' }, score: 0.75, features: { relevance: 0.5 } },
        { memory: { id: 'b' }, score: 0.25 },
      ],
      evidenceChains: [],
      trace: { strategy: 'bm25', profileHash: 'hash' },
    };
    const { asked, options } = answering(space, [200, answer]);
    const memory = await connectMemory(options);
    const { hits } = await memory.recall('tea', { limit: 2 });
    expect(hits.map(({ memory: { id }, score }) => [id, score.strategy, score.value])).toEqual([
      ['a', 'bm25', 0.75],
      ['b', 'bm25', 0.25],
    ]);
    expect(hits[0]!.features).toEqual({ relevance: 0.5 });
    expect(() => hits[1]!.features).toThrow(/explain: false.*memory\.explain\(id, \{ query \}\)/);
    expect(JSON.parse(asked[1]!.body as string)).toEqual({
      query: 'tea',
      limit: 2,
      explain: true,
      trace: true,
    });
  });

  test.each(['null', '[]', '5', '{}', '{"hits":{},"trace":{}}'])('refuses %s as an answer', async (body) => {
    const reads = ['recall', 'context', 'startSession', 'conflicts', 'links'] as const;
    for (const verb of reads) {
      const { options } = answering(space, [200, body]);
      const memory = await connectMemory(options);
      const asking = {
        recall: () => memory.recall('tea'),
        context: () => memory.context('tea', { maxTokens: 100 }),
        startSession: () => memory.startSession(),
        conflicts: () => memory.conflicts(),
        links: () => memory.links('a'),
      };
      await expect(asking[verb](), verb).rejects.toMatchObject({
        code: 'server_failed',
        message: expect.stringContaining('not a response of this API'),
      });
    }
  });

  test('a single superseded memory is sent as a list', async () => {
    const { asked, options } = answering(space, [200, { id: 'x' }]);
    const memory = await connectMemory(options);
    await memory.remember('tea', { supersedes: 'old' });
    expect(JSON.parse(asked[1]!.body as string)).toEqual({ content: 'tea', supersedes: ['old'] });
  });
});
