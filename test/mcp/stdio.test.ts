import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { verbs } from '../../src/api/index.ts';
import { createWorkplace, type Workplace } from '../cli/cli.ts';

const main = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));
let work: Workplace;
beforeAll(() => {
  work = createWorkplace();
});
afterAll(() => work[Symbol.dispose]());

/** A client of the official library that has started the built server as an agent does. */
async function start(args: readonly string[], mode: 'legacy' | { pin: string } = 'legacy') {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [main, 'mcp', '--path', 'memory', '--tools', 'all', ...args],
    cwd: work.directory,
    stderr: 'pipe',
  });
  let errors = '';
  transport.stderr?.on('data', (text) => {
    errors += text;
  });
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  // Whatever is no protocol on stdout ends up here.
  const faults: string[] = [];
  client.onerror = (error) => faults.push(error.message);
  await client.connect(transport);
  await client.listTools();
  return {
    client,
    faults,
    errors: () => errors,
    async call(name: string, input: Record<string, unknown> = {}) {
      const result = await client.callTool({ name, arguments: input });
      expect(result.isError, JSON.stringify(result.content)).not.toBe(true);
      return result.structuredContent as Record<string, unknown>;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

describe.each([
  ['of 2025', 'legacy'],
  ['of 2026', { pin: '2026-07-28' }],
] as const)('over stdio, in the protocol %s', (era, mode) => {
  test('every tool answers, and what was written is there for the next process', async () => {
    const space = `space ${era}`;
    {
      await using server = await start(['--space', space], mode);
      const { call, client } = server;
      expect(client.getServerVersion()).toMatchObject({ name: 'salience', version: expect.any(String) });
      expect(client.getInstructions()).toContain('recall');
      const remember = async (given: Record<string, unknown>) => (await call('remember', given))['id'];
      const milk = await remember({ content: 'Ada prefers oat milk', type: 'preference' });
      const tea = await remember({ content: 'Bob drinks tea' });
      expect(await call('recall', { query: 'oat milk', limit: 1 })).toMatchObject({
        hits: [{ memory: { id: milk } }],
      });
      expect(await call('get', { id: tea })).toMatchObject({ content: 'Bob drinks tea' });
      expect((await call('list'))['memories']).toHaveLength(2);
      await call('update', { id: tea, content: 'Bob drinks mint tea' });
      await call('undo');
      await call('explain', { id: milk, query: 'milk' });
      await call('stats');
      await call('help');
      await call('forget', { id: tea });
      expect(server.faults).toEqual([]);
      expect(server.errors()).toBe('');
    }
    const listed = (await work.json(['list', '--space', space])) as { memories?: unknown };
    expect(JSON.stringify(listed)).toContain('oat milk');
    expect(JSON.stringify(listed)).not.toContain('tea');
  });
});

describe('a server over stdio', () => {
  test('announces few tools in few words; all of them when asked to', async () => {
    // `start` asks for all; the last option counts.
    await using server = await start(['--space', 'few', '--tools', 'few']);
    const { tools } = await server.client.listTools();
    expect(JSON.stringify(tools).length).toBeLessThanOrEqual(12_000);
    expect(tools.map(({ name }) => name)).toEqual([
      'remember',
      'recall',
      'context',
      'update',
      'resolve',
      'forget',
      'start_session',
      'end_session',
      'bootstrap',
      'pinned',
    ]);
    for (const { name, inputSchema } of tools) {
      const offered = Object.keys(inputSchema.properties ?? {});
      expect(offered.length).toBeLessThanOrEqual(8);
      // Agents are offered no argument that a user or a program decides, in the short list either.
      const withheld = verbs.find((verb) => verb.name === name)?.notForAgents ?? [];
      expect(
        offered.filter((each) => withheld.includes(each)),
        name,
      ).toEqual([]);
    }
    await using whole = await start(['--space', 'few']);
    const listed = (await whole.client.listTools()).tools;
    expect(listed.map(({ name }) => name)).toEqual(verbs.filter(({ tool }) => tool).map(({ name }) => name));
    for (const { name } of tools) expect(listed.map((each) => each.name)).toContain(name);
    for (const { outputSchema } of listed) expect(outputSchema).toBeDefined();
    for (const dialect of ['mem', 'scoped']) {
      await using other = await start(['--space', 'few', '--dialect', dialect, '--tools', 'few']);
      const own = (await other.client.listTools()).tools;
      expect(own.length).toBeGreaterThan(6);
      expect(JSON.stringify(own).length).toBeLessThanOrEqual(12_000);
    }
  });

  test('the few tools remember in the open session, and what a model must not say is no parameter', async () => {
    await using server = await start(['--space', 'daily', '--tools', 'few']);
    const { call, client } = server;
    const { sessionId } = await call('start_session');
    const { id } = await call('remember', { content: 'Ada prefers oat milk', importance: 0.7 });
    expect(await call('recall', { query: 'oat milk' })).toMatchObject({
      hits: [{ memory: { id, sessionId } }],
    });
    expect((await call('context', { query: 'oat milk' }))['text']).toContain('Ada prefers oat milk');
    await call('update', { id, content: 'Ada prefers soy milk' });
    expect((await call('bootstrap'))['text']).toContain('Ada prefers soy milk');
    expect((await call('pinned', { maxTokens: 50 }))['text']).toBe('');
    await call('end_session', { summary: 'Spoke of milk' });
    await call('forget', { id });
    await using whole = await start(['--space', 'daily']);
    for (const each of [client, whole.client]) {
      for (const field of ['id', 'createdAt', 'updatedAt', 'source', 'role', 'weight']) {
        const result = await each.callTool({ name: 'remember', arguments: { content: 'Tea', [field]: 'x' } });
        expect(result.isError).toBe(true);
        expect(JSON.stringify(result.content)).toContain(`unknown argument \\"${field}\\"`);
      }
    }
  });

  test.each([
    ['mem', ['--mem-type', 'recipe'], 'mem_save', 'mem_search'],
    ['scoped', [], 'remember', 'recall'],
  ] as const)('speaks the dialect %s', async (dialect, more, save, search) => {
    await using server = await start(['--space', dialect, '--dialect', dialect, ...more]);
    const mem = dialect === 'mem' ? { user_id: 'mem', type: 'recipe', title: 'Tea' } : {};
    await server.call(save, { content: 'Mint tea steeps five minutes', ...mem });
    const query = { query: 'mint tea', ...(dialect === 'mem' ? { user_id: 'mem' } : {}) };
    expect(JSON.stringify(await server.call(search, query))).toContain('five minutes');
  });

  test('with --read-only makes no store and offers nothing that writes', async () => {
    const { code, stderr } = await work.salience(['mcp', '--read-only', '--space', 'nowhere']);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('nowhere') });
    await work.salience(['remember', 'Here', '--space', 'there']);
    await using server = await start(['--read-only', '--space', 'there']);
    const { tools } = await server.client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('remember');
    expect(await server.call('stats')).toMatchObject({ memories: 1 });
  });

  test('answers what is no message as it is answered over HTTP, and says so without its words', async () => {
    const lines = [
      'secret, no JSON',
      '{"jsonrpc":"2.0","id":1}',
      '{"jsonrpc":"2.0","id":"two","method":"ping","params":[]}',
      '["secret"]',
      `{"jsonrpc":"2.0","id":3,"method":"ping","params":{"secret":"${'x'.repeat(10 * 2 ** 20)}"}}`,
      '{"jsonrpc":"2.0","id":4}',
      '',
    ];
    const { code, stdout, stderr } = await work.salience(['mcp', '--space', 'faults'], {
      input: lines.join('\n'),
    });
    expect(code).toBe(0);
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const message = expect.any(String);
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: null, error: { code: -32700, message } },
      { jsonrpc: '2.0', id: 1, error: { code: -32600, message } },
      { jsonrpc: '2.0', id: 'two', error: { code: -32600, message } },
      { jsonrpc: '2.0', id: null, error: { code: -32600, message } },
      {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32600, message: expect.stringContaining('10485760 bytes') },
      },
      { jsonrpc: '2.0', id: 4, error: { code: -32600, message } },
    ]);
    expect(stderr.trim().split('\n')).toEqual(
      answers.map(({ error }) => `mcp: ${error.message} (${error.code})`),
    );
  });

  test('answers each message of a batch, as it is answered over HTTP, and none of one that is too long or broken', async () => {
    const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
    const initialize = {
      ...ping(0),
      method: 'initialize',
      params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    };
    const started = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const lines = [
      initialize,
      [started, ping(1), ping(2)],
      [],
      [ping(3), { jsonrpc: '2.0', id: 4 }],
      Array.from({ length: 101 }, (_, at) => ping(at + 5)),
      ping(200),
    ];
    const { code, stdout } = await work.salience(['mcp', '--space', 'batches'], {
      input: lines.map((line) => JSON.stringify(line)).join('\n'),
    });
    expect(code).toBe(0);
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.flatMap(({ id, result }) => (result ? [id] : [])).sort()).toEqual([0, 1, 2, 200]);
    const faults = answers.filter(({ error }) => error);
    expect(faults.map(({ id, error }) => [id, error.code])).toEqual(Array(3).fill([null, -32600]));
  });

  test('answers what was asked before the client closed its end, also in a last line without an end', async () => {
    const initialize = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    };
    const call = (id: number, name: string, input: object) =>
      JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: input } });
    const lines = [
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize }),
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      call(2, 'remember', { content: 'Ada prefers oat milk' }),
      call(3, 'recall', { query: 'oat milk' }),
    ];
    const ask = async (input: string) => {
      const { code, stdout } = await work.salience(['mcp', '--space', 'ended'], { input });
      const answers = stdout.trim().split('\n');
      return { code, answers: answers.map((line) => JSON.parse(line)).sort((a, b) => a.id - b.id) };
    };
    expect(await ask(lines.join('\n'))).toMatchObject({
      code: 0,
      answers: [
        { id: 1, result: {} },
        { id: 2, result: {} },
        { id: 3, result: {} },
      ],
    });
    const cut = await ask(`${lines.slice(0, 2).join('\n')}\n${lines[2]?.slice(0, 30)}`);
    expect(cut).toMatchObject({ code: 0, answers: [{ id: null, error: { code: -32700 } }, { id: 1 }] });
  });

  test('takes null for no parameters, and answers no notification, as some clients end at an answer without an id', async () => {
    const lines = [
      '{"jsonrpc":"2.0","method":"notifications/initialized","params":null}',
      '{"jsonrpc":"2.0","method":"notifications/initialized","params":["secret"]}',
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":null}',
      '[{"jsonrpc":"2.0","id":2,"method":"ping","params":null}]',
    ];
    const { stdout, stderr } = await work.salience(['mcp', '--space', 'nulls'], { input: lines.join('\n') });
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 2, result: {} },
    ]);
    expect(stderr).toBe('mcp: Bad Request: the line is not a valid JSON-RPC message (-32600)\n');
  });

  test('takes no line for text that is not UTF-8', async () => {
    const { stdout } = await work.shell(
      String.raw`printf '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"caf\351"}}\n' | salience mcp --space bytes`,
    );
    expect(JSON.parse(stdout)).toMatchObject({
      id: null,
      error: { code: -32700, message: expect.stringContaining('UTF-8') },
    });
  });

  test('prints nothing but protocol, survives garbage, and ends with its client', async () => {
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'stats', arguments: {} } };
    const initialize = {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    };
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [main, 'mcp', '--path', 'memory', '--space', 'raw', '--tools', 'all'],
      cwd: work.directory,
    });
    const messages: unknown[] = [];
    const answered = new Promise<void>((resolve) => {
      transport.onmessage = (message) => {
        messages.push(message);
        if ('id' in message && message.id === 1) resolve();
      };
    });
    await transport.start();
    await transport.send(initialize as never);
    await transport.send('secret text that is no message' as never);
    await transport.send(request as never);
    await answered;
    expect(messages).toMatchObject([
      { id: 0, result: { serverInfo: { name: 'salience' } } },
      { id: 1, result: { structuredContent: { name: 'raw' } } },
    ]);
    const { pid } = transport;
    await transport.close();
    expect(() => process.kill(pid as number, 0)).toThrow(/ESRCH/);
  });
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a server that is told to end by %s has done its work',
  async (signal) => {
    const child = spawn(process.execPath, [main, 'mcp', '--path', 'memory'], {
      cwd: work.directory,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    // From its first answer on it listens to signals.
    await once(child.stdout, 'data');
    child.kill(signal);
    expect(await once(child, 'close')).toEqual([0, null]);
  },
);

describe('a client that does not read', () => {
  const unread = new URL('unread.mjs', import.meta.url).href;
  const call = (id: number, more: object = {}) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params: { ...more } })}\n`;
  const initialize = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  };
  const begin = `${JSON.stringify({ jsonrpc: '2.0', id: 'begin', method: 'initialize', params: initialize })}\n${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`;
  const serve = () => {
    const child = spawn(process.execPath, [main, 'mcp', '--path', 'memory', '--tools', 'all'], {
      cwd: work.directory,
      env: { ...process.env, NODE_OPTIONS: `--import ${unread}` },
    });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    child.stdin.on('error', () => {});
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text;
    });
    return { child, errors: () => errors };
  };
  const many = (count: number, more?: object) =>
    begin + Array.from({ length: count }, (_, id) => call(id, more)).join('');
  /** More than the pipe between holds. */
  const MUCH = 200;

  test('and has closed its end is not waited for longer than the last answers may take', async () => {
    const { child } = serve();
    child.stdin.end(many(MUCH));
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('holds no server that is told to end', async () => {
    const { child, errors } = serve();
    child.stdin.write(many(MUCH));
    // What begins to be answered is answered as far as nobody reads.
    await once(child.stdout, 'readable');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(errors()).not.toContain('Warning');
  });

  test('is asked to wait while much is unread, and then gets every answer', async () => {
    const { child, errors } = serve();
    const count = 500;
    // So long that all are written only when the server has read most of them.
    child.stdin.write(many(count, { _meta: { 'example.com/text': 'x'.repeat(4096) } }));
    await once(child.stdin, 'drain');
    let answers = 0;
    let bytes = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      for (const each of chunk) if (each === 0x0a) answers++;
      if (answers === count + 1) child.kill('SIGTERM');
    });
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(answers).toBe(count + 1);
    const most = Number(/most unread: (\d+)/.exec(errors())?.[1]);
    expect(bytes).toBeGreaterThan(2 * 2 ** 24);
    expect(most).toBeLessThan(1.1 * 2 ** 24);
    expect(errors()).not.toContain('Warning');
  });
});

describe('--print-config', () => {
  test.each(['claude-desktop', 'cursor', 'windsurf', 'gemini'])(
    '%s: a file that starts a server that answers',
    async (client) => {
      const { stdout } = await work.salience([
        'mcp',
        '--print-config',
        client,
        '--space',
        "it's mine",
        '--tools',
        'all',
      ]);
      const { command, args } = JSON.parse(stdout).mcpServers.salience;
      const transport = new StdioClientTransport({ command, args, cwd: '/' });
      const agent = new Client({ name: 'test', version: '1' });
      await agent.connect(transport);
      const { structuredContent } = await agent.callTool({ name: 'stats', arguments: {} });
      expect(structuredContent).toMatchObject({ name: "it's mine" });
      await agent.close();
    },
  );

  test.each([
    ['claude-code', /^claude mcp add --scope user salience -- (.+)$/],
    ['codex', /^codex mcp add salience -- (.+)$/],
  ])('%s: a line that a shell understands', async (client, form) => {
    const options = ['--space', "it's mine", '--dialect', 'mem', '--mem-type', 'recipe', '--read-only'];
    const { stdout } = await work.salience(['mcp', '--print-config', client, ...options]);
    const [, line] = form.exec(stdout.trim()) ?? [];
    const words = await work.shell(`printf '%s\\n' ${line}`);
    expect(words.stdout.trim().split('\n')).toEqual([
      process.execPath,
      main,
      'mcp',
      '--path',
      `${work.directory}/memory`,
      ...options,
    ]);
  });

  test('carries the embedder, the language model and the space of the environment', async () => {
    const options = [
      ...['--embedder', 'openai:small:8', '--base-url', 'http://127.0.0.1:9/v1'],
      ...['--model', 'judge', '--model-url', 'http://127.0.0.1:8/v1'],
    ];
    const { stdout } = await work.salience(['mcp', '--print-config', 'cursor', ...options], {
      env: { SALIENCE_SPACE: 'ann' },
    });
    const { args } = JSON.parse(stdout).mcpServers.salience;
    expect(args.slice(2)).toEqual(['--path', `${work.directory}/memory`, '--space', 'ann', ...options]);
  });

  test('names the store that the command line would use there, in full', async () => {
    const pathOf = async () => {
      const { stdout } = await work.shell(
        'unset SALIENCE_PATH; salience mcp --print-config cursor; echo; echo $HOME',
      );
      const [, config, home] = /^([\s\S]*\})\s+(\S+)\s*$/.exec(stdout) ?? [];
      const { args } = JSON.parse(config ?? '').mcpServers.salience;
      return { path: args[args.indexOf('--path') + 1], home };
    };
    const outside = await pathOf();
    expect(outside.path).toBe(`${outside.home}/.salience`);
    await work.shell('mkdir .salience');
    expect((await pathOf()).path).toBe(`${work.directory}/.salience`);
    await work.shell('rmdir .salience');
  });

  test('vscode: a line with one JSON argument', async () => {
    const { stdout } = await work.salience(['mcp', '--print-config', 'vscode', '--space', "it's mine"]);
    const words = await work.shell(`code() { printf '%s' "$2"; }; ${stdout}`);
    expect(JSON.parse(words.stdout)).toMatchObject({
      name: 'salience',
      type: 'stdio',
      command: process.execPath,
      args: expect.arrayContaining(['--space', "it's mine"]),
    });
  });
});
