import { expect, test } from 'vitest';
import { loadTokenCounter } from '../../context/tokens.ts';
import { SalienceError } from '../../domain/errors.ts';
import type { Embedder } from '../../providers/embedder.ts';
import { live } from '../../testing/live-memory.ts';
import { expectCode } from '../../testing/store-contract/harness.ts';

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
  const roomy = await memory.context('coffee', { maxTokens: 200 });
  expect(roomy.items.map(({ id }) => id)).toEqual(['roast', 'again', 'machine', 'rule']);
  expect(roomy.omitted.map(({ id, reason }) => [id, reason])).toEqual([['long', 'does-not-fit']]);
  const maxTokens = roomy.tokens - 1;
  const made = await memory.context('coffee', { maxTokens });
  const ids = made.items.map(({ id }) => id);
  expect(ids).toEqual(['roast', 'machine', 'rule']);
  expect(made.items.map(({ section }) => section)).toEqual(['profile', 'facts', 'decisions']);
  const why = new Map(made.omitted.map(({ id, reason }) => [id, reason]));
  expect(why).toEqual(
    new Map([
      ['again', 'duplicate'],
      ['long', 'does-not-fit'],
    ]),
  );
  for (const { message } of made.omitted) expect(message).toMatch(/\.$/);
  const count = await loadTokenCounter();
  expect(made.tokens).toBe((await count([made.text]))[0]);
  expect(made.tokens).toBeLessThanOrEqual(maxTokens);
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
    track: false,
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
  expect(start.items.map(({ section }) => section)).toEqual(['rules', ...Array(4).fill('facts')]);
  const turn = await memory.pinned({ scope: 'project:b' });
  expect(turn.items.map(({ id }) => id).sort()).toEqual(['again', 'elsewhere', 'roast', 'rule']);
});

test('a rule is pinned when a person has said it, not when a tool or an assistant has', async () => {
  const { memory } = await live({ embedder: 'none' });
  const roles = [undefined, 'user', 'system', 'developer', 'assistant', 'tool'];
  await memory.rememberMany(
    roles.map((role) => ({
      id: `by-${role}`,
      content: `Rule of ${role}: always say please`,
      type: 'rule',
      role,
    })),
  );
  for (const { items } of [await memory.pinned(), await memory.bootstrap()]) {
    expect(items.map(({ id }) => id).sort()).toEqual([
      'by-developer',
      'by-system',
      'by-undefined',
      'by-user',
    ]);
  }
});

test('more facts or preferences than a recall finds keep no older rule out of a session', async () => {
  const { memory, pass } = await live({ embedder: 'none' });
  await memory.remember('Never deploy on Fridays', { id: 'rule', type: 'rule' });
  await memory.remember('Answers were too long', { id: 'feedback', type: 'feedback' });
  pass(180);
  await memory.rememberMany(
    Array.from({ length: 1001 }, (_, at) => ({ content: `Likes song ${at}`, type: 'preference' })),
  );
  for (const { items } of [await memory.bootstrap(), await memory.pinned({ maxTokens: 500 })]) {
    expect(items.slice(0, 2).map(({ id, section }) => [id, section])).toEqual([
      ['rule', 'rules'],
      ['feedback', 'feedback'],
    ]);
  }
});

test('a hundred newer facts keep the one rule in a context without a query, and in one whose shares are guaranteed', async () => {
  const { memory, pass } = await live({ embedder: 'none' });
  await memory.remember('Songs are never deployed on Fridays', { id: 'rule', type: 'rule' });
  await memory.remember('Songs are sung', { id: 'plan', type: 'decision' });
  await memory.rememberMany(
    Array.from({ length: 20 }, (_, at) => ({ content: `Sing song ${at} so`, type: 'procedure' })),
  );
  pass(180);
  await memory.remember('Songs are sung aloud', { id: 'new plan', type: 'decision' });
  await memory.rememberMany(
    Array.from({ length: 150 }, (_, at) => ({ content: `Likes song ${at}`, type: 'fact', id: `fact ${at}` })),
  );
  const idsOf = async (query: string | undefined, options: object) => {
    const { items, omitted } = await memory.context(query, { maxTokens: 400, ...options });
    return { taken: items.map(({ id }) => id), all: [...items, ...omitted].map(({ id }) => id) };
  };
  const without = await idsOf(undefined, {});
  expect(without.taken).toEqual(expect.arrayContaining(['rule', 'plan']));
  // 100 of all, the two old ones, and of the procedures a ninth of 100: there are nine sections.
  expect(without.all).toHaveLength(114);
  expect(new Set(without.all).size).toBe(114);
  const crowded = { minRelevance: 0, candidates: 20 };
  expect((await idsOf('like song', { ...crowded, shares: 'guaranteed' })).taken).toContain('rule');
  expect((await idsOf('like song', crowded)).all).toHaveLength(20);
  expect((await idsOf(undefined, { shares: 'none' })).all).toHaveLength(100);
  // Who asks for some types alone gets no others.
  expect((await idsOf(undefined, { types: ['fact', 'rule'] })).all).not.toContain('plan');
  expect((await idsOf(undefined, { types: ['fact', 'rule'] })).taken).toContain('rule');
  const others = await idsOf(undefined, { typesExclude: ['rule'] });
  expect(others.taken).toContain('plan');
  expect(others.all).not.toContain('rule');
  expect((await idsOf(undefined, { sections: ['facts', 'corrections'] })).all).toHaveLength(100);
});

test('what sections are searched for by themselves is scored at the same moment, and asks no reranker', async () => {
  let at = Date.UTC(2026, 0, 1);
  let asked = 0;
  const { memory } = await live({
    embedder: 'none',
    clock: () => {
      at += 60_000;
      return at;
    },
    reranker: {
      model: 'fake',
      rerank: async () => {
        asked += 1;
        return { results: [] };
      },
    },
  });
  const before = '2025-06-01T00:00:00.000Z';
  const long = 'among all the others that were ever written by anybody';
  await memory.remember(`Sing a song ${long}`, { id: 'procedure', type: 'procedure', createdAt: before });
  await memory.remember(`Hum a song ${long}`, { id: 'learning', type: 'learning', createdAt: before });
  await memory.rememberMany(
    Array.from({ length: 150 }, (_, at) => ({ content: `Likes song ${at}`, type: 'fact' })),
  );
  const { items } = await memory.context(undefined, { maxTokens: 4000 });
  const scoreOf = (id: string) => items.find((item) => item.id === id)?.score.value;
  expect(scoreOf('procedure')).toBeGreaterThan(0);
  expect(scoreOf('learning')).toBe(scoreOf('procedure'));
  const guaranteed = { maxTokens: 4000, shares: 'guaranteed', minRelevance: 0, rerank: true } as const;
  expect((await memory.context('song', guaranteed)).items.length).toBeGreaterThan(100);
  expect(asked).toBe(1);
});

test('of what sections are searched for by themselves the best goes first, whatever their order', async () => {
  const { memory, pass } = await live({ embedder: 'none' });
  await memory.remember('Songs were sung', { id: 'low', type: 'event' });
  await memory.remember('Songs are liked', { id: 'high', type: 'profile' });
  pass(180);
  await memory.rememberMany(
    Array.from({ length: 12 }, (_, at) => ({ content: `Likes song ${at}`, type: 'fact' })),
  );
  const share = 1e-9;
  const { items } = await memory.context(undefined, {
    maxTokens: 4000,
    candidates: 9,
    maxContextItems: 10,
    sections: [
      { name: 'low', types: ['event'], share },
      { name: 'high', types: ['profile'], share },
      { name: 'facts', types: ['fact'], share: 1 },
    ],
  });
  expect(items).toHaveLength(10);
  expect(items.map(({ id }) => id)).toContain('high');
});

test('what was said in the running session stays out of a section that is searched by itself', async () => {
  const { memory, pass } = await live({ embedder: 'none' });
  await memory.remember('Songs are never deployed on Fridays', { id: 'rule', type: 'rule' });
  pass(100);
  const { sessionId } = await memory.startSession();
  await memory.rememberMany(
    Array.from({ length: 20 }, (_, at) => ({ content: `Sing song ${at}`, type: 'rule', sessionId })),
  );
  await memory.rememberMany(
    Array.from({ length: 150 }, (_, at) => ({ content: `Likes song ${at}`, type: 'fact' })),
  );
  const { items } = await memory.context(undefined, { maxTokens: 400, exceptSession: sessionId });
  expect(items.filter(({ memory: { type } }) => type === 'rule').map(({ id }) => id)).toEqual(['rule']);
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

const people = ['Ann', 'Ben', 'Cem', 'Dana', 'Eli', 'Fay', 'Gus', 'Hal', 'Ida', 'Jon'];
const opposites = [
  ['Ann likes dark chocolate very much', 'Ann hates dark chocolate very much'],
  ['The office is open on Mondays', 'The office is closed on Mondays'],
  ['Ben prefers tea before noon', 'Ben prefers tea after noon'],
  ['The red wire carries the current', 'The blue wire carries the current'],
  ['Deploys happen on the main branch', 'Deploys happen on the release branch'],
  ['Cem is taller than his brother', 'Cem is shorter than his brother'],
  ['Dana lives north of the river', 'Dana lives south of the river'],
  ['Turn the valve left to stop the pump', 'Turn the valve right to stop the pump'],
  ['The budget was raised last week', 'The budget was lowered last week'],
  ['Eli always answers mail in the evening', 'Eli rarely answers mail in the evening'],
  ['Fay may eat eggs and milk', 'Fay may eat eggs without milk'],
  ['The lease starts in March', 'The lease starts in May'],
] as const;

test.each(['builtin', 'none'] as const)(
  'facts about different people are no duplicates (embedder %s)',
  async (embedder) => {
    const { memory } = await live({ embedder });
    await memory.rememberMany(
      people.map((name) => ({ id: name, content: `${name} is allergic to peanuts and carries an epipen` })),
    );
    const all = await memory.context('who is allergic to peanuts?', { maxTokens: 2000 });
    expect(all.items.map(({ id }) => id).sort()).toEqual(people);
    expect(all.omitted).toEqual([]);
    const few = await memory.context('who is allergic to peanuts?', { maxTokens: 150 });
    expect(few.omitted.length).toBeGreaterThan(3);
    expect(few.omitted.filter(({ reason }) => reason === 'duplicate')).toEqual([]);
  },
);

test.each(['builtin', 'none'] as const)(
  'what contradicts in one word stays, both of it (embedder %s)',
  async (embedder) => {
    for (const [at, pair] of opposites.entries()) {
      for (const contents of [pair, [...pair].reverse()]) {
        const { memory, pass } = await live({ embedder });
        for (const content of contents) {
          await memory.remember(content, { id: content });
          pass(1);
        }
        for (const made of [
          await memory.context(contents[0]!, { maxTokens: 200 }),
          await memory.bootstrap({ maxTokens: 200 }),
        ]) {
          expect(made.items.map(({ id }) => id).sort(), `pair ${at}`).toEqual([...contents].sort());
        }
      }
    }
  },
);

test('a newer value is never left out for an older one', async () => {
  const { memory, pass } = await live();
  await memory.remember('Ann lives in Oslo', { id: 'oslo', type: 'rule', importance: 1 });
  pass(30);
  await memory.remember('Ann lives in Bergen', { id: 'bergen', type: 'rule', importance: 0.1 });
  for (const made of [
    await memory.context('Where does Ann live?', { maxTokens: 1000 }),
    await memory.pinned(),
    await memory.bootstrap(),
  ]) {
    expect(made.items.map(({ id }) => id).sort()).toEqual(['bergen', 'oslo']);
  }
});

test("a reranker's order is what a context goes by", async () => {
  const lines = [
    'dark roast coffee',
    'dark roast coffee beans',
    'dark roast coffee beans from Peru',
    'dark coffee',
  ];
  // The last passage that it is shown comes first.
  const reranker = {
    model: 'backwards',
    rerank: async (_: string, passages: readonly string[]) => ({
      results: passages.map((_, index) => ({ index, score: index / 10 })),
    }),
  };
  const { memory } = await live({ reranker });
  await memory.rememberMany(lines.map((line, at) => ({ id: `m${at}`, content: `Ann drinks ${line}` })));
  const given = { limit: 20, association: 'none', rerank: true } as const;
  const { hits } = await memory.recall('dark roast coffee', given);
  const order = hits.map((hit) => hit.memory.id);
  const plain = await memory.recall('dark roast coffee', { ...given, rerank: false });
  expect(order).toEqual(plain.hits.map((hit) => hit.memory.id).reverse());
  for (const packing of ['optimal', 'greedy'] as const) {
    const asked = { packing, rerank: true, association: 'none' } as const;
    const whole = await memory.context('dark roast coffee', { ...asked, maxTokens: 1000 });
    expect(whole.items.map(({ id }) => id)).toEqual(order);
    for (const item of whole.items) {
      expect(item.score.value).toBe(hits.find((hit) => hit.memory.id === item.id)?.score.value);
    }
    const one = await memory.context('dark roast coffee', { ...asked, maxTokens: 1000, maxContextItems: 1 });
    expect(one.items.map(({ id }) => id)).toEqual(order.slice(0, 1));
  }
});

test('a query is embedded once, whatever must be in the context', async () => {
  const asked: string[] = [];
  const embedder: Embedder = {
    model: 'counting',
    dimensions: 2,
    calibration: { floor: 0, ceiling: 1 },
    embed: async (passages, options) => {
      if (options?.purpose === 'query') asked.push(...passages);
      return passages.map(() => Float32Array.of(1, 0));
    },
    thresholds: { conflict: 0.99, birthLink: 0.99, consolidation: 0.99, similarPair: 0.99 },
  };
  const { memory } = await live({ embedder });
  await memory.rememberMany(coffee);
  await memory.context('coffee', { maxTokens: 500, mustInclude: ['tea', 'long'] });
  expect(asked).toEqual(['coffee']);
});

test('as many memories as are asked for, or an error that says how many there may be', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.rememberMany(
    Array.from({ length: 260 }, (_, at) => ({ id: `m${at}`, content: `Coffee number ${at} was dark` })),
  );
  const { items } = await memory.context('dark coffee', { maxTokens: 100_000, maxContextItems: 250 });
  expect(items).toHaveLength(250);
  const balanced = await memory.context('dark coffee', {
    maxTokens: 100_000,
    maxContextItems: 250,
    strategy: 'balanced',
  });
  expect(balanced.items).toHaveLength(250);
  const refused = { code: 'invalid_argument' };
  await expect(memory.context('coffee', { maxTokens: 500, maxContextItems: 1001 })).rejects.toMatchObject({
    ...refused,
    message: expect.stringMatching(/maxContextItems.*1 to 1000/),
  });
  await expect(memory.context('coffee', { maxTokens: 500, window: 4000 } as never)).rejects.toMatchObject({
    ...refused,
    message: expect.stringMatching(/maxTokens.*not both/),
  });
});

test('the memories of the running session stay out, and take no places', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.rememberMany([
    ...Array.from({ length: 30 }, (_, at) => ({
      id: `s${at}`,
      content: `Coffee now ${at}`,
      sessionId: 'now',
    })),
    ...Array.from({ length: 5 }, (_, at) => ({
      id: `m${at}`,
      content: `Coffee once, a long time ago ${at}`,
    })),
  ]);
  const asked = { maxTokens: 5000, candidates: 5 };
  const { items } = await memory.context('coffee now', { ...asked, exceptSession: 'now' });
  expect(items.map(({ id }) => id).sort()).toEqual(['m0', 'm1', 'm2', 'm3', 'm4']);
  const whole = await memory.context('coffee now', asked);
  expect(whole.items.map(({ id }) => id[0])).toEqual(Array(5).fill('s'));
  const must = await memory.context('coffee', { ...asked, exceptSession: 'now', mustInclude: ['s3'] });
  expect(must.items.map(({ id }) => id)).toContain('s3');
});

test('what the running session has said takes no places either where another session has changed it since', async () => {
  const { memory, pass } = await live({ embedder: 'none' });
  const topics = ['a', 'b', 'c', 'd'].map((id) => ({ id, topicKey: id }));
  const said = (sessionId: string) =>
    topics.map((topic) => ({ ...topic, content: `Coffee ${topic.id} of ${sessionId}`, sessionId }));
  await memory.rememberMany(said('now'));
  pass(1);
  await memory.rememberMany(said('later'));
  await memory.rememberMany(
    ['m0', 'm1', 'm2'].map((id) => ({ id, content: `Coffee ${id} once, a long time ago in a far land` })),
  );
  for (const candidates of [1, 2, 3, 4]) {
    const asked = { maxTokens: 5000, candidates, exceptSession: 'now' };
    const { items, nothing } = await memory.context('coffee', asked);
    expect(items.map(({ id }) => id)).toEqual(['m2', 'm1', 'm0'].slice(0, candidates));
    expect(nothing).toBeUndefined();
  }
});

test('a context without anything but the running session says so', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.remember('Coffee now', { id: 's0', sessionId: 'now' });
  const asked = { maxTokens: 5000, exceptSession: 'now' };
  expect(await memory.context('coffee', asked)).toMatchObject({
    items: [],
    nothing: {
      reason: 'no-match',
      message: 'nothing found outside the session "now", which exceptSession leaves out',
    },
  });
  expect(await memory.context('coffee', { ...asked, mustInclude: ['s0'] })).not.toHaveProperty('nothing');
  await memory.remember('Coffee once');
  expect(await memory.context('coffee', asked)).not.toHaveProperty('nothing');
});

test('a query that is no text is refused by its name', async () => {
  const { memory } = await live();
  for (const query of [null, 3, ['tea']] as unknown as string[]) {
    await expect(memory.context(query, { maxTokens: 100 })).rejects.toBeInstanceOf(SalienceError);
  }
});

test('a way of packing, and of sharing, that there is none of is refused by the name of its option', async () => {
  const { memory } = await live();
  await memory.remember('Coffee is grown in Brazil');
  const budget = { maxTokens: 500 };
  for (const [refused, message] of [
    [
      memory.context('coffee', { ...budget, packing: 'best' as never }),
      /^packing: "best" is not one of optimal, greedy/,
    ],
    [memory.bootstrap({ packing: 'best' as never }), /^packing: "best" is not one of/],
    [
      memory.context('coffee', { ...budget, shares: 'some' as never }),
      /^shares: "some" is not one of guaranteed, none/,
    ],
  ] as const)
    expect((await expectCode(refused, 'invalid_argument')).message).toMatch(message);
});
