import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readContent, readSorted, withFile } from '../../test/import/import-text.ts';
import { openSource, openSourcesByUser } from './source.ts';

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

test('an empty name is refused as one', async () => {
  for (const open of [openSource, openSourcesByUser]) {
    await expect(open('')).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('"" is not a path'),
    });
  }
});

test('lines with a content are JSON Lines whatever the ending', async () => {
  const { inputs } = await readSorted('lines.json', '{"content":"one"}\n{"content":"two"}\n');
  expect(inputs.map(({ content }) => content)).toEqual(['one', 'two']);
  expect((await readSorted('lines.data', '\n{"content":"one"}')).inputs).toHaveLength(1);
});

const records = {
  mem0: ['{"id":"1","memory":"Ann likes tea"}', '{"id":"2","memory":"Bob likes jazz","metadata":null}'],
  letta: [
    '{"id":"p1","archive_id":"a","text":"Ann likes tea"}',
    '{"id":"p2","archive_id":"a","text":"Bob likes jazz"}',
  ],
  claude: [
    '{"uuid":"c1","chat_messages":[{"uuid":"m1","sender":"human","text":"Ann likes tea"}]}',
    '{"uuid":"c2","chat_messages":[{"uuid":"m2","sender":"human","text":"Bob likes jazz"}]}',
  ],
  chatgpt: [
    '{"id":"c1","mapping":{"a":{"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["Ann likes tea"]}}}}}',
    '{"id":"c2","mapping":{"a":{"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["Bob likes jazz"]}}}}}',
  ],
} as const;

describe.each(Object.entries(records))('records of %s', (format, lines) => {
  test.each([
    ['records.jsonl', undefined],
    ['records.ndjson', undefined],
    ['records.json', undefined],
    ['records', format as keyof typeof records],
  ])('one a line are read as from their list, in %s as %s', async (name, said) => {
    const text = `\uFEFF${lines.join('\r\n')}\r\n\n`;
    const { inputs, unusable } = await readSorted(name, text, { format: said });
    expect(inputs.map(({ content }) => content)).toEqual(['Ann likes tea', 'Bob likes jazz']);
    expect(unusable).toEqual([]);
    const list = await readSorted('list.json', `[${lines.join(',')}]`);
    expect(inputs.map(({ id }) => id)).toEqual(list.inputs.map(({ id }) => id));
  });
});

test.each([
  ['an object', '{"results":[{"id":"1","memory":"Ann likes tea"}]}'],
  ['a list', '[{"id":"1","memory":"Ann likes tea"}]'],
])('a document of mem0 on one line of JSON Lines is read: %s', async (_, text) => {
  expect((await readSorted('page.jsonl', text)).inputs).toHaveLength(1);
});

test('of records one a line each user is chosen, and has a space', async () => {
  const text = '{"memory":"one","user_id":"ann"}\n{"memory":"two","user_id":"bob"}\n';
  await expect(readContent('team.jsonl', text)).rejects.toMatchObject({ details: { field: 'user' } });
  expect((await readSorted('team.jsonl', text, { user: 'bob' })).inputs).toHaveLength(1);
  const byUser = await withFile('team.jsonl', text, (path) => openSourcesByUser(path));
  expect(byUser.map(({ user }) => user)).toEqual(['ann', 'bob']);
});

test('of a page with records of several users, the missing pages are reported once', async () => {
  const results = ['ann', 'bob'].map((user) => ({ memory: `of ${user}`, user_id: user }));
  const page = JSON.stringify({ results, next: 'https://mem0.example/?page=2' });
  const kinds = await withFile('page.json', page, async (path) => {
    const found: string[] = [];
    for (const { items } of await openSourcesByUser(path))
      for await (const { kind } of items) found.push(kind);
    return found;
  });
  expect(kinds).toEqual(['statement', 'unusable', 'statement']);
});

test.each([
  ['memories.jsonl', '{"content":"one"}\n{"content":"two"}\n'],
  ['one.json', '{"content":"one"}'],
  ['graph.jsonl', '{"type":"entity","name":"Ann","entityType":"person","observations":[]}\n{"type":"x"}\n'],
  ['notes.md', '# Pump\nIt leaks.\n'],
  ['empty.json', ''],
])('a file that names no users is refused as one, not as damaged JSON: %s', async (name, text) => {
  await expect(withFile(name, text, (path) => openSourcesByUser(path))).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('names no users; leave out --space-per-user'),
  });
});

test('lines that cannot be one list are refused as a whole, with what to do', async () => {
  const [first, second] = records.mem0;
  for (const format of [undefined, 'mem0'] as const) {
    await expect(
      readContent('a.jsonl', `${first}\n${second.slice(0, 9)}\n`, { format }),
    ).rejects.toMatchObject({
      code: 'unreadable_file',
      message: expect.stringMatching(/a\.jsonl: line 2 is not valid JSON/),
    });
    const pages = `{"results":[${first}]}\n{"results":[${second}]}`;
    await expect(readContent('a.jsonl', pages, { format })).rejects.toMatchObject({
      code: 'unreadable_file',
      message: expect.stringMatching(/contains 2 JSON documents, one a line; make each of them a file/),
    });
  }
});

test('lines of our own, or of nobody that is known, stay lines', async () => {
  const own = '{"content":"x","memory":"y"}';
  expect((await readSorted('a.jsonl', `${own}\n`)).unusable).toEqual([]);
  expect((await readSorted('a.json', `${own}\n${own}\n`)).inputs.map(({ content }) => content)).toEqual([
    'x',
    'x',
  ]);
  const printed = '{"memory":{"id":"a"},"outcome":"created"}\n';
  const { items } = await readContent('b.jsonl', `${printed}{"content":"z"}\n`);
  expect(items.map((each) => each.kind === 'statement' && each.where)).toEqual([
    expect.stringMatching('b.jsonl:1'),
    expect.stringMatching('b.jsonl:2'),
  ]);
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

test.each(['note.md', 'note.txt'])('a gzipped %s is said to be one', async (name) => {
  const { unusable } = await readSorted(name, gzipSync('# Tea\n\nAnn likes tea'));
  expect(unusable).toEqual([`${name}: is gzipped; unpack it first`]);
});

test.each(['utf16le', 'utf16be'] as const)(
  'text in %s is said to be, with a mark or without',
  async (encoding) => {
    for (const content of ['# Tee\n\nJürgen trinkt Tee', '\uFEFF# Tee\n\nJürgen trinkt Tee']) {
      const little = Buffer.from(content, 'utf16le');
      const bytes = encoding === 'utf16le' ? little : little.swap16();
      for (const name of ['note.md', 'note.txt']) {
        const { unusable } = await readSorted(name, bytes);
        expect(unusable).toEqual([`${name}: is UTF-16; save the file as UTF-8`]);
      }
      await expect(readContent('note.json', bytes)).rejects.toMatchObject({
        code: 'unreadable_file',
        message: expect.stringMatching(/note\.json is UTF-16; save the file as UTF-8$/),
      });
    }
    const control = await readSorted('note.txt', 'one\0two');
    expect(control.unusable).toEqual([]);
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
