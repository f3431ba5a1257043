import { expect, test } from 'vitest';
import { readContent, readSorted } from '../../test/import/import-text.ts';

test.each([
  ['an empty list', []],
  ['an empty answer', { results: [] }],
  ['a list of memories', [{ content: 'x' }]],
  ['an object of someone else', { users: [1] }],
  ['one memory over several lines', '{\n"content": "x"\n}'],
  ['lines of someone else', '{"a":1}\n{"a":2}'],
  ['two systems at once', [{ mapping: {} }, { chat_messages: [] }]],
  ['a text', 'hello'],
  ['nothing', ''],
])('%s is not guessed: the message names --format', async (_, content) => {
  await expect(readContent('unknown.json', content)).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/--format jsonl, .*mem0, letta, chatgpt, claude or engram/),
  });
});

test('lines with a content are JSON Lines whatever the ending', async () => {
  const { inputs } = await readSorted('lines.json', '{"content":"one"}\n{"content":"two"}\n');
  expect(inputs.map(({ content }) => content)).toEqual(['one', 'two']);
  expect((await readSorted('lines.data', '\n{"content":"one"}')).inputs).toHaveLength(1);
});

test('a document that was cut off is refused as a whole, with the place', async () => {
  const whole = JSON.stringify([{ mapping: { a: { message: null } }, current_node: 'a' }], undefined, 2);
  const cut = whole.slice(0, whole.length - 9);
  for (const format of [undefined, 'chatgpt'] as const) {
    await expect(readContent('conversations.json', cut, { format })).rejects.toMatchObject({
      code: 'unreadable_file',
      message: expect.stringMatching(/ends too early, in line \d/),
    });
  }
});

test.each(['mem0', 'letta', 'chatgpt', 'claude', 'engram'] as const)(
  'as %s a document of another shape is refused with what is expected, and an empty one is read',
  async (format) => {
    await expect(readContent('other.json', { users: [1] }, { format })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/other\.json is not (?:the|an) .*"/),
    });
    const empty = format === 'engram' ? { sessions: null, observations: [], prompts: null } : [];
    expect((await readContent('empty.json', empty, { format })).items).toEqual([]);
  },
);

test('no format of a file takes a folder', async () => {
  const { openSource } = await import('./source.ts');
  for (const format of ['jsonl', 'mcp-memory', 'claude'] as const) {
    await expect(openSource('.', { format })).rejects.toMatchObject({
      message: `. is a folder; name the ${format} files themselves`,
    });
  }
});

test('what commands print as JSON is read, and a memory comes back as it was', async () => {
  const memory = {
    ...{ id: 'tea', content: 'Likes tea', createdAt: '2026-01-01T00:00:00.000Z', revisionCount: 1 },
  };
  for (const printed of [
    { memories: [memory], total: 1 },
    { query: 'tea', hits: [{ rank: 1, memory }] },
    memory,
  ]) {
    const { items } = await readContent('answer.json', printed);
    expect(items).toEqual([expect.objectContaining({ kind: 'record', memory })]);
  }
  const { items } = await readContent('answer.json', { hits: [{ memory }, { memory: null }] });
  expect(items[1]).toEqual(expect.objectContaining({ kind: 'unusable', reason: 'is not a memory' }));
});
