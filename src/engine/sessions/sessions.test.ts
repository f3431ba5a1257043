import { describe, expect, test } from 'vitest';
import { openMemory } from '../../open.ts';
import type { Store } from '../../store/store.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { day, live } from '../../testing/live-memory.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';
import { expectCode } from '../../testing/store-contract/harness.ts';
import type { MemoryEngine } from '../memory-engine.ts';
import type { RememberOptions } from '../types.ts';

const plain = { embedder: 'none' } as const;
const summariesOf = async (memory: MemoryEngine) =>
  (await memory.list({ types: ['summary'], limit: 100 })).memories;

describe('a session', () => {
  test('continues when it is started again, and shows what matters and earlier summaries', async () => {
    const { memory, pass } = await live(plain);
    expect(await memory.startSession()).toMatchObject({ isNew: true, summaries: [], memories: [] });
    const { sessionId } = await memory.startSession();
    await memory.rememberMany(
      Array.from({ length: 12 }, (_, at) => ({ content: `Fact ${at}`, type: at === 3 ? 'profile' : 'fact' })),
    );
    for (let at = 0; at < 7; at++)
      await memory.saveSummary(`Summary ${at}`, { now: `2026-01-01T00:0${at}:00Z` });
    pass(0.5);
    const again = await memory.startSession();
    expect(again).toMatchObject({ sessionId, isNew: false });
    expect(again.memories).toHaveLength(10);
    expect(again.memories[0]?.memory.type).toBe('profile');
    expect(again.memories.map((hit) => hit.memory.type)).not.toContain('summary');
    expect(again.summaries.map(({ content }) => content)).toEqual(
      [6, 5, 4, 3, 2].map((at) => `Summary ${at}`),
    );
    // Starting one teaches the memories nothing.
    expect((await memory.list({ limit: 100 })).memories.every(({ accessCount }) => accessCount === 0)).toBe(
      true,
    );
  });

  test('ends with a given summary; the next start opens another session', async () => {
    const { memory, pass } = await live(plain);
    const { sessionId } = await memory.startSession({ scope: 'project:a' });
    pass(0.1);
    const ended = await memory.endSession('Chose a database');
    expect(ended).toMatchObject({ sessionId, outcome: 'created' });
    expect(await memory.get(ended.id)).toMatchObject({
      type: 'summary',
      title: 'Chose a database',
      content: 'Chose a database',
      scope: 'project:a',
      sessionId,
      source: 'stated',
      tags: [],
    });
    const error = await expectCode(memory.endSession('Again'), 'not_found');
    expect(error.message).toContain('startSession');
    const next = await memory.startSession({ scope: 'project:a' });
    expect(next.isNew).toBe(true);
    expect(next.sessionId).not.toBe(sessionId);
    expect(next.summaries.map(({ id }) => id)).toEqual([ended.id]);
    expect((await memory.stats()).memories).toBe(1);
  });

  test('a blank summary is refused, and nothing is written or ended', async () => {
    const { memory } = await live(plain);
    const { sessionId } = await memory.startSession();
    for (const blank of ['', ' \n\t']) {
      await expectCode(memory.endSession(blank), 'invalid_argument');
      await expectCode(memory.saveSummary(blank), 'invalid_argument');
    }
    expect(await memory.startSession()).toMatchObject({ sessionId, isNew: false });
    expect((await memory.stats()).memories).toBe(0);
    await expectCode(memory.remember('x', { type: 'summary' }), 'invalid_argument');
    await expectCode(memory.startSession({ scope: 'no scope' }), 'invalid_scope');
  });

  test('a long summary has a title of 80 characters at most', async () => {
    const { memory } = await live(plain);
    const titles: (string | undefined)[] = [];
    for (const summary of ['x'.repeat(80), 'y'.repeat(81), `${'z'.repeat(76)}\u{1f600}${'z'.repeat(9)}`]) {
      titles.push((await memory.get((await memory.saveSummary(summary)).id))?.title);
    }
    expect(titles[0]).toBe('x'.repeat(80));
    expect(titles[1]).toBe(`${'y'.repeat(77)}...`);
    // A character is not cut in half.
    expect(titles[2]).toBe(`${'z'.repeat(76)}...`);
  });

  test('idle for a day, it is closed with a summary that says that it is automatic', async () => {
    const { memory, clock, pass } = await live(plain);
    const first = await memory.startSession({ scope: 'project:a' });
    const { sessionId } = first;
    await memory.remember('Anna likes tea\nand more', { sessionId, scope: 'project:a' });
    pass(0.9);
    await memory.remember('Ben likes coffee', { sessionId, title: 'Ben', scope: 'project:a' });
    clock.advance(day - 1);
    expect(await memory.startSession({ scope: 'project:a' })).toMatchObject({ sessionId, isNew: false });
    clock.advance(day);
    const next = await memory.startSession({ scope: 'project:a' });
    expect(next.isNew).toBe(true);
    const [summary, ...others] = next.summaries;
    expect(others).toEqual([]);
    expect(summary).toMatchObject({ tags: ['automatic'], source: 'inferred', sessionId, scope: 'project:a' });
    expect(summary?.content).toBe(
      'Session of 2026-01-01, closed after a day without activity; 2 memories:\n- Anna likes tea\n- Ben',
    );
    // Once.
    clock.advance(day);
    await memory.startSession();
    expect(await summariesOf(memory)).toHaveLength(1);
  });

  test('an idle session that is empty, or has a summary already, is closed without another one', async () => {
    const { memory, pass } = await live(plain);
    await memory.startSession();
    pass(2);
    const { sessionId, isNew } = await memory.startSession();
    expect(isNew).toBe(true);
    await memory.remember('Anna likes tea', { sessionId });
    await memory.saveSummary('Tea');
    pass(2);
    expect((await memory.startSession()).isNew).toBe(true);
    expect((await summariesOf(memory)).map(({ content }) => content)).toEqual(['Tea']);
  });

  test.each([
    [150, /2 memories:\n- The first.*\n- and 1 more$/, 1],
    [60, /^Session of 2026-01-01, closed after a day without activity; $/, 0],
    [9, /^Session o$/, 0],
  ])(
    'an automatic summary of at most %i bytes is shorter, and the session ends',
    async (most, text, shown) => {
      const store = createReferenceStore();
      const { memory, clock, pass, space } = await live({ ...plain, store });
      const { sessionId } = await memory.startSession();
      await memory.remember(`The first: ${'é'.repeat(20)}`, { id: 'first', sessionId });
      await memory.remember(`The second: ${'é'.repeat(20)}`, { id: 'second', sessionId });
      pass(2);
      const { memory: small } = await live({
        ...plain,
        store,
        clock: clock.now,
        newId: undefined,
        maxContentBytes: most,
      });
      expect((await small.startSession()).isNew).toBe(true);
      const [summary] = await summariesOf(small);
      expect(summary?.content).toMatch(text);
      expect(summary?.derivedFrom).toEqual(['first', 'second'].slice(0, shown));
      expect(Buffer.byteLength(summary?.content ?? '')).toBeLessThanOrEqual(most);
      expect((await space.session())?.id).not.toBe(sessionId);
    },
  );

  test('undo takes the summary back, and the session stays ended', async () => {
    const { memory } = await live(plain);
    await memory.startSession();
    const { id } = await memory.endSession('Planned a trip');
    expect((await memory.undo()).memories).toEqual([{ id, memory: undefined }]);
    expect(await summariesOf(memory)).toEqual([]);
    expect(await memory.currentSession()).toBeUndefined();
  });

  test('an automatic summary says what is believed where the session takes place, since the last one', async () => {
    const { memory, clock, pass } = await live(plain);
    const { sessionId } = await memory.startSession();
    const say = (content: string, options: RememberOptions = {}) =>
      memory.remember(content, { sessionId, ...options });
    await say('Stands in the first summary');
    await memory.saveSummary('So far');
    await say('The secret launch code of A is 4711', { scope: 'project:a' });
    const wrong = await say('Bob lives in Oslo');
    await memory.invalidate(wrong.id, 'He does not');
    const old = await say('The bus leaves at nine');
    await say('The bus leaves at ten', { supersedes: old.id });
    await say('Only for an hour', { ttl: '1h' });
    await say('Not before next year', { validFrom: '2027-01-01' });
    const moved = await say('Moved away');
    await memory.update(moved.id, { scope: 'project:z' });
    await say('Holds');
    await say('Happened before the first summary', { createdAt: '2025-06-01' });
    pass(2);
    const { summaries } = await memory.startSession({ scope: 'project:b' });
    expect(summaries.map(({ content }) => content.split('\n').slice(1))).toEqual([
      ['- Happened before the first summary', '- The bus leaves at ten', '- Holds'],
      [],
    ]);
    expect(
      JSON.stringify((await memory.recall('secret launch code', { scope: 'project:b' })).hits),
    ).not.toContain('4711');
    // Said again, nothing new: the session is in use all the same.
    const next = await memory.startSession();
    for (let hour = 0; hour < 30; hour++) {
      clock.advance(day / 24);
      expect((await memory.remember('Holds', { sessionId: next.sessionId })).outcome).toBe('deduplicated');
    }
    expect(await memory.currentSession()).toBe(next.sessionId);
  });

  test('an automatic summary says what was given another text since the last one', async () => {
    const { memory, clock, pass } = await live(plain);
    const { sessionId } = await memory.startSession();
    const say = (content: string, topicKey: string) => memory.remember(content, { sessionId, topicKey });
    await say('The standup is at nine', 'standup');
    await say('The bus leaves at noon', 'bus');
    await say('The cook is called Mia', 'cook');
    clock.advance(1);
    await say('The cook is called Ann', 'cook');
    clock.advance(1);
    await memory.saveSummary('The standup is at nine, the bus leaves at noon, the cook is called Ann');
    clock.advance(1);
    await say('The standup is at ten', 'standup');
    // No other text.
    await say('The bus leaves at noon', 'bus');
    pass(2);
    const { summaries } = await memory.startSession();
    expect(summaries.map(({ content }) => content.split('\n').slice(1))).toEqual([
      ['- The standup is at ten'],
      [],
    ]);
  });

  test.each<[string, (memory: MemoryEngine) => Promise<unknown>]>([
    ['corrected', (memory) => memory.update('secret', { content: 'Something else' })],
    ['given another title', (memory) => memory.update('secret', { title: 'Something else' })],
    ['moved', (memory) => memory.update('secret', { scope: 'project:z' })],
    ['invalidated', (memory) => memory.invalidate('secret', 'wrong')],
    ['forgotten', (memory) => memory.forget('secret')],
  ])('an automatic summary does not show what was %s while it was made', async (_, change) => {
    const clock = createFakeClock();
    const store = createReferenceStore();
    let meanwhile: (() => Promise<unknown>) | undefined;
    const slow: Store = {
      ...store,
      openSpace: async (name, options) => {
        const space = await store.openSpace(name, options);
        return {
          ...space,
          async find(by, values) {
            const found = await space.find(by, values);
            const run = by === 'sessionId' ? meanwhile : undefined;
            if (run) meanwhile = undefined;
            await run?.();
            return found;
          },
        };
      },
    };
    const options = { path: 'x', space: 'a', clock: clock.now, ...plain };
    const memory = await openMemory({ ...options, store: slow });
    const other = await openMemory({ ...options, store });
    const { sessionId } = await memory.startSession();
    await memory.remember('The secret word', { id: 'secret', sessionId });
    await memory.remember('Stays', { sessionId });
    clock.advance(2 * day);
    meanwhile = () => change(other);
    const { summaries } = await memory.startSession();
    expect(summaries).toHaveLength(1);
    expect(summaries[0]?.content).toContain('- Stays');
    expect(summaries[0]?.content).not.toContain('The secret word');
  });

  test('shows the newest five believed summaries, however many are not, and no stub', async () => {
    const { memory, clock, pass } = await live({ ...plain, fading: 'retention' });
    await memory.saveSummary('Archived by then');
    for (let year = 0; year < 3; year++) {
      pass(400);
      await memory.maintain();
    }
    expect((await memory.list({ types: ['summary'] })).memories.map(({ tier }) => tier)).toEqual(['stub']);
    expect((await memory.startSession()).summaries).toEqual([]);
    for (const content of ['One', 'Two', 'Three']) {
      clock.advance(1000);
      await memory.saveSummary(content);
    }
    for (let at = 0; at < 43; at++) {
      clock.advance(1000);
      const { id } = await memory.saveSummary(`Wrong ${at}`);
      await memory.invalidate(id, 'wrong');
    }
    expect((await memory.startSession()).summaries.map(({ content }) => content)).toEqual([
      'Three',
      'Two',
      'One',
    ]);
  });

  test('a caller with another scope sees nothing of the scope of the open session', async () => {
    const { memory } = await live(plain);
    const { sessionId } = await memory.startSession({ scope: 'project:a' });
    await memory.remember('Only for a', { scope: 'project:a' });
    await memory.saveSummary('A summary for a');
    const from = await memory.startSession({ scope: 'project:b' });
    expect(from).toEqual({ sessionId, isNew: false, summaries: [], memories: [] });
    expect((await memory.startSession()).summaries).toHaveLength(1);
  });

  test('two callers that find an idle session at once close it once, and continue with one', async () => {
    const clock = createFakeClock();
    const store = createReferenceStore();
    // Both look before either writes.
    let waiting: (() => void)[] = [];
    let together = false;
    const slow: Store = {
      ...store,
      openSpace: async (name, options) => {
        const space = await store.openSpace(name, options);
        return {
          ...space,
          async find(by, values) {
            const found = await space.find(by, values);
            if (together && by === 'sessionId') {
              await new Promise<void>((resolve) => {
                waiting.push(resolve);
                if (waiting.length < 2) return;
                together = false;
                for (const go of waiting) go();
                waiting = [];
              });
            }
            return found;
          },
        };
      },
    };
    const open = () =>
      openMemory({ path: 'test', space: 'default', store: slow, clock: () => clock.now(), ...plain });
    const memories = [await open(), await open()] as const;
    const { sessionId } = await memories[0].startSession();
    await memories[0].remember('Anna likes tea', { sessionId });
    clock.advance(2 * day);
    together = true;
    const started = await Promise.all(memories.map((each) => each.startSession()));
    expect(started.map(({ isNew }) => isNew).toSorted()).toEqual([false, true]);
    expect(new Set(started.map((each) => each.sessionId)).size).toBe(1);
    expect(await summariesOf(memories[0])).toHaveLength(1);
    // And of two that end it one is told that it is over.
    const ended = await Promise.allSettled(memories.map((each, at) => each.endSession(`Done ${at}`)));
    expect(ended.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await summariesOf(memories[0])).toHaveLength(2);
  });
});

test('a timeline has the five before and the five after, by creation', async () => {
  const { memory, clock } = await live(plain);
  for (let at = 0; at < 13; at++) {
    await memory.remember(`Memory ${at}`, { id: `m${at}`, scope: at % 2 ? 'project:a' : 'global' });
    clock.advance(1000);
  }
  await memory.update('m0', { importance: 1 });
  const ids = async (id: string) => {
    const { before, memory: middle, after } = await memory.timeline(id);
    expect(middle.id).toBe(id);
    return [before, after].map((side) => side.map((each) => Number(each.id.slice(1))));
  };
  expect(await ids('m6')).toEqual([
    [1, 2, 3, 4, 5],
    [7, 8, 9, 10, 11],
  ]);
  expect(await ids('m0')).toEqual([[], [1, 2, 3, 4, 5]]);
  expect(await ids('m12')).toEqual([[7, 8, 9, 10, 11], []]);
  await expectCode(memory.timeline('x'), 'not_found');
});
