import { expect, test } from 'vitest';
import { importAll, readContent, readSorted } from '../../test/import/import-text.ts';

const message = (role: string, parts: readonly unknown[], more: Record<string, unknown> = {}) => ({
  author: { role, name: null, metadata: {} },
  create_time: 1_714_557_600.5,
  update_time: null,
  content: { content_type: 'text', parts },
  recipient: 'all',
  metadata: {},
  ...more,
});
const node = (parent: string | null, children: readonly string[], said: unknown = null) => ({
  message: said,
  parent,
  children,
});

/** root → hidden → ask → (first answer | second answer → thanks), of which the second was kept. */
const conversation = {
  conversation_id: 'conv-1',
  title: 'Moss in the lawn',
  create_time: 1_714_557_000,
  update_time: 1_714_558_000,
  current_node: 'thanks',
  mapping: {
    root: node(null, ['hidden']),
    hidden: node(
      'root',
      ['ask'],
      message('user', ['custom instructions'], { metadata: { is_visually_hidden_from_conversation: true } }),
    ),
    ask: node('hidden', ['first', 'second'], message('user', ['Why is there moss?'])),
    first: node('ask', [], message('assistant', ['It is too wet.'])),
    second: node(
      'ask',
      ['thought'],
      message('assistant', ['Shade and acid soil.', { content_type: 'image_asset_pointer' }], {
        content: {
          content_type: 'multimodal_text',
          parts: ['Shade and acid soil.', { content_type: 'image_asset_pointer' }],
        },
      }),
    ),
    thought: node(
      'second',
      ['call'],
      message('assistant', [], { content: { content_type: 'thoughts', thoughts: [] } }),
    ),
    call: node('thought', ['tool'], message('assistant', ['search(moss)'], { recipient: 'web.search' })),
    tool: node('call', ['thanks'], message('tool', ['a page'])),
    thanks: node('tool', [], message('user', ['Thanks'], { create_time: null })),
  },
};

test('a message of the current branch is an event; others, hidden ones and tools are left out', async () => {
  const { inputs, unusable } = await readSorted('conversations.json', [conversation]);
  expect(unusable).toEqual([]);
  expect(inputs).toMatchObject([
    {
      type: 'event',
      title: 'Moss in the lawn',
      content: 'Why is there moss?',
      tags: ['user'],
      role: 'user',
      sessionId: 'conv-1',
      createdAt: '2024-05-01T10:00:00.500Z',
      sourceRef: 'chatgpt:conv-1/ask',
    },
    { content: 'Shade and acid soil.', tags: ['assistant'] },
    { content: 'Thanks', createdAt: '2024-05-01T10:00:00.500Z' },
  ]);
});

test('a message without a time is as late as the one before it in its branch', async () => {
  const said = (text: string, time: unknown) => message('user', [text], { create_time: time });
  const mapping = {
    a: node(null, ['b'], said('begins', null)),
    b: node('a', ['c'], said('asks', 1_714_557_600)),
    c: node('b', ['d'], message('tool', ['a page'], { create_time: 1_714_557_660 })),
    d: node('c', ['e'], said('answers', null)),
    e: node('d', ['f'], said('is damaged', 'no time')),
    f: node('e', [], said('ends', null)),
  };
  const { inputs } = await readSorted('c.json', [{ ...conversation, current_node: 'f', mapping }]);
  expect(inputs.map(({ content, createdAt }) => [content, createdAt])).toEqual([
    ['begins', '2024-05-01T09:50:00.000Z'],
    ['asks', '2024-05-01T10:00:00.000Z'],
    ['answers', '2024-05-01T10:01:00.000Z'],
    ['is damaged', 'no time'],
    ['ends', '2024-05-01T10:01:00.000Z'],
  ]);
});

test('what is left out of a conversation is counted', async () => {
  const { items } = await readContent('c.json', [conversation]);
  const lost = items.flatMap((item) => (item.kind === 'left-out' ? [item.what] : []));
  expect(lost.toSorted()).toEqual([
    'messages of other branches',
    // Hidden, thought, call and tool.
    ...Array(4).fill('messages of tools, instructions and thoughts'),
    'pictures and sounds',
  ]);
});

test('times in milliseconds, as text or in ISO 8601 are times too', async () => {
  for (const time of [1_714_557_600_500, '1714557600.5', '2024-05-01T10:00:00.500Z']) {
    const mapping = { a: node(null, [], message('user', ['Hello'], { create_time: time })) };
    const { memories } = await importAll('c.json', [[{ ...conversation, current_node: 'a', mapping }]]);
    expect(memories).toMatchObject([{ createdAt: '2024-05-01T10:00:00.500Z' }]);
  }
});

test('without a current_node a conversation without branches is read, one with branches is not', async () => {
  const { current_node: _, ...unmarked } = conversation;
  const straight = {
    ...unmarked,
    mapping: { a: node(null, ['b']), b: node('a', [], message('user', ['Hello'])) },
  };
  expect((await readSorted('c.json', [straight])).inputs).toMatchObject([{ content: 'Hello' }]);
  expect(await readSorted('c.json', [unmarked, { ...conversation, current_node: 'gone' }])).toEqual({
    inputs: [],
    unusable: [0, 1].map(
      (index) =>
        `c.json [${index}]: has no current_node in its mapping, so which of its branches counts is not known`,
    ),
  });
});

test('a conversation without messages is no problem', async () => {
  const { items } = await readContent('c.json', [{ title: 'New chat', mapping: {} }], { format: 'chatgpt' });
  expect(items).toEqual([]);
});

test('a branch whose beginning is missing or runs in a circle is read as far as it goes, and reported', async () => {
  const { root: _, ...cut } = conversation.mapping;
  const circle = { ...conversation.mapping, root: node('thanks', ['hidden']) };
  for (const mapping of [cut, circle]) {
    const { inputs, unusable } = await readSorted('c.json', [{ ...conversation, mapping }]);
    expect(inputs).toHaveLength(3);
    expect(unusable).toEqual(['c.json [0]: has a branch whose beginning is missing; only its end was read']);
  }
});

test('contents of an unknown kind and conversations without a tree are named by their place', async () => {
  const mapping = {
    a: node(null, ['b'], message('user', [], { content: { content_type: 'hologram', parts: ['x'] } })),
    b: node('a', ['c'], message('user', [], { content: { content_type: 'text' } })),
    c: node('b', [], message('user', ['  '])),
  };
  const strange = { ...conversation, current_node: 'c', mapping };
  const { inputs, unusable } = await readSorted('c.json', [strange, { title: 'x' }, null]);
  expect(inputs).toEqual([]);
  expect(unusable).toEqual([
    'c.json [0].mapping.a: has a content of a kind that is not known',
    'c.json [0].mapping.b: has a content of a kind that is not known',
    'c.json [1]: is not a conversation with a mapping',
    'c.json [2]: is not a conversation with a mapping',
  ]);
});

test('a message longer than a memory may be is split; a second import doubles nothing', async () => {
  const long = Array.from({ length: 3000 }, (_, each) => `Sentence ${each} of some words. `).join('');
  const mapping = { a: node(null, [], message('user', [long])) };
  const longOne = { ...conversation, conversation_id: 'conv-2', current_node: 'a', mapping };
  const document = [conversation, longOne];
  const { counts, memories } = await importAll('conversations.json', [document, document]);
  expect(counts).toMatchObject([
    { imported: 6, skipped: 0 },
    { imported: 0, updated: 0, unchanged: 6 },
  ]);
  const pieces = memories.filter(({ sessionId }) => sessionId === 'conv-2');
  expect(pieces.map(({ sourceRef }) => sourceRef)).toEqual(Array(3).fill('chatgpt:conv-2/a'));
  expect(pieces.every(({ content }) => Buffer.byteLength(content) <= 32 * 1024)).toBe(true);
});

test('its share grows conversation by conversation', async () => {
  const { shares } = await readContent('c.json', { conversations: [conversation, conversation] });
  expect(shares).toEqual([...Array(9).fill(0), ...Array(9).fill(0.5), 1]);
});

test('of what was spoken, the transcription is read; the text of any other part is not', async () => {
  const parts = [
    { content_type: 'audio_transcription', text: 'Water the ferns', direction: 'in' },
    { content_type: 'audio_asset_pointer', asset_pointer: 'file-service://1' },
    { content_type: 'other', text: 'a part of a kind that is not known' },
  ];
  const content = { content_type: 'multimodal_text', parts };
  const mapping = { a: node(null, [], { ...message('user', []), content }) };
  const { items } = await readContent('c.json', [{ ...conversation, current_node: 'a', mapping }]);
  expect(items).toMatchObject([
    { kind: 'statement', input: { content: 'Water the ferns' } },
    ...Array(2).fill({ kind: 'left-out', what: 'pictures and sounds' }),
  ]);
});

test('files and parts that are no text are counted, a picture once', async () => {
  const picture = { content_type: 'image_asset_pointer', asset_pointer: 'file-service://1' };
  const attached = (...names: string[]) => ({ metadata: { attachments: names.map((name) => ({ name })) } });
  const mapping = {
    a: node(null, ['b'], message('user', ['Read this'], attached('plan.pdf'))),
    b: node('a', ['c'], message('user', [''], attached('other.pdf'))),
    c: node('b', [], {
      ...message('user', [], attached('cat.png')),
      content: { content_type: 'multimodal_text', parts: [picture, 'My cat', null, ['nested'], 7] },
    }),
  };
  const { items } = await readContent('c.json', [{ ...conversation, current_node: 'c', mapping }]);
  expect(items.map((item) => (item.kind === 'left-out' ? item.what : item.kind))).toEqual([
    'statement',
    'attachments',
    'attachments',
    'statement',
    ...Array(3).fill('pictures and sounds'),
  ]);
});

test.each([
  ['Prices fell.\uE200cite\uE202turn0search0\uE202turn1view2\uE201', 'Prices fell.'],
  ['Prices fell \uE200cite\uE202turn0search0\uE201.', 'Prices fell.'],
  ['In \uE200entity\uE202["place","Rome","city"]\uE201, so far', 'In Rome, so far'],
  ['(\uE200entity\uE202Rome\uE201)', '(Rome)'],
  ['\uE200entity\uE202["place"]\uE201 Rome', 'Rome'],
  ['See \uE200url\uE202the map\uE202https://example.com/a\uE201.', 'See the map (https://example.com/a).'],
  ['See \uE200url\uE202the map\uE202turn0search0\uE201.', 'See the map.'],
  ['One \uE200navlist\uE202News\uE202turn0news1\uE201 two', 'One two'],
  [
    'An open \uE200cite\uE202mark, and \uE200cite\uE202turn0\uE201 one',
    'An open \uE200cite\uE202mark, and one',
  ],
  ['\uE200image_group\uE202{"query":["Rome"]}\uE201', undefined],
])('an answer has the words of its marks only: %j', async (text, content) => {
  const mapping = {
    a: node(null, ['b'], message('user', [text])),
    b: node('a', [], message('assistant', [text])),
  };
  const { inputs } = await readSorted('conversations.json', [
    { conversation_id: 'c', current_node: 'b', mapping },
  ]);
  expect(inputs.map((input) => input.content)).toEqual(content === undefined ? [text] : [text, content]);
});

test.each([
  [{ id: 'c-1' }, 'c-1', 'chatgpt:c-1/a'],
  [{ id: 'c-1', conversation_id: 'c-2' }, 'c-2', 'chatgpt:c-2/a'],
  [{}, undefined, 'chatgpt:a'],
])('the session of a conversation with the ids %j is %s', async (ids, sessionId, sourceRef) => {
  const mapping = { a: node(null, [], message('user', ['Hello'])) };
  const { inputs } = await readSorted('c.json', [{ ...ids, current_node: 'a', mapping }]);
  expect(inputs.map((input) => [input.sessionId, input.sourceRef])).toEqual([[sessionId, sourceRef]]);
});

test('a message that is not an object is named, and the rest of its branch is read', async () => {
  const mapping = {
    root: { ...node(null, ['a'], message('user', [''])), message: null },
    a: { ...node('root', ['b'], message('user', [''])), message: 'Lost words' },
    b: node('a', [], message('user', ['Hello'])),
  };
  const { inputs, unusable } = await readSorted('c.json', [{ ...conversation, current_node: 'b', mapping }]);
  expect(inputs.map(({ content }) => content)).toEqual(['Hello']);
  expect(unusable).toEqual(['c.json [0].mapping.a: has a message that is not an object']);
});
