import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SalienceError } from '../../domain/errors.ts';
import type { ConversationMessage } from '../../language/messages.ts';
import { openMemory } from '../../open.ts';
import type { LanguageModel } from '../../providers/language-model.ts';
import { createSqliteStore } from '../../stores/sqlite/index.ts';
import { extracted } from '../../testing/extraction-script.ts';
import { live } from '../../testing/live-memory.ts';
import { type ScriptedRequest, scriptedModel } from '../../testing/scripted-model.ts';

const conversation: readonly ConversationMessage[] = [
  { id: 'm1', role: 'user', name: 'Ann', content: 'I am allergic to peanuts.', at: '2025-12-30T10:00Z' },
  { id: 'm2', role: 'assistant', content: 'Noted!', at: '2025-12-30T10:01Z' },
  { id: 'm3', role: 'user', name: 'Ann', content: 'We decided to move to Oslo.', at: '2025-12-30T10:02Z' },
];

/** A memory whose model answers with these memories, whatever it is asked. */
async function observing(memories: readonly object[] | ((request: ScriptedRequest) => string | object)) {
  const script = typeof memories === 'function' ? memories : () => ({ memories });
  const scripted = scriptedModel(script);
  return { ...scripted, ...(await live({ languageModel: scripted.model })) };
}

const said = (content: string) => [{ role: 'user', content }];

test.each(['id', 'role', 'name', 'content'])(
  'a %s that cannot be stored is refused before the model is asked',
  async (field) => {
    const { memory, requests } = await observing([]);
    const message = { id: 'm1', role: 'user', name: 'Ann', content: 'Likes tea', [field]: 'a\u0001b' };
    await expect(memory.observe([conversation[0]!, message])).rejects.toMatchObject({
      code: 'invalid_text',
      details: { field: `messages[1].${field}` },
    });
    expect(requests).toEqual([]);
  },
);

describe('without a language model', () => {
  test.each([
    { batchSize: 0 },
    { batchSize: 201 },
    { concurrency: Number.NaN },
    { contextMessages: -1 },
    { maxOutputTokens: 0.5 },
  ])('refuses %j, as with one', async (options) => {
    const { memory } = await live();
    const [field] = Object.keys(options);
    await expect(memory.observe(conversation, options)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { field },
    });
    expect((await memory.list()).memories).toEqual([]);
  });

  test('each message becomes one event, judged by rules', async () => {
    const { memory } = await live();
    const observed = await memory.observe(conversation, {
      scope: 'project:match',
      sessionId: 's1',
      tags: ['chat'],
      metadata: { channel: 'web' },
    });
    expect(observed).toEqual({
      created: ['n0', 'n1', 'n2'],
      updated: [],
      deduplicated: [],
      merged: 0,
      failures: [],
      dropped: 0,
      usage: { promptTokens: 0, completionTokens: 0, calls: 0 },
      judgedBy: 'rules',
    });
    expect(await memory.get('n0')).toMatchObject({
      content: 'Ann: I am allergic to peanuts.',
      type: 'event',
      scope: 'project:match',
      sessionId: 's1',
      tags: ['chat'],
      metadata: { channel: 'web', messages: ['m1'] },
      sourceRef: 'm1',
      source: 'extracted',
      importance: 0.9,
      importanceSource: 'rules',
      confidence: 1,
      author: 'Ann',
      role: 'user',
      createdAt: '2025-12-30T10:00:00.000Z',
    });
    expect(await memory.get('n1')).toMatchObject({ importance: 0.3, role: 'assistant' });
    expect((await memory.get('n1'))?.author).toBeUndefined();
    expect((await memory.get('n2'))?.importance).toBe(0.7);
  });

  test('what was said twice, word for word, is kept once; what is only similar, twice', async () => {
    const { memory } = await live();
    await memory.observe(said('I fly to Lisbon on Monday morning, with my sister'));
    const again = await memory.observe(said('I fly to Lisbon on Monday morning, with my sister'));
    expect(again).toMatchObject({ created: [], deduplicated: ['n0'], merged: 0 });
    const more = await memory.observe(said('I fly to Lisbon on Monday morning, with my sister!'));
    expect(more).toMatchObject({ merged: 0, created: [expect.any(String)] });
  });

  test('a message without a word of content is not kept', async () => {
    const { memory } = await live();
    const polite = ['ok thanks', 'Thank you!', '...', '👍', 'Hi there', 'yes', 'Who is it?', 'I am'];
    const observed = await memory.observe([...polite.flatMap(said), ...said('The bike is red')]);
    const { memories } = await memory.list();
    expect(memories.map(({ id, content }) => [id, content])).toEqual([
      [observed.created[0], 'The bike is red'],
    ]);
    expect(observed).toMatchObject({ failures: [], dropped: 0 });
  });

  test('what is less important than minImportance is not kept', async () => {
    const { memory } = await live();
    const messages = ['It was sunny', 'The bike is red', 'Which bike?', 'I am allergic to nuts'].flatMap(
      said,
    );
    for (const [minImportance, count] of [
      [1, 0],
      [0.9, 1],
      [0.3, 2],
    ] as const) {
      const { memory: one } = await live();
      expect((await one.observe(messages, { minImportance })).created).toHaveLength(count);
    }
    await expect(memory.observe(messages, { minImportance: 2 })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });

  test.each([
    'Which coffee do I like?',
    'Hi! Which project has the deadline on Friday? Thanks!',
    'What do I always drink?\nIs it coffee?',
    '我喜欢什么咖啡？',
    'ما القهوة التي أحبها؟',
  ])('what only asks is not kept from a minImportance above 0.2, whatever it names: %s', async (question) => {
    const { memory } = await live();
    expect(await memory.observe(said(question), { minImportance: 0.3 })).toMatchObject({ created: [] });
    expect((await memory.observe(said(question))).created).toHaveLength(1);
  });

  test.each([
    'I am allergic to nuts, what can I eat?',
    'Do you remember that I am allergic to nuts?',
    'Remember: deadline is Friday, ok?',
    'The deadline is Friday, right?',
    'Can you remember that my sister is called Eva?',
    'Could you please always answer in German?',
    'Can you always answer in German?',
    'Actually I live in Rome, can you fix that?',
    'Thanks, I live in Rome, what is the weather?',
    "Anna moved to Berlin, didn't she?",
    "If I'm allergic to nuts, what can I eat?",
    'What can I eat if I am allergic to nuts?',
    'With my nut allergy, what can I eat?',
    'My sister moved to Rome?',
    'Hi, I am allergic to nuts. What can I eat?',
    'As I am allergic to nuts, what can I eat?',
  ])('what tells something and asks is kept: %s', async (message) => {
    const { memory } = await live();
    const { created } = await memory.observe(said(message), { minImportance: 0.3 });
    expect(await memory.get(created[0] ?? '')).toMatchObject({ content: message });
  });

  test('a message that is too long is reported, and the others are kept', async () => {
    const { memory } = await live({ maxContentBytes: 100 });
    const observed = await memory.observe([...said('tea '.repeat(50)), ...said('I like tea')]);
    expect(observed.created).toHaveLength(1);
    expect(observed.failures).toEqual([
      { positions: [0], code: 'content_too_large', message: expect.stringContaining('100'), kept: 'nothing' },
    ]);
  });
});

test.each([
  ['with a model', true],
  ['without one', false],
])('of the ids of messages as many are kept as the metadata has room for, %s', async (_, withModel) => {
  const { model } = scriptedModel(() => ({
    memories: [extracted('Ann lives in Oslo', { sources: [1, 2, 3] })],
  }));
  const turns = ['a', 'b', 'c'].map((id) => ({
    id: id.repeat(40),
    role: 'user',
    content: `We live in Oslo, ${id}`,
  }));
  const kept = async (maxMetadataBytes: number) => {
    const { memory } = await live({ maxMetadataBytes, ...(withModel ? { languageModel: model } : {}) });
    const { created } = await memory.observe(turns, { metadata: { from: 'chat' } });
    return (await memory.get(created[0]!))?.metadata;
  };
  const ids = turns.map(({ id }) => id).slice(0, withModel ? 3 : 1);
  expect(await kept(1000)).toEqual({ from: 'chat', messages: ids });
  expect(await kept(120)).toEqual({ from: 'chat', messages: ids.slice(0, 2) });
  expect(await kept(20)).toEqual({ from: 'chat' });
});

describe('with a language model', () => {
  test('what is wrong with the options is said before the model is asked', async () => {
    const { memory, requests } = await observing([]);
    const wrong = [
      { metadata: { text: 'x'.repeat(20_000) } },
      { sessionId: 's'.repeat(201) },
      { maxOutputTokens: 0 },
    ];
    for (const options of wrong)
      await expect(memory.observe(said('…'), options)).rejects.toThrow(SalienceError);
    expect(requests).toEqual([]);
  });

  test('of a model of your own, counts that are none count nothing', async () => {
    const languageModel = {
      name: 'mine',
      generate: async () => ({ value: { items: [], dropped: 0 }, promptTokens: '05', calls: Number.NaN }),
    } as unknown as LanguageModel;
    const { memory } = await live({ languageModel });
    const { usage } = await memory.observe(said('I work at Acme'));
    expect(usage).toEqual({ promptTokens: 0, completionTokens: 0, calls: 0 });
  });

  test('a fact in which nothing can be seen is dropped, and the others are kept', async () => {
    const invisible = ['\u200b', '\u00ad', '\u200e', '\ufe0f', '\u3164', '\u034f', '\u115f', '\u{e0041}'];
    const { memory } = await observing([...invisible, 'Ann works at Acme'].map((each) => extracted(each)));
    const observed = await memory.observe(said('I work at Acme'));
    expect(observed).toMatchObject({ created: { length: 1 }, dropped: invisible.length, failures: [] });
  });

  test('facts with their dates, judgements and sources', async () => {
    const { memory, requests } = await observing([
      extracted('Ann is allergic to peanuts.', { type: 'profile', importance: 0.95, title: 'Allergy' }),
      extracted('Ann plans to move to Oslo in spring 2026.', {
        type: 'plan',
        tags: ['oslo'],
        confidence: 'implied',
        validUntil: '2026-06-01',
        sources: [1, 3],
      }),
    ]);
    const observed = await memory.observe(conversation);
    expect(requests).toHaveLength(1);
    expect(observed).toMatchObject({ merged: 0, failures: [], dropped: 0, judgedBy: 'model' });
    expect(observed.usage).toMatchObject({ calls: 1, promptTokens: expect.any(Number) });
    expect(observed.usage.promptTokens).toBeGreaterThan(100);
    const [allergy, plan] = await Promise.all(observed.created.map((id) => memory.get(id)));
    expect(allergy).toMatchObject({
      content: 'Ann is allergic to peanuts.',
      title: 'Allergy',
      type: 'profile',
      importance: 0.95,
      importanceSource: 'model',
      confidence: 1,
      sourceRef: 'm1',
      metadata: { messages: ['m1'] },
      createdAt: '2025-12-30T10:00:00.000Z',
    });
    expect(plan).toMatchObject({
      type: 'plan',
      tags: ['oslo'],
      confidence: 0.7,
      validUntil: '2026-06-01T00:00:00.000Z',
      metadata: { messages: ['m1', 'm3'] },
      createdAt: '2025-12-30T10:02:00.000Z',
    });
    expect(plan?.sourceRef).toBeUndefined();
    // One operation: one undo takes all of it back.
    expect((await memory.undo()).memories).toHaveLength(2);
    expect((await memory.list()).memories).toEqual([]);
  });

  test('author and role are those of the sources, as far as they agree', async () => {
    const { memory } = await observing([
      extracted('Ann is allergic to peanuts', { sources: [1] }),
      extracted('Ann moves to Oslo and has an allergy', { sources: [1, 3] }),
      extracted('The assistant noted the allergy of Ann', { sources: [1, 2] }),
      extracted('Peanuts are legumes', { sources: [] }),
    ]);
    await memory.observe(conversation);
    const { memories } = await memory.list({ sort: 'inserted' });
    expect(memories.map(({ content, author, role }) => [content.slice(0, 5), author, role])).toEqual(
      expect.arrayContaining([
        ['Ann i', 'Ann', 'user'],
        ['Ann m', 'Ann', 'user'],
        ['The a', undefined, undefined],
        ['Peanu', undefined, undefined],
      ]),
    );
  });

  test('what is said of the future or the past can be recalled today', async () => {
    const { memory } = await observing([
      extracted('The new job starts on 2026-05-04.', { validFrom: '2026-05-04' }),
      extracted('The user lived in Oslo until 2020.', { validFrom: '2012-01-01', validUntil: '2020-12-31' }),
    ]);
    await memory.observe(said('…'));
    const { memories } = await memory.list();
    expect(memories.map(({ validFrom, validUntil }) => [validFrom, validUntil])).toEqual(
      expect.arrayContaining([
        [undefined, undefined],
        ['2012-01-01T00:00:00.000Z', undefined],
      ]),
    );
    expect((await memory.recall('new job')).hits).toHaveLength(1);
    expect((await memory.recall('Oslo')).hits).toHaveLength(1);
  });

  test('the model never sees what is private', async () => {
    const { memory, requests } = await observing([]);
    await memory.observe([
      { role: 'user <private>4711</private>', name: 'Ann <private>4711</private>', content: 'Hello' },
      ...said('My pin is <private>4711</private>, do not tell <private>Ben'),
    ]);
    expect(requests[0]?.prompt).toContain('[REDACTED]');
    // Without the nonce of the fence, which may hold any digits.
    const prompt = requests[0]?.prompt.replaceAll(/messages-[0-9a-f]+/g, 'messages');
    expect(prompt).not.toMatch(/4711|Ben/);
  });

  test('nothing is left of a message that is private as a whole, and neither a model nor a rule is asked', async () => {
    const hidden = [
      '<private>My pin is 4711</private>',
      ' <PRIVATE>4711</PRIVATE>\n<private>Ben</private> ',
      '<private>My pin is 4711',
    ];
    const mixed = 'My pin is <private>4711</private>';
    const { memory: alone } = await live({ embedder: 'none' });
    expect(await alone.observe([...hidden, '<private>4711</private>!'].flatMap(said))).toMatchObject({
      created: [],
      failures: [],
    });
    expect((await alone.list()).memories).toEqual([]);
    const { created } = await alone.observe([hidden[0]!, mixed].flatMap(said));
    expect(created).toHaveLength(1);
    expect((await alone.get(created[0]!))?.content).toBe('My pin is [REDACTED]');

    const { memory, requests } = await observing([]);
    expect(await memory.observe(hidden.flatMap(said))).toMatchObject({ created: [], dropped: 0 });
    expect(requests).toEqual([]);
    await memory.observe([...hidden, mixed].flatMap(said));
    expect(requests).toHaveLength(1);
    expect(requests[0]?.prompt.split('[REDACTED]')).toHaveLength(2);
    expect((await memory.list()).memories.map(({ content }) => content)).not.toContain('[REDACTED]');
  });

  test('of two that say the same, the one that says more is kept, in one answer and afterwards', async () => {
    let memories = [
      extracted('Anna flies to Lisbon on Monday morning', { importance: 0.4 }),
      extracted('Anna flies to Lisbon on Monday morning, early', { importance: 0.3 }),
    ];
    const { memory } = await observing(() => ({ memories }));
    const first = await memory.observe(said('…'));
    expect(first).toMatchObject({ created: [expect.any(String)], merged: 1 });
    const [longer] = first.created;
    expect((await memory.get(longer!))?.content).toContain('early');

    // Says less: superfluous. Says more: takes the place, and counts for no less.
    const less = await memory.observe(said('…'));
    expect(less).toMatchObject({ created: [], deduplicated: [longer], merged: 1 });
    memories = [extracted('Anna flies to Lisbon on Monday morning', { importance: 0.3 })];
    expect(await memory.observe(said('…'))).toMatchObject({ created: [], deduplicated: [], merged: 1 });
    const fullest = 'Anna flies to Lisbon on Monday morning, early, with 2 bags';
    memories = [extracted(fullest, { importance: 0.1 })];
    const more = await memory.observe(said('…'));
    expect(more).toMatchObject({ created: [expect.any(String)], merged: 1 });
    expect(await memory.get(more.created[0]!)).toMatchObject({ supersedes: [longer], importance: 0.3 });
    const { hits } = await memory.recall('flies to Lisbon');
    expect(hits.map((hit) => hit.memory.content)).toEqual([fullest]);
    await memory.undo();
    expect((await memory.recall('flies to Lisbon')).hits.map((hit) => hit.memory.id)).toEqual([longer]);
  });

  test.each([
    [
      'another number',
      'The rent of the flat in Oslo is 1200 a month.',
      'The rent of the flat in Oslo is 1300 a month.',
    ],
    ['another day', 'Anna flies to Lisbon on Monday morning', 'Anna flies to Lisbon on Tuesday morning'],
    [
      'a denial',
      'Anna flies to Lisbon on Monday morning',
      'Anna flies to Lisbon on Monday morning no longer',
    ],
    ['another tense', 'Anna plans to move to Lisbon in May', 'Anna planned to move to Lisbon in May'],
  ])(
    '%s is never merged away, and takes over the importance of what it may contradict',
    async (_, before, after) => {
      let memories = [extracted(before, { importance: 0.8 })];
      const { memory } = await observing(() => ({ memories }));
      const [old] = (await memory.observe(said('…'))).created;
      memories = [extracted(after, { importance: 0.2 })];
      const observed = await memory.observe(said('…'));
      expect(observed).toMatchObject({ created: [expect.any(String)], merged: 0 });
      expect((await memory.get(observed.created[0]!))?.importance).toBe(0.8);
      expect(await memory.get(old!)).toMatchObject({ content: before, importance: 0.8 });
    },
  );

  test('a guess does not take the place of what is sure, nor a type that of another', async () => {
    const sure = 'Anna flies to Lisbon on Monday morning';
    let memories = [extracted(sure)];
    const { memory } = await observing(() => ({ memories }));
    await memory.observe(said('…'));
    memories = [extracted(`${sure}, for a wedding`, { confidence: 'uncertain' })];
    expect(await memory.observe(said('…'))).toMatchObject({ merged: 0 });
    memories = [extracted(`${sure}!`, { type: 'plan' })];
    expect(await memory.observe(said('…'))).toMatchObject({ merged: 0 });
    expect((await memory.list()).memories).toHaveLength(3);
  });

  test('what the model fails on becomes events, or is only reported', async () => {
    const fail = ({ prompt }: ScriptedRequest) => {
      if (prompt.includes('peanuts')) throw new SalienceError('model_failed', 'overloaded');
      return { memories: [extracted('Ann moves to Oslo.', { importance: 0.6 })] };
    };
    const options = { batchSize: 2, contextMessages: 0 };
    const { memory } = await observing(fail);
    const observed = await memory.observe(conversation, options);
    expect(observed).toMatchObject({
      judgedBy: 'model',
      failures: [{ positions: [0, 1], code: 'model_failed', message: 'overloaded', kept: 'events' }],
    });
    const contents = await Promise.all(observed.created.map(async (id) => (await memory.get(id))?.content));
    expect(contents).toEqual(['Ann: I am allergic to peanuts.', 'Noted!', 'Ann moves to Oslo.']);

    const { memory: other } = await observing(fail);
    const skipped = await other.observe(conversation, { ...options, onFailure: 'skip' });
    expect(skipped.created).toHaveLength(1);
    expect(skipped.failures[0]).toMatchObject({ kept: 'nothing' });

    const { memory: third } = await observing(() => {
      throw new SalienceError('model_failed', 'down');
    });
    expect(await third.observe(conversation)).toMatchObject({
      judgedBy: 'rules',
      created: { length: 3 },
      usage: { calls: 1 },
    });
  });

  test('nothing is written when it is aborted', async () => {
    const controller = new AbortController();
    const { memory } = await observing(() => {
      controller.abort();
      return { memories: [extracted('Ann moves to Oslo.')] };
    });
    await expect(memory.observe(conversation, { signal: controller.signal })).rejects.toMatchObject({
      code: 'aborted',
    });
    expect((await memory.list()).memories).toEqual([]);
  });

  test('no transaction is open while the model thinks: others write without waiting', async () => {
    const path = mkdtempSync(join(tmpdir(), 'salience-observe-'));
    onTestFinished(() => rmSync(path, { recursive: true, force: true }));
    // Whoever had to wait would fail at once.
    const open = () => createSqliteStore({ directory: path, busyTimeout: 0 });
    await using otherStore = open();
    await using other = await openMemory({ path, space: 'default', store: otherStore });
    const { model } = scriptedModel(async () => {
      await other.remember('Written meanwhile', { id: 'meanwhile' });
      return { memories: [extracted('Ann moves to Oslo.')] };
    });
    await using store = open();
    await using memory = await openMemory({ path, space: 'default', store, languageModel: model });
    expect(await memory.observe(said('…'))).toMatchObject({ created: [expect.any(String)] });
    expect(await memory.get('meanwhile')).toBeDefined();
  });
});
