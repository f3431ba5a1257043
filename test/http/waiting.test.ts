import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWaitingPlaces } from '../../src/http/waiting.ts';
import { startTestServer, type TestServer } from './fixture.ts';

/** Asks until the one place of this token is taken, or it is of no use any more. */
async function untilTaken(test: TestServer, token: string, isOver = () => false) {
  for (;;) {
    const answer = await test.ask('GET', '/v1/activity?after=end&wait=1', { token });
    if (answer.status !== 200 || isOver()) return answer;
  }
}

/** A request that has the one place of this token; one that finds it taken by the look at it asks again. */
async function waitingWith<Answer extends { readonly status: number }>(
  test: TestServer,
  token: string,
  ask: () => Promise<Answer>,
) {
  for (;;) {
    let isRefused = false;
    const waiting = ask();
    waiting.then(
      ({ status }) => {
        isRefused = status === 429;
      },
      () => undefined,
    );
    const refused = await untilTaken(test, token, () => isRefused);
    if (!isRefused) return { waiting, refused };
  }
}

describe('requests that wait', () => {
  it('are answered when another process writes', async () => {
    await using test = await startTestServer();
    const token = await test.token();
    const { json } = await test.ask('GET', '/v1/activity?after=end', { token });
    const waiting = test.ask('GET', `/v1/activity?after=${json.position}&wait=60000`, { token });
    const memory = await test.space();
    await memory.remember('Tea', { id: 'a' });
    const { status, json: happened } = await waiting;
    expect([status, happened]).toMatchObject([
      200,
      {
        entries: [{ kind: 'write', verb: 'remember', ids: ['a'] }],
        position: expect.stringMatching(/^1\.0\.[0-9a-f]{8}$/),
      },
    ]);
  });

  it('have places of their own, which come free again', async () => {
    await using test = await startTestServer({ maxConnections: 8, maxConnectionsPerAddress: 8 });
    const token = await test.token();
    const controller = new AbortController();
    const { waiting, refused } = await waitingWith(test, token, () =>
      fetch(`${test.url}/v1/activity?after=end&wait=60000`, {
        headers: { authorization: `Bearer ${token}` },
        signal: controller.signal,
      }),
    );
    expect(refused).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1' },
      json: { code: 'rate_limited' },
    });
    expect((await test.ask('GET', '/v1/activity?after=start', { token })).status).toBe(200);
    const other = await test.token();
    expect((await test.ask('GET', '/v1/activity?wait=1', { token: other })).status).toBe(200);
    controller.abort();
    await expect(waiting).rejects.toThrow();
    for (;;) {
      const { status } = await test.ask('GET', '/v1/activity?after=end&wait=1', { token });
      if (status === 200) break;
    }
  });

  it.each([
    ['GET', '/v1/activity', '?after=end&wait=60000', ''],
    ['POST', '/v1/memories', '', 'content-type: application/json\r\ncontent-length: 9\r\n'],
  ])(
    'end when whoever asked is gone before their token is known: %s %s',
    async (method, path, query, more) => {
      let leave = () => {};
      const gone = new Promise<void>((resolve) => {
        leave = resolve;
      });
      await using test = await startTestServer({
        requestTimeout: 3_600_000,
        tokens: { authenticate: (shown) => gone.then(() => test.tokens.authenticate(shown)) },
      });
      const token = await test.token();
      const caller = connect(test.port, '127.0.0.1');
      const begun = (message: unknown) => {
        const { socket } = message as { readonly socket: Socket };
        if (socket.remotePort !== caller.localPort) return;
        socket.once('close', leave);
        caller.destroy();
      };
      subscribe('http.server.request.start', begun);
      onTestFinished(() => void unsubscribe('http.server.request.start', begun));
      await once(caller, 'connect');
      const logged = test.logged(path);
      const head = `${method} ${path}${query} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}`;
      caller.write(`${head}\r\n${more}\r\n`);
      expect(await logged).toMatchObject({ status: 503 });
    },
  );

  it('are ended by a server that shuts down', async () => {
    const test = await startTestServer({
      maxConnections: 8,
      maxConnectionsPerAddress: 8,
      closeTimeout: 3_600_000,
    });
    const token = await test.token();
    const { waiting } = await waitingWith(test, token, () =>
      test.ask('GET', '/v1/activity?after=end&wait=60000', { token }),
    );
    const closing = test[Symbol.asyncDispose]();
    expect(await waiting).toMatchObject({ status: 503, json: { code: 'closed' } });
    await closing;
  });
});

describe('places to wait', () => {
  it('are so many, half of them for one token', () => {
    const place = createWaitingPlaces(3);
    const [a, b] = [{ id: 'a' }, { id: 'b' }];
    const leave = place(a);
    place(a);
    expect(() => place(a)).toThrow('2 requests of this token are waiting already');
    place(b);
    expect(() => place(b)).toThrow('3 requests are waiting already');
    leave();
    leave();
    place(b);
    expect(() => place(a)).toThrow('3 requests are waiting already');
  });
});
