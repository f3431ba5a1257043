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

test('what is as large as it may be is kept whole', async () => {
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
  expect(lost).toEqual(['fields "more"']);
});

test('metadata that no memory may have does not keep the rest out', async () => {
  let deep: unknown = 1;
  for (let at = 0; at < 9; at++) deep = [deep];
  const metadata = JSON.parse('{"__proto__":1,"half":"\\ud83d","mood":"calm"}');
  const { memory, lost } = await become({ metadata: { ...metadata, deep } });
  expect(memory.metadata).toEqual({ mem0Id: 'r1', user: 'ann', mood: 'calm' });
  expect(lost).toEqual(['__proto__', 'half', 'deep'].map((name) => `fields "${name}"`));
});

test('of two records with one field that is empty the other one says it', async () => {
  const { memory } = await become({ user_id: null, metadata: { user: 'of the metadata' } });
  expect(memory.metadata).toEqual({ mem0Id: 'r1', user: 'of the metadata' });
});

test('control characters and halves of surrogate pairs are taken out of a text', async () => {
  const { memory, lost } = await become({ memory: 'Rows\u001b[1m a\tcanoe\n\ud83d', actor_id: 'An\u0007n' });
  expect(memory.content).toBe('Rows[1m a\tcanoe\n\ufffd');
  expect(memory.author).toBe('Ann');
  expect(lost).toEqual(['control characters', 'control characters']);
});

test('control characters in a name or a tag do not keep a record out', async () => {
  const { memory, lost } = await become({
    id: 'r\u00071',
    role: 'us\u0007er',
    categories: ['fo\u0007od', '\u0007', '\ud83d'],
  });
  expect(memory).toMatchObject({ sourceRef: 'mem0:r1', role: 'user', tags: ['food', '\ufffd'] });
  expect(lost).toEqual(['control characters', 'control characters']);
});

test('an entity with control characters in its name is read, and so is what is known of it', async () => {
  const lines = [
    { type: 'entity', name: 'Ann\u0007 Gray', entityType: 'per\u0007son', observations: ['Plays the cello'] },
    { type: 'relation', from: 'Ann\u0007 Gray', relationType: 'likes', to: 'Ann\u0007 Gray' },
  ];
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  const { counts, memories } = await importAll('memory.jsonl', [text, text], { format: 'mcp-memory' });
  expect(counts).toMatchObject([{ skipped: 0 }, { imported: 0, updated: 0, skipped: 0 }]);
  expect(memories.map(({ content }) => content)).toContain('Plays the cello');
  expect(memories).toContainEqual(
    expect.objectContaining({ title: 'Ann Gray', kind: 'person', tags: ['person'] }),
  );
});

test('of a topic that is too long, and of a project with a long name, the record is kept', async () => {
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

test('a change before the creation is none', async () => {
  const { memory } = await become({ updated_at: '2025-02-03T04:05:05Z' });
  expect(memory.updatedAt).toBe('2025-02-03T04:05:06.000Z');
  const later = await become({ updated_at: '2025-02-03T04:05:07Z' });
  expect(later.memory.updatedAt).toBe('2025-02-03T04:05:07.000Z');
});

test('of sessions whose ids are too long each stays one of its own', async () => {
  const ids = await Promise.all(
    ['a', 'b', 'a'].map(async (end) => (await become({ run_id: 'r'.repeat(200) + end })).memory.sessionId),
  );
  expect(ids[0]).toMatch(/^session:/);
  expect(ids[2]).toBe(ids[0]);
  expect(ids[1]).not.toBe(ids[0]);
});
