import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectMemory } from '../../src/client/index.ts';
import { createWorkplace, type Workplace } from './cli.ts';

const main = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));

/** `salience serve` on a free port, until it is told to end. */
async function serve(work: Workplace, ...args: readonly string[]) {
  const store = join(work.directory, 'memory');
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', '--path', store, '--json', ...args], {
    cwd: work.directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const stderr: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const started = JSON.parse(line) as { readonly url: string; readonly token?: string };
  return {
    ...started,
    log: () => stderr.join(''),
    /** Tells it to end, and goes on. */
    interrupt(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal);
      return once(child, 'close').then(([code]) => code as number | null);
    },
    async stop() {
      child.kill('SIGTERM');
      const [code] = await once(child, 'close');
      return code as number | null;
    },
  };
}

/** The status of a request under a name, which `fetch` would not let one say. */
async function statusOf(url: string, host: string): Promise<number | undefined> {
  const request = httpRequest(url, { headers: { host, connection: 'close' } });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

describe('salience serve', () => {
  it('serves the inspector, also under its public name, unless it is told not to', async () => {
    using work = createWorkplace();
    const open = await serve(work, '--public-url', 'https://memory.example', '--no-log');
    const { host } = new URL(open.url);
    expect(await statusOf(`${open.url}/inspector/`, host)).toBe(200);
    expect(await statusOf(`${open.url}/inspector/`, 'memory.example')).toBe(200);
    expect(await statusOf(`${open.url}/inspector/`, 'evil.example')).toBe(403);
    expect(await open.stop()).toBe(0);
    const closed = await serve(work, '--no-inspector', '--no-log');
    expect(await statusOf(`${closed.url}/inspector/`, new URL(closed.url).host)).toBe(401);
    expect(await closed.stop()).toBe(0);
  });

  it('refuses what is no percent-encoded UTF-8: no check is lost in the bundle', async () => {
    using work = createWorkplace();
    const { url, token, stop } = await serve(work);
    const headers = { authorization: `Bearer ${token}` };
    for (const path of ['/v1/memories/%FF', '/v1/memories?topicKey=%FF', '/v1/memories/100%']) {
      const answer = await fetch(`${url}${path}`, { headers });
      expect([answer.status, await answer.json()], path).toMatchObject([400, { code: 'invalid_text' }]);
    }
    expect(await stop()).toBe(0);
  });

  it('makes a token at its first start, shows it once, and ends cleanly when told to', async () => {
    using work = createWorkplace();
    const first = await serve(work, '--space', 'alice');
    const memory = await connectMemory({ url: first.url, token: first.token as string });
    expect(memory.space).toBe('alice');
    await memory.remember('Prefers dark roast', { id: 'roast' });
    expect((await memory.recall('dark roast')).hits).toHaveLength(1);
    expect(await first.stop()).toBe(0);
    expect(
      first
        .log()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).route),
    ).toEqual(['/v1/token', '/v1/memories', '/v1/recall']);
    expect(first.log()).not.toMatch(/roast/);
    expect(first.log()).not.toContain((first.token as string).slice(26));

    const second = await serve(work);
    expect(second).not.toHaveProperty('token');
    const again = await connectMemory({ url: second.url, token: first.token as string });
    expect(await again.get('roast')).toMatchObject({ content: 'Prefers dark roast' });
    expect((await work.salience(['get', 'roast', '--space', 'alice'])).stdout).toContain(
      'Prefers dark roast',
    );
    expect(await second.stop()).toBe(0);
  });

  it.each([
    ['legacy' as const, 'SIGTERM' as const],
    [{ pin: '2026-07-28' }, 'SIGTERM' as const],
    [{ pin: '2026-07-28' }, 'SIGHUP' as const],
  ])(
    'answers the call of an agent that is under way when it is told to end: %o, %s',
    async (mode, signal) => {
      using work = createWorkplace();
      const embedder = createServer();
      embedder.listen(0, '127.0.0.1');
      await once(embedder, 'listening');
      onTestFinished(() => {
        embedder.closeAllConnections();
        embedder.close();
      });
      const baseUrl = `http://127.0.0.1:${(embedder.address() as AddressInfo).port}`;
      const server = await serve(work, '--embedder', 'openai:model:2', '--base-url', baseUrl);
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      const requestInit = { headers: { authorization: `Bearer ${server.token}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));
      const calling = client.callTool({ name: 'remember', arguments: { content: 'Prefers dark roast' } });
      calling.catch(() => undefined);
      const [, response] = (await once(embedder, 'request')) as [IncomingMessage, ServerResponse];
      const ended = server.interrupt(signal);
      // It takes no more connections once it has begun to end.
      while (await fetch(`${server.url}/healthz`).catch(() => undefined));
      // The shell and the kernel each send one when a terminal is closed.
      if (signal === 'SIGHUP') void server.interrupt(signal);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data: [{ index: 0, embedding: [1, 0] }], model: 'model' }));
      expect(await calling).toMatchObject({ content: [{ text: expect.stringMatching(/^created /) }] });
      await client.close();
      expect(await ended).toBe(0);
    },
  );

  it('writes nothing when it is to read only, whatever the rights of a token', async () => {
    using work = createWorkplace();
    await work.json(['remember', 'Prefers dark roast', '--id', 'roast']);
    const { token } = (await work.json(['token', 'create', '--rights', 'admin'])) as { token: string };
    const { token: elsewhere } = (await work.json(['token', 'create', '--space', 'other'])) as {
      token: string;
    };
    const folder = join(work.directory, 'memory');
    const file = readdirSync(folder).find((name) => name.endsWith('.db')) as string;
    const before = readFileSync(join(folder, file));

    const server = await serve(work, '--read-only', '--no-log');
    const memory = await connectMemory({ url: server.url, token });
    expect((await memory.recall('dark roast')).hits).toMatchObject([{ memory: { id: 'roast' } }]);
    expect(await (await fetch(`${server.url}/readyz`)).json()).toEqual({ status: 'ready' });
    const refused = /this token may only read, or the server runs read-only; nothing was written/;
    await expect(memory.remember('Drinks tea')).rejects.toThrow(refused);
    const asked = (path: string, method: string, body: string | null = null) =>
      fetch(server.url + path, { method, body, headers: { authorization: `Bearer ${token}` } });
    for (const [path, method, body] of [
      ['/v1/import', 'POST', '{"content":"Drinks tea"}'],
      ['/v1/space?name=default', 'DELETE', null],
    ] as const) {
      const response = await asked(path, method, body);
      expect([response.status, await response.text()]).toEqual([403, expect.stringMatching(refused)]);
    }
    expect(await (await asked('/v1/token', 'GET')).json()).toMatchObject({ rights: 'read' });
    const agent = new Client({ name: 'test', version: '1' });
    await agent.connect(
      new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      }),
    );
    const { tools } = await agent.listTools();
    expect(tools.map(({ name }) => name)).toContain('recall');
    expect(tools.map(({ name }) => name)).not.toContain('remember');
    await agent.close();
    const files = readdirSync(folder);
    const missing = await connectMemory({ url: server.url, token: elsewhere });
    await expect(missing.recall('dark roast')).rejects.toMatchObject({ code: 'not_found' });
    expect(readdirSync(folder)).toEqual(files);
    expect(await server.stop()).toBe(0);
    expect(readFileSync(join(folder, file)).equals(before)).toBe(true);
  });

  it('writes the first token to a file of its owner alone, if asked to', async () => {
    using work = createWorkplace();
    const server = await serve(work, '--token-file', 'secret', '--no-log');
    expect(server).not.toHaveProperty('token');
    const file = join(work.directory, 'secret');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const memory = await connectMemory({ url: server.url, token: readFileSync(file, 'utf8').trim() });
    expect(memory.space).toBe('default');
    await server.stop();
    expect(server.log()).toBe('');
  });

  it('offers the memory to agents at /mcp, in the dialect asked for', async () => {
    using work = createWorkplace();
    const server = await serve(work, '--space', 'alice', '--dialect', 'mem', '--mem-type', 'recipe');
    const client = new Client({ name: 'test', version: '1' });
    const headers = { authorization: `Bearer ${server.token}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }),
    );
    const { structuredContent } = await client.callTool({
      name: 'mem_save',
      arguments: { user_id: 'alice', type: 'recipe', title: 'Coffee', content: 'Prefers dark roast' },
    });
    expect(structuredContent).toBeDefined();
    await client.close();
    const memory = await connectMemory({ url: server.url, token: server.token as string });
    expect((await memory.list()).memories).toMatchObject([{ content: 'Prefers dark roast' }]);
    expect(await server.stop()).toBe(0);
    expect(server.log()).toContain('"route":"/mcp"');
  });

  it.each([[[]], [['--no-log']]])(
    'logs what fails at /mcp as JSON, unless it is told not to: %j',
    async (log) => {
      using work = createWorkplace();
      const server = await serve(work, '--space', 'alice', '--embedder', 'none', ...log);
      const client = new Client({ name: 'test', version: '1' });
      const headers = { authorization: `Bearer ${server.token}` };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }),
      );
      const remember = (content: string) => client.callTool({ name: 'remember', arguments: { content } });
      expect((await remember('Prefers tea')).isError).not.toBe(true);
      for (const file of readdirSync(join(work.directory, 'memory')))
        if (/\.db/.test(file)) rmSync(join(work.directory, 'memory', file));
      expect((await remember('Prefers coffee')).isError).toBe(true);
      await client.close();
      expect(await server.stop()).toBe(0);
      const lines = server.log().split('\n').filter(Boolean);
      const faults = lines.map((line) => JSON.parse(line)).filter(({ failure }) => failure !== undefined);
      expect(faults).toEqual(
        log.length > 0
          ? []
          : [{ at: expect.any(String), route: '/mcp', failure: expect.stringMatching(/^remember: store_/) }],
      );
    },
  );

  it('makes no token that nobody sees when it cannot start', async () => {
    using work = createWorkplace();
    const other = await serve(work, '--path', 'other');
    const { port } = new URL(other.url);
    for (const wrong of [
      ['--port', port],
      ['--max-connections', '0'],
      ['--allow-origin', 'x'],
    ])
      expect((await work.salience(['serve', '--path', 'new', ...wrong])).code).not.toBe(0);
    expect((await serve(work, '--path', 'new')).token).toMatch(/./);
    for (const option of ['--rate-limit', '--body-limit'])
      expect((await work.salience(['serve', option, '0'])).stderr).toContain(
        'It must be a whole number above 0.',
      );
  });

  it.skipIf(process.platform !== 'linux')('keeps no token that it could not show', async () => {
    using work = createWorkplace();
    work.file('taken', '');
    for (const [line, reason] of [
      [
        'salience serve --port 0 > /dev/full',
        /^error: stdout cannot be written: .*ENOSPC.*\(unwritable_file\)\n$/,
      ],
      ['salience serve --port 0 --token-file taken', /^error: taken exists already/],
      ['salience serve --port 0 --token-file nosuch/token', /^error: nosuch\/token cannot be written/],
      [
        'salience token create > /dev/full',
        /^error: stdout cannot be written: .*ENOSPC.*\(unwritable_file\)\n$/,
      ],
      ['salience token create --json > /dev/full', /^\{"error":\{"code":"unwritable_file"/],
      // The reader has gone before anything is written.
      [
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
        'mkfifo go; { read -r _ < go; salience token create; } | { exec <&-; echo > go; }; exit ${PIPESTATUS[0]}',
        /^error: stdout cannot be written: .*EPIPE/,
      ],
    ] as const) {
      const { code, stderr } = await work.shell(line);
      expect([code, stderr], line).toEqual([1, expect.stringMatching(reason)]);
      expect(readdirSync(join(work.directory, 'memory', 'tokens')), line).toEqual([]);
    }
  });

  it.each([['serve'], ['mcp'], ['mcp', '--print-config', 'cursor']])(
    'refuses a type for tools that it does not offer: %s %s %s',
    async (...args) => {
      using work = createWorkplace();
      const { code, stdout, stderr } = await work.salience([...args, '--mem-type', 'recipe']);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('add --dialect mem, or leave it out');
      expect(readdirSync(work.directory)).toEqual([]);
    },
  );

  it('says what to do when it cannot start', async () => {
    using work = createWorkplace();
    const server = await serve(work);
    const port = new URL(server.url).port;
    const { code, stderr } = await work.salience(['serve', '--port', port]);
    expect(code).toBe(1);
    expect(stderr).toContain('choose another --port');
    await server.stop();
  });
});

describe('salience token', () => {
  it('makes, lists and revokes tokens, also while the server runs', async () => {
    using work = createWorkplace();
    const server = await serve(work);
    const made = await work.json([
      'token',
      'create',
      '--space',
      'alice',
      '--scope',
      'team:a',
      '--rights',
      'read',
    ]);
    expect(made).toMatchObject({ space: 'alice', scopes: ['team:a'], rights: 'read', name: 'default' });
    const listed = (await work.salience(['token', 'list'])).stdout;
    expect(listed).toContain(`${made['id']} · default · space alice · scopes team:a · read · `);
    expect(listed).not.toContain(String(made['token']).slice(26));
    const token = made['token'] as string;
    expect((await connectMemory({ url: server.url, token })).space).toBe('alice');
    expect((await work.salience(['token', 'revoke', String(made['id'])])).code).toBe(0);
    await expect(connectMemory({ url: server.url, token })).rejects.toMatchObject({ code: 'unauthorized' });
    expect((await work.salience(['token', 'revoke', String(made['id'])])).code).toBe(1);
    expect((await work.salience(['token', 'create', '--rights', 'all'])).code).toBe(2);
    const notYet = 'does not exist yet; the first write to it creates it';
    const misspelt = await work.salience(['token', 'create', '--space', 'alcie']);
    expect(misspelt.stdout).toContain(`\nspace "alcie" ${notYet}\n`);
    await work.salience(['remember', 'Alice likes tea', '--space', 'alice']);
    expect((await work.salience(['token', 'create', '--space', 'alice'])).stdout).not.toContain(notYet);
    await server.stop();
  });
});
