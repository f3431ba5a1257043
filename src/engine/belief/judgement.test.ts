import { describe, expect, test } from 'vitest';
import { extracted } from '../../testing/extraction-script.ts';
import { live, liveFading } from '../../testing/live-memory.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';

describe('feedback', () => {
  test('usefulness is (p+1)/(p+n+2) of the latest votes, one a voter', async () => {
    const { memory } = await live();
    const { id } = await memory.remember('The deploy script needs Node 20');
    expect((await memory.feedback(id, 'up', { voter: 'ann' })).usefulness).toBe(2 / 3);
    expect((await memory.feedback(id, 1, { voter: 'ann' })).usefulness).toBe(2 / 3);
    expect((await memory.feedback(id, 'up', { voter: 'ben' })).usefulness).toBe(3 / 4);
    expect((await memory.feedback(id, -1, { voter: 'ann' })).usefulness).toBe(2 / 4);
    expect((await memory.feedback(id, 'down')).usefulness).toBe(2 / 5);
    expect(await memory.get(id)).toMatchObject({ usefulness: 0.4, revisionCount: 1 });
    expect((await memory.history(id)).map(({ verb }) => verb).slice(-2)).toEqual(['feedback', 'feedback']);
  });

  test('undo gives the voter the vote from before', async () => {
    const { memory } = await live();
    const { id } = await memory.remember('The deploy script needs Node 20');
    await memory.feedback(id, 'up', { voter: 'ann' });
    await memory.feedback(id, 'down', { voter: 'ann' });
    await memory.undo();
    expect((await memory.get(id))?.usefulness).toBe(2 / 3);
    expect((await memory.feedback(id, 'up', { voter: 'ben' })).usefulness).toBe(3 / 4);
    await memory.undo();
    await memory.undo();
    expect((await memory.get(id))?.usefulness).toBe(0.5);
    expect((await memory.feedback(id, 'down', { voter: 'ben' })).usefulness).toBe(1 / 3);
  });

  test('votes no longer count once the text is replaced; an undo restores them', async () => {
    for (const replace of ['update', 'topic', 'conflict'] as const) {
      const { memory } = await live();
      const options = { id: 'a', topicKey: 'drink' };
      await memory.remember('Anna lives in Oslo near the harbour', options);
      await memory.feedback('a', 'up', { voter: 'ann' });
      await memory.feedback('a', 'up', { voter: 'ben' });
      const said = 'Anna lives in Bergen near the harbour';
      if (replace === 'update') await memory.update('a', { content: said });
      else if (replace === 'topic') await memory.remember(said, { topicKey: 'drink' });
      else {
        const { conflicts } = await memory.remember(said, { id: 'b' });
        await memory.resolve(conflicts![0]!.conflictId, 'update');
      }
      expect(await memory.get('a'), replace).toMatchObject({ content: said, usefulness: 0.5 });
      expect((await memory.list()).memories.map(({ votes }) => votes)).toEqual([undefined]);
      expect((await memory.feedback('a', 'up', { voter: 'ann' })).usefulness).toBe(2 / 3);
      await memory.undo();
      await memory.undo();
      expect((await memory.get('a'))?.usefulness).toBe(3 / 4);
      expect((await memory.feedback('a', 'up', { voter: 'cem' })).usefulness).toBe(4 / 5);
    }
  });

  test('a text that only lost white space keeps its votes', async () => {
    const { memory } = await live();
    await memory.remember('Anna  likes tea ', { id: 'a' });
    await memory.feedback('a', 'up');
    await memory.update('a', { content: 'Anna likes tea' });
    expect((await memory.get('a'))?.usefulness).toBe(2 / 3);
    expect((await memory.feedback('a', 'up', { voter: 'ben' })).usefulness).toBe(3 / 4);
  });

  test('votes stay when a memory that it was linked with is forgotten', async () => {
    const { memory } = await live();
    for (const id of ['a', 'b']) await memory.remember(`Statement ${id}`, { id });
    await memory.feedback('a', 'up', { voter: 'ann' });
    await memory.link('a', 'b');
    await memory.forget('b');
    expect((await memory.list()).memories).toMatchObject([{ id: 'a', votes: [{ voter: 'ann', vote: 1 }] }]);
    expect((await memory.feedback('a', 'up', { voter: 'ben' })).usefulness).toBe(3 / 4);
  });

  test('continues after an export and an import exactly as without them', async () => {
    const { memory } = await live();
    await memory.remember('The deploy script needs Node 20', { id: 'a' });
    for (let voter = 0; voter < 50; voter++) await memory.feedback('a', 'up', { voter: `v${voter}` });
    const { memories } = await memory.list();
    const copy = (await live()).memory;
    await copy.importMemories(JSON.parse(JSON.stringify(memories)));
    expect((await copy.list()).memories).toEqual(memories);
    for (const [vote, voter] of [
      ['up', 'new'],
      ['down', 'v3'],
      ['up', 'v4'],
    ] as const) {
      const [here, there] = [memory, copy].map((each) => each.feedback('a', vote, { voter }));
      expect((await there)?.usefulness).toBe((await here)?.usefulness);
    }
  });

  test('votes stay when only a stub is left, and in its export', async () => {
    const { memory, pass } = await liveFading({ embedder: 'none' });
    await memory.remember('Saw a stork by the river', { id: 'a', type: 'event', importance: 0 });
    await memory.feedback('a', 'down', { voter: 'ben' });
    await memory.update('a', { content: 'Saw a heron by the river' });
    await memory.feedback('a', 'up', { voter: 'ann' });
    pass(60);
    await memory.maintain();
    pass(180);
    expect((await memory.maintain()).archived).toEqual(['a']);
    const { memories } = await memory.list({ limit: 10 });
    expect(memories).toMatchObject([{ tier: 'stub', votes: [{ voter: 'ann', vote: 1 }] }]);
    const { memory: copy } = await liveFading({ embedder: 'none' });
    await copy.importMemories(memories);
    for (const each of [memory, copy])
      expect((await each.feedback('a', 'up', { voter: 'ann' })).usefulness).toBe(2 / 3);
  });

  test('votes of an import that was undone count for no new memory of the same id', async () => {
    const { memory } = await live();
    await memory.remember('Anna likes tea', { id: 'a' });
    await memory.feedback('a', 'up', { voter: 'ann' });
    const { memories } = await memory.list();
    const copy = (await live()).memory;
    await copy.importMemories(memories);
    await copy.undo();
    await copy.remember('Anna likes tea', { id: 'a' });
    expect((await copy.feedback('a', 'up', { voter: 'ben' })).usefulness).toBe(2 / 3);
  });

  test('an imported usefulness without votes is the starting value', async () => {
    const { memory } = await live();
    await memory.remember('The deploy script needs Node 20', { id: 'a' });
    const [known] = (await memory.list()).memories;
    for (const before of [0, 0.2, 0.5, 0.981, 1]) {
      const copy = (await live()).memory;
      await copy.importMemories([{ ...known!, usefulness: before }]);
      const up = (await copy.feedback('a', 'up', { voter: 'ann' })).usefulness;
      expect(up).toBeGreaterThanOrEqual(before);
      expect((await copy.feedback('a', 'down', { voter: 'ben' })).usefulness).toBeLessThanOrEqual(up);
      expect((await copy.feedback('a', 'up', { voter: 'ben' })).usefulness).toBeGreaterThanOrEqual(up);
    }
    await expect(
      memory.importMemories([{ ...known!, id: 'b', votes: [{ voter: 'x', vote: 2 as 1 }] }]),
    ).rejects.toThrow('votes[0].vote');
  });

  test('five-factor counts it, shows it, and looks back past it', async () => {
    const { memory, clock, pass } = await live();
    const { id } = await memory.remember('The deploy script needs Node 20');
    const before = new Date(clock.now());
    pass(1);
    await memory.feedback(id, 'up');
    const ask = { strategy: 'five-factor', track: false } as const;
    const { hits } = await memory.recall('deploy script', ask);
    expect(hits[0]?.features['usefulness']).toBe(2 / 3);
    const then = await memory.recall('deploy script', { ...ask, asOf: { known: before } });
    expect(then.hits[0]?.features['usefulness']).toBe(0.5);
  });

  test('is not lost to an update that began before it', async () => {
    const { memory } = await live();
    const { id } = await memory.remember('The deploy script needs Node 20');
    await Promise.all([
      memory.update(id, { title: 'Node' }),
      memory.feedback(id, 'up'),
      memory.setImportance(id, 0.9),
    ]);
    expect(await memory.get(id)).toMatchObject({
      title: 'Node',
      usefulness: 2 / 3,
      importance: 0.9,
      importanceSource: 'person',
    });
  });

  test('refuses an invalid vote and an unknown memory', async () => {
    const { memory } = await live();
    await expect(memory.feedback('none', 'up')).rejects.toMatchObject({ code: 'not_found' });
    await expect(memory.feedback('none', 2 as never)).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(memory.feedback('none', 1, { voter: '' })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });
});

test('an importance set by a person is not changed by a model', async () => {
  const before = 'Anna flies to Lisbon on Monday morning';
  const memories = [
    extracted(before, { importance: 0.9 }),
    extracted(`${before}, early`, { importance: 0.9 }),
  ];
  const scripted = scriptedModel(() => ({ memories }));
  const { memory } = await live({ languageModel: scripted.model });
  const { id } = await memory.remember(`${before}, early`);
  expect(await memory.setImportance(id, 0.1)).toMatchObject({
    importance: 0.1,
    importanceSource: 'person',
    revisionCount: 1,
  });
  expect(await memory.observe([{ role: 'user', content: '…' }])).toMatchObject({
    created: [],
    deduplicated: [id],
  });
  expect(await memory.get(id)).toMatchObject({ importance: 0.1, importanceSource: 'person' });
  await memory.undo();
  expect(await memory.get(id)).toMatchObject({ importance: 0.5, importanceSource: 'default' });
  await expect(memory.setImportance(id, 1.1)).rejects.toMatchObject({ code: 'invalid_argument' });
});

describe('markUsed', () => {
  test('only what was used is touched, counted or reinforced, by one row of the usage log', async () => {
    const { memory, space, pass } = await live();
    await memory.rememberMany([
      { id: 'a', content: 'Ann likes tea' },
      { id: 'b', content: 'Ben likes coffee' },
    ]);
    pass(7);
    expect(await memory.markUsed(['a', 'gone', 'a'], { sessionId: 's' })).toEqual(['a']);
    expect(await memory.get('a')).toMatchObject({
      lastAccessedAt: '2026-01-08T00:00:00.000Z',
      accessCount: 0,
      stability: 0.25,
    });
    await memory.markUsed(['a'], { effect: 'count' });
    expect(await memory.get('a')).toMatchObject({ accessCount: 1, stability: 0.25 });
    pass(7);
    await memory.markUsed(['a'], { effect: 'reinforce', sessionId: 's' });
    expect(await memory.get('a')).toMatchObject({ accessCount: 2, sessions: ['s'], stability: 0.35 });
    expect(await memory.get('b')).toMatchObject({ accessCount: 0, lastAccessedAt: undefined });
    expect((await space.usage()).map(({ strategy, effect, used }) => [strategy, effect, used])).toEqual(
      ['touch', 'count', 'reinforce'].map((effect) => ['used', effect, [{ id: 'a', direct: true }]]),
    );
    expect(await memory.markUsed(['gone'])).toEqual([]);
    expect(await space.usage()).toHaveLength(3);
  });
});
