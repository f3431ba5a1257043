import { expect, test } from 'vitest';
import { importAll, readContent, readSorted } from '../../test/import/import-text.ts';

const conversation = {
  uuid: 'c-1',
  name: 'Sourdough',
  created_at: '2025-05-01T10:00:00.000000Z',
  updated_at: '2025-05-01T10:05:00.000000Z',
  chat_messages: [
    {
      uuid: 'm-1',
      sender: 'human',
      text: 'How warm should the dough be?',
      content: [{ type: 'text', text: 'How warm should the dough be?' }],
      created_at: '2025-05-01T10:00:01.000000Z',
      updated_at: '2025-05-01T10:00:01.000000Z',
      attachments: [{ file_name: 'recipe.txt', extracted_content: 'a recipe' }],
    },
    {
      uuid: 'm-2',
      sender: 'assistant',
      text: 'This block cannot be shown here.\n\nAbout 25 °C.',
      content: [
        { type: 'thinking', thinking: 'Let me see.' },
        { type: 'tool_use', name: 'search', input: {} },
        { type: 'text', text: 'About 25 °C.' },
        { type: 'text', text: 'A little less overnight.' },
      ],
      created_at: '2025-05-01T10:00:09.000000Z',
    },
    { uuid: 'm-3', sender: 'assistant', text: '', content: [{ type: 'tool_result' }] },
  ],
};

test('a message is an event with the words that were said', async () => {
  const { inputs, unusable } = await readSorted('conversations.json', [conversation]);
  expect(unusable).toEqual([]);
  expect(inputs).toMatchObject([
    {
      type: 'event',
      title: 'Sourdough',
      content: 'How warm should the dough be?',
      tags: ['user'],
      role: 'user',
      sessionId: 'c-1',
      createdAt: '2025-05-01T10:00:01.000000Z',
      sourceRef: 'claude:c-1/m-1',
    },
    { content: 'About 25 °C.\n\nA little less overnight.', tags: ['assistant'], role: 'assistant' },
  ]);
});

test('what is left out of a conversation is counted', async () => {
  const { items } = await readContent('conversations.json', [conversation]);
  expect(items.flatMap((item) => (item.kind === 'left-out' ? [item.what] : []))).toEqual([
    'attachments',
    ...Array(3).fill('thoughts and tools'),
  ]);
});

test('an older export has a text alone', async () => {
  const message = { uuid: 'm-9', sender: 'human', text: 'Hello there', created_at: '2024-01-01T00:00:00Z' };
  const older = { uuid: 'c-0', name: '', chat_messages: [message] };
  const { inputs } = await readSorted('conversations.json', [older]);
  expect(inputs).toMatchObject([{ content: 'Hello there', title: undefined }]);
});

test('a message of tools alone is left out, not stored as the notice in its text', async () => {
  const message = {
    uuid: 'm-9',
    sender: 'assistant',
    text: 'This block is not supported on your current device yet.',
    content: [{ type: 'tool_use', name: 'search', input: {} }],
  };
  const { items } = await readContent('conversations.json', [{ uuid: 'c-0', chat_messages: [message] }]);
  expect(items).toEqual([{ kind: 'left-out', what: 'thoughts and tools' }]);
});

test('a message without a time is as late as the one before it', async () => {
  const [ask] = conversation.chat_messages;
  const untimed = { uuid: 'm-8', sender: 'assistant', text: 'Later', created_at: null };
  const chat = { ...conversation, chat_messages: [{ ...untimed, uuid: 'm-7', text: 'First' }, ask, untimed] };
  const { inputs } = await readSorted('conversations.json', [chat]);
  expect(inputs.map(({ createdAt }) => createdAt)).toEqual([
    '2025-05-01T10:00:00.000000Z',
    '2025-05-01T10:00:01.000000Z',
    '2025-05-01T10:00:01.000000Z',
  ]);
});

test('what is no conversation or message is named by its place', async () => {
  const broken = { uuid: 'c-2', chat_messages: [5, { sender: 'robot', text: 'x' }, { sender: 'human' }] };
  const { inputs, unusable } = await readSorted('conversations.json', [
    conversation,
    broken,
    { uuid: 'c-3' },
  ]);
  expect(inputs).toHaveLength(2);
  expect(unusable).toEqual([
    'conversations.json [1].chat_messages[0]: is not an object',
    'conversations.json [1].chat_messages[1]: has a sender that is neither human nor assistant',
    'conversations.json [1].chat_messages[2]: has neither a text nor a list of content',
    'conversations.json [2]: is not a conversation with a list of chat_messages',
  ]);
});

test('a second import, with a longer conversation, adds its new messages', async () => {
  const next = { uuid: 'm-4', sender: 'human', text: 'Thank you', created_at: '2025-05-02T00:00:00Z' };
  const longer = { ...conversation, chat_messages: [...conversation.chat_messages, next] };
  const { counts, memories } = await importAll('conversations.json', [
    [conversation],
    [conversation],
    [longer],
  ]);
  expect(counts).toMatchObject([
    { imported: 2, skipped: 0 },
    { imported: 0, updated: 0, unchanged: 2 },
    { imported: 1, updated: 0, unchanged: 2 },
  ]);
  expect(memories).toHaveLength(3);
});

const memories = [
  {
    conversations_memory:
      '**Work context**\n\nAnn builds queues.\n\n**Personal context**\n\nShe bakes bread.\n\n**Personal context**\n\nShe has a canoe.',
    project_memories: { 'p-1': 'The queue is written in Go.' },
    account_uuid: 'ann',
  },
];

test('what Claude remembers is a memory a section, known again when it is rewritten', async () => {
  const { inputs, unusable } = await readSorted('memories.json', memories);
  expect(unusable).toEqual([]);
  expect(inputs).toMatchObject([
    { type: 'profile', title: 'Work context', content: 'Ann builds queues.', sourceRef: 'claude:memory' },
    { type: 'profile', title: 'Personal context', content: 'She bakes bread.' },
    { type: 'profile', title: 'Personal context', content: 'She has a canoe.' },
    {
      type: 'context',
      content: 'The queue is written in Go.',
      metadata: { project: 'p-1' },
      sourceRef: 'claude:memory/p-1',
    },
  ]);
  const rewritten = JSON.stringify(memories).replace('builds queues', 'builds ovens');
  const { counts } = await importAll('memories.json', [memories, rewritten]);
  expect(counts).toMatchObject([
    { imported: 4, skipped: 0 },
    { imported: 0, updated: 1, unchanged: 3 },
  ]);
});

test('memories of another shape are named by their place', async () => {
  const odd = [{ conversations_memory: null, project_memories: { 'p-2': 7 } }, 'text'];
  const { inputs, unusable } = await readSorted('memories.json', odd);
  expect(inputs).toEqual([]);
  expect(unusable).toEqual([
    'memories.json [0].project_memories.p-2: is not a string',
    'memories.json [1]: is not an object',
  ]);
});

test('an export of two accounts is not one space', async () => {
  const two = [
    { ...conversation, account: { uuid: 'ann' } },
    { ...conversation, uuid: 'c-9', account: { uuid: 'bob' } },
  ];
  await expect(readSorted('conversations.json', two)).rejects.toMatchObject({ code: 'invalid_argument' });
  const { inputs } = await readSorted('conversations.json', two, { user: 'bob' });
  expect(inputs.map(({ sessionId }) => sessionId)).toEqual(['c-9', 'c-9']);
});

test('a text is read where its block is empty; a summary is counted; memories that are no texts are named', async () => {
  const [first] = conversation.chat_messages;
  const { items } = await readContent('conversations.json', [
    {
      ...conversation,
      summary: 'They speak of dough.',
      chat_messages: [{ ...first, content: [{ type: 'text', text: null }], attachments: [] }],
    },
  ]);
  expect(items).toMatchObject([
    { kind: 'statement', input: { content: 'How warm should the dough be?' } },
    { kind: 'left-out', what: 'summaries of conversations' },
  ]);
  const strange = { conversations_memory: ['Bakes'], project_memories: ['Bread'] };
  const nothing = { conversations_memory: null, project_memories: null };
  const empty = { conversations_memory: '', project_memories: { 'p-3': '', 'p-4': null, 'p-5': ' \n' } };
  expect(await readSorted('memories.json', [strange, nothing, empty])).toEqual({
    inputs: [],
    unusable: [
      'memories.json [0].conversations_memory: is not a string',
      'memories.json [0].project_memories: is not an object with a text for each project',
    ],
  });
});

test('the memories of several accounts are refused until one is chosen', async () => {
  const of = (account: string) => ({ conversations_memory: `About ${account}.`, account_uuid: account });
  const file = [of('ann'), of('bob')];
  await expect(readContent('memories.json', file)).rejects.toMatchObject({ details: { field: 'user' } });
  const { inputs } = await readSorted('memories.json', file, { user: 'bob' });
  expect(inputs.map(({ content }) => content)).toEqual(['About bob.']);
});

test.each([
  ['---\nname: Ann\n---\n\nShe bakes bread.', /name: Ann[\s\S]*She bakes bread/],
  ['---\nShe says: [so\n---\n\nShe bakes bread.', /She says: \[so[\s\S]*She bakes bread/],
])('what Claude remembers has no front matter: %j', async (text, words) => {
  const { inputs, unusable } = await readSorted('memories.json', [{ conversations_memory: text }]);
  expect(unusable).toEqual([]);
  expect(inputs.map(({ title, content }) => `${title}\n${content}`).join('\n')).toMatch(words);
});
