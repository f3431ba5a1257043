import { describe, expect, it } from 'vitest';
import { type Memory, type MemoryEngine, openMemory, SalienceError } from '../index.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { confine } from './confine.ts';

const grant = { id: '0', name: 'agent', space: 'alice', createdAt: '2026-01-01T00:00:00.000Z' } as const;

async function opened() {
  const clock = createFakeClock();
  const memory = await openMemory({ path: ':memory:', space: 'alice', clock: clock.now });
  const ofA = confine(memory, { ...grant, scopes: ['team:a'], rights: 'write' });
  const reading = confine(memory, { ...grant, rights: 'read' });
  return { clock, memory, ofA, reading, [Symbol.asyncDispose]: () => memory.close() };
}

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (SalienceError.isInstance(error) ? error.code : error),
  );

describe('an engine confined to scopes', () => {
  it('reports the first id that it refuses, in whatever order the store answers', async () => {
    await using test = await opened();
    const { memory } = test;
    await memory.remember('Tea for all', { id: 'everywhere' });
    // The first read ends last, as may happen with a database.
    const slow: MemoryEngine = {
      ...memory,
      get: async (id, options) => {
        if (id === 'everywhere') for (let turn = 0; turn < 100; turn++) await Promise.resolve();
        return memory.get(id, options);
      },
    };
    const ofA = confine(slow, { ...grant, scopes: ['team:a'], rights: 'write' });
    const everywhere = 'everywhere';
    const given = { content: 'Coffee', scope: 'team:a' };
    const codes = await Promise.all(
      [
        ofA.link(everywhere, 'nothing'),
        ofA.unlink(everywhere, 'nothing'),
        ofA.forget([everywhere, 'nothing']),
        ofA.relate('Ann', 'likes', 'tea', { scope: 'team:a', statedBy: [everywhere, 'nothing'] }),
      ].map(codeOf),
    );
    expect(codes).toEqual(['forbidden', 'forbidden', 'forbidden', 'forbidden']);
    await expect(
      ofA.rememberMany([
        { ...given, scope: 'team:b', supersedes: [everywhere] },
        { ...given, supersedes: ['nothing'] },
      ]),
    ).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('shows activity only on memories that it sees, at the time when it saw them', async () => {
    await using test = await opened();
    const { memory, ofA, reading } = test;
    await memory.rememberMany([
      { id: 'a', content: 'Tea of team a', scope: 'team:a' },
      { id: 'b', content: 'Tea of team b', scope: 'team:b' },
    ]);
    await memory.markUsed(['b', 'a'], { sessionId: 'secret' });
    await memory.markUsed(['b']);
    await memory.link('a', 'b');
    await memory.configure({ timeZone: 'Europe/Berlin' });
    await memory.update('b', { importance: 1 });
    await memory.update('b', { scope: 'team:a' });
    await memory.update('b', { importance: 0 });
    const { entries, position } = await ofA.activity();
    expect(entries.map(({ kind, ids }) => [kind, ids.join()])).toEqual([
      // What was made of b is not known to have lain elsewhere: history tells it too.
      ['write', 'a,b'],
      ['use', 'b,a'],
      ['use', 'b'],
      ['write', 'a,b'],
      ['write', 'b'],
    ]);
    expect(JSON.stringify(entries)).not.toContain('secret');
    expect(position).toBe((await memory.activity('end')).position);
    await memory.update('b', { scope: 'team:b' });
    const later = await ofA.activity(position);
    expect(later).toMatchObject({ entries: [] });
    const left = (await ofA.activity()).entries;
    expect(left.map(({ kind, ids }) => [kind, ids.join()])).toEqual([
      ['write', 'a'],
      ['use', 'a'],
    ]);
    expect(await codeOf(ofA.operations())).toBe('forbidden');
    expect(await reading.activity()).toEqual(await memory.activity());
    expect(await reading.operations()).toEqual(await memory.operations());
  });

  it('keeps waiting during activity that it does not see', async () => {
    await using test = await opened();
    const { memory, ofA } = test;
    const { position } = await ofA.activity('end');
    const waiting = ofA.activity(position, { wait: 60_000 });
    await memory.remember('Tea of team b', { id: 'b', scope: 'team:b' });
    expect((await memory.activity(position, { wait: 60_000 })).entries).toHaveLength(1);
    await memory.remember('Tea of team a', { id: 'a', scope: 'team:a' });
    expect(await waiting).toMatchObject({
      entries: [{ kind: 'write', ids: ['a'] }],
      position: (await memory.activity('end')).position,
    });
  });

  it('counts only what it sees, and jumps to nothing else', async () => {
    await using test = await opened();
    const { memory, ofA } = test;
    for (const scope of ['global', 'team:a', 'team:b']) {
      await memory.remember(`Tea of ${scope}`, { id: scope, scope, author: 'Ada' });
    }
    expect(await ofA.list({ author: 'Ada', limit: 1 })).toMatchObject({ position: 0, total: 2 });
    expect(await codeOf(ofA.list({ around: 'team:b' }))).toBe('not_found');
    const here = await ofA.list({ around: 'global', limit: 1 });
    expect(here).toMatchObject({ memories: [{ id: 'global' }], position: 1, total: 2 });
  });

  it('does not reveal in a trace how many memories are in other scopes', async () => {
    await using test = await opened();
    const { memory, ofA } = test;
    await memory.rememberMany(
      ['team:a', 'team:b', 'team:b/project:p'].map((scope) => ({ content: `Tea of ${scope}`, scope })),
    );
    const answers = [
      await ofA.recall('tea'),
      await ofA.context('tea', { maxTokens: 500 }),
      await ofA.bootstrap(),
      await ofA.pinned(),
    ];
    const begins = answers.map(
      ({ trace }) => trace.stages.find(({ name }) => name === 'eligible')?.candidates,
    );
    // Pinned memories have other types.
    expect(begins).toEqual([1, 1, expect.any(Number), 0]);
    expect(begins[2]).toBeLessThanOrEqual(1);
  });

  it('looks back only to memories that it saw at that time', async () => {
    await using test = await opened();
    const { memory, ofA, clock } = test;
    await memory.rememberMany([
      { id: 'moved', content: 'Secret tea of team b', scope: 'team:b' },
      { id: 'taken', content: 'Tea of team a', scope: 'team:a' },
    ]);
    const asOf = { known: new Date(clock.now()).toISOString() };
    clock.advance(1000);
    await memory.update('moved', { content: 'Tea for all', scope: 'global' });
    await memory.update('taken', { content: 'Another secret', scope: 'team:b' });
    for (const look of [
      () => ofA.explain('moved', { query: 'secret', asOf }),
      () => ofA.whyNot('moved', { query: 'secret', asOf }),
      () => ofA.context('tea', { maxTokens: 500, mustInclude: ['moved'], asOf }),
      () => ofA.explain('taken', { query: 'secret' }),
    ]) {
      expect(await codeOf(look())).toBe('not_found');
    }
    const { hits } = await ofA.recall('tea', { asOf });
    expect(hits.map((hit) => hit.memory.content)).toEqual(['Tea of team a']);
    expect(await ofA.explain('taken', { query: 'tea', asOf })).toMatchObject({ id: 'taken' });
    expect(await ofA.whyNot('taken', { query: 'tea', asOf })).toMatchObject({ outcome: 'returned' });
    const { text } = await ofA.context('tea', { maxTokens: 500, mustInclude: ['taken'], asOf });
    expect(text).toContain('Tea of team a');
    expect(text).not.toMatch(/secret/i);
  });

  it('cannot replace, invalidate or reinstate a memory that it does not see', async () => {
    await using test = await opened();
    const { memory, ofA } = test;
    await memory.remember('Tea of team b', { id: 'b', scope: 'team:b' });
    await memory.remember('Tea for all', { id: 'all' });
    for (const work of [
      ofA.remember('Coffee', { supersedes: 'b' }),
      ofA.rememberMany([{ content: 'Coffee', supersedes: ['all', 'b'] }]),
      ofA.invalidate('b', 'wrong'),
      ofA.reinstate('b'),
      ofA.timeline('b'),
    ]) {
      expect(await codeOf(work)).toBe('not_found');
    }
    expect(await codeOf(ofA.invalidate('all', 'wrong'))).toBe('forbidden');
    expect((await memory.stats()).memories).toBe(2);
    const { id } = await ofA.remember('Coffee instead', { supersedes: 'all' });
    expect(await memory.get(id)).toMatchObject({ scope: 'team:a', supersedes: ['all'] });
    await ofA.invalidate(id, 'changed again');
    expect(await ofA.reinstate(id)).toMatchObject({ scope: 'team:a' });
    const { memories } = await memory.list({ scope: 'team:b' });
    const elsewhere = memories.find((each) => each.id === 'b');
    expect(
      await codeOf(ofA.importMemories([{ ...elsewhere!, id: 'r', scope: 'team:a', supersedes: ['b'] }])),
    ).toBe('not_found');
  });

  it('replaces a memory that is written with the new one, in any order', async () => {
    await using test = await opened();
    const { memory, ofA } = test;
    await memory.remember('Tea of team b', { id: 'b', scope: 'team:b' });
    await ofA.remember('Tea of team a', { id: 'a' });
    const old = { id: 'old', content: 'Lives in Rome' };
    const next = { id: 'next', content: 'Lives in Milan', supersedes: 'old' };
    expect(await ofA.rememberMany([next, old])).toMatchObject([
      { id: 'next', outcome: 'created' },
      { id: 'old', outcome: 'created' },
    ]);
    expect(await memory.get('next')).toMatchObject({ scope: 'team:a', supersedes: ['old'] });
    // The first statement is known already, so nothing of it is written under the id that it names.
    const known = { id: 'b', content: 'Tea of team a' };
    const hiding = { id: 'hiding', content: 'Coffee', supersedes: 'b' };
    expect(await codeOf(ofA.rememberMany([known, hiding]))).toBe('not_found');
    expect(await memory.get('hiding')).toBeUndefined();
  });

  it('does not erase an entity outside of its scopes by forgetting one that replaced it', async () => {
    await using test = await opened();
    const { memory, ofA } = test;
    await memory.remember('A company', { id: 'acme', type: 'entity', title: 'Acme' });
    await ofA.remember('A company of team a', { id: 'a', type: 'entity', title: 'Acme', supersedes: 'acme' });
    expect(await ofA.forget('a')).toMatchObject({ count: 1, forgotten: ['a'] });
    expect(await memory.get('acme')).toMatchObject({ content: 'A company' });
  });

  it('cannot test what an unseen memory says by forgetting part of an imported consolidation', async () => {
    await using test = await opened();
    const { memory, ofA } = test;
    await memory.remember('Of team b', { id: 'b', scope: 'team:b' });
    const part = { scope: 'team:a', createdAt: '2026-01-01T00:00:00.000Z' };
    const imported = (derivedFrom: readonly string[]) =>
      ofA.importMemories([
        { ...part, id: 'one', content: 'One' },
        { ...part, id: 'all', content: '- Of team b\n- One', source: 'consolidated', derivedFrom },
      ] as unknown as readonly Memory[]);
    for (const unseen of ['b', 'nobody']) expect(await codeOf(imported([unseen, 'one']))).toBe('not_found');
    expect(await codeOf(imported(['one']))).toBe('done');
  });

  it('sees only its own conflicts, beliefs, timelines and histories', async () => {
    await using test = await opened();
    const { memory, ofA, clock } = test;
    const say = async (id: string, scope: string, content: string) => {
      clock.advance(1000);
      return memory.remember(content, { id, scope, topicKey: 'drink' });
    };
    await say('all', 'global', 'The team drinks green tea in the morning');
    await say('a', 'team:a', 'The team drinks green tea in the mornings');
    await say('b', 'team:b', 'The team drinks green tea every morning');
    await memory.remember('The team drinks black tea', { id: 'b2', scope: 'team:b', supersedes: 'all' });
    const conflicts = await memory.conflicts();
    const own = await ofA.conflicts();
    expect(JSON.stringify(conflicts)).toContain('team:b');
    expect(own.length).toBeGreaterThan(0);
    expect(JSON.stringify(own)).not.toContain('team:b');
    const other = conflicts.find(({ conflictId }) => !own.some((each) => each.conflictId === conflictId));
    expect(await codeOf(ofA.resolve(other!.conflictId, 'delete'))).toBe('not_found');
    expect(await codeOf(ofA.resolve(own[0]!.conflictId, 'delete'))).toBe('forbidden');
    expect(await memory.conflicts()).toEqual(conflicts);

    expect(JSON.stringify(await memory.beliefs('drink'))).toMatch(/"b2?"/);
    expect(JSON.stringify(await ofA.beliefs('drink'))).not.toMatch(/"b2?"/);
    expect((await ofA.beliefs('drink')).map((each) => each.memory.id)).toEqual(['all', 'a']);
    const { before, after } = await ofA.timeline('a');
    expect([...before, ...after].map(({ id }) => id)).toEqual(['all']);
    expect(JSON.stringify(await memory.history('all'))).toContain('b2');
    const history = await ofA.history('all');
    expect(history.map(({ memoryId }) => memoryId)).toEqual(['all']);
  });

  it('finds its conflicts behind any number of others', async () => {
    await using test = await opened();
    const { memory } = test;
    // The real pages have 1,000 conflicts.
    const inPages: MemoryEngine = {
      ...memory,
      conflicts: (options) => memory.conflicts({ ...options, limit: 2 }),
    };
    const ofA = confine(inPages, { ...grant, scopes: ['team:a'], rights: 'write' });
    const say = (scope: string, when: string) =>
      memory.remember(`The team drinks green tea in ${when}`, { scope, id: `${scope} ${when}` });
    for (const scope of ['team:b', 'team:c', 'team:d', 'team:a']) {
      await say(scope, 'the morning');
      await say(scope, 'the mornings');
    }
    const all = await memory.conflicts();
    const own = await ofA.conflicts();
    expect([all.length, own.map(({ newer }) => newer.scope)]).toEqual([4, ['team:a']]);
    const after = all[2]?.conflictId;
    expect((await memory.conflicts({ after })).map((each) => each.conflictId)).toEqual([own[0]?.conflictId]);
    expect(await ofA.conflicts({ after })).toEqual(own);
    expect(await ofA.conflicts({ after: own[0]?.conflictId })).toEqual([]);
    expect(await codeOf(ofA.conflicts({ after: 'x' }))).toBe('invalid_argument');
    await ofA.resolve(own[0]!.conflictId, 'keep-both');
    expect(await ofA.conflicts()).toEqual([]);
    expect(await memory.conflicts()).toHaveLength(3);
  });

  it('does not reveal other scopes in a history', async () => {
    await using test = await opened();
    const { memory, ofA } = test;
    await memory.remember('Tea of team a', { id: 'a', scope: 'team:a' });
    await memory.remember('Coffee of team a', { id: 'a2', scope: 'team:a' });
    await memory.update('a', { title: 'Tea' });
    await memory.remember('Of team b', { id: 'b', scope: 'team:b', supersedes: ['a', 'a2'] });
    await memory.link('a', 'b');
    const before = await ofA.history('a');
    expect(before.map(({ verb, memoryId }) => `${verb} ${memoryId}`)).toEqual(['remember a', 'update a']);
    expect(before[1]?.before?.effectiveWeight).toBe(1);
    expect((await memory.history('a')).some((each) => each.before?.effectiveWeight === 0.1)).toBe(true);
    await memory.forget('b');
    expect((await memory.history('a')).some(({ redacted }) => redacted)).toBe(true);
    expect(await ofA.history('a')).toEqual(before);
    await ofA.remember('Back in team a', { id: 'b' });
    expect((await ofA.history('b')).map(({ verb }) => verb)).toEqual(['remember']);
    await ofA.remember('Cocoa of team a', { id: 'a3', supersedes: 'a' });
    const weighed = (await ofA.history('a')).find(({ verb }) => verb === 'update');
    expect(weighed?.before?.effectiveWeight).toBe(0.1);
  });

  it('does not name an invisible successor of a memory in a conflict', async () => {
    await using test = await opened();
    const { memory, ofA } = test;
    await memory.remember('The team drinks green tea in the morning', { id: 'a', scope: 'team:a' });
    await memory.remember('The team drinks green tea in the mornings', { id: 'a2', scope: 'team:a' });
    await memory.remember('Something of team b', { id: 'b-secret', scope: 'team:b', supersedes: 'a' });
    const [open] = await ofA.conflicts();
    const refused = (of: MemoryEngine) =>
      of.resolve(open!.conflictId, 'update').catch((error: unknown) => `${error}${JSON.stringify(error)}`);
    expect(await refused(memory)).toContain('is superseded by "b-secret"');
    expect(await refused(ofA)).toMatch(
      /superseded where this token does not see; use supersede or keep-both/,
    );
    expect(await refused(ofA)).not.toContain('b-secret');
    await ofA.remember('Something of team a', { id: 'a3', supersedes: 'a' });
    await memory.forget('b-secret');
    expect(await refused(ofA)).toContain('is superseded by "a3"');
  });

  it('cannot relate memories in other scopes, and its error does not reveal whether they exist', async () => {
    await using test = await opened();
    const { memory, ofA } = test;
    await memory.remember('A colleague', { id: 'ada', type: 'entity', title: 'Ada', scope: 'team:a' });
    await memory.remember('Of team b', { id: 'of-team-b', type: 'entity', title: 'Bob', scope: 'team:b' });
    const refusal = async (of: (id: string) => Promise<unknown>, id: string) => {
      const error = await of(id).catch((failure: unknown) => failure);
      expect(error).toMatchObject({ code: 'not_found' });
      return `${JSON.stringify(error)}${error}`.replaceAll(id, 'ID');
    };
    for (const work of [
      (id: string) => ofA.relate('ada', 'knows', id),
      (id: string) => ofA.relate(id, 'knows', 'ada'),
      (id: string) => ofA.unrelate('ada', 'knows', id),
      (id: string) => ofA.unrelate(id, 'knows', 'ada'),
    ]) {
      expect(await refusal(work, 'of-team-b')).toBe(await refusal(work, 'of-nobody'));
    }
  });

  it('does not reveal what was forgotten, and refuses verbs on the whole space', async () => {
    await using test = await opened();
    const { memory, ofA, clock } = test;
    await memory.remember('Of team b', { id: 'b', scope: 'team:b' });
    const then = new Date(clock.now());
    clock.advance(1000);
    expect(await memory.get('b', { asOf: { known: then } })).toBeDefined();
    expect(await ofA.get('b', { asOf: { known: then } })).toBeUndefined();
    await memory.forget('b');
    expect(await codeOf(memory.get('b', { asOf: { known: then } }))).toBe('redacted');
    expect(await ofA.get('b', { asOf: { known: then } })).toBeUndefined();
    expect(await ofA.get('b', { scope: 'team:a' })).toBeUndefined();
    expect(await codeOf(ofA.get('b', { scope: 'team:b' }))).toBe('forbidden');
    await memory.remember('Tea of team b', { id: 'b2', scope: 'team:b' });
    expect((await memory.context('tea', { maxTokens: 500 })).text).toContain('of team b');
    expect((await ofA.context('tea', { maxTokens: 500 })).text).not.toContain('of team b');
    expect(await codeOf(ofA.context('tea', { maxTokens: 500, mustInclude: ['b2'] }))).toBe('not_found');
    for (const context of [ofA.bootstrap(), ofA.pinned()]) {
      expect((await context).text).not.toContain('of team b');
    }
    expect(await ofA.currentSession()).toBeUndefined();
    expect(await ofA.strategies()).toEqual(await memory.strategies());
    for (const work of [
      ofA.startSession({ scope: 'team:a' }),
      ofA.endSession('x'),
      ofA.saveSummary('x'),
      ofA.undo(),
      ofA.maintain(),
      ofA.stats(),
      ofA.recalls(),
      ofA.replay('1'),
      ofA.check(),
      ofA.reindex(),
      ofA.backup('x'),
    ]) {
      expect(await codeOf(work)).toBe('forbidden');
    }
  });
});

it('stores imported votes under the token, unless it is an administrator of the whole space', async () => {
  await using test = await opened();
  const { memory, ofA } = test;
  const cast = [
    { voter: 'token:0', vote: 1 },
    { voter: 'token:0/Ada', vote: 1 },
    { voter: 'token:1', vote: -1 },
    { voter: 'Ben', vote: 1 },
  ] as const;
  const exported = (id: string, votes: unknown) =>
    [{ id, content: id, scope: 'team:a', createdAt: '2026-01-01', votes }] as unknown as readonly Memory[];
  const votersOf = async (id: string) =>
    (await memory.list()).memories.find((each) => each.id === id)?.votes?.map(({ voter }) => voter);
  const whole = (rights: 'write' | 'admin') => confine(memory, { ...grant, rights });
  const partly = confine(memory, { ...grant, rights: 'admin', scopes: ['team:a'] });
  for (const [id, by] of [
    ['scoped', ofA],
    ['writing', whole('write')],
    ['partly', partly],
  ] as const) {
    await by.importMemories(exported(id, cast));
    expect(await votersOf(id)).toEqual(['token:0', 'token:0/Ada', 'token:0/Ben', 'token:0/token:1']);
  }
  await whole('admin').importMemories(exported('admin', cast));
  expect(await votersOf('admin')).toEqual(['Ben', 'token:0', 'token:0/Ada', 'token:1']);
  for (const votes of [{}, [null], [{ voter: ' ', vote: 1 }], [{ voter: 1, vote: 1 }]])
    expect(await codeOf(ofA.importMemories(exported('wrong', votes)))).toBe('invalid_argument');
});

describe('an engine that may only read', () => {
  it('refuses every verb that writes, and does not close the space', async () => {
    await using test = await opened();
    const { memory, reading } = test;
    await memory.remember('Tea', { id: 'tea' });
    const before = await memory.stats();
    const writes: readonly (() => Promise<unknown>)[] = [
      () => reading.remember('x'),
      () => reading.rememberMany([{ content: 'x' }]),
      () => reading.update('tea', { content: 'x' }),
      () => reading.forget('tea'),
      () => reading.undo(),
      () => reading.invalidate('tea', 'x'),
      () => reading.reinstate('tea'),
      () => reading.resolve('1', 'delete'),
      () => reading.startSession(),
      () => reading.endSession('x'),
      () => reading.saveSummary('x'),
      () => reading.link('tea', 'tea'),
      () => reading.unlink('tea', 'tea'),
      () => reading.maintain(),
      () => reading.importMemories([]),
      () => reading.reindex(),
      () => reading.backup('x'),
    ];
    for (const write of writes) expect(await codeOf(write())).toBe('forbidden');
    await reading.close();
    expect(await memory.stats()).toEqual(before);
    const same: readonly (keyof MemoryEngine & ('get' | 'history' | 'links' | 'timeline'))[] = [
      'get',
      'history',
      'links',
      'timeline',
    ];
    for (const verb of same) expect(await reading[verb]('tea')).toEqual(await memory[verb]('tea'));
  });
});

it('records recalls under the name of the token, and without a name for a program', async () => {
  await using test = await opened();
  const { memory, ofA, reading } = test;
  const whole = confine(memory, { ...grant, name: 'support bot', rights: 'admin' });
  await memory.configure({ recordRecalls: { days: 30, texts: true } });
  await memory.remember('Tea of team a', { scope: 'team:a' });
  // Concurrent recalls are recorded under their own tokens.
  await Promise.all([
    memory.recall('tea alone'),
    ofA.recall('tea of a'),
    whole.recall('tea of all'),
    whole.context('tea in a context', { maxTokens: 200 }),
    reading.recall('tea that leaves no trace'),
  ]);
  const recorded = await whole.recalls();
  expect(new Map(recorded.map(({ query, caller }) => [query, caller]))).toEqual(
    new Map([
      ['tea alone', undefined],
      ['tea of a', 'agent'],
      ['tea of all', 'support bot'],
      ['tea in a context', 'support bot'],
    ]),
  );
});
