import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { compareScores } from '../index.ts';
import { type Mem, type MemOptions, openMem } from './index.ts';

const HOUR = 3_600_000;
const start = Date.UTC(2026, 2, 1);
const directories: string[] = [];
afterEach(() => {
  for (const each of directories.splice(0)) rmSync(each, { recursive: true, force: true });
});

/** Creates the functions with a clock that a test can advance. */
function openHere(options: Partial<MemOptions> = {}) {
  let made = 0;
  const time = { now: start };
  const mem = openMem({
    path: ':memory:',
    embedder: 'none',
    clock: () => time.now,
    newId: () => `m${++made}`,
    ...options,
  });
  return { mem, time, [Symbol.asyncDispose]: () => mem.close() };
}

const alice = { user_id: 'alice' };
const coffee = {
  ...alice,
  type: 'preference',
  title: 'Coffee',
  content: 'Alice prefers dark roast',
} as const;

describe('sessions', () => {
  test('start, save into it, end it; the next one begins with its summary', async () => {
    await using here = openHere();
    const { mem, time } = here;
    const first = await mem.mem_session_start(alice);
    expect(first).toEqual({ session_id: 'm1', is_new: true, sessions_context: [], memories: [] });
    expect((await mem.mem_session_start(alice)).is_new).toBe(false);
    expect(await mem.mem_save(coffee)).toEqual({
      id: 'm3',
      outcome: 'created',
      session_id: 'm1',
      topic_key: null,
    });
    time.now += HOUR;
    const ended = await mem.mem_session_end({ ...alice, summary: 'We spoke of coffee.' });
    expect(ended).toMatchObject({ outcome: 'created', session_id: 'm1' });
    await expect(mem.mem_session_end({ ...alice, summary: 'Again' })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/start one with mem_session_start, .* with mem_session_summary$/),
    });
    const next = await mem.mem_session_start(alice);
    expect(next).toMatchObject({
      is_new: true,
      sessions_context: [
        { id: ended.id, session_id: 'm1', title: 'We spoke of coffee.', content: 'We spoke of coffee.' },
      ],
      memories: [{ id: 'm3', type: 'preference', title: 'Coffee', content: coffee.content, topic_key: null }],
    });
    expect(next.session_id).not.toBe('m1');
    // .5 · recency of an hour + .3 · 1/10 + .2 · .9, in the weights of ContextScore.
    expect(next.memories[0]?.score.value).toBeCloseTo(0.5 * 2 ** (-1 / (24 * 30)) + 0.03 + 0.18, 10);
  });

  test('a session begins with at most five summaries and ten observations, none of them a summary', async () => {
    await using here = openHere();
    const { mem } = here;
    for (let at = 0; at < 12; at++) await mem.mem_save({ ...coffee, content: `Cup ${at}` });
    for (let at = 0; at < 7; at++) await mem.mem_session_summary({ ...alice, summary: `Talk ${at}` });
    const { sessions_context, memories } = await mem.mem_session_start(alice);
    expect(sessions_context).toHaveLength(5);
    expect(memories.map(({ type }) => type)).toEqual(Array(10).fill('preference'));
  });

  test('a summary has its first 80 characters as title, and belongs to the open session', async () => {
    await using here = openHere();
    const { mem } = here;
    expect((await mem.mem_session_summary({ ...alice, summary: 'x'.repeat(80) })).session_id).toBeNull();
    const { session_id } = await mem.mem_session_start(alice);
    const saved = await mem.mem_session_summary({ ...alice, summary: 'y'.repeat(81) });
    expect(saved).toMatchObject({ outcome: 'created', session_id });
    const observation = await mem.mem_get_observation({ ...alice, id: saved.id });
    expect(observation).toMatchObject({ type: 'summary', title: `${'y'.repeat(77)}...` });
    for (const blank of [
      mem.mem_session_end({ ...alice, summary: ' \n' }),
      mem.mem_session_summary({ ...alice, summary: '' }),
    ]) {
      await expect(blank).rejects.toMatchObject({ code: 'invalid_argument', details: { field: 'summary' } });
    }
    expect((await mem.mem_session_start(alice)).session_id).toBe(session_id);
  });

  test('saving after a day without activity starts a new session, and ends the idle one for all', async () => {
    await using here = openHere();
    const { mem, time } = here;
    const first = await mem.mem_session_start(alice);
    await mem.mem_save(coffee);
    time.now += 24 * HOUR;
    const late = { ...alice, summary: 'Spoke of coffee' };
    await expect(mem.mem_session_end(late)).rejects.toMatchObject({ code: 'not_found' });
    expect((await mem.mem_session_summary(late)).session_id).toBeNull();
    const saved = await mem.mem_save({ ...coffee, title: 'Tea', content: 'No milk in tea' });
    expect(saved.session_id).not.toBeNull();
    expect(saved.session_id).not.toBe(first.session_id);
    const next = await mem.mem_session_start(alice);
    expect(next).toMatchObject({ is_new: false, session_id: saved.session_id });
    expect(new Set(next.sessions_context.map(({ session_id }) => session_id))).toEqual(
      new Set([first.session_id, null]),
    );
    expect(await mem.mem_session_end({ ...alice, summary: 'Tea' })).toMatchObject({
      session_id: saved.session_id,
    });
  });
});

describe('observations', () => {
  test('with a known topic are updated, and with a known text deduplicated', async () => {
    await using here = openHere();
    const { mem, time } = here;
    const saved = await mem.mem_save({ ...coffee, topic_key: 'coffee' });
    expect(saved).toEqual({ id: 'm1', outcome: 'created', session_id: null, topic_key: 'coffee' });
    time.now += HOUR;
    const content = 'Alice prefers light roast';
    const again = await mem.mem_save({ ...coffee, content, topic_key: 'coffee' });
    expect(again).toEqual({ ...saved, outcome: 'updated' });
    expect(await mem.mem_get_observation({ ...alice, id: 'm1' })).toEqual({
      id: 'm1',
      type: 'preference',
      title: 'Coffee',
      content,
      topic_key: 'coffee',
      session_id: null,
      revision_count: 2,
      created_at: '2026-03-01T00:00:00.000Z',
      updated_at: '2026-03-01T01:00:00.000Z',
    });
    const tea = { ...alice, type: 'decision', title: 'Tea', content: 'No sugar in tea' };
    const first = await mem.mem_save(tea);
    expect(await mem.mem_save(tea)).toEqual({ ...first, outcome: 'deduped' });
    expect(await mem.mem_stats(alice)).toEqual({ total: 2, by_type: { preference: 1, decision: 1 } });
  });

  test('are found by their words, ten unless told otherwise, and filtered by type', async () => {
    await using here = openHere();
    const { mem } = here;
    for (let at = 0; at < 12; at++) await mem.mem_save({ ...coffee, content: `Cup ${at} of coffee` });
    await mem.mem_save({ ...alice, type: 'decision', title: 'Beans', content: 'Buy coffee on Monday' });
    const find = (more: object) => mem.mem_search({ ...alice, query: 'coffee', ...more });
    expect(await find({})).toHaveLength(10);
    expect(await find({ limit: 100 })).toHaveLength(13);
    expect(await find({ limit: 1000 })).toHaveLength(13);
    for (const limit of [0, 1001])
      await expect(find({ limit })).rejects.toThrow(`limit: ${limit} must be a whole number from 1 to 1000`);
    expect((await find({ types: ['decision'] })).map(({ title }) => title)).toEqual(['Beans']);
    expect(await find({ types_exclude: ['decision'], limit: 100 })).toHaveLength(12);
    expect(await mem.mem_search({ ...alice, query: 'kettle' })).toEqual([]);
    await expect(find({ types: [], types_exclude: [] })).rejects.toMatchObject({
      details: { field: 'types_exclude' },
    });
    const [first] = await find({ types: ['decision'] });
    expect(Object.keys(first ?? {}).sort()).toEqual(
      ['id', 'score', 'snippet', 'title', 'topic_key', 'type', 'updated_at'].sort(),
    );
    expect(first?.snippet).toContain('coffee');
  });

  test('are returned with their neighbours in time', async () => {
    await using here = openHere();
    const { mem, time } = here;
    for (let at = 1; at <= 12; at++) {
      time.now += 1000;
      await mem.mem_save({ ...coffee, content: `Cup ${at}` });
    }
    const { before, observation, after } = await mem.mem_timeline({ ...alice, id: 'm7' });
    expect(before.map(({ id }) => id)).toEqual(['m2', 'm3', 'm4', 'm5', 'm6']);
    expect(observation.content).toBe('Cup 7');
    expect(after.map(({ id }) => id)).toEqual(['m8', 'm9', 'm10', 'm11', 'm12']);
    await expect(mem.mem_timeline({ ...alice, id: 'm99' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('of unknown types are refused unless they are configured', async () => {
    await using here = openHere();
    const recipe = { ...coffee, type: 'recipe' };
    await expect(here.mem.mem_save(recipe)).rejects.toThrow(
      /^type: "recipe" is not one of profile, preference/,
    );
    expect((await here.mem.mem_stats(alice)).total).toBe(0);
    await using other = openHere({ types: ['recipe'] });
    expect(await other.mem.mem_save(recipe)).toMatchObject({ outcome: 'created' });
  });

  test.each(['bug', [5], [''], { bug: true }])('types must be a list of names, not %j', (types) => {
    const path = mkdtempSync(join(tmpdir(), 'salience-mem-'));
    directories.push(path);
    expect(() => openMem({ path, types: types as never })).toThrow(/^types/);
  });

  test('SearchScore and ContextScore do not mix, and JSON writes both as numbers', async () => {
    await using here = openHere();
    const { mem } = here;
    await mem.mem_save(coffee);
    const [found] = await mem.mem_search({ ...alice, query: 'dark roast' });
    const [known] = (await mem.mem_session_start(alice)).memories;
    const mixed = [found?.score, known?.score] as never[];
    expect(() => mixed.sort(compareScores)).toThrow(/lexical|ambient/);
    expect(JSON.parse(JSON.stringify({ found, known }))).toMatchObject({
      found: { score: expect.any(Number) },
      known: { score: expect.any(Number) },
    });
  });
});

describe('users', () => {
  async function fill(mem: Mem) {
    await mem.mem_save(coffee);
    await mem.mem_save({ ...coffee, user_id: 'bob', content: 'Bob prefers tea' });
  }

  test('must be named in every call', async () => {
    await using here = openHere();
    const functions = here.mem as unknown as Record<string, (input: object) => Promise<unknown>>;
    const names = Object.keys(functions).filter((name) => name.startsWith('mem_'));
    expect(names).toHaveLength(8);
    for (const name of names) {
      for (const input of [{}, { user_id: undefined }, { user_id: ' ' }, { userId: 'alice' }]) {
        await expect(functions[name]?.(input), `${name} ${JSON.stringify(input)}`).rejects.toMatchObject({
          code: 'invalid_argument',
        });
      }
    }
  });

  test('do not see each other', async () => {
    await using here = openHere();
    const { mem } = here;
    await fill(mem);
    expect(await mem.mem_get_observation({ user_id: 'bob', id: 'm1' })).toBeNull();
    expect(await mem.mem_search({ user_id: 'bob', query: 'dark roast' })).toEqual([]);
    await mem.mem_session_start(alice);
    await expect(mem.mem_session_end({ user_id: 'bob', summary: 'x' })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(mem.mem_stats({ user_id: '..' })).rejects.toMatchObject({ code: 'invalid_space_name' });
  });

  test('are on disk, and another process continues the open session', async () => {
    const path = mkdtempSync(join(tmpdir(), 'salience-mem-'));
    directories.push(path);
    let session: string;
    {
      await using here = openHere({ path });
      await Promise.all([fill(here.mem), here.mem.mem_stats(alice)]);
      session = (await here.mem.mem_session_start(alice)).session_id;
    }
    let made = 100;
    await using here = openHere({ path, newId: () => `n${++made}` });
    const { mem } = here;
    expect((await mem.mem_save({ ...coffee, content: 'Alice owns a grinder' })).session_id).toBe(session);
    expect((await mem.mem_stats(alice)).total).toBe(2);
    await mem.close();
    await expect(mem.mem_stats(alice)).rejects.toMatchObject({ code: 'closed' });
  });
});
