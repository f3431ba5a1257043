import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, test } from 'vitest';
import { type MemoryEngine, openMemory } from '../../index.ts';
import type { DialectName } from '../dialects.ts';
import { createMcpServer } from '../index.ts';

const DAY = 86_400_000;
const start = Date.UTC(2026, 2, 1);
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

/** Connects a client of one dialect, with a clock that a test can advance. */
async function connect(dialect: DialectName, types?: readonly string[]) {
  let made = 0;
  const time = { now: start };
  const clock = () => time.now;
  const memory = await openMemory({ path: ':memory:', space: 'ada', clock, newId: () => `m${++made}` });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1' });
  await createMcpServer(memory, { version: '1', clock, dialect, types }).connect(ours);
  await client.connect(theirs);
  await client.listTools();
  open.push(memory, client);
  return { memory, client, time, call: caller(client), fail: failer(client) };
}

function caller(client: Client) {
  return async <Value = Record<string, unknown>>(name: string, input: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: input });
    expect(result.isError, JSON.stringify(result.content)).not.toBe(true);
    return result.structuredContent as Value;
  };
}

function failer(client: Client) {
  return async (name: string, input: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: input });
    expect(result.isError).toBe(true);
    return JSON.stringify(result.content);
  };
}

const idsOf = ({ memories }: { readonly memories: readonly { readonly id: string }[] }) =>
  memories.map(({ id }) => id);

describe('mem_*', () => {
  const save = { user_id: 'ada', type: 'preference', title: 'Milk', content: 'Ada prefers oat milk' };

  test('save, search, get and count the observations of one user', async () => {
    const { call } = await connect('mem');
    expect(await call('mem_save', save)).toEqual({
      id: 'm1',
      outcome: 'created',
      session_id: null,
      topic_key: null,
    });
    await call('mem_save', { ...save, type: 'decision', title: 'Tea', content: 'No milk in tea' });
    const { results } = await call<{ results: readonly Record<string, unknown>[] }>('mem_search', {
      user_id: 'ada',
      query: 'milk',
      types_exclude: ['decision'],
    });
    expect(results).toEqual([
      {
        id: 'm1',
        type: 'preference',
        title: 'Milk',
        topic_key: null,
        score: expect.any(Number),
        snippet: expect.stringContaining('oat milk'),
        updated_at: '2026-03-01T00:00:00.000Z',
      },
    ]);
    expect(await call('mem_get_observation', { user_id: 'ada', id: 'm1' })).toMatchObject({
      observation: { id: 'm1', content: 'Ada prefers oat milk', revision_count: 1 },
    });
    expect(await call('mem_get_observation', { user_id: 'ada', id: 'of-bob' })).toEqual({
      observation: null,
    });
    expect(await call('mem_stats', { user_id: 'ada' })).toEqual({
      total: 2,
      by_type: { preference: 1, decision: 1 },
    });
  });

  test('finds only observations that share a word with the query, like SearchScore', async () => {
    const { call, memory } = await connect('mem');
    await memory.remember('The kettle boils', { id: 'kettle' });
    expect(await call('mem_search', { user_id: 'ada', query: 'hot water device' })).toEqual({ results: [] });
  });

  test('a session of tools: start, save into it, update by topic, read, end, start again', async () => {
    const { call, client, fail } = await connect('mem');
    const user_id = 'ada';
    expect(await call('mem_session_start', { user_id })).toEqual({
      session_id: 'm1',
      is_new: true,
      sessions_context: [],
      memories: [],
    });
    const saved = { id: 'm2', session_id: 'm1', topic_key: 'milk' };
    const about = { ...save, topic_key: 'milk' };
    expect(await call('mem_save', about)).toEqual({ ...saved, outcome: 'created' });
    expect(await call('mem_save', { ...about, content: 'Ada prefers soy milk' })).toEqual({
      ...saved,
      outcome: 'updated',
    });
    const tea = { ...save, title: 'Tea', content: 'No milk in tea' };
    const { id } = await call('mem_save', tea);
    expect(await call('mem_save', tea)).toMatchObject({ id, outcome: 'deduped', session_id: 'm1' });
    expect(await call('mem_timeline', { user_id, id: 'm2' })).toMatchObject({
      before: [],
      observation: { id: 'm2', content: 'Ada prefers soy milk', revision_count: 2 },
      after: [{ id }],
    });
    expect(await fail('mem_session_end', { user_id, summary: ' ' })).toContain('invalid_argument');
    expect(await call('mem_session_summary', { user_id, summary: 'Milk so far' })).toMatchObject({
      session_id: 'm1',
    });
    expect(await call('mem_session_end', { user_id, summary: 'Ada "likes" soy' })).toMatchObject({
      outcome: 'created',
      session_id: 'm1',
    });
    expect(await fail('mem_session_end', { user_id, summary: 'x' })).toContain('not_found');
    const next = await client.callTool({ name: 'mem_session_start', arguments: { user_id } });
    expect(next.structuredContent).toMatchObject({
      is_new: true,
      sessions_context: expect.arrayContaining([expect.objectContaining({ content: 'Ada "likes" soy' })]),
      memories: expect.arrayContaining([expect.objectContaining({ id: 'm2', score: expect.any(Number) })]),
    });
    expect(JSON.stringify(next.content)).toContain(
      JSON.stringify('- 2026-03-01 "Ada \\"likes\\" soy"').slice(1, -1),
    );
  });

  test('every tool refuses another user, and nothing is written', async () => {
    const { client, fail, memory } = await connect('mem');
    const inputs: Readonly<Record<string, Record<string, unknown>>> = {
      mem_session_start: {},
      mem_session_end: { summary: 'x' },
      mem_session_summary: { summary: 'x' },
      mem_save: save,
      mem_search: { query: 'milk' },
      mem_get_observation: { id: 'm1' },
      mem_timeline: { id: 'm1' },
      mem_stats: {},
    };
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(Object.keys(inputs).sort());
    for (const [name, input] of Object.entries(inputs)) {
      expect(await fail(name, { ...input, user_id: 'bob' })).toContain('user_id: this server serves');
    }
    expect((await memory.stats()).memories).toBe(0);
  });

  test('refuses unknown types unless they are configured, limits over 100, and both type filters', async () => {
    const { fail } = await connect('mem');
    expect(await fail('mem_save', { ...save, type: 'recipe' })).toContain('type');
    expect(await fail('mem_search', { user_id: 'ada', query: 'x', limit: 101 })).toContain('limit');
    const both = { user_id: 'ada', query: 'x', types: ['fact'], types_exclude: ['rule'] };
    expect(await fail('mem_search', both)).toContain('types_exclude: give types or types_exclude');
    const { call } = await connect('mem', ['recipe']);
    expect(await call('mem_save', { ...save, type: 'recipe' })).toMatchObject({ outcome: 'created' });
  });
});

describe('the scoped tools', () => {
  test('are the seven, by name', async () => {
    const { client } = await connect('scoped');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'remember',
      'recall',
      'forget',
      'update',
      'list',
      'stats',
      'help',
    ]);
  });

  async function fill(memory: MemoryEngine) {
    await memory.remember('State is kept in Zustand', { id: 'match', scope: 'project:match' });
    await memory.remember('State is kept in Redux', { id: 'everywhere' });
    await memory.remember('State is kept in signals', { id: 'other', scope: 'project:other' });
  }

  test.each([
    [{ project: 'match' }, ['everywhere', 'match']],
    [{ scope: 'global' }, ['everywhere']],
    [{ scope: 'project:match' }, ['match']],
    [{ scope: 'project' }, ['match', 'other']],
    [{}, ['everywhere']],
  ])('recall from %j sees %j', async (where, ids) => {
    const { call, memory } = await connect('scoped');
    await fill(memory);
    const found = await call<{ memories: { id: string }[] }>('recall', { query: 'state is kept', ...where });
    expect(idsOf(found).sort()).toEqual(ids);
  });

  test('a scope alone finds the best of that scope, even if many others rank higher', async () => {
    const { call, memory } = await connect('scoped');
    await memory.rememberMany(
      Array.from({ length: 30 }, (_, at) => ({ id: `g${at}`, content: 'coffee machine', weight: 1 })),
    );
    await memory.remember('coffee machine', { id: 'low', scope: 'project:match', weight: 0.1 });
    const query = { query: 'coffee machine', scope: 'project:match', limit: 1 };
    expect(idsOf(await call<{ memories: { id: string }[] }>('recall', query))).toEqual(['low']);
  });

  test('the score is similarity × scope × weight × age', async () => {
    const { call, memory, time } = await connect('scoped');
    await memory.remember('State is kept in Zustand', { scope: 'project:match' });
    await memory.remember('State is kept in Zustand', { weight: 0.5 });
    time.now = start + 30 * DAY;
    const { memories } = await call<{ memories: { score: number }[] }>('recall', {
      query: 'State is kept in Zustand',
      project: 'match',
    });
    expect(memories[0]?.score).toBeCloseTo(Math.exp(-0.15), 5);
    expect(memories[1]?.score).toBeCloseTo(0.8 * 0.5 * Math.exp(-0.15), 5);
  });

  test('remember, update with a new clock, list without what has expired, forget', async () => {
    const { call, fail, memory, time } = await connect('scoped');
    expect(
      await call('remember', { content: 'Use tabs', project: 'match', type: 'rule', tags: ['style'] }),
    ).toEqual({
      id: 'm1',
      outcome: 'created',
    });
    await memory.remember('Deploy freeze', { id: 'gone', expiresAt: new Date(start + DAY) });
    await memory.remember('Ann is away', { id: 'over', validUntil: new Date(start + DAY) });
    time.now = start + 2 * DAY;
    expect(await call('update', { id: 'm1', content: 'Use spaces' })).toMatchObject({
      content: 'Use spaces',
      scope: 'project',
      project: 'match',
      updated_at: '2026-03-03T00:00:00.000Z',
    });
    expect(idsOf(await call<{ memories: { id: string }[] }>('list', {}))).toEqual(['m1']);
    expect(
      idsOf(await call<{ memories: { id: string }[] }>('list', { tags: ['style'], type: 'rule' })),
    ).toEqual(['m1']);
    expect(await fail('remember', { content: 'x', scope: 'project' })).toContain('project: name the project');
    expect(await fail('remember', { content: 'x', scope: 'global', project: 'a' })).toContain('leave it out');
    expect(await fail('remember', { content: 'x', type: 'event' })).toContain('type');
    await call('forget', { id: 'm1' });
    expect(await fail('update', { id: 'm1', content: 'x' })).toContain('not_found');
  });

  test('a time to live ends what is remembered', async () => {
    const { call, memory, time } = await connect('scoped');
    await call('remember', { content: 'The build is broken', ttl: '24h' });
    expect((await memory.get('m1'))?.expiresAt).toBe('2026-03-02T00:00:00.000Z');
    const found = () => call<{ memories: { id: string }[] }>('recall', { query: 'The build is broken' });
    expect(idsOf(await found())).toEqual(['m1']);
    time.now = start + DAY;
    expect(idsOf(await found())).toEqual([]);
    expect(idsOf(await call<{ memories: { id: string }[] }>('list', {}))).toEqual([]);
  });

  test('a contradiction is stored and reported, and superseding hides the older memory', async () => {
    const { call, client, memory } = await connect('scoped');
    await memory.remember('Redux is the best state manager', { id: 'old' });
    const content = 'Redux is the best state manager, or Zustand';
    const told = await client.callTool({ name: 'remember', arguments: { content } });
    expect(told.structuredContent).toMatchObject({
      id: 'm1',
      outcome: 'created',
      conflicts: [{ id: 'old', similarity: expect.any(Number), content: 'Redux is the best state manager' }],
    });
    expect((told.content[0] as { readonly text: string }).text).toMatch(
      /^created m1\nCONTRADICTION DETECTED.*\n\[old\] \(wording \d\d % alike \(cosine\)\) "Redux is the best state manager"\nAsk the user/,
    );
    expect(await call('remember', { content, supersedes: 'old' })).toEqual({ id: 'm1', outcome: 'updated' });
    const found = await call<{ memories: { id: string }[] }>('recall', { query: content });
    expect(idsOf(found)).toEqual(['m1']);
    const { memories } = await call<{ memories: { id: string; weight: number }[] }>('list', {});
    expect(memories.find(({ id }) => id === 'old')?.weight).toBe(0.1);
  });

  test('a known memory keeps its fields, and the answer names those that were given otherwise', async () => {
    const { call, client } = await connect('scoped');
    const content = 'Ann is away';
    await call('remember', { content, tags: ['x'] });
    expect(await call('remember', { content, tags: ['x'] })).toEqual({ id: 'm1', outcome: 'deduplicated' });
    const given = { content, tags: ['y'], weight: 0.5 };
    expect(await call('remember', given)).toEqual({
      id: 'm1',
      outcome: 'deduplicated',
      differs: ['tags', 'weight'],
    });
    const told = await client.callTool({ name: 'remember', arguments: given });
    expect(told.content).toEqual([
      { type: 'text', text: 'deduplicated m1\nit was known, and its tags, weight stayed as before' },
    ]);
  });

  test('an invalidated memory is not listed, and remembering it again reports that', async () => {
    const { call, memory } = await connect('scoped');
    await call('remember', { content: 'Ann is away' });
    await memory.invalidate('m1', 'She is back');
    expect(idsOf(await call<{ memories: { id: string }[] }>('list', {}))).toEqual([]);
    expect(await call('remember', { content: 'Ann is away' })).toMatchObject({
      outcome: 'deduplicated',
      inactive: 'She is back',
    });
  });
});
