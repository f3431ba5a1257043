import {
  Agent,
  type AgentInputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Runner,
  setTracingDisabled,
  tool,
  Usage,
} from '@openai/agents-core';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import type { MemoryEngine } from '../index.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { day, liveFading as live } from '../testing/live-memory.ts';
import { memorySession } from './openai-agents.ts';

setTracingDisabled(true);

let memory: MemoryEngine;
let clock: () => number;
let pass: (days: number) => void;
beforeEach(async () => {
  const fake = createFakeClock();
  clock = () => fake.now();
  pass = (days) => fake.advance(days * day);
  ({ memory } = await live({ clock }));
});
afterEach(() => memory.close());

const user = (content: string): AgentInputItem => ({ role: 'user', content });

/** A model that returns what it was told to, and records its requests. */
function scripted(...outputs: readonly ModelResponse['output'][]) {
  const requests: Pick<ModelRequest, 'input'>[] = [];
  const model: Model = {
    async getResponse(request) {
      requests.push(structuredClone({ input: request.input }));
      return { usage: new Usage(), output: outputs[requests.length - 1] ?? [] };
    },
    getStreamedResponse() {
      throw new Error('not asked for');
    },
  };
  return { model, requests };
}
const says = (text: string): ModelResponse['output'] => [
  {
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text }],
  },
];

test('an agent continues a conversation, in another process too', async () => {
  const { model, requests } = scripted(
    says('It is red.'),
    [{ type: 'function_call', callId: 'c1', name: 'weather', arguments: '{}', status: 'completed' }],
    says('Rain.'),
  );
  const weather = tool({
    name: 'weather',
    description: 'the weather',
    parameters: z.object({}),
    execute: async () => 'rain',
  });
  const agent = new Agent({ name: 'a', model, tools: [weather] });
  const runner = new Runner();
  await runner.run(agent, 'What colour is my bike?', {
    session: memorySession(memory, { sessionId: 's1', clock }),
  });
  const session = memorySession(memory, { sessionId: 's1', clock });
  const { finalOutput } = await runner.run(agent, 'And the weather?', { session });
  expect(finalOutput).toBe('Rain.');
  const asked = JSON.stringify(requests[1]?.input);
  expect(asked).toContain('What colour is my bike?');
  expect(asked).toContain('It is red.');
  expect((await session.getItems()).map((item) => ('role' in item && item.role) || item.type)).toEqual([
    'user',
    'assistant',
    'user',
    'function_call',
    'function_call_result',
    'assistant',
  ]);
  // What was said is remembered beyond the conversation.
  const { hits } = await memory.recall('colour of the bike', { limit: 1 });
  expect(hits[0]?.memory).toMatchObject({
    content: 'user: What colour is my bike?',
    type: 'message',
    sessionId: 's1',
  });
});

test('a recall knows which items the user said', async () => {
  const session = memorySession(memory, { sessionId: 's1', clock });
  await session.addItems([
    user('My bike is red'),
    ...says('A red bike is easy to see'),
    { type: 'function_call', callId: 'c1', name: 'bike', arguments: '{}', status: 'completed' },
    { role: 'system', content: 'Talk about the bike' },
    { role: 'user', content: [{ type: 'input_text', text: 'x'.repeat(4000) }] },
  ] as AgentInputItem[]);
  const { memories } = await memory.list({ types: ['message'], sort: 'inserted', direction: 'asc' });
  expect(memories.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'system', 'user', 'user']);
  const { hits } = await memory.recall('bike', { track: false });
  expect(new Set(hits.map((hit) => hit.memory.role)).size).toBeGreaterThan(1);
  for (const { memory, features } of hits) expect(features['speaker'] === 1).toBe(memory.role === 'user');
});

test('sessions whose scope and id look alike are separate, and continue items of an earlier version', async () => {
  // In the form of an earlier version.
  const item = JSON.stringify(user('Said before'));
  await memory.importMemories([
    {
      id: 'a/zz:0',
      type: 'message',
      content: 'user: Said before',
      scope: 'a',
      sessionId: 'zz',
      metadata: { session: 'zz', position: 0, item },
      createdAt: new Date(clock()).toISOString(),
    } as never,
  ]);
  const alike = [
    { sessionId: 'a/zz' },
    { sessionId: 'zz', scope: 'a' },
    { sessionId: 'b/zz', scope: 'a' },
    { sessionId: 'zz', scope: 'a/b' },
    { sessionId: 'a#zz' },
  ];
  for (const options of alike)
    await memorySession(memory, { ...options, clock }).addItems([user(JSON.stringify(options))]);
  for (const options of alike) {
    const before = options.sessionId === 'zz' && options.scope === 'a' ? [user('Said before')] : [];
    expect(await memorySession(memory, { ...options, clock }).getItems()).toEqual([
      ...before,
      user(JSON.stringify(options)),
    ]);
  }
});

test('an invalid item is refused with its place, and nothing is stored', async () => {
  const session = memorySession(memory, { sessionId: 's', clock });
  const deep = JSON.parse(`${'['.repeat(1001)}${']'.repeat(1001)}`) as unknown;
  for (const [items, field] of [
    [{ role: 'user', content: 'x' }, 'items'],
    [[user('fine'), { role: 'user', content: 5 }], 'items[1].content'],
    [[{ role: 'user', content: null }], 'items[0].content'],
    [[{ role: 'user', content: [null] }], 'items[0].content'],
    [[{ role: 'user', content: [{ type: 'input_text', deep }] }], 'items[0]'],
  ] as const)
    await expect(session.addItems(items as never)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { field },
    });
  expect(await session.getItems()).toEqual([]);
});

test('a thousand levels are stored, whatever the stack allows', async () => {
  const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as unknown;
  const item = (deep: unknown) => ({ role: 'user', content: [{ type: 'input_text', text: 'Hello', deep }] });
  const session = memorySession(memory, { sessionId: 's', clock });
  for (let again = 0; again < 200; again++)
    await expect(session.addItems([item(nested(998))] as never)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { field: 'items[0]' },
    });
  await session.addItems([item(nested(997))] as never);
  expect(await session.getItems()).toEqual([item(nested(997))]);
});

test('an item that is popped twice at once is popped once, and the next one by the other caller', async () => {
  const session = () => memorySession(memory, { sessionId: 's', clock });
  await session().addItems(['1', '2', '3'].map(user));
  const popped = await Promise.all([session().popItem(), session().popItem()]);
  expect(popped).toHaveLength(2);
  expect(popped).toEqual(expect.arrayContaining([user('2'), user('3')]));
  await Promise.all([session().clearSession(), session().popItem(), session().clearSession()]);
  expect(await session().getItems()).toEqual([]);
  expect(await session().popItem()).toBeUndefined();
});

test('items come back unchanged and in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.record({ content: fc.string({ unit: 'binary' }), data: fc.jsonValue() }))),
      fc.nat(20),
      async (batches, limit) => {
        const { memory: fresh } = await live({ clock, embedder: 'none' });
        const session = memorySession(fresh, { clock });
        const given = batches.map((batch) =>
          batch.map(
            ({ content, data }): AgentInputItem => ({ role: 'user', content, providerData: { data } }),
          ),
        );
        for (const batch of given) await session.addItems(batch);
        // As JSON has it: −0 is 0.
        const all = JSON.parse(JSON.stringify(given.flat())) as AgentInputItem[];
        expect(await session.getItems()).toEqual(all);
        expect(await session.getItems(limit)).toEqual(limit === 0 ? [] : all.slice(-limit));
        expect(await session.popItem()).toEqual(all.at(-1));
        expect(await session.getItems()).toEqual(all.slice(0, -1));
        await fresh.close();
      },
    ),
    { numRuns: 60, seed: 4 },
  );
});

test('an item may be longer than the metadata of a memory', async () => {
  const session = memorySession(memory, { sessionId: 'long', clock });
  const items = ['tool "output" \\ ', '日本語', '🧠', 'plain '].map((text) => user(text.repeat(12_000)));
  await session.addItems([user('first'), ...items]);
  await session.addItems([user('last')]);
  expect(await session.getItems()).toEqual([user('first'), ...items, user('last')]);
  expect(await session.getItems(2)).toEqual([items[3], user('last')]);
  expect([await session.popItem(), await session.popItem()]).toEqual([user('last'), items[3]]);
  expect(await session.getItems()).toEqual([user('first'), ...items.slice(0, 3)]);
  await session.clearSession();
  expect(await session.popItem()).toBeUndefined();
  expect((await memory.list()).memories).toEqual([]);
});

test('an item with a forgotten part is left out, and the conversation continues', async () => {
  const session = memorySession(memory, { sessionId: 'cut', clock });
  const long = user('word '.repeat(2000));
  const items = [user('first'), long, user('between'), long, long, user('last')];
  await session.addItems(items);
  // The first, a middle and the last part of an item.
  await memory.forget(['cut:1', 'cut:3.1', 'cut:4.3']);
  const left = [items[0], items[2], items[5]];
  expect(await session.getItems()).toEqual(left);
  expect(await session.getItems(2)).toEqual(left.slice(1));
  await session.addItems([user('after')]);
  expect(await session.getItems()).toEqual([...left, user('after')]);
  for (const item of [user('after'), ...left.reverse()]) expect(await session.popItem()).toEqual(item);
  expect(await session.popItem()).toBeUndefined();
  expect((await memory.list()).memories).toEqual([]);
});

test('the same text said twice is stored twice', async () => {
  const session = memorySession(memory, { clock });
  await session.addItems([user('yes'), user('yes')]);
  await session.addItems([user('yes')]);
  expect(await session.getItems()).toEqual([user('yes'), user('yes'), user('yes')]);
});

test('popped and cleared items are forgotten; other sessions and memories stay', async () => {
  const session = memorySession(memory, { sessionId: 'a', clock });
  const other = memorySession(memory, { sessionId: 'b', clock });
  await memory.remember('Keeps bees');
  await session.addItems([user('one'), user('two'), user('three')]);
  await other.addItems([user('elsewhere')]);
  expect(await session.popItem()).toEqual(user('three'));
  expect(await memory.get('a:2')).toBeUndefined();
  expect((await memory.history('a:2')).every(({ redacted, before }) => redacted && !before)).toBe(true);
  await session.addItems([user('four')]);
  expect(await session.getItems()).toEqual([user('one'), user('two'), user('four')]);
  await session.clearSession();
  expect(await session.getItems()).toEqual([]);
  expect(await session.popItem()).toBeUndefined();
  expect(await other.getItems()).toEqual([user('elsewhere')]);
  expect((await memory.recall('bees', { strategy: 'bm25' })).hits).toHaveLength(1);
  await session.addItems([user('anew')]);
  expect(await session.getItems()).toEqual([user('anew')]);
});

test('two concurrent writers keep all their items, each batch together', async () => {
  const [one, two] = [
    memorySession(memory, { sessionId: 's', clock }),
    memorySession(memory, { sessionId: 's', clock }),
  ];
  await Promise.all([one.addItems([user('a1'), user('a2')]), two.addItems([user('b1'), user('b2')])]);
  const items = await one.getItems();
  expect([...items].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))).toEqual(
    ['a1', 'a2', 'b1', 'b2'].map(user),
  );
  const at = items.findIndex((item) => 'content' in item && item.content === 'a1');
  expect(items[at + 1]).toEqual(user('a2'));
});

test('a conversation survives time and maintenance', async () => {
  const session = memorySession(memory, { clock });
  const items = ['I keep bees', 'I keep bees now', 'word '.repeat(200)].map(user);
  await session.addItems(items);
  for (let month = 0; month < 40; month++) {
    pass(30);
    await memory.maintain({ consolidate: true });
  }
  expect((await memory.list({ types: ['message'] })).memories.map(({ tier }) => tier)).toContain('stub');
  expect(await session.getItems()).toEqual(items);
});

test('an id that is taken causes an error, and no item is silently lost', async () => {
  await memory.remember('Not an item', { id: 's:0' });
  const session = memorySession(memory, { sessionId: 's', clock });
  await expect(session.addItems([user('hello')])).rejects.toMatchObject({ code: 'already_exists' });
  expect(await session.getItems()).toEqual([]);
});

test('sessions with one id in several scopes are separate', async () => {
  const of = (scope?: string) =>
    memorySession(memory, { sessionId: 'z', clock, ...(scope ? { scope } : {}) });
  const [all, ann, ben] = [of(), of('user:ann'), of('user:ben')];
  await ann.addItems([user('secret of Ann')]);
  expect(await ben.getItems()).toEqual([]);
  expect(await all.getItems()).toEqual([]);
  await ben.addItems([user('of Ben')]);
  await all.addItems([user('of all')]);
  expect(await ann.popItem()).toEqual(user('secret of Ann'));
  await ann.clearSession();
  expect(await ben.getItems()).toEqual([user('of Ben')]);
  expect(await of('user:ben').getItems()).toEqual([user('of Ben')]);
  expect(await all.getItems()).toEqual([user('of all')]);
  expect(() => memorySession(memory, { sessionId: 'x'.repeat(95), scope: 'user:ann' })).toThrow(
    /with the scope/,
  );
});

test('an item comes back unchanged wherever its parts begin', async () => {
  const session = memorySession(memory, { sessionId: 'pieces', clock });
  const items = Array.from({ length: 14 }, (_, at) =>
    user(`${'x'.repeat(2958 + at)}<privateKey>v</privateKey> 😀 </private>${'y'.repeat(4000)}`),
  );
  await session.addItems(items);
  expect(await session.getItems()).toEqual(items);
});

test('private text is not stored, and an invalid id is refused', async () => {
  const session = memorySession(memory, { clock });
  await session.addItems([user('my pin is <private>1234</private>')]);
  expect(await session.getItems()).toEqual([user('my pin is [REDACTED]')]);
  expect(await session.getSessionId()).toMatch(/^[0-9a-f-]{36}$/);
  expect(() => memorySession(memory, { sessionId: 'x'.repeat(101) })).toThrow(/1–100 characters/);
});
