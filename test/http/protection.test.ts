import { readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApi } from '../../src/http/index.ts';
import { startTestServer, type TestServer } from './fixture.ts';

let test: TestServer;
let token: string;
beforeAll(async () => {
  test = await startTestServer({
    allowOrigins: ['https://app.example', 'chrome-extension://abcdefgh'],
    bodyLimit: 10_000,
    headersTimeout: 300,
    requestTimeout: 300,
  });
  token = await test.token();
});
afterAll(() => test[Symbol.asyncDispose]());

const close = 'connection: close\r\n';
const get = (headers: string, target = '/healthz') =>
  test.raw(`GET ${target} HTTP/1.1\r\n${headers}${close}\r\n`);
const statusOf = (answer: string) => Number(answer.split(' ')[1]);

describe('the door', () => {
  it('is open to this machine alone', async () => {
    expect(test.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const elsewhere = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .find(({ internal, family }) => !internal && family === 'IPv4');
    if (!elsewhere) return;
    const refused = await new Promise((resolve) => {
      const socket = connect(test.port, elsewhere.address);
      socket.on('connect', () => resolve(false));
      socket.on('error', () => resolve(true));
    });
    expect(refused).toBe(true);
  });

  it.each(['localhost', '127.0.0.1', '[::1]', 'LOCALHOST:8080'])('knows the host %s', async (host) => {
    expect(statusOf(await get(`host: ${host}\r\n`))).toBe(200);
  });

  it.each([
    'evil.example',
    'evil.example:80',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'localhost@evil',
    '',
  ])('refuses the host %j, by which a name that was rebound would come', async (host) => {
    const answer = await get(`host: ${host}\r\n`);
    expect([400, 403]).toContain(statusOf(answer));
    expect(answer).not.toContain('"status":"up"');
  });

  it('reads every header, however many there are', async () => {
    const many = 'a:\r\n'.repeat(2100);
    const shown = `authorization: Bearer ${token}\r\n`;
    expect(statusOf(await get(`host: localhost\r\n${many}${shown}`, '/v1/token'))).toBe(200);
    expect(statusOf(await get(`host: localhost\r\n${many}host: evil.example\r\n`))).not.toBe(200);
  });

  it('refuses a second host, none, and one in the target', async () => {
    expect(statusOf(await get('host: localhost\r\nhost: evil.example\r\n'))).not.toBe(200);
    expect(statusOf(await get('host: localhost\r\nhost: localhost\r\n'))).not.toBe(200);
    expect(statusOf(await get(''))).toBe(400);
    expect(statusOf(await test.raw('GET /healthz HTTP/1.0\r\n\r\n'))).not.toBe(200);
    expect(statusOf(await get('host: localhost\r\n', 'http://evil.example/healthz'))).not.toBe(200);
    expect(statusOf(await get('host: localhost\r\n', 'http://localhost/healthz'))).not.toBe(200);
  });

  it.each(['https://evil.example', 'null', 'http://localhost:1', 'http://localhost', 'file://', ''])(
    'refuses pages of the origin %j, also with a good token',
    async (origin) => {
      const answer = await test.ask('GET', '/v1/stats', { token, headers: { origin } });
      expect(answer).toMatchObject({ status: 403, json: { code: 'forbidden' } });
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    },
  );

  it('lets in pages of its own and of allowed origins, and tells browsers so', async () => {
    const own = { origin: `http://127.0.0.1:${test.port}` };
    expect((await test.ask('GET', '/v1/stats', { token, headers: own })).status).toBe(200);
    const other = { origin: 'https://app.example' };
    const answer = await test.ask('GET', '/v1/stats', { token, headers: other });
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe('https://app.example');
    expect(answer.headers['access-control-expose-headers']).toMatch(
      /etag.*idempotency-replayed.*retry-after/,
    );
    const preflight = await test.ask('OPTIONS', '/v1/recall', {
      headers: { ...other, 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    const extension = { origin: 'chrome-extension://abcdefgh' };
    expect((await test.ask('GET', '/v1/stats', { token, headers: extension })).status).toBe(200);
    const another = { origin: 'chrome-extension://other' };
    expect((await test.ask('GET', '/v1/stats', { token, headers: another })).status).toBe(403);
  });

  it.each([
    'null',
    'app.example',
    'https://app.example/',
    'https://app.example/page',
    'https://user@app.example',
    'HTTPS://app.example',
    'chrome-extension://',
    'chrome-extension://abcdefgh/',
    'chrome-extension://abcdefgh?x',
    'mailto:a',
    'file:///',
    '*',
  ])('does not start with %j, which no browser sends as an origin', async (origin) => {
    await expect(startTestServer({ allowOrigins: [origin] })).rejects.toThrow(
      `${JSON.stringify(origin)} is not an origin; write https://app.example`,
    );
  });

  it.each([
    'https://memory.example',
    'memory.example:8443',
    'memory.example/',
    'user@memory.example',
    '*.example',
    '::1',
    '',
    ' ',
  ])('does not start with the host %j, which no request could be for', async (name) => {
    await expect(startTestServer({ allowHosts: [name] })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: `allowHosts: ${JSON.stringify(name)} is not a host name; write memory.example, without a scheme, port or path, and an IPv6 address in brackets`,
      details: { field: 'allowHosts' },
    });
  });

  it('answers to the hosts that it allows, with any port and in any case', async () => {
    await using other = await startTestServer({
      allowHosts: ['Memory.example', 'bücher.example', '[fd00::1]', 'my_host'],
    });
    const ask = async (host: string) =>
      statusOf(await other.raw(`GET /healthz HTTP/1.1\r\nhost: ${host}\r\n${close}\r\n`));
    for (const host of ['memory.EXAMPLE:8443', 'xn--bcher-kva.example', '[fd00::1]:80', 'my_host'])
      expect(await ask(host), host).toBe(200);
    expect(await ask('other.example')).toBe(403);
  });

  it('protects every answer', async () => {
    for (const path of ['/healthz', '/v1/stats', '/nothing']) {
      const { headers } = await test.ask('GET', path, { token });
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      });
      expect(headers).not.toHaveProperty('x-powered-by');
    }
  });
});

describe('the token', () => {
  const secured = [
    ['GET', '/v1/memories'],
    ['POST', '/v1/recall'],
    ['GET', '/v1/export'],
    ['POST', '/v1/import'],
    ['GET', '/v1/token'],
    ['GET', '/metrics'],
  ] as const;

  it.each(secured)('is needed for %s %s', async (method, path) => {
    const wrong = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`;
    const never = `salience_0123456789abcdef_${'A'.repeat(43)}`;
    for (const given of [
      undefined,
      wrong,
      never,
      '../../etc/passwd',
      `salience_..%2f..%2f_${'A'.repeat(43)}`,
    ]) {
      const answer = await test.ask(method, path, { token: given });
      expect(answer).toMatchObject({ status: 401, json: { code: 'unauthorized' } });
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
      expect(answer.headers['content-type']).toBe('application/problem+json');
    }
    const basic = { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` };
    expect((await test.ask(method, path, { headers: basic })).status).toBe(401);
    expect((await test.ask(method, `${path}?token=${token}&access_token=${token}`)).status).toBe(401);
  });

  it('opens nothing from the moment on at which it is revoked', async () => {
    const short = await test.token({ name: 'short' });
    expect((await test.ask('GET', '/v1/stats', { token: short })).status).toBe(200);
    const { id } = (await test.tokens.list()).find(({ name }) => name === 'short')!;
    await test.tokens.revoke(id);
    expect((await test.ask('GET', '/v1/stats', { token: short })).status).toBe(401);
  });

  it('opens nothing more to a request that is under way when it is revoked', async () => {
    let looks = 1;
    await using lasting = await startTestServer({
      tokens: { authenticate: (shown) => (looks-- > 0 ? lasting.tokens.authenticate(shown) : absent()) },
    });
    const absent = async () => undefined;
    const once = await lasting.token();
    const ask = (method: string, path: string, body?: string) => {
      looks = 1;
      return lasting.ask(method, path, { token: once, body });
    };
    const memory = await lasting.space();
    await memory.rememberMany(Array.from({ length: 501 }, (_, number) => ({ content: `Number ${number}` })));
    const refused = { status: 401, json: { code: 'unauthorized' } };
    expect(await ask('GET', '/v1/activity?after=start&wait=1000')).toMatchObject(refused);
    expect(await ask('GET', '/v1/activity?after=start')).toMatchObject({ status: 200 });
    expect(await ask('POST', '/v1/import', '{"content":"Written afterwards"}\n')).toMatchObject(refused);
    expect((await memory.stats()).memories).toBe(501);
    await expect(ask('GET', '/v1/export')).rejects.toThrow();
  });

  it('opens nothing more to a request that is under way when it is narrowed', async () => {
    let looks = 0;
    let narrowed: object = {};
    await using lasting = await startTestServer({
      tokens: {
        authenticate: async (shown) => {
          const grant = await lasting.tokens.authenticate(shown);
          return grant && (looks++ === 0 ? grant : { ...grant, ...narrowed });
        },
      },
    });
    const whole = await lasting.token();
    const memory = await lasting.space();
    await memory.rememberMany(Array.from({ length: 501 }, (_, number) => ({ content: `Number ${number}` })));
    const ask = (method: string, path: string, body?: string) => {
      looks = 0;
      return lasting.ask(method, path, { token: whole, body });
    };
    const written = '{"content":"Written afterwards"}\n';
    const refused = { status: 401, json: { code: 'unauthorized' } };
    for (const less of [{ rights: 'read' }, { scopes: ['team:a'] }, { space: 'bob' }]) {
      narrowed = less;
      expect(await ask('GET', '/v1/activity?after=start&wait=1000')).toMatchObject(refused);
      expect(await ask('POST', '/v1/import', written)).toMatchObject(refused);
      await expect(ask('GET', '/v1/export')).rejects.toThrow();
    }
    expect((await memory.stats()).memories).toBe(501);
    narrowed = { name: 'renamed' };
    expect((await ask('GET', '/v1/export')).status).toBe(200);
  });

  it('is on disk only as a hash, in a file and a directory of the owner alone', async () => {
    const [grant] = await test.tokens.list();
    const directory = join(test.directory, 'tokens');
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, `${grant!.id}.json`)).mode & 0o777).toBe(0o600);
    const secret = token.slice(26);
    for (const name of readdirSync(directory)) {
      expect(readFileSync(join(directory, name), 'utf8')).not.toContain(secret);
    }
  });
});

describe('what a route does not read', () => {
  it.each([
    ['POST', '/v1/import', { 'salience-now': '2020-01-01' }, 'salience-now'],
    ['POST', '/v1/import', { 'idempotency-key': 'k' }, 'idempotency-key'],
    ['POST', '/v1/import', { 'if-match': '"1"' }, 'if-match'],
    ['DELETE', '/v1/space?name=alice', { 'idempotency-key': 'k' }, 'idempotency-key'],
    ['DELETE', '/v1/space?name=alice', { 'if-match': '"1"' }, 'if-match'],
    ['POST', '/v1/import?udpate=true', {}, 'udpate'],
    ['POST', '/v1/import?update=true&update=false', {}, 'update'],
    ['GET', '/v1/export', { 'salience-now': '2020-01-01' }, 'salience-now'],
    ['GET', '/v1/token?x=1', {}, 'x'],
    ['GET', '/v1/tokens?x=1', {}, 'x'],
    ['GET', '/v1/spaces?offest=1', {}, 'offest'],
    ['DELETE', '/v1/space?name=alice&x=1', {}, 'x'],
  ])('is refused by its name: %s %s %j', async (method, path, headers, field) => {
    const admin = await test.token({ rights: 'admin' });
    const answer = await test.ask(method, path, { token: admin, headers });
    expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_argument', details: { field } } });
  });

  it('is refused where it is no percent-encoded UTF-8', async () => {
    for (const path of ['/v1/memories/%FF', '/v1/memories?topicKey=%FF', '/v1/memories/100%', '/%c0%af'])
      expect(await test.ask('GET', path, { token })).toMatchObject({
        status: 400,
        json: { code: 'invalid_text' },
      });
    expect((await test.ask('GET', '/v1/memories/%C3%BC', { token })).status).toBe(404);
  });
});

describe('requests that are wrong', () => {
  const head = (method: string, path: string) =>
    `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n`;

  it('are refused when their body is too long, said or not', async () => {
    const said = await test.raw(`${head('POST', '/v1/memories')}content-length: 10001\r\n\r\n`);
    expect(said).toMatch(/^HTTP\/1\.1 413 /);
    const chunk = `1000\r\n${'x'.repeat(4096)}\r\n`;
    const unsaid = await test.raw(
      `${head('POST', '/v1/memories')}transfer-encoding: chunked\r\n\r\n`,
      chunk,
      chunk,
      chunk,
    );
    expect(unsaid).toMatch(/^HTTP\/1\.1 413 /);
    expect((await (await test.space()).stats()).memories).toBe(0);
  });

  it('leave out a line of an import that is too long, however it comes, and read on', async () => {
    const lines = ['{"content":"one"}', 'x'.repeat(10_001), '{"content":"two"}', `${' '.repeat(10_001)}`];
    const whole = `${lines.join('\n')}\n`;
    for (const size of [whole.length, 4096, 100]) {
      const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
        whole.slice(at * size, (at + 1) * size),
      );
      const answer = await test.raw(
        `${head('POST', '/v1/import')}connection: close\r\ntransfer-encoding: chunked\r\n\r\n`,
        ...chunks.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`),
        '0\r\n\r\n',
      );
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      const { imported, unchanged, problems } = JSON.parse(answer.slice(answer.indexOf('{')));
      expect([imported + unchanged, problems]).toEqual([
        2,
        ['2', '4'].map((line) => ({
          line,
          reason: expect.stringMatching(/^is longer than the limit of 10000 bytes .*--body-limit/),
        })),
      ]);
    }
    const { memories } = await (await test.space()).list();
    await (await test.space()).forget(memories.map(({ id }) => id));
  });

  it('are ended when their body or their head comes too slowly', async () => {
    const body = await test.raw(`${head('POST', '/v1/memories')}content-length: 100\r\n\r\n{"content":`);
    expect(body).toMatch(/^HTTP\/1\.1 408 /);
    expect(body).toContain('"code":"timed_out"');
    expect(await test.raw(`${head('POST', '/v1/import')}content-length: 100\r\n\r\n{"content":`)).toMatch(
      /^HTTP\/1\.1 408 /,
    );
    expect(await test.raw('GET /healthz HTTP/1.1\r\nhost: local')).toMatch(/^HTTP\/1\.1 408 /);
    expect((await (await test.space()).stats()).memories).toBe(0);
  });

  it('cannot hide a second request', async () => {
    const smuggled = `GET /v1/stats HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`;
    const both = await test.raw(
      `${head('POST', '/v1/recall')}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    );
    const twice = await test.raw(
      `${head('POST', '/v1/recall')}content-length: 0\r\ncontent-length: ${smuggled.length}\r\n\r\n${smuggled}`,
    );
    const obscured = await test.raw(
      `${head('POST', '/v1/recall')}transfer-encoding: xchunked\r\ncontent-length: 0\r\n\r\n${smuggled}`,
    );
    const folded = await test.raw(
      `${head('POST', '/v1/recall')}x: y\r\n content-length: 3\r\n\r\n${smuggled}`,
    );
    const bare = await test.raw(`GET /healthz HTTP/1.1\nhost: localhost\n\n${smuggled}`);
    for (const answer of [both, twice, obscured, folded, bare]) {
      expect(answer).not.toContain('"memories"');
      expect(statusOf(answer)).toBe(400);
    }
  });

  it('never leave the routes by an id', async () => {
    const memory = await test.space();
    await memory.remember('Prefers tea', { id: 'a/../b' });
    for (const path of [
      '/v1/memories/../../etc/passwd',
      '/v1/memories/..%2f..%2ftokens',
      '/v1/memories/%2e%2e/%2e%2e/tokens',
      '/v1/memories/%00',
      '/v1/memories/%ff%fe',
      '/v1/memories/%',
      '/v1//memories/x',
      '/v1/memories/x%0d%0aset-cookie:%20a=b',
    ]) {
      const answer = await test.raw(
        `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n${close}\r\n`,
      );
      expect([400, 404]).toContain(statusOf(answer));
      expect(answer.toLowerCase()).not.toMatch(/\r\nset-cookie/);
      expect(answer).not.toContain(test.directory);
    }
    const found = await test.ask('GET', `/v1/memories/${encodeURIComponent('a/../b')}`, { token });
    expect(found).toMatchObject({ status: 200, json: { content: 'Prefers tea' } });
    await memory.forget('a/../b');
  });

  it('are told what is wrong, without how the server is made', async () => {
    const wrong: readonly [string, string, unknown, Record<string, string>?][] = [
      ['POST', '/v1/memories', '{"content": "Prefers', { 'content-type': 'application/json' }],
      ['POST', '/v1/memories', '{"content":"x"}', { 'content-type': 'text/plain' }],
      ['POST', '/v1/memories', ['x']],
      ['POST', '/v1/memories', { content: 'x', colour: 'red' }],
      ['POST', '/v1/memories', { content: 'x', importance: 7 }],
      ['POST', '/v1/memories', { content: '' }],
      ['GET', '/v1/memories?limit=ten', undefined],
      ['GET', '/v1/memories?limit=1&limit=2', undefined],
      ['GET', '/v1/memories?cursor=nonsense', undefined],
      ['PATCH', '/v1/memories/a', { id: 'b', content: 'x' }],
      ['POST', '/v1/recall', { query: ' ' }],
      ['POST', '/v1/recall', { query: 'x', strategy: 'nope' }],
      ['POST', '/v1/recall', { query: 'x' }, { 'salience-now': 'soon' }],
    ];
    for (const [method, path, body, headers = {}] of wrong) {
      const answer = await test.ask(method, path, { token, body, headers });
      expect({ path, status: answer.status }).toEqual({ path, status: 400 });
      expect(answer.json).toEqual({
        type: 'about:blank',
        title: expect.any(String),
        status: 400,
        detail: expect.any(String),
        code: expect.any(String),
        details: expect.any(Object),
      });
      expect(answer.text).not.toMatch(/node_modules|\.ts:|\.js:|\\n {4}at /);
    }
    expect((await (await test.space()).stats()).memories).toBe(0);
    expect((await test.ask('GET', '/nothing', { token })).json).toMatchObject({
      status: 404,
      code: 'not_found',
    });
  });

  it('another method than a route takes is told those that it takes, as the API document has them', async () => {
    await using test = await startTestServer();
    const token = await test.token({ rights: 'admin' });
    const { paths } = openApi('1') as { paths: Readonly<Record<string, object>> };
    const routes = Object.entries(paths).map(([path, operations]) => ({
      path: path.replaceAll(/\{\w+\}/g, 'x'),
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      methods: Object.keys(operations).map((method) => method.toUpperCase()),
    }));
    for (const { path } of routes) {
      const allowed = new Set(routes.flatMap((each) => (each.pattern.test(path) ? each.methods : [])));
      if (allowed.has('GET')) allowed.add('HEAD');
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        if (allowed.has(method)) continue;
        const { status, headers, json } = await test.ask(method, path, { token });
        const allow = headers.allow?.split(', ').sort();
        expect({ method, path, status, allow }).toEqual({
          method,
          path,
          status: 405,
          allow: [...allowed].sort(),
        });
        if (method !== 'HEAD') expect(json).toMatchObject({ status: 405, code: 'invalid_argument' });
      }
    }
    expect((await test.ask('DELETE', '/nothing', { token })).status).toBe(404);
    expect((await test.ask('DELETE', '/v1/recall')).status).toBe(401);
    expect((await test.ask('PUT', '/metrics', { token })).headers.allow).toBe('HEAD, GET');
  });
});
