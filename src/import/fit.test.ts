import { expect, test } from 'vitest';
import { importAll, readContent } from '../../test/import/import-text.ts';

const record = {
  id: 'r1',
  memory: 'Rows a canoe',
  user_id: 'ann',
  created_at: '2025-02-03T04:05:06Z',
};

/** The memory that a record becomes, and what of the record was left out. */
async function become(fields: object, tags?: readonly string[]) {
  const document = [{ ...record, ...fields }];
  const options = { format: 'mem0', tags } as const;
  const { counts, memories } = await importAll('all.json', [document, document], options);
  expect(counts).toMatchObject([
    { imported: 1, skipped: 0 },
    { imported: 0, updated: 0, unchanged: 1, skipped: 0 },
  ]);
  const { items } = await readContent('all.json', document, options);
  const lost = items.flatMap((item) => (item.kind === 'left-out' ? [item.what] : []));
  return { memory: memories[0]!, lost };
}

test('values at their limit are kept whole', async () => {
  const tags = [...Array(63).keys()].map((at) => `tag ${at}`);
  const long = 'x'.repeat(128);
  const { memory, lost } = await become({ categories: [...tags, long], run_id: 'r'.repeat(200) });
  expect(lost).toEqual([]);
  expect(memory.tags).toEqual([...tags, long]);
  expect(memory.sessionId).toBe('r'.repeat(200));
});

test('tags that are too long or too many are left out, those of the import never', async () => {
  const tags = [...Array(70).keys()].map((at) => `tag ${at}`);
  const { memory, lost } = await become({ categories: ['x'.repeat(129), 'mine', ...tags] }, [
    'mine',
    'added',
  ]);
  expect(memory.tags).toHaveLength(64);
  expect(memory.tags).toEqual([...tags.slice(0, 62), 'mine', 'added']);
  expect(lost).toEqual(Array(1 + 70 - 62).fill('tags'));
});

test('metadata is kept in its order, the owners first, as much as there is room for', async () => {
  const { memory, lost } = await become({
    metadata: { notes: 'n'.repeat(11_000), more: 'm'.repeat(2_000), user: 'of the metadata', last: 1 },
  });
  expect(memory.metadata).toEqual({ mem0Id: 'r1', user: 'ann', notes: 'n'.repeat(11_000), last: 1 });
  expect(lost).toEqual(['fields "more"', 'fields "user"']);
});

test('the owner is kept if the other metadata alone fills the limit', async () => {
  const { memory, lost } = await become({ metadata: { notes: 'n'.repeat(12_250) } });
  expect(memory.metadata).toEqual({ mem0Id: 'r1', user: 'ann' });
  expect(lost).toEqual(['fields "notes"']);
});

test('invalid metadata does not exclude the rest', async () => {
  let deep: unknown = 1;
  for (let at = 0; at < 9; at++) deep = [deep];
  const metadata = JSON.parse('{"__proto__":1,"half":"\\ud83d","mood":"calm"}');
  const { memory, lost } = await become({ metadata: { ...metadata, deep } });
  expect(memory.metadata).toEqual({ mem0Id: 'r1', user: 'ann', mood: 'calm' });
  expect(lost).toEqual(['__proto__', 'half', 'deep'].map((name) => `fields "${name}"`));
});

test('a field that is null in the record is taken from its metadata', async () => {
  const { memory } = await become({ user_id: null, metadata: { user: 'of the metadata' } });
  expect(memory.metadata).toEqual({ mem0Id: 'r1', user: 'of the metadata' });
});

test('control characters and halves of surrogate pairs are taken out of a text', async () => {
  const { memory, lost } = await become({ memory: 'Rows\u001b[1m a\tcanoe\n\ud83d', actor_id: 'An\u0007n' });
  expect(memory.content).toBe('Rows[1m a\tcanoe\n\ufffd');
  expect(memory.author).toBe('Ann');
  expect(lost).toEqual(['control characters', 'control characters']);
});

test('a record is kept if its topic or the name of its project is too long', async () => {
  const observation = (id: number, project: string) => ({
    id,
    session_id: 's1',
    type: 'bugfix',
    title: 'Leak',
    content: `A pool leaked ${id}`,
    project,
    scope: 'project',
    topic_key: 't'.repeat(513),
    created_at: '2025-01-01 10:05:00',
  });
  const long = 'p'.repeat(5000);
  const document = {
    version: '0.1.0',
    sessions: [],
    observations: [observation(1, `${long}1`), observation(2, `${long}2`), observation(3, 'shop')],
    prompts: [],
  };
  const { counts, memories } = await importAll('engram.json', [document], { format: 'engram' });
  expect(counts).toMatchObject([{ imported: 3, skipped: 0 }]);
  expect(new Set(memories.map(({ scope }) => scope)).size).toBe(3);
  expect(memories.map(({ topicKey }) => topicKey)).toEqual([undefined, undefined, undefined]);
});

test('invalid characters in ids, tags or roles do not exclude a record', async () => {
  const { memory, lost } = await become({
    id: 'r\u00001',
    categories: ['bo\u0007ats', '\u0007', 'boats', 'half\ud83d'],
    role: `us\u001ber${' '.repeat(60)}😀`,
  });
  expect(memory).toMatchObject({ tags: ['boats', 'half\ufffd'], role: 'user', sourceRef: 'mem0:r1' });
  expect(lost).toEqual(Array(3).fill('control characters'));
});

test.each([
  ['u'.repeat(70), 'u'.repeat(64)],
  [`${'u'.repeat(63)}😀`, `${'u'.repeat(63)}\ufffd`],
  [`${' '.repeat(70)}user`, 'user'],
])('of a role that is too long as much is kept as there is room for: %j', async (role, kept) => {
  expect((await become({ role })).memory.role).toBe(kept);
});

test('a surrogate pair at the limit is not cut in half', async () => {
  expect((await become({ actor_id: `${'a'.repeat(199)}😀` })).memory.author).toBe(`${'a'.repeat(199)}\ufffd`);
  const observation = { id: 1, sync_id: 'o', title: `${'t'.repeat(998)}😀 and on`, content: 'Likes tea' };
  const document = { sessions: [], prompts: [], observations: [observation] };
  const { memories } = await importAll('all.json', [document], { format: 'engram' });
  expect(memories[0]?.title).toBe(`${'t'.repeat(998)}\ufffd…`);
});

test.each([
  ['tea\u0007', 'tea', ['control characters']],
  ['t'.repeat(512), 't'.repeat(512), []],
  ['t'.repeat(513), undefined, ['topics']],
  ['\u0007', undefined, ['control characters']],
])('a topic is kept as a whole or not at all: %j', async (topic, kept, lost) => {
  const observation = { id: 1, sync_id: 'o', title: 'Te\u0007a', content: 'Likes tea', topic_key: topic };
  const document = { sessions: [], prompts: [], observations: [observation] };
  const { memories } = await importAll('all.json', [document], { format: 'engram' });
  expect(memories).toMatchObject([{ title: 'Tea', topicKey: kept }]);
  const { items } = await readContent('all.json', document, { format: 'engram' });
  expect(items.flatMap((item) => (item.kind === 'left-out' ? [item.what] : []))).toEqual(
    expect.arrayContaining(['control characters', ...lost]),
  );
});

test.each(['note.md', 'note.txt'])(
  'a control character in %s is taken out, and its section is imported',
  async (name) => {
    const file = 'First page.\f\n\nSecond \u001b[1mpage\u001b[0m, <pri\0vate>4711</private>.\n';
    const { items } = await readContent(name, file);
    const contents = items.flatMap((item) => (item.kind === 'statement' ? [item.input.content] : []));
    expect(contents.join('\n\n')).toBe('First page.\n\nSecond [1mpage[0m, [REDACTED].');
    expect(items.flatMap((item) => (item.kind === 'left-out' ? [item.what] : []))).toEqual([
      'control characters',
    ]);
    const { counts } = await importAll(name, [file]);
    expect(counts).toMatchObject([{ imported: contents.length, skipped: 0 }]);
  },
);

test('an entity and its relations are imported without characters that no memory holds', async () => {
  const lines = [
    { type: 'entity', name: 'A\u0007nn', entityType: 'per\u0007son', observations: ['Likes tea'] },
    { type: 'entity', name: 'Ben', entityType: 'person', observations: [] },
    { type: 'relation', from: 'A\u0007nn', to: 'Ben', relationType: 'kn\u0007ows' },
  ];
  const document = lines.map((line) => JSON.stringify(line)).join('\n');
  const { counts, memories } = await importAll('graph.jsonl', [document], { format: 'mcp-memory' });
  expect(counts).toMatchObject([{ imported: 4, linked: 3, skipped: 0 }]);
  expect(memories.find(({ type, title }) => type === 'entity' && title === 'Ann')).toMatchObject({
    kind: 'person',
    tags: ['person'],
  });
});

test('a change before the creation is ignored', async () => {
  const { memory } = await become({ updated_at: '2025-02-03T04:05:05Z' });
  expect(memory.updatedAt).toBe('2025-02-03T04:05:06.000Z');
  const later = await become({ updated_at: '2025-02-03T04:05:07Z' });
  expect(later.memory.updatedAt).toBe('2025-02-03T04:05:07.000Z');
});

test('a record with an invalid time of change is skipped', async () => {
  const document = [{ ...record, updated_at: 'yesterday' }];
  const { counts } = await importAll('all.json', [document], { format: 'mem0' });
  expect(counts).toMatchObject([{ imported: 0, skipped: 1 }]);
});

test.each(['half\ud83d', 'nul\u0000'])(
  'a session %j that no memory holds has an id of its own',
  async (id) => {
    expect((await become({ run_id: id })).memory.sessionId).toMatch(/^session:/);
  },
);

test('sessions with ids that are too long stay separate', async () => {
  const ids = await Promise.all(
    ['a', 'b', 'a'].map(async (end) => (await become({ run_id: 'r'.repeat(200) + end })).memory.sessionId),
  );
  expect(ids[0]).toMatch(/^session:/);
  expect(ids[2]).toBe(ids[0]);
  expect(ids[1]).not.toBe(ids[0]);
});
