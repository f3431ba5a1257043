import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, test } from 'vitest';
import { confine } from '../../src/http/confine.ts';
import { type MemoryEngine, openMemory } from '../../src/index.ts';
import { createMcpServer, type McpOptions } from '../../src/mcp/index.ts';
import type { Embedder } from '../../src/providers/embedder.ts';

const now = Date.UTC(2026, 2, 1);
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function openHere(embedder: 'builtin' | 'none' | Embedder = 'builtin'): Promise<MemoryEngine> {
  const memory = await openMemory({ path: ':memory:', space: 'ada', clock: () => now, embedder });
  open.push(memory);
  return memory;
}

async function connect(memory: MemoryEngine, options: Partial<McpOptions> = {}) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1' });
  await createMcpServer(memory, { version: '1', clock: () => now, dialect: 'scoped', ...options }).connect(
    ours,
  );
  await client.connect(theirs);
  await client.listTools();
  open.push(client);
  const prompt = async (given: Record<string, string>) =>
    JSON.stringify((await client.getPrompt({ name: 'what_do_you_know', arguments: given })).messages);
  const context = async () =>
    JSON.stringify((await client.readResource({ uri: 'salience://context' })).contents);
  const call = async (name: string, input: Record<string, unknown>) => {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: input });
    const [first] = content as readonly { readonly text: string }[];
    return { text: first?.text ?? '', data: structuredContent as Record<string, unknown>, isError };
  };
  return { client, prompt, context, call };
}

async function fill(memory: MemoryEngine): Promise<void> {
  await memory.remember('State is kept in Redux', { id: 'everywhere' });
  await memory.remember('State is kept in Zustand', { id: 'match', scope: 'project:match' });
  await memory.remember('State is kept in signals', { id: 'other', scope: 'project:other' });
  for (const scope of ['global', 'project:match']) {
    await memory.saveSummary(`Talked about state in ${scope}`, { scope });
  }
}

describe('what the scoped tools do not show', () => {
  test('neither the prompt nor the context shows', async () => {
    const memory = await openHere();
    await fill(memory);
    const { prompt, context, client } = await connect(memory);
    const asked = await prompt({ about: 'how state is kept' });
    expect(asked).toContain('Redux');
    expect(asked).not.toMatch(/Zustand|signals/);
    const begun = await context();
    expect(begun).toContain('Redux');
    expect(begun).toContain('in global');
    expect(begun).not.toMatch(/Zustand|signals|in project/);
    const { prompts } = await client.listPrompts();
    expect(prompts[1]?.arguments?.map(({ name }) => name)).toEqual(['about', 'project']);
    const ofProject = await prompt({ about: 'how state is kept', project: 'match' });
    expect(ofProject).toMatch(/Zustand/);
    expect(ofProject).not.toContain('signals');
  });

  test('a token of one scope neither shows nor reaches more', async () => {
    const memory = await openHere();
    await fill(memory);
    const grant = { id: 't', space: 'ada', scopes: ['project:match'], rights: 'read' } as never;
    const { prompt, context, call } = await connect(confine(memory, grant), { access: 'read' });
    for (const said of [await prompt({ about: 'how state is kept' }), await context()]) {
      expect(said).toContain('Redux');
      expect(said).not.toMatch(/Zustand|signals/);
    }
    await expect(prompt({ about: 'how state is kept', project: 'other' })).rejects.toThrow();
    expect((await call('recall', { query: 'how state is kept', project: 'match' })).text).toContain(
      'Zustand',
    );
    expect((await call('recall', { query: 'how state is kept', project: 'other' })).isError).toBe(true);
    expect((await call('recall', { query: 'how state is kept', scope: 'project' })).text).toMatch(
      /^(?!.*signals).*Zustand/,
    );
  });
});

describe('a recall of the scoped tools that could not search', () => {
  const failing = {
    model: 'down',
    dimensions: 2,
    embed: async (_: readonly string[], options?: { readonly purpose?: string }) => {
      if (options?.purpose === 'query') throw new Error('connection refused');
      return [new Float32Array([1, 0])];
    },
  } as unknown as Embedder;

  test.each([
    ['none', 'anything', 'the vector search could not run: no embedder is configured'],
    ['builtin', 'xqzzvw', 'the vector search could not run: builtin'],
    [failing, 'anything', 'the vector search failed: the embedder down failed: connection refused'],
  ] as const)('%s says so', async (embedder, query, reason) => {
    const memory = await openHere(embedder);
    await memory.remember('State is kept in Redux');
    const { call } = await connect(memory);
    const { text, data } = await call('recall', { query });
    expect(text).not.toMatch(/^nothing found/);
    expect(text).toContain(reason);
    expect(data).toMatchObject({ memories: [], missing: [expect.stringContaining(reason)] });
  });

  test('names how many memories it could not compare, and says nothing when it could', async () => {
    const memory = await openHere();
    await memory.remember('xqzzvw');
    await memory.remember('State is kept in Redux');
    const { call } = await connect(memory);
    const { data } = await call('recall', { query: 'state' });
    expect(data).toMatchObject({ missing: ['1 memory could not be compared: without a vector'] });
    expect((await call('remember', { content: 'qwzzkj vvxq' })).text).toContain(
      'could not check for contradictions: the embedder knows no word of the statement',
    );
    const known = await openHere();
    await known.remember('State is kept in Redux');
    const found = await (await connect(known)).call('recall', { query: 'state', scope: 'project:match' });
    expect(found.text).toBe('nothing found');
    expect(found.data).toEqual({ memories: [], missing: [] });
  });
});

describe('projects and scopes', () => {
  test.each(['my app', 'プロ', '@acme/pkg', 'a_.b'])('project %j is a scope of its own', async (project) => {
    const { call } = await connect(await openHere());
    await call('remember', { content: 'Use tabs in this code', project });
    const { data } = await call('recall', { query: 'tabs in code', project });
    expect(data['memories']).toMatchObject([{ project, scope: 'project' }]);
    expect((await call('list', { project })).data['memories']).toMatchObject([{ project }]);
    expect((await call('recall', { query: 'tabs in code', project: 'another' })).data['memories']).toEqual(
      [],
    );
  });

  test.each(['banana', 'Global'])('scope %j is refused, with what there is', async (scope) => {
    const { call } = await connect(await openHere());
    for (const [name, input] of [
      ['remember', { content: 'Use tabs', scope }],
      ['recall', { query: 'tabs', scope }],
      ['list', { scope }],
    ] as const) {
      const { text, isError } = await call(name, input);
      expect(isError).toBe(true);
      expect(text).toMatch(/error invalid_scope: scope: unknown scope .*available: "global", "project"/);
    }
  });
});
