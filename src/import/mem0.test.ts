import { describe, expect, test } from 'vitest';
import { importAll, readContent, readSorted, withFile } from '../../test/import/import-text.ts';
import { live } from '../testing/live-memory.ts';
import { importItems, openSource } from './index.ts';

const tea = {
  id: '4f1b0c6e-7a35-4a0f-9d58-0d6f5a3f7c21',
  memory: 'Prefers green tea in the afternoon',
  hash: '0a1b',
  user_id: 'ann',
  run_id: 'run-7',
  metadata: { mood: 'calm' },
  categories: ['food', 'user_preferences'],
  created_at: '2025-02-03T04:05:06.123456-08:00',
  updated_at: null,
};
const bus = { id: 'b', memory: 'Drives a bus', created_at: '2025-03-01T00:00:00Z', updated_at: '2025-04-01' };

describe('a record imported again, whose memory was corrected here since', () => {
  const again = async (record: object) => {
    const { memory } = await live({ embedder: 'none' });
    const run = (content: object) =>
      withFile('all.json', [content], async (path, directory) =>
        importItems(memory, (await openSource(path, { format: 'mem0', directory })).items),
      );
    await run(tea);
    const [imported] = (await memory.list()).memories;
    await memory.update(imported!.id, { content: 'Prefers coffee' });
    const counts = await run(record);
    return { counts, content: (await memory.get(imported!.id))?.content };
  };

  test.each([
    ['never changed in mem0', tea],
    ['changed by a clock that is behind', { ...tea, updated_at: '2025-01-01T00:00:00Z' }],
  ])('is kept where the record was %s', async (_, record) => {
    expect(await again(record)).toMatchObject({
      counts: { updated: 0, differs: 1 },
      content: 'Prefers coffee',
    });
  });

  test.each([
    ['was changed later', { ...tea, updated_at: '2999-01-01T00:00:00Z' }],
    ['has no dates', { ...tea, created_at: null }],
  ])('is replaced where the record %s', async (_, record) => {
    expect(await again(record)).toMatchObject({ counts: { updated: 1 }, content: tea.memory });
  });
});

describe('what a record no longer has', () => {
  const full = { ...bus, expiration_date: '2030-01-01', categories: ['work'], actor_id: 'ann', role: 'user' };
  const bare = { ...bus, expiration_date: null, categories: [], actor_id: null };
  const all = async (...records: readonly object[]) => {
    const { counts, memories } = await importAll(
      'all.json',
      records.map((record) => ({ results: [record] })),
    );
    return { counts, memory: memories[0] };
  };

  test('is removed from its memory if the record was changed since', async () => {
    const later = { ...bare, updated_at: '2025-05-01' };
    const { counts, memory } = await all(full, later, later);
    expect(counts).toMatchObject([{ imported: 1 }, { updated: 1 }, { updated: 0, unchanged: 1 }]);
    expect(memory).toMatchObject({ content: bus.memory, tags: [], updatedAt: '2025-05-01T00:00:00.000Z' });
    expect([memory?.expiresAt, memory?.author, memory?.role]).toEqual([undefined, undefined, undefined]);
    expect(memory?.metadata).toEqual({ mem0Id: 'b' });
  });

  test.each([
    ['was not changed since', bare],
    ['has no dates', { ...bare, created_at: null, updated_at: null }],
  ])('stays if the record %s, because it may have been added here', async (_, again) => {
    const { counts, memory } = await all(full, again);
    expect(counts).toMatchObject([{ imported: 1 }, { updated: 0, unchanged: 1 }]);
    expect(memory).toMatchObject({ tags: ['work'], author: 'ann', expiresAt: '2030-01-01T00:00:00.000Z' });
  });
});

test('a result is a memory with its dates, categories and owners', async () => {
  const { inputs, unusable } = await readSorted('all.json', { results: [tea, bus] });
  expect(unusable).toEqual([]);
  expect(inputs).toMatchObject([
    {
      type: 'preference',
      content: 'Prefers green tea in the afternoon',
      tags: ['food', 'user_preferences'],
      metadata: { mood: 'calm', user: 'ann', mem0Id: tea.id },
      sessionId: 'run-7',
      createdAt: '2025-02-03T04:05:06.123456-08:00',
      sourceRef: `mem0:${tea.id}`,
    },
    { type: 'fact', content: 'Drives a bus', updatedAt: '2025-04-01', sourceRef: 'mem0:b' },
  ]);
  expect((await readSorted('list.json', [tea, bus])).inputs).toEqual(inputs);
});

test('timestamps since 1970 are read; an invalid time is refused, not taken for now', async () => {
  const counted = (time: unknown) => [{ ...bus, created_at: time, updated_at: null, expiration_date: time }];
  for (const time of [1_900_000_000, 1_900_000_000.0, 1_900_000_000_000, 19e14, 19e17, '1900000000']) {
    const { inputs } = await readSorted('all.json', counted(time));
    expect(inputs).toMatchObject([
      { createdAt: '2030-03-17T17:46:40.000Z', expiresAt: '2030-03-17T17:46:40.000Z' },
    ]);
  }
  // Not cut to 22:13:21.001: the product with 1000 is 1700000001001.9998.
  const [fraction] = (await readSorted('all.json', counted(1700000001.002))).inputs;
  expect(fraction?.createdAt).toBe('2023-11-14T22:13:21.002Z');
  const [unset] = (await readSorted('all.json', counted(0))).inputs;
  expect([unset?.createdAt, unset?.expiresAt]).toEqual([undefined, undefined]);
  for (const time of [-5, 1e21, true, ['2024'], 'soon']) {
    const { counts, memories } = await importAll('all.json', [counted(time)]);
    expect(counts).toMatchObject([{ imported: 0, skipped: 1 }]);
    expect(memories).toEqual([]);
  }
});

test('metadata and categories that are texts are kept', async () => {
  const { inputs } = await readSorted('all.json', [
    { ...bus, metadata: '{"mood":"calm"}', categories: 'food, user_preferences', actor_id: 7 },
    { ...tea, metadata: 'not JSON', categories: ['food', 7] },
  ]);
  expect(inputs).toMatchObject([
    { metadata: { mood: 'calm' }, tags: ['food', 'user_preferences'], type: 'preference', author: '7' },
    { metadata: { metadata: 'not JSON' }, tags: ['food', '7'] },
  ]);
});

test('categories that are objects give their names', async () => {
  const { inputs } = await readSorted('all.json', [
    {
      ...bus,
      categories: [{ id: 3, name: ' user_preferences ' }, { food: 'What they eat' }, 'travel', null],
    },
    { ...tea, categories: { milestones: 'Of a life', home: null, ' ': 1 } },
  ]);
  expect(inputs).toMatchObject([
    { tags: ['user_preferences', 'food', 'travel'], type: 'preference' },
    { tags: ['milestones', 'home'], type: 'event' },
  ]);
});

test('a record without an id is known by its text, and its place is kept', async () => {
  const { inputs } = await readSorted('all.json', [{ memory: 'Has no id' }, { memory: 'Nor has this' }]);
  expect(inputs.map(({ sourceRef }) => sourceRef)).toEqual(['all.json results[0]', 'all.json results[1]']);
  const again = await readSorted('other.json', [{ memory: 'Nor has this' }]);
  expect(again.inputs[0]?.id).toBe(inputs[1]?.id);
});

test('its graph is one fact a relation', async () => {
  const relations = [
    { source: 'ann', relationship: 'likes', target: 'tea' },
    { source: 'ann', relationship: 'owns', destination: 'dog' },
    { source: 'ann' },
  ];
  const { inputs, unusable } = await readSorted('all.json', { results: [bus], relations });
  expect(inputs.slice(1).filter(({ type }) => type !== 'entity')).toMatchObject([
    { type: 'fact', content: 'ann likes tea', sourceRef: 'mem0:relation/ann/likes/tea' },
    { content: 'ann owns dog' },
  ]);
  expect(unusable).toEqual(['all.json relations[2]: is a relation without source, relationship or target']);
});

test('a page of several, and records of another shape, are not taken for everything', async () => {
  const page = {
    count: 300,
    next: 'page 2',
    previous: null,
    results: [bus, { id: 'c' }, 'text', { memory: 5 }],
  };
  const { inputs, unusable } = await readSorted('page.json', page);
  expect(inputs).toHaveLength(1);
  expect(unusable).toEqual([
    'page.json results[1]: has no memory, or one that is not a string',
    'page.json results[2]: is not an object',
    'page.json results[3]: has no memory, or one that is not a string',
    'page.json next: says that there are more pages; export and import those too',
  ]);
});

test('a second import updates what has changed and doubles nothing', async () => {
  const { counts, memories } = await importAll('all.json', [
    { results: [tea, bus] },
    { results: [tea, bus] },
    { results: [{ ...tea, memory: 'Prefers black tea' }, bus] },
  ]);
  expect(counts).toMatchObject([
    { imported: 2, skipped: 0 },
    { imported: 0, updated: 0, unchanged: 2 },
    { imported: 0, updated: 1, unchanged: 1 },
  ]);
  expect(memories.map(({ content }) => content).sort()).toEqual(['Drives a bus', 'Prefers black tea']);
  expect(memories.find(({ sessionId }) => sessionId === 'run-7')).toMatchObject({
    createdAt: '2025-02-03T12:05:06.123Z',
  });
});

test('an invalid date is reported by the engine, and the rest is imported', async () => {
  const { counts } = await importAll('all.json', [{ results: [{ ...tea, created_at: 'soon' }, bus] }]);
  expect(counts).toMatchObject([{ imported: 1, skipped: 1 }]);
});

test('its share grows record by record', async () => {
  expect((await readContent('all.json', { results: [bus, { ...bus, id: 'd' }] })).shares).toEqual([
    0, 0.5, 1,
  ]);
});

describe('a file of several users', () => {
  const results = [
    { id: 'a', memory: 'Ann has diabetes', user_id: 'ann' },
    { id: 'b', memory: 'Bob plays chess', user_id: 'bob' },
    { id: 'c', memory: 'Answers are brief', agent_id: 'helper' },
  ];

  test('is refused without one being named, and says who they are', async () => {
    await expect(readContent('all.json', { results })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/data of 2 users: ann, bob; .*--user NAME/),
      details: { field: 'user', users: ['ann', 'bob'] },
    });
    await expect(readContent('all.json', { results }, { user: 'eve' })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/contains nothing of user eve; it names ann, bob/),
    });
  });

  test('gives the records of the one who is named alone, and says that others were left out', async () => {
    const relations = [
      { source: 'bob', relationship: 'owns', target: 'a board' },
      { source: 'bob', relationship: 'knows', target: 'eve', user_id: 'bob' },
    ];
    const { items } = await readContent(
      'all.json',
      { results, relations, next: 'page 2' },
      { user: 'bob', format: 'mem0' },
    );
    const contents = items.flatMap((item) => (item.kind === 'statement' ? [item.input.content] : []));
    expect(contents).toEqual(['Bob plays chess', 'bob', 'eve', 'bob knows eve']);
    const others = { kind: 'left-out', what: 'records of other users' };
    const nobodys = { kind: 'left-out', what: 'records of no user' };
    expect(items.filter(({ kind }) => kind === 'left-out')).toEqual([others, nobodys, nobodys]);
    expect(items.at(-1)).toMatchObject({ kind: 'unusable', where: 'all.json next' });
  });

  test('of one user needs no name, and takes it', async () => {
    const one = [results[0], results[2]];
    expect((await readSorted('all.json', one)).inputs).toHaveLength(2);
    expect((await readSorted('all.json', one, { user: 'ann' })).inputs).toHaveLength(2);
  });

  test('is what --user is for, and nothing else', async () => {
    await expect(readContent('some.txt', 'hello', { user: 'ann' })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('leave out --user'),
    });
  });
});

test('what mem0 adds is kept where it fits, and what has no place is named', async () => {
  const history = [{ old_memory: 'Prefers coffee', new_memory: tea.memory, event: 'UPDATE' }];
  const rich = {
    ...tea,
    immutable: true,
    history,
    actor_id: 'ann',
    role: 'user',
    score: 0.4,
    agent_id: null,
  };
  const { items } = await readContent('all.json', [rich, { ...bus, history: ['x'.repeat(20_000)] }]);
  expect(items.filter(({ kind }) => kind !== 'statement')).toEqual([
    { kind: 'left-out', what: 'hashes' },
    { kind: 'left-out', what: 'scores' },
    { kind: 'left-out', what: 'fields "history"' },
  ]);
  const { inputs } = await readSorted('all.json', [rich]);
  expect(inputs[0]).toMatchObject({ author: 'ann', role: 'user' });
  expect(inputs[0]?.metadata).toEqual({
    mood: 'calm',
    mem0Id: tea.id,
    user: 'ann',
    immutable: true,
    history,
  });
});

test('a memory that mem0 deleted is left out and counted', async () => {
  const added = [
    { id: '1', memory: 'Plays go', event: 'ADD' },
    { id: '2', memory: 'Smokes', event: 'DELETE' },
  ];
  const { inputs } = await readSorted('added.json', { results: added });
  expect(inputs.map(({ content }) => content)).toEqual(['Plays go']);
  const { items } = await readContent('added.json', { results: added });
  expect(items).toContainEqual({ kind: 'left-out', what: 'deleted memories' });
});

test('its graph comes as entities and relations, once', async () => {
  const relations = [
    { source: 'ann', relationship: 'works_at', target: 'acme_corp' },
    { source: 'ann', relationship: 'works_at', target: 'acme_corp' },
    { source: 'acme_corp', relationship: '→', destination: 'leeds' },
    { source: 'ann', target: 'nothing' },
  ];
  const text = JSON.stringify({ results: [tea], relations });
  const { counts, memories } = await importAll('all.json', [text, text]);
  expect(counts).toMatchObject([
    { imported: 6, unchanged: 1, skipped: 1 },
    { imported: 0, updated: 0, unchanged: 7, skipped: 1 },
  ]);
  const entities = memories.filter(({ type }) => type === 'entity');
  expect(entities.map(({ title, aliases }) => [title, aliases]).sort()).toEqual([
    ['acme corp', ['acme_corp']],
    ['ann', undefined],
    ['leeds', undefined],
  ]);
  const idOf = (name: string) => entities.find(({ title }) => title === name)?.id;
  const stated = memories.flatMap(({ relations: all = [] }) => all);
  // A relation whose name has no word is linked all the same, and states nothing.
  expect(stated).toMatchObject([{ from: idOf('ann'), name: 'works_at', to: idOf('acme corp') }]);
});

test('relations that are not a list are reported', async () => {
  const { unusable } = await readSorted('mem0.json', {
    results: [{ id: '1', memory: 'Likes tea' }],
    relations: { added: [] },
  });
  expect(unusable).toEqual(['mem0.json relations: is not a list']);
});

test('its own fields are kept if not all metadata fits', async () => {
  const long = { ...tea, metadata: { page: 'x'.repeat(12_250) } };
  const { inputs } = await readSorted('all.json', [long]);
  expect(inputs[0]?.metadata).toMatchObject({ mem0Id: tea.id, user: 'ann' });
  expect((await readContent('all.json', [long])).items).toContainEqual({
    kind: 'left-out',
    what: 'fields "page"',
  });
});

test('metadata that has the name of a field of mem0 is counted, not lost in silence', async () => {
  const { items } = await readContent('all.json', [
    {
      ...bus,
      user_id: 'ann',
      agent_id: null,
      immutable: true,
      metadata: { user: 'x', agent: 'y', immutable: 2 },
    },
  ]);
  expect(items).toMatchObject([
    { kind: 'statement', input: { metadata: { user: 'ann', agent: 'y', immutable: true } } },
    { kind: 'left-out', what: 'fields "immutable"' },
    { kind: 'left-out', what: 'fields "user"' },
  ]);
});
