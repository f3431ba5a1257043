import { once } from 'node:events';
import { Agent, createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { limitConnections } from '../../src/http/connections.ts';
import { startServer } from '../../src/http/index.ts';
import { startTestServer } from './fixture.ts';

const open: Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

/** A connection, with what came over it and how it ended. */
interface Caller {
  readonly socket: Socket;
  readonly text: () => string;
  readonly error: () => Error | undefined;
  readonly closed: Promise<unknown>;
}

async function call(port: number, localAddress = '127.0.0.1'): Promise<Caller> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  open.push(socket);
  let text = '';
  let failure: Error | undefined;
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', (error) => {
    failure = error;
  });
  const closed = new Promise((resolve) => socket.on('close', resolve));
  await once(socket, 'connect');
  return { socket, text: () => text, error: () => failure, closed };
}

/** Waits until so many whole answers have come. */
async function answers(caller: Caller, count: number): Promise<void> {
  while (caller.text().split('"status":').length <= count) await once(caller.socket, 'data');
}

const asking = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n';

/** A server of which a request at `/wait` is under way until `release` is called. */
async function startWaitingServer(limits: Parameters<typeof startTestServer>[0]) {
  let release = () => {};
  let begun = 0;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const signals: (() => void)[] = [];
  const server = await startTestServer({
    ...limits,
    mount: {
      '/wait': async () => {
        begun++;
        for (const signal of signals.splice(0)) signal();
        await released;
        return Response.json({ status: 'waited' });
      },
    },
  });
  const token = await server.token();
  return {
    ...server,
    token,
    release,
    waiting: `GET /wait HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`,
    async begunAre(count: number) {
      while (begun < count) await new Promise<void>((resolve) => signals.push(resolve));
    },
  };
}

describe('idle connections', () => {
  it('make room for new ones, the longest idle first, whatever they have sent so far', async () => {
    await using test = await startTestServer({ maxConnections: 3, maxConnectionsPerAddress: 3 });
    const silent = await call(test.port);
    const halfway = await call(test.port);
    halfway.socket.write('GET /healthz HTTP/1.1\r\nhost: local');
    const asked = await call(test.port);
    asked.socket.write(asking);
    await answers(asked, 1);
    for (const oldest of [silent, halfway]) {
      const next = await call(test.port);
      await oldest.closed;
      next.socket.write(asking);
      await answers(next, 1);
      expect(next.text()).toMatch(/^HTTP\/1\.1 200 /);
    }
    // The one that asked is older than both of those, and still there until it is its turn.
    expect(asked.socket.closed).toBe(false);
    await call(test.port);
    await asked.closed;
    expect(asked.error()).toBeUndefined();
  });

  it('in any number without a token do not keep anybody out', async () => {
    await using test = await startTestServer({ maxConnections: 20 });
    const token = await test.token();
    const crowd: Caller[] = [];
    for (let each = 0; each < 60; each++) crowd.push(await call(test.port));
    expect((await test.ask('GET', '/v1/stats', { token })).status).toBe(200);
    await Promise.all(crowd.slice(0, 40).map(({ closed }) => closed));
  });

  it('with a body that never ends keep nobody out, and those with a token are left alone', async () => {
    await using test = await startWaitingServer({
      maxConnections: 4,
      maxConnectionsPerAddress: 4,
      // The callers that are left never end.
      closeTimeout: 50,
    });
    const endless =
      'POST /inspector/session HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{';
    const known = await call(test.port);
    known.socket.write(test.waiting);
    // Its token has been looked at.
    await test.begunAre(1);
    let left = 0;
    const enough = new Promise<void>((resolve) => {
      const leave = () => {
        if (++left === 9) resolve();
      };
      (async () => {
        for (let each = 0; each < 12; each++) {
          const caller = await call(test.port);
          caller.closed.then(leave);
          caller.socket.write(endless);
        }
      })();
    });
    await enough;
    expect((await test.ask('GET', '/v1/stats', { token: test.token })).status).toBe(200);
    test.release();
    await answers(known, 1);
    expect(known.text()).toContain('"waited"');
  });

  it('of one address give way to that address, and leave the others alone', async () => {
    await using test = await startTestServer({ maxConnections: 10, maxConnectionsPerAddress: 2 });
    const other = await call(test.port, '127.0.0.2');
    const first = await call(test.port);
    await call(test.port);
    await call(test.port);
    await first.closed;
    other.socket.write(asking);
    await answers(other, 1);
    expect(other.text()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('are closed after keepAliveTimeout', async () => {
    await using test = await startTestServer({ keepAliveTimeout: 20, headersTimeout: 50 });
    const caller = await call(test.port);
    caller.socket.write(asking);
    await caller.closed;
    expect(caller.text()).toMatch(/^HTTP\/1\.1 200 /);
    expect(caller.error()).toBeUndefined();
  });
});

describe('a server with requests under way on all connections', () => {
  it('answers a new one with 503, and lets none of the others go', async () => {
    await using test = await startWaitingServer({ maxConnections: 2, maxConnectionsPerAddress: 2 });
    const busy = [await call(test.port), await call(test.port)];
    for (const { socket } of busy) socket.write(test.waiting);
    await test.begunAre(2);
    const refused = await call(test.port);
    await refused.closed;
    expect(refused.text()).toMatch(/^HTTP\/1\.1 503 .*\r\nretry-after: 1\r\n/);
    expect(problemIn(refused.text())).toMatchObject({ status: 503, code: 'rate_limited' });
    test.release();
    for (const caller of busy) {
      await answers(caller, 1);
      expect(caller.text()).toContain('"waited"');
    }
    const next = await call(test.port);
    next.socket.write(asking);
    await answers(next, 1);
  });

  it('counts a connection as busy until the last of the requests sent ahead is answered', async () => {
    await using test = await startWaitingServer({ maxConnections: 1, maxConnectionsPerAddress: 1 });
    const busy = await call(test.port);
    busy.socket.write(asking + test.waiting);
    await answers(busy, 1);
    await test.begunAre(1);
    const refused = await call(test.port);
    await refused.closed;
    expect(refused.text()).toMatch(/^HTTP\/1\.1 503 /);
    test.release();
    await answers(busy, 2);
  });
});

/** Of a raw answer. */
function problemIn(answer: string): unknown {
  expect(answer).toContain('content-type: application/problem+json\r\n');
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
  expect(answer).toContain(`content-length: ${Buffer.byteLength(body)}\r\n`);
  return JSON.parse(body);
}

describe('what is no request that can be read', () => {
  const post = 'POST /v1/recall HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nAUTH\r\n';

  it.each([
    ['bytes that are not HTTP', '\x16\x03\x01\0\0\r\n\r\n', 400, 'invalid_argument'],
    ['a head that is too long', `GET /?q=${'x'.repeat(20_000)} HTTP/1.1\r\n`, 431, 'content_too_large'],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'invalid_argument'],
    ['a head that stops', 'GET /healthz HTTP/1.1\r\nhost: local', 408, 'timed_out'],
    [
      'a body that is not cut into chunks as it says',
      `${post}transfer-encoding: chunked\r\n\r\nxyz\r\n`,
      400,
      'invalid_argument',
    ],
    ['one for a proxy', 'CONNECT x.test:443 HTTP/1.1\r\nhost: x.test:443\r\n\r\n', 400, 'invalid_argument'],
    [
      'an expectation that is unknown',
      `${post}expect: more\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}`,
      417,
      'invalid_argument',
    ],
  ])('is answered with a problem: %s', async (_, sent, status, code) => {
    await using test = await startTestServer({ headersTimeout: 100 });
    const token = await test.token();
    const caller = await call(test.port);
    caller.socket.write(sent.replace('AUTH', `authorization: Bearer ${token}`));
    await caller.closed;
    expect(caller.text()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`));
    expect(problemIn(caller.text())).toMatchObject({ type: 'about:blank', status, code });
    expect(caller.error()).toBeUndefined();
  });

  it('ends nothing but itself when whoever wanted a proxy hangs up', async () => {
    await using test = await startTestServer();
    const callers = await Promise.all(Array.from({ length: 20 }, () => call(test.port)));
    for (const { socket } of callers) {
      socket.write('CONNECT x.test:443 HTTP/1.1\r\nhost: x.test:443\r\n\r\n');
      socket.resetAndDestroy();
    }
    await Promise.all(callers.map(({ closed }) => closed));
    expect((await test.ask('GET', '/healthz')).status).toBe(200);
  });

  it('is not answered in the place of a request that was sent before it', async () => {
    await using test = await startWaitingServer({});
    const caller = await call(test.port);
    caller.socket.write(`${test.waiting}not HTTP\r\n\r\n`);
    await test.begunAre(1);
    expect(caller.text()).toBe('');
    test.release();
    await caller.closed;
    expect(caller.text().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(caller.error()).toBeUndefined();
  });

  it.each(['', 'connection: close\r\n'])(
    'takes no answer from a request before it, such as one whose length was counted in characters: %j',
    async (header) => {
      await using test = await startTestServer();
      const token = await test.token();
      const caller = await call(test.port);
      const body = '{"content":"Café"}';
      const head = `POST /v1/memories HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${header}`;
      caller.socket.write(
        `${head}authorization: Bearer ${token}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      await caller.closed;
      expect(caller.text()).toMatch(/^HTTP\/1\.1 400 [^{]*\{.*the body is not valid JSON, or is cut off/s);
      expect(caller.error()).toBeUndefined();
    },
  );

  it('is not written into an answer that has begun', async () => {
    const server = createServer((_, response) => void response.writeHead(200).write('begun'));
    const limits = { total: 10, perAddress: 10, answerTimeout: 1000 };
    const connections = limitConnections(server, limits);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const caller = await call((server.address() as AddressInfo).port);
    caller.socket.write('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    while (!caller.text().includes('begun')) await once(caller.socket, 'data');
    caller.socket.write('xyz\r\n');
    await caller.closed;
    expect(caller.text()).not.toContain('400');
    await connections.finish(1000);
  });
});

describe('a request that comes a byte at a time', () => {
  it.each([
    ['head', 'GET /healthz HTTP/1.1\r\nx: '],
    ['body', 'POST /v1/memories HTTP/1.1\r\nhost: localhost\r\nAUTH\r\ncontent-length: 100000\r\n\r\n{'],
  ])('is ended when its %s is not there in time', async (_, start) => {
    await using test = await startTestServer({ headersTimeout: 100, requestTimeout: 100 });
    const token = await test.token();
    const caller = await call(test.port);
    caller.socket.write(
      start.replace('AUTH', `content-type: application/json\r\nauthorization: Bearer ${token}`),
    );
    const drip = setInterval(() => caller.socket.write('x'), 10);
    await caller.closed.finally(() => clearInterval(drip));
    expect(caller.text()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('without a token is answered before its body is there', async () => {
    await using test = await startTestServer({});
    const caller = await call(test.port);
    caller.socket.write('POST /v1/memories HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n{');
    await answers(caller, 1);
    expect(caller.text()).toMatch(/^HTTP\/1\.1 401 /);
  });
});

describe('closing', () => {
  it('answers what has arrived, says that it closes, and resets no connection', async () => {
    const test = await startTestServer({});
    const callers: Caller[] = [];
    for (let each = 0; each < 20; each++) {
      const caller = await call(test.port);
      caller.socket.write(asking);
      await answers(caller, 1);
      callers.push(caller);
    }
    const [idle, ...asked] = callers;
    for (const { socket } of asked) socket.write(asking);
    await test[Symbol.asyncDispose]();
    await Promise.all(callers.map(({ closed }) => closed));
    expect(asked).toHaveLength(19);
    for (const caller of asked) {
      expect(caller.error()).toBeUndefined();
      expect(caller.text().split('"status":"up"')).toHaveLength(3);
      expect(caller.text().split('HTTP/1.1 200')[2]).toMatch(/\r\nconnection: close\r\n/i);
    }
    expect(idle?.error()).toBeUndefined();
  });

  it('answers what came over connections that it had not yet accepted', async () => {
    const test = await startTestServer({ closeTimeout: 20_000 });
    const callers = await Promise.all(Array.from({ length: 60 }, () => call(test.port)));
    for (const { socket } of callers) socket.write(asking);
    await test[Symbol.asyncDispose]();
    await Promise.all(callers.map(({ closed }) => closed));
    expect(callers.filter((caller) => caller.error() || !caller.text().includes('"status":"up"'))).toEqual(
      [],
    );
  });

  it('lets a client that keeps connections see every answer', async () => {
    const test = await startWaitingServer({});
    const agent = new Agent({ keepAlive: true });
    const answered = new Promise<string>((resolve, reject) => {
      const headers = { authorization: `Bearer ${test.token}` };
      httpRequest({ port: test.port, host: '127.0.0.1', path: '/wait', agent, headers }, async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve(`${response.headers.connection} ${text}`);
      })
        .on('error', reject)
        .end();
    });
    await test.begunAre(1);
    const closed = test[Symbol.asyncDispose]();
    test.release();
    expect(await answered).toBe('close {"status":"waited"}');
    await closed;
    agent.destroy();
  });
});

it('refuses limits that are out of range', async () => {
  for (const limits of [
    { maxConnections: 0 },
    { headersTimeout: -1 },
    { keepAliveTimeout: Number.NaN },
    { requestsPerMinute: 0 },
    { bodyLimit: 0 },
    { workTimeout: 0 },
  ]) {
    await expect(
      startServer({ spaces: {} as never, tokens: {} as never, port: 0, ...limits }),
    ).rejects.toMatchObject({ code: 'invalid_argument' });
  }
});

it.each([
  ['no spaces', { spaces: undefined }, 'spaces: expected what openSpaces returns'],
  ['no tokens', { tokens: undefined }, 'tokens: expected what openTokenStore returns'],
  ['a port that is none', { port: 70_000 }, 'port: 70000 must be a whole number from 0 to 65535'],
  ['a mount that is no path', { mount: { hello: () => new Response() } }, '"hello" must begin with "/"'],
  ['a mount that answers nothing', { mount: { '/hello': 5 } }, 'mount["/hello"]: 5 must be a function'],
])('refuses %s', async (_, options, message) => {
  const usable = { spaces: { get() {} }, tokens: { authenticate() {} }, port: 0 };
  await expect(startServer({ ...usable, ...options } as never)).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining(message),
  });
});

it('refuses an empty host: it would listen on every network', async () => {
  for (const host of ['', ' ']) {
    await expect(
      startServer({ spaces: {} as never, tokens: {} as never, port: 0, host }),
    ).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/^host: it is empty/),
    });
  }
});

describe('a client that reads nothing of its answer', () => {
  it('is cut off, and its place is free again', async () => {
    let cancelled = () => {};
    const cut = new Promise<void>((resolve) => {
      cancelled = resolve;
    });
    const endless = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
          cancel: () => cancelled(),
        }),
      );
    await using test = await startTestServer({
      answerTimeout: 100,
      maxConnections: 1,
      maxConnectionsPerAddress: 1,
      mount: { '/endless': async () => endless() },
    });
    const token = await test.token();
    const caller = await call(test.port);
    caller.socket.pause();
    caller.socket.write(`GET /endless HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`);
    await cut;
    const next = await call(test.port);
    next.socket.write(asking);
    await answers(next, 1);
  });
});
