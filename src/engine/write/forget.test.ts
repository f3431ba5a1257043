import { describe, expect, it, onTestFinished } from 'vitest';
import { liveFading as live, liveOnDisk } from '../../testing/live-memory.ts';

const none = { embedder: 'none' } as const;
const runs = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'].map((weekday, at) => ({
  id: `run${at}`,
  content: `Went for a long run along the river on ${weekday}`,
  tags: [weekday],
  type: 'event',
  importance: 0.1 + at / 100,
}));

async function consolidated() {
  const lived = await live();
  const { memory, pass } = lived;
  await memory.rememberMany(runs);
  pass(20);
  const { consolidated } = await memory.maintain({ consolidate: true, fade: false });
  return { ...lived, id: consolidated[0]?.id as string };
}

describe('forget by ids', () => {
  it('forgets nothing for a prefix of an id', async () => {
    const { memory } = await liveOnDisk(none);
    await memory.remember('Drinks tea', { id: 'tea' });
    for (const id of ['tea\0', 'tea\0x', 'tea\ud800'])
      await expect(memory.forget(id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await memory.get('tea\0')).toBeUndefined();
    expect(await memory.get('tea')).toMatchObject({ content: 'Drinks tea' });
  });

  it('forgets several memories in one operation, and lists them', async () => {
    const { memory } = await live(none);
    await memory.rememberMany(['a', 'b', 'c'].map((id) => ({ id, content: `Statement ${id}` })));
    expect(await memory.forget(['a', 'b'])).toEqual({
      dryRun: false,
      count: 2,
      forgotten: ['a', 'b'],
      rebuilt: [],
      reinstated: [],
      mayStillSay: [],
      erased: 'bytes',
    });
    expect((await memory.list()).memories.map(({ id }) => id)).toEqual(['c']);
    const operations = [...(await memory.history('a')), ...(await memory.history('b'))]
      .filter(({ verb }) => verb === 'forget')
      .map(({ operation }) => operation);
    expect(new Set(operations).size).toBe(1);
    await expect(memory.undo({ operation: operations[0] })).rejects.toMatchObject({ code: 'cannot_undo' });
  });

  it('forgets an entity that was merged into a forgotten one, but none that is hidden in another scope', async () => {
    const { memory } = await live(none);
    const entity = { type: 'entity' } as const;
    await memory.remember('A company', { ...entity, id: 'everywhere', title: 'Acme' });
    await memory.remember('The same', { ...entity, id: 'merged', title: 'Acme Inc', scope: 'team:a' });
    const here = { ...entity, id: 'here', title: 'Acme', scope: 'team:a' };
    await memory.remember('A company of team a', { ...here, supersedes: 'everywhere' });
    await memory.mergeEntities('merged', 'here');
    // After the move it is still known where the two were merged.
    await memory.update('here', { scope: 'team:b' });
    expect((await memory.forget('here')).forgotten).toEqual(['here', 'merged']);
    expect(await memory.get('everywhere')).toBeDefined();
  });

  it('names every unknown id, and forgets nothing then', async () => {
    const { memory } = await live(none);
    await memory.remember('Statement', { id: 'a' });
    await expect(memory.forget(['a', 'x', 'y'])).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/"x", "y".*nothing was forgotten/),
      details: { ids: ['x', 'y'] },
    });
    expect(await memory.get('a')).toBeDefined();
    await memory.forget('a');
    await expect(memory.forget('a')).rejects.toMatchObject({ code: 'not_found', details: { id: 'a' } });
  });

  it('does nothing with an empty list', async () => {
    const { memory } = await live(none);
    await memory.remember('Statement', { id: 'a' });
    expect(await memory.forget([])).toMatchObject({ count: 0, forgotten: [] });
    expect((await memory.stats()).events).toBe(1);
  });

  it('says in a look back that something was forgotten', async () => {
    const { memory, id, clock, pass } = await consolidated();
    const known = new Date(clock.now()).toISOString();
    pass(1);
    await memory.forget('run0');
    for (const gone of ['run0', id]) {
      await expect(memory.get(gone, { asOf: { known } })).rejects.toMatchObject({ code: 'redacted' });
    }
    expect((await memory.list({ asOf: { known } })).redacted).toBe(2);
  });
});

describe('forget of memories that others were made from', () => {
  it('rebuilds a consolidation without a model from what is left, under its id, with its links and votes', async () => {
    const { memory, id } = await consolidated();
    await memory.remember('The river is high', { id: 'river' });
    await memory.link(id, 'river', { weight: 0.7 });
    await memory.feedback(id, 'up', { voter: 'ann' });
    const before = await memory.get(id);
    const result = await memory.forget(['run0', 'run4']);
    expect(result).toMatchObject({ forgotten: ['run0', 'run4'], rebuilt: [id], reinstated: [] });
    const left = runs.slice(1, 4);
    expect(await memory.get(id)).toEqual({
      ...before,
      content: left.map(({ content }) => content).join('\n'),
      tags: ['Tuesday', 'Wednesday', 'Thursday'],
      importance: 0.13,
      derivedFrom: ['run1', 'run2', 'run3'],
    });
    const links = await memory.links(id);
    expect(links.map((link) => [link.id, link.kind]).toSorted()).toEqual([
      ['river', 'stated'],
      ...left.map((run) => [run.id, 'consolidation']),
    ]);
    expect((await memory.feedback(id, 'down', { voter: 'ben' })).usefulness).toBe(0.5);
    const { hits } = await memory.recall('long run river Tuesday', { strategy: 'lexical' });
    expect(hits.map((hit) => hit.memory.id)).toContain(id);
    expect((await memory.recall('Monday', { strategy: 'lexical', deep: true })).hits).toEqual([]);
  });

  it('leaves out of a rebuilt consolidation what was invalidated or superseded since, and reinstates it', async () => {
    const { memory, id } = await consolidated();
    await memory.invalidate('run1', 'it was a walk');
    await memory.remember('Swam a mile in the lake on Friday', {
      id: 'swim',
      type: 'event',
      supersedes: 'run4',
    });
    const result = await memory.forget('run0');
    expect(result).toMatchObject({ forgotten: ['run0'], rebuilt: [id], reinstated: ['run1', 'run4'] });
    expect(await memory.get(id)).toMatchObject({
      content: [runs[2], runs[3]].map((run) => run?.content).join('\n'),
      tags: ['Wednesday', 'Thursday'],
      derivedFrom: ['run2', 'run3'],
    });
    expect((await memory.links(id)).map((link) => link.id).toSorted()).toEqual(['run2', 'run3']);
    const ids = async () =>
      (await memory.recall('long run along the river', { strategy: 'lexical' })).hits.map(
        (hit) => hit.memory.id,
      );
    expect(await ids()).toEqual([id]);
    await memory.reinstate('run1');
    await memory.forget('swim');
    expect((await ids()).toSorted()).toEqual([id, 'run1', 'run4'].toSorted());
  });

  it('includes in a rebuilt consolidation what is believed again after the forgetting', async () => {
    const { memory, id } = await consolidated();
    await memory.remember('Swam a mile in the lake on Friday', {
      id: 'swim',
      type: 'event',
      supersedes: 'run4',
    });
    await memory.forget(['run0', 'swim']);
    expect((await memory.get(id))?.derivedFrom).toEqual(['run1', 'run2', 'run3', 'run4']);
  });

  it('forgets a consolidation with only one believed original left', async () => {
    const { memory, id } = await consolidated();
    for (const run of ['run1', 'run2', 'run3']) await memory.invalidate(run, 'it was a walk');
    const result = await memory.forget('run0');
    expect(result).toMatchObject({ forgotten: ['run0', id], rebuilt: [] });
    const { hits } = await memory.recall('long run', { strategy: 'lexical' });
    expect(hits.map((hit) => hit.memory.id)).toEqual(['run4']);
  });

  it('reinstates the last original of a consolidation', async () => {
    const { memory, id } = await consolidated();
    const result = await memory.forget(['run0', 'run1', 'run2', 'run3']);
    expect(result).toMatchObject({ rebuilt: [], reinstated: ['run4'] });
    expect(result.forgotten).toContain(id);
    expect(await memory.get('run4')).toMatchObject({ tier: 'hot', consolidatedAt: undefined });
    const { hits } = await memory.recall('long run', { strategy: 'lexical' });
    expect(hits.map((hit) => hit.memory.id)).toEqual(['run4']);
  });

  it('does not rebuild a consolidation that is forgotten together with some of its originals', async () => {
    const { memory, id } = await consolidated();
    const result = await memory.forget(['run0', id]);
    const reinstated = ['run1', 'run2', 'run3', 'run4'];
    expect(result).toMatchObject({ forgotten: ['run0', id], rebuilt: [], reinstated });
    expect(await memory.get(id)).toBeUndefined();
  });

  it.each([{ title: 'Runs' }, { tags: ['seen with Ann'] }])(
    'forgets a consolidation that somebody gave %j, which may come from what is forgotten',
    async (changes) => {
      const { memory, id } = await consolidated();
      await memory.update(id, changes);
      expect(await memory.forget('run0')).toMatchObject({ forgotten: ['run0', id], rebuilt: [] });
    },
  );

  it('leaves an original replaced that another consolidation contains', async () => {
    const { memory, id } = await consolidated();
    const made = await memory.get(id);
    const other = { ...made!, id: 'other', content: 'Runs often', derivedFrom: ['run1', 'run2'] };
    await memory.importMemories([other]);
    await memory.update(id, { content: 'Runs along the river' });
    const result = await memory.forget('run0');
    expect(result).toMatchObject({ forgotten: ['run0', id], reinstated: ['run3', 'run4'] });
    expect(await memory.get('run1')).toMatchObject({ consolidatedAt: expect.any(String) });
  });

  it('keeps what somebody said in the same session and tagged as automatic', async () => {
    const { memory } = await live(none);
    const { sessionId } = await memory.startSession();
    await memory.remember('The vault is blue', { id: 'a', sessionId });
    const tagged = { tags: ['automatic'], sessionId };
    await memory.remember('The door is automatic', { id: 'door', ...tagged });
    await memory.remember('The gate is too', { id: 'gate', source: 'inferred', ...tagged });
    expect((await memory.forget('a')).forgotten).toEqual(['a']);
    const { memories } = await memory.list();
    expect(memories.map(({ id }) => id).toSorted()).toEqual(['door', 'gate']);
  });

  it('keeps the relations of a consolidation that its other originals state', async () => {
    const { memory, pass } = await live();
    const entity = { type: 'entity' } as const;
    await memory.remember('Runs', { ...entity, id: 'ann', title: 'Ann' });
    await memory.remember('A river', { ...entity, id: 'rhine', title: 'Rhine' });
    await memory.remember('A park', { ...entity, id: 'park', title: 'Zoo' });
    const ran = (to: string) => ({ relations: [{ from: 'ann', name: 'ran_along', to }] });
    await memory.rememberMany(runs.map((run, at) => ({ ...run, ...ran(at === 0 ? 'park' : 'rhine') })));
    pass(20);
    const { consolidated } = await memory.maintain({ consolidate: true, fade: false });
    const id = consolidated[0]?.id as string;
    const ends = async () => (await memory.get(id))?.relations?.map(({ to }) => to);
    expect(await ends()).toEqual(['park', 'rhine']);
    expect((await memory.forget('run0')).rebuilt).toEqual([id]);
    expect(await ends()).toEqual(['rhine']);
  });

  it('gives an archived original its text and its vector back', async () => {
    const { memory, id, pass } = await consolidated();
    await memory.update(id, { content: 'Runs along the river' });
    pass(200);
    await memory.maintain();
    expect((await memory.get('run1'))?.tier).toBe('stub');
    expect((await memory.forget('run0')).reinstated).toContain('run1');
    expect(await memory.get('run1')).toMatchObject({ tier: 'hot', content: runs[1]?.content });
    for (const strategy of ['lexical', 'vector']) {
      const { hits } = await memory.recall(runs[1]?.content, { strategy });
      expect(hits.map((hit) => hit.memory.id)).toContain('run1');
    }
  });

  it('erases the reason of an invalidation: the same statement stays inactive without a reason', async () => {
    const { memory } = await live(none);
    await memory.remember('The vault is open', { id: 'a' });
    await memory.invalidate('a', 'Mallory lied');
    await memory.forget('a');
    const { inactive, id } = await memory.remember('The vault is open');
    expect(inactive?.reason).toBe('no reason was given');
    expect(await memory.get(id)).toMatchObject({ invalidatedAt: inactive?.since, invalidReason: undefined });
  });

  it('lists what may still say it: summaries that people wrote, copies, and memories judged to say as much', async () => {
    const { memory } = await live(none);
    const { sessionId } = await memory.startSession();
    await memory.remember('The vault opens at the word mellon', { id: 'a', sessionId });
    await memory.remember('The vault opens at the word mellon', { id: 'copy', scope: 'project:x' });
    await memory.remember('The vault opens at the word mellon, said Gimli', {
      id: 'longer',
      supersedes: 'a',
    });
    await memory.remember('The vault is blue', { id: 'other', supersedes: 'longer' });
    await memory.remember('the vault opens (at the word "mellon")', { id: 'marks', supersedes: 'other' });
    const { id } = await memory.endSession('We spoke of the vault');
    const { mayStillSay } = await memory.forget('a');
    expect(mayStillSay.toSorted()).toEqual(['copy', 'longer', 'marks', id].toSorted());
  });

  it.each(['undo', 'update'] as const)(
    'lists what had taken its text in a conflict, though an %s has replaced it: the history says it',
    async (replaced) => {
      const { memory, clock } = await live();
      const type = 'preference';
      await memory.remember('Ann prefers dark roast coffee', { id: 'older', type });
      const said = 'Ann prefers dark roast coffee from Mordor';
      const { conflicts } = await memory.remember(said, { id: 'newer', type });
      await memory.resolve(conflicts![0]!.conflictId, 'update');
      const known = new Date(clock.now());
      clock.advance(1000);
      if (replaced === 'undo') await memory.undo();
      else await memory.update('older', { content: 'Ann prefers tea' });
      expect(await memory.forget('newer')).toMatchObject({ forgotten: ['newer'], mayStillSay: ['older'] });
      expect((await memory.get('older', { asOf: { known } }))?.content).toBe(said);
      await memory.forget('older');
      await expect(memory.get('older', { asOf: { known } })).rejects.toMatchObject({ code: 'redacted' });
    },
  );

  it('keeps the summaries of other sessions', async () => {
    const { memory, pass } = await live(none);
    const { sessionId } = await memory.startSession();
    await memory.remember('Tea at four', { id: 'tea', sessionId });
    pass(2);
    const { summaries } = await memory.startSession();
    await memory.remember('The vault is open', { id: 'a' });
    expect(await memory.forget('a')).toMatchObject({ forgotten: ['a'], mayStillSay: [] });
    expect(summaries).toHaveLength(1);
    expect(await memory.get(summaries[0]?.id as string)).toBeDefined();
  });
});

describe('forget by a filter', () => {
  async function stocked() {
    const lived = await live(none);
    const { memory } = lived;
    await memory.rememberMany([
      { id: 'g', content: 'One', tags: ['x', 'y'] },
      { id: 'p', content: 'Two', scope: 'project:match', tags: ['x'], type: 'rule' },
      { id: 'b', content: 'Three', scope: 'project:match/team:a', tags: ['x'], metadata: { open: true } },
      { id: 'n', content: 'Four', scope: 'project:matching', sessionId: 's', topicKey: 't' },
      { id: 'i', content: 'Five', source: 'imported' },
    ]);
    return lived;
  }

  it.each([
    [{ tags: ['x'] }, ['g', 'p', 'b']],
    [{ tags: ['x', 'y'] }, ['g']],
    [{ types: ['rule'] }, ['p']],
    [{ typesExclude: ['fact'] }, ['p']],
    [{ metadata: { open: true } }, ['b']],
    [{ inScope: 'project:match' }, ['p']],
    [{ inScope: 'project:match', below: true }, ['p', 'b']],
    [{ inScope: 'global' }, ['g', 'i']],
    [{ inScope: 'global', below: true }, ['g', 'p', 'b', 'n', 'i']],
    [{ sessionId: 's' }, ['n']],
    [{ topicKey: 't' }, ['n']],
    [{ source: 'imported' }, ['i']],
    [{ tags: ['x'], types: ['rule'] }, ['p']],
    [{ tags: ['z'] }, []],
  ] as const)('%j', async (filter, expected) => {
    const { memory } = await stocked();
    const plan = await memory.forget(filter, { dryRun: true });
    expect(plan).toMatchObject({ dryRun: true, count: expected.length });
    expect(plan.forgotten.toSorted()).toEqual(expected.toSorted());
    expect((await memory.stats()).memories).toBe(5);
    const result = await memory.forget(filter);
    expect(result.forgotten.toSorted()).toEqual(expected.toSorted());
    expect((await memory.stats()).memories).toBe(5 - expected.length);
  });

  it('finds what only the history still has', async () => {
    const { memory } = await stocked();
    await memory.remember('Six', { id: 'undone', tags: ['x'] });
    await memory.undo();
    expect((await memory.forget({ tags: ['x'] })).forgotten.toSorted()).toEqual(['b', 'g', 'p', 'undone']);
    expect((await memory.history('undone')).every(({ redacted }) => redacted)).toBe(true);
  });

  it('counts all in a dry run, but lists at most the limit', async () => {
    const { memory } = await stocked();
    const plan = await memory.forget({ inScope: 'global', below: true }, { dryRun: true, limit: 2 });
    expect(plan.count).toBe(5);
    expect(plan.forgotten).toHaveLength(2);
  });

  it.each([
    [{}, /to delete the space, use deleteSpace/],
    [
      { tags: [], metadata: {}, typesExclude: [], types: undefined },
      /an empty filter would forget everything/,
    ],
    [{ below: true }, /name a scope with inScope/],
    [{ tag: ['x'] }, /tag/],
    [{ scope: 'global' }, /scope/],
    [{ source: 'nowhere' }, /source/],
    [undefined, /filter/],
  ])('refuses %j', async (filter, message) => {
    const { memory } = await stocked();
    await expect(memory.forget(filter as never)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(message),
    });
    expect((await memory.stats()).memories).toBe(5);
  });
});

describe('expiry and delete', () => {
  it('forget what was made from a memory too', async () => {
    const { memory, pass } = await live(none);
    const { sessionId } = await memory.startSession();
    await memory.remember('The wifi password is swordfish', { id: 'a', sessionId, expiresAt: '2026-01-20' });
    pass(5);
    const { summaries } = await memory.startSession();
    pass(20);
    const { expired } = await memory.maintain();
    expect(expired).toEqual(['a', summaries[0]?.id]);
    expect((await memory.list()).memories).toEqual([]);
  });

  it('keep the newer memory of a conflict', async () => {
    const { memory } = await live();
    await memory.remember('The vault opens at the word mellon', { id: 'old' });
    const { conflicts = [] } = await memory.remember('The vault opens at the word friend', { id: 'new' });
    expect(conflicts).toHaveLength(1);
    const resolved = await memory.resolve(conflicts[0]?.conflictId as string, 'delete');
    expect(resolved).toMatchObject({ resolution: 'delete', memory: { id: 'new' } });
    expect(await memory.get('old')).toBeUndefined();
    expect(await memory.conflicts()).toEqual([]);
  });
});

it('forgets many with one rewrite of the file', async () => {
  const { memory, cleanUp } = await liveOnDisk(none);
  onTestFinished(cleanUp);
  await memory.rememberMany(
    Array.from({ length: 500 }, (_, at) => ({ id: `m${at}`, content: `Fact ${at}` })),
  );
  const { events } = await memory.stats();
  const result = await memory.forget(Array.from({ length: 400 }, (_, at) => `m${at}`));
  expect(result.count).toBe(400);
  expect(await memory.stats()).toMatchObject({ memories: 100, events: events + 400 });
  expect(await memory.check()).toEqual([]);
  await memory.close();
});
