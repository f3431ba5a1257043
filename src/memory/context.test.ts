import { expect, test } from 'vitest';
import { loadTokenCounter } from '../context/tokens.ts';
import { live } from '../testing/live-memory.ts';

const coffee = [
  { id: 'rule', content: 'Never suggest decaf coffee', type: 'rule' },
  { id: 'roast', content: 'Ann prefers dark roast coffee', type: 'preference', importance: 0.9 },
  { id: 'again', content: 'Ann prefers dark roast coffee.', type: 'preference', importance: 0.2 },
  { id: 'machine', content: 'Ann has an espresso machine for her coffee', type: 'fact' },
  { id: 'tea', content: 'Bob drinks tea', type: 'fact' },
  { id: 'long', content: `Ann wrote about coffee: ${'it was a long morning. '.repeat(60)}`, type: 'event' },
];

test('a context holds what fits, says what it left out and why, and counts what it takes', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.rememberMany(coffee);
  const made = await memory.context('coffee', { maxTokens: 200 });
  const ids = made.items.map(({ id }) => id);
  expect(ids).toEqual(['roast', 'machine', 'rule']);
  expect(made.items.map(({ section }) => section)).toEqual(['profile', 'facts', 'decisions']);
  const why = new Map(made.omitted.map(({ id, reason }) => [id, reason]));
  expect(why).toEqual(
    new Map([
      ['again', 'near-duplicate'],
      ['long', 'does-not-fit'],
    ]),
  );
  for (const { message } of made.omitted) expect(message).toMatch(/\.$/);
  const count = await loadTokenCounter();
  expect(made.tokens).toBe((await count([made.text]))[0]);
  expect(made.tokens).toBeLessThanOrEqual(200);
  expect(made.lossBound).toBe(0);
  const hits = (await memory.recall('coffee')).hits;
  for (const { id, score } of made.items) {
    expect(score.value).toBe(hits.find((hit) => hit.memory.id === id)?.score.value);
  }
  expect(made.trace.stages.map(({ name }) => name)).toContain('pack');
});

test('what must be in it is, whatever the query; an unknown id is refused', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.rememberMany(coffee);
  const { items } = await memory.context('espresso', { maxTokens: 200, mustInclude: ['tea'] });
  expect(items.map(({ id }) => id).sort()).toEqual(['machine', 'tea']);
  const failing = memory.context('espresso', { maxTokens: 200, mustInclude: ['nothing'] });
  await expect(failing).rejects.toMatchObject({ code: 'not_found' });
  await expect(memory.context('espresso', {} as never)).rejects.toMatchObject({ code: 'invalid_argument' });
});

test('balanced takes at most 20 from a score of .1 on, and touches what it took and nothing else', async () => {
  const { memory, clock, pass } = await live();
  await memory.rememberMany(
    Array.from({ length: 40 }, (_, at) => ({ id: `m${at}`, content: `Coffee number ${at} was dark` })),
  );
  pass(3);
  const { items, omitted } = await memory.context('dark coffee', { maxTokens: 4000, strategy: 'balanced' });
  expect(items).toHaveLength(20);
  expect(omitted.filter(({ reason }) => reason === 'too-many')).toHaveLength(20);
  const now = new Date(clock.now()).toISOString();
  for (let at = 0; at < 40; at++) {
    const taken = items.some(({ id }) => id === `m${at}`);
    expect((await memory.get(`m${at}`))?.lastAccessedAt).toBe(taken ? now : undefined);
  }
  await memory.context('dark coffee', {
    maxTokens: 4000,
    strategy: 'balanced',
    effects: 'none',
    now: '2027-01-01',
  });
  expect((await memory.get(items[0]!.id))?.lastAccessedAt).toBe(now);
});

test('without a query a context is ambient; at the start and on every turn it has sections of its own', async () => {
  const { memory } = await live();
  await memory.rememberMany([
    ...coffee,
    { id: 'elsewhere', content: 'Only in the other project', type: 'rule', scope: 'project:b' },
  ]);
  const all = await memory.context(undefined, { maxTokens: 2000 });
  expect(all.trace.strategy).toBe('ambient');
  const start = await memory.bootstrap({ scope: 'project:a' });
  expect(start.items.map(({ section }) => section)).toEqual(['rules', 'facts', 'facts', 'facts']);
  const turn = await memory.pinned({ scope: 'project:b' });
  expect(turn.items.map(({ id }) => id).sort()).toEqual(['again', 'elsewhere', 'rule']);
});

test('a core memory of any type is pinned', async () => {
  const { memory, space, clock } = await live();
  await memory.rememberMany(coffee);
  const [tea] = await space.get(['tea']);
  await space.write({ verb: 'maintain', at: clock.now() }, async () => ({
    changes: [{ kind: 'replace', memory: { ...tea!, core: true } }],
    result: undefined,
  }));
  const { items } = await memory.pinned();
  expect(items.map(({ id, section }) => [id, section])).toContainEqual(['tea', 'core']);
});

test('a context of the past is what it was then, but for its mark', async () => {
  const { memory, pass, clock } = await live();
  await memory.rememberMany(coffee);
  const then = new Date(clock.now());
  const before = await memory.context('coffee', { maxTokens: 300 });
  pass(10);
  await memory.update('roast', { content: 'Ann prefers light roast coffee now' });
  const after = await memory.context('coffee', { maxTokens: 300, asOf: { known: then } });
  expect(after.items.map(({ id, score }) => [id, score.value])).toEqual(
    before.items.map(({ id, score }) => [id, score.value]),
  );
  expect(after.text).toContain('dark roast');
});
