import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import type { NewToken } from '../../src/http/index.ts';
import { createMcpMount } from '../../src/mcp/http.ts';
import { startTestServer, type TestServer } from '../http/fixture.ts';

type Mode = 'legacy' | { readonly pin: string };
const modes: readonly (readonly [string, Mode])[] = [
  ['2025', 'legacy'],
  ['2026', { pin: '2026-07-28' }],
];

async function serve(bodyLimit?: number): Promise<TestServer> {
  const mcp = createMcpMount({ version: '1.2.3', tools: 'all', maxBodyBytes: bodyLimit });
  return startTestServer({ bodyLimit, mount: { '/mcp': mcp.answer } });
}

/** The official client over a socket. */
async function connect(test: TestServer, token: string, mode: Mode = 'legacy'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${test.url}/mcp`), { requestInit: { headers } }),
  );
  return client;
}

async function toolsOf(client: Client): Promise<readonly string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

async function contentsOf(client: Client): Promise<readonly string[]> {
  const { structuredContent } = await client.callTool({ name: 'list', arguments: {} });
  const { memories } = structuredContent as { memories: readonly { content: string }[] };
  return memories.map(({ content }) => content).sort();
}

describe('/mcp of a server', () => {
  it.each(modes)('opens to each client the space of its token: %s', async (_, mode) => {
    await using test = await serve();
    const alice = await connect(test, await test.token(), mode);
    const bob = await connect(test, await test.token({ space: 'bob' }), mode);
    const made = await alice.callTool({ name: 'remember', arguments: { content: 'Prefers dark roast' } });
    expect(made.structuredContent).toMatchObject({ outcome: 'created' });
    await bob.callTool({ name: 'remember', arguments: { content: 'Prefers tea' } });
    expect(await contentsOf(alice)).toEqual(['Prefers dark roast']);
    expect(await contentsOf(bob)).toEqual(['Prefers tea']);
    expect((await (await test.space('bob')).list()).memories).toMatchObject([{ content: 'Prefers tea' }]);
    for (const client of [alice, bob]) await client.close();
  });

  it('lists no resources where each question must name a scope, and those of the only scope of a token', async () => {
    await using test = await serve();
    await (await test.space()).remember('For team a', { scope: 'team:a' });
    const urisOf = async (scopes: readonly string[]) => {
      const client = await connect(test, await test.token({ scopes }));
      const { resources } = await client.listResources();
      await client.close();
      return resources.map(({ uri }) => uri);
    };
    expect(await urisOf(['team:a', 'team:b'])).toEqual([]);
    expect(await urisOf(['team:a'])).toEqual([
      'salience://context',
      expect.stringContaining('salience://memory/'),
    ]);
  });

  it('offers what the rights of the token allow', async () => {
    await using test = await serve();
    await (await test.space()).rememberMany([
      { content: 'For everyone' },
      { content: 'For team a', scope: 'team:a' },
      { content: 'For team b', scope: 'team:b' },
    ]);
    const writer = await connect(test, await test.token());
    const reader = await connect(test, await test.token({ rights: 'read' }));
    const teamA: Partial<NewToken> = { scopes: ['team:a'] };
    const ofA = await connect(test, await test.token(teamA));
    const readerOfA = await connect(test, await test.token({ ...teamA, rights: 'read' }));
    for (const client of [writer, ofA]) expect(await toolsOf(client)).toContain('remember');
    for (const client of [reader, readerOfA]) {
      const tools = await toolsOf(client);
      expect(tools).toContain('recall');
      for (const tool of ['remember', 'forget', 'start_session']) expect(tools).not.toContain(tool);
    }
    for (const client of [writer, reader]) {
      expect(await contentsOf(client)).toEqual(['For everyone', 'For team a', 'For team b']);
    }
    for (const client of [ofA, readerOfA]) {
      expect(await contentsOf(client)).toEqual(['For everyone', 'For team a']);
    }
    for (const client of [writer, reader, ofA, readerOfA]) await client.close();
  });

  it.each(modes)(
    'answers from the memory that is open, not from one that was closed: %s',
    async (_, mode) => {
      const mcp = createMcpMount({ version: '1.2.3' });
      await using test = await startTestServer({ deleteSpaces: true, mount: { '/mcp': mcp.answer } });
      const client = await connect(test, await test.token(), mode);
      const remember = async (content: string) =>
        (await client.callTool({ name: 'remember', arguments: { content } })).structuredContent;
      expect(await remember('Prefers tea')).toMatchObject({ outcome: 'created' });
      const admin = await test.token({ rights: 'admin' });
      expect((await test.ask('DELETE', '/v1/space?name=alice', { token: admin })).status).toBe(200);
      expect(await remember('Prefers coffee')).toMatchObject({ outcome: 'created' });
      const { structuredContent } = await client.callTool({
        name: 'recall',
        arguments: { query: 'prefers' },
      });
      const { hits } = structuredContent as { hits: readonly { memory: { content: string } }[] };
      expect(hits.map(({ memory }) => memory.content)).toEqual(['Prefers coffee']);
      await client.close();
    },
  );

  it('logs no fault where a client is at fault, and says to it what is wrong', async () => {
    const lines: string[] = [];
    const mcp = createMcpMount({ version: '1.2.3', log: (line) => lines.push(line) });
    await using test = await startTestServer({ mount: { '/mcp': mcp.answer } });
    const token = await test.token();
    const ask = async (body: string, headers: Readonly<Record<string, string>> = {}) => {
      const accept = 'application/json, text/event-stream';
      const given = { accept, 'content-type': 'application/json', ...headers };
      const { status, json } = await test.ask('POST', '/mcp', { token, body, headers: given });
      return [status, json.error.message];
    };
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const answers = [
      await ask('{"jsonrpc"'),
      await ask('{"a":1}'),
      await ask('[]'),
      await ask('{"jsonrpc":"2.0","id":1.5,"method":"ping"}'),
      await ask(ping, { 'content-type': 'text/plain' }),
      await ask(ping, { 'mcp-protocol-version': '2026-07-28' }),
      await ask(ping, { 'mcp-protocol-version': '1999-01-01' }),
      await ask(ping, { accept: 'text/html' }),
    ];
    expect(answers.map(([status]) => status)).toEqual([400, 400, 400, 400, 415, 400, 400, 406]);
    for (const [, message] of answers) expect(message).not.toBe('');
    expect(lines).toEqual([]);
  });

  it('logs no fault where a client speaks a version that is not there yet', async () => {
    const lines: string[] = [];
    const mcp = createMcpMount({ version: '1.2.3', log: (line) => lines.push(line) });
    await using test = await startTestServer({ mount: { '/mcp': mcp.answer } });
    const version = '2031-01-01';
    const meta = {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const { status, json } = await test.ask('POST', '/mcp', {
      token: await test.token(),
      headers: {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': version,
        'mcp-method': 'tools/list',
      },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } },
    });
    expect(status).toBe(400);
    expect(json.error.message).toContain(version);
    expect(lines).toEqual([]);
  });

  it('ends the answer to a batch that cancels a request of its own', async () => {
    await using test = await serve();
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'stats', arguments: {} } };
    const { status, text } = await test.ask('POST', '/mcp', {
      token: await test.token(),
      headers: { accept: 'application/json, text/event-stream' },
      body: [call, cancel, { jsonrpc: '2.0', id: 2, method: 'ping' }],
    });
    expect(status).toBe(200);
    for (const id of [1, 2]) expect(text).toContain(`"id":${id}}`);
  });

  it('keeps the votes of two tokens with the same rights apart', async () => {
    await using test = await serve();
    const memory = await test.space();
    await memory.remember('Prefers tea', { id: 'tea' });
    const clients = [await connect(test, await test.token()), await connect(test, await test.token())];
    for (const client of clients) {
      const { isError } = await client.callTool({ name: 'feedback', arguments: { id: 'tea', vote: 'up' } });
      expect(isError).not.toBe(true);
      await client.close();
    }
    const { memories } = await memory.list();
    expect(memories[0]?.votes).toHaveLength(2);
  });

  it.each(['salience', 'mem', 'scoped'] as const)(
    'offers a token of one scope what it may call, and says why it may not call the rest: %s',
    async (dialect) => {
      const mcp = createMcpMount({ version: '1.2.3', dialect });
      await using test = await startTestServer({ mount: { '/mcp': mcp.answer } });
      const whole = await connect(test, await test.token());
      const limited = await connect(test, await test.token({ scopes: ['team:a'] }));
      const withheld = {
        salience: ['start_session', 'end_session'],
        mem: ['mem_session_start', 'mem_session_end', 'mem_session_summary', 'mem_stats'],
        scoped: ['stats'],
      }[dialect];
      const offered = await toolsOf(limited);
      const all = await toolsOf(whole);
      expect(all.filter((name) => !offered.includes(name)).sort()).toEqual([...withheld].sort());
      expect(offered.length).toBeGreaterThan(3);
      expect(whole.getInstructions()).toMatch(
        dialect === 'scoped' ? /recall/ : new RegExp(withheld[0] as string),
      );
      for (const name of withheld) expect(limited.getInstructions()).not.toContain(name);
      if (dialect === 'scoped') {
        const refused = await limited.callTool({
          name: 'remember',
          arguments: { content: 'x', project: 'b' },
        });
        expect(JSON.stringify(refused.content)).toMatch(
          /forbidden: this token may not write in scope .*project:b/,
        );
      }
      for (const client of [whole, limited]) await client.close();
    },
  );

  it('stands behind the token, the door and the limits', async () => {
    await using test = await serve(2000);
    const token = await test.token();
    await expect(connect(test, 'salience_wrong')).rejects.toThrow(/401|[Uu]nauthorized/);
    expect(await test.ask('POST', '/mcp', { token: 'salience_wrong', body: {} })).toMatchObject({
      status: 401,
      json: { code: 'unauthorized' },
    });
    const rebound = await test.ask('POST', '/mcp', { token, headers: { host: 'evil.example' }, body: {} });
    expect(rebound.status).toBe(403);
    const page = { origin: 'https://evil.example' };
    expect((await test.ask('POST', '/mcp', { token, headers: page, body: {} })).status).toBe(403);
    expect((await test.ask('POST', '/mcp', { token, body: 'x'.repeat(2001) })).status).toBe(413);

    const client = await connect(test, token);
    const [id] = (await test.tokens.list()).map((grant) => grant.id);
    await test.tokens.revoke(id as string);
    await expect(client.listTools()).rejects.toThrow(/401|[Uu]nauthorized/);
    await client.close();
  });
});
