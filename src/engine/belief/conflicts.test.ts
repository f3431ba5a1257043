import { describe, expect, test } from 'vitest';
import { alike } from '../../domain/statement.ts';
import { openMemory } from '../../open.ts';
import type { Store } from '../../store/store.ts';
import { angleEmbedder } from '../../testing/angle-embedder.ts';
import { live } from '../../testing/live-memory.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';
import { expectCode } from '../../testing/store-contract/harness.ts';
import type { RememberResult } from '../types.ts';

/** Cosines of .966 between neighbours, .866, .707 further on. */
const angles = Object.fromEntries(
  Array.from({ length: 25 }, (_, at) => [`Statement at ${15 * at}`, 15 * at]),
);
const at = (degrees: number) => `Statement at ${degrees}`;
const cosine = (degrees: number) => Math.cos((degrees * Math.PI) / 180);
const lived = () =>
  live({ embedder: angleEmbedder({ ...angles, 'Statement again at 0': 0, 'Title\nStatement at 15': 15 }) });

/** Two memories, the second of which was found to contradict the first. */
async function contradicted(fields: object = {}) {
  const all = await lived();
  const { memory, pass } = all;
  await memory.remember(at(0), { id: 'old', tags: ['x'], metadata: { a: 1, b: 1 }, importance: 0.9 });
  pass(1);
  const { conflicts } = await memory.remember(at(15), {
    id: 'new',
    metadata: { b: 2 },
    tags: ['y'],
    sourceRef: 'letter',
    ...fields,
  });
  pass(1);
  return { ...all, conflictId: conflicts?.[0]?.conflictId as string };
}

describe('what is noticed', () => {
  test('are said to be alike in their wording, and never 100 %', async () => {
    const { memory } = await live();
    await memory.remember('Anna lives in Oslo near the harbour', { id: 'oslo' });
    const { warning, conflicts } = await memory.remember('Anna lives in Bergen near the harbour');
    expect(conflicts).toHaveLength(1);
    expect(warning).toMatch(/: wording \d\d % alike \(cosine of the embedder builtin-1\) to oslo: "Anna/);
    expect(warning).not.toMatch(/100 %|similar/);
    expect([alike(1), alike(0.999_9), alike(0.921), alike(0.29)]).toEqual(
      [99, 99, 92, 29].map((percent) => `wording ${percent} % alike (cosine)`),
    );
  });

  test('the eligible memories above the threshold, nearest first, as data and as a warning; all is stored', async () => {
    const { memory } = await lived();
    await memory.remember(at(90), { id: 'far' });
    await memory.remember(at(45), { id: 'below' });
    await memory.remember(at(30), { id: 'near' });
    await memory.remember(at(15), { id: 'nearest', scope: 'project:a' });
    await memory.remember(at(0), { id: 'sibling', scope: 'project:b' });
    const remembered = await memory.remember(at(0), { id: 'new', scope: 'project:a' });
    expect(remembered.outcome).toBe('created');
    expect(remembered.conflicts).toEqual([
      {
        conflictId: expect.any(String),
        id: 'nearest',
        similarity: expect.closeTo(cosine(15), 6),
        content: at(15),
      },
      {
        conflictId: expect.any(String),
        id: 'near',
        similarity: expect.closeTo(cosine(30), 6),
        content: at(30),
      },
    ]);
    expect(remembered.unchecked).toBeUndefined();
    for (const word of ['keep-both', 'update', 'supersede', 'delete', 'Ask the user', '97 %', at(30)]) {
      expect(remembered.warning).toContain(word);
    }
    const pending = await memory.conflicts();
    expect(
      pending.filter(({ newer }) => newer.id === 'new').map((each) => [each.conflictId, each.older.id]),
    ).toEqual(remembered.conflicts?.map(({ conflictId, id }) => [conflictId, id]));
    // Nothing is believed otherwise: it is advice.
    const { memories } = await memory.list();
    expect(memories.length).toBeGreaterThan(5);
    for (const { supersedes } of memories) expect(supersedes).toEqual([]);
    expect((await memory.recall(at(0), { strategy: 'vector', limit: 9 })).hits).toHaveLength(6);
  });

  test('at most five, without what it supersedes, what has expired, ended or was invalidated', async () => {
    const { memory } = await lived();
    const none = async (id: string, fields: object = {}) => {
      await memory.rememberMany([{ id, content: at(0), type: id, ...fields }]);
    };
    await none('replaced');
    await none('expiring', { expiresAt: '2026-01-01T00:00:01Z' });
    await none('ending', { validUntil: '2026-01-01T00:00:01Z' });
    await none('invalid', { content: at(30) });
    await none('below the replaced');
    await memory.invalidate('invalid', 'wrong');
    await memory.rememberMany([
      { id: 'middle', type: 'middle', content: at(0), supersedes: 'below the replaced' },
    ]);
    const now = '2026-01-02';
    const first = await memory.remember(at(15), { id: 'new', supersedes: ['replaced', 'middle'], now });
    expect(first).toEqual({ id: 'new', outcome: 'created' });
    await memory.rememberMany(
      Array.from({ length: 9 }, (_, index) => ({ content: at(0), type: `type ${index}` })),
    );
    const second = await memory.remember(at(0), { type: 'other', supersedes: 'new', now });
    expect(second.conflicts).toHaveLength(5);
  });

  test('exactly the threshold is no conflict; another threshold may be set', async () => {
    const store = createReferenceStore();
    const open = (conflictThreshold?: number) =>
      openMemory({
        path: 'test',
        space: 'default',
        store,
        embedder: angleEmbedder(angles),
        conflictThreshold,
      });
    const memory = await open();
    await memory.remember(at(0), { id: 'a' });
    const { hits } = await memory.recall(at(30), { strategy: 'vector' });
    const similarity = hits[0]?.score.value as number;
    const noticed = async (threshold: number) =>
      (
        await (await open(threshold)).remember(at(30), { type: `type ${threshold}`, scope: 'global' })
      ).conflicts
        ?.map(({ id }) => id)
        .includes('a') ?? false;
    expect(await noticed(similarity)).toBe(false);
    expect(await noticed(similarity - 1e-9)).toBe(true);
    await expectCode(open(1.5), 'invalid_argument');
  });

  test('a batch, a restored export, and what is known already notice nothing', async () => {
    const { memory } = await lived();
    await memory.remember(at(0), { id: 'a' });
    const batch = await memory.rememberMany([{ content: at(15) }, { content: at(30) }]);
    expect(batch).toHaveLength(2);
    for (const remembered of batch) {
      expect(Object.keys(remembered).toSorted()).toEqual(['id', 'outcome']);
    }
    expect(await memory.remember(at(0))).toEqual({ id: 'a', outcome: 'deduplicated' });
    expect(await memory.conflicts()).toEqual([]);
    // Maintenance finds what the batch left.
    expect((await memory.maintain()).similarPairs.length).toBeGreaterThan(0);
  });

  test('a topic stays in its scope when an older statement of another scope takes the text', async () => {
    const { memory } = await lived();
    await memory.remember(at(0), { id: 'old' });
    await memory.remember(at(180), { id: 'topic', topicKey: 'k' });
    const { conflicts = [] } = await memory.remember(at(15), { scope: 'project:a', topicKey: 'k' });
    await memory.resolve(conflicts[0]?.conflictId as string, 'update');
    expect(await memory.get('old')).toMatchObject({ content: at(15), topicKey: undefined });
    // In one scope it moves along.
    const again = await memory.remember(at(30), { topicKey: 'other' });
    await memory.resolve(again.conflicts?.[0]?.conflictId as string, 'update');
    expect(await memory.get('old')).toMatchObject({ content: at(30), topicKey: 'other' });
  });

  test('another statement about a topic is checked as well, against all but itself', async () => {
    const { memory } = await lived();
    await memory.remember(at(0), { id: 'a' });
    await memory.remember(at(180), { id: 't', topicKey: 'k' });
    const { outcome, conflicts } = await memory.remember(at(15), { topicKey: 'k' });
    expect([outcome, conflicts?.map(({ id }) => id)]).toEqual(['updated', ['a']]);
  });

  test('a statement that cannot be checked is stored, and the result says so', async () => {
    const without = await live({ embedder: 'none' });
    const reasons: RememberResult[] = [await without.memory.remember('Anything')];
    const { memory } = await lived();
    reasons.push(await memory.remember('A text that the embedder does not know'));
    const store = createReferenceStore();
    let broken = true;
    const breaking: Store = {
      ...store,
      async openSpace(name, options) {
        const space = await store.openSpace(name, options);
        const snapshot: typeof space.snapshot = async (work) => {
          const search = async () => {
            throw new Error('no memory left');
          };
          return space.snapshot((each) => work(broken ? { ...each, search } : each));
        };
        return { ...space, snapshot };
      },
    };
    const failing = await openMemory({
      path: 'test',
      space: 'default',
      store: breaking,
      embedder: angleEmbedder(angles),
    });
    reasons.push(await failing.remember(at(0), { id: 'kept' }));
    broken = false;
    expect((await failing.get('kept'))?.content).toBe(at(0));
    expect(reasons.map(({ outcome, unchecked, warning }) => [outcome, unchecked, warning])).toEqual([
      ['created', 'no embedder is configured to compare meanings with', undefined],
      ['created', 'the embedder knows no word of the statement', undefined],
      ['created', 'the search failed', undefined],
    ]);
  });
});

describe('how it is resolved', () => {
  test('keep-both: neither changes, the conflict is over, and can be undone', async () => {
    const { memory, conflictId } = await contradicted();
    const before = await memory.list();
    const { memory: kept } = await memory.resolve(conflictId, 'keep-both');
    expect(kept.id).toBe('new');
    expect(await memory.list()).toEqual(before);
    expect(await memory.conflicts()).toEqual([]);
    const error = await expectCode(memory.resolve(conflictId, 'delete'), 'not_found');
    expect(error.message).toContain('already resolved (keep-both)');
    expect((await memory.history('new')).at(-1)?.verb).toBe('resolve');
    // Said and compared again, it does not come back.
    expect((await memory.maintain()).similarPairs).toEqual([]);
    expect((await memory.undo()).verb).toBe('resolve');
    expect((await memory.conflicts()).map(({ older, newer }) => [older.id, newer.id])).toEqual([
      ['old', 'new'],
    ]);
    expect(await memory.list()).toEqual(before);
  });

  test('supersede: the old one is hidden, and comes back by undo, the conflict too', async () => {
    const { memory, conflictId } = await contradicted();
    const before = await memory.list();
    const { memory: kept } = await memory.resolve(conflictId, 'supersede');
    expect(kept).toMatchObject({ id: 'new', supersedes: ['old'] });
    const ids = async () =>
      (await memory.recall(at(0), { strategy: 'vector' })).hits.map((hit) => hit.memory.id);
    expect(await ids()).toEqual(['new']);
    expect(await memory.conflicts()).toEqual([]);
    await memory.undo();
    expect(await ids()).toEqual(['old', 'new']);
    expect(await memory.list()).toEqual(before);
    const [conflict] = await memory.conflicts();
    await memory.resolve(conflict?.conflictId as string, 'supersede');
    expect(await ids()).toEqual(['new']);
  });

  test('update: the old one takes the content and validity of the new one, and supersedes what that superseded', async () => {
    const { memory, pass, clock } = await contradicted({
      ...{ validUntil: '2026-02-01', title: 'Title', author: 'Ann', role: 'user' },
    });
    await memory.remember('Statement again at 0', { id: 'below', type: 'event' });
    await memory.remember(at(15), { title: 'Title', supersedes: 'below', id: 'never' });
    await memory.link('old', 'new');
    const before = await memory.list();
    const links = await memory.links('old');
    const conflict = (await memory.conflicts()).find(
      ({ older, newer }) => older.id === 'old' && newer.id === 'new',
    );
    const { memory: kept } = await memory.resolve(conflict?.conflictId as string, 'update');
    expect(kept).toMatchObject({
      id: 'old',
      title: 'Title',
      author: 'Ann',
      role: 'user',
      content: at(15),
      tags: ['y'],
      metadata: { a: 1, b: 2 },
      importance: 0.9,
      sourceRef: 'letter',
      validUntil: '2026-02-01T00:00:00.000Z',
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: new Date(clock.now()).toISOString(),
      textChangedAt: new Date(clock.now()).toISOString(),
      revisionCount: 2,
      supersedes: ['below'],
    });
    expect(await memory.get('new')).toBeUndefined();
    const { hits } = await memory.recall(at(15), { strategy: 'vector' });
    expect(hits.map((hit) => [hit.memory.id, hit.score.value])).toEqual([['old', expect.closeTo(1, 6)]]);
    expect(
      (await memory.conflicts()).filter(({ older, newer }) => [older.id, newer.id].includes('new')),
    ).toEqual([]);
    await memory.undo();
    expect(await memory.list()).toEqual(before);
    expect(await memory.links('old')).toEqual(links);
    const pairs = (await memory.conflicts()).map(({ older, newer }) => `${older.id} ${newer.id}`);
    expect(pairs).toContain('old new');
    pass(1);
    expect((await memory.recall(at(0), { strategy: 'vector' })).hits[0]?.memory.id).toBe('old');
  });

  test('update: relations with the new one move to the old one', async () => {
    const { memory, conflictId } = await contradicted();
    const plan = { from: 'plan', name: 'rests_on', to: 'new', weight: 1, confidence: 0.8 };
    await memory.remember('Statement again at 0', { id: 'plan', relations: [plan], type: 'plan' });
    await memory.relate('new', 'answers', 'plan');
    await memory.relate('old', 'answers', 'new');
    await memory.relate('plan', 'follows', 'new', { statedBy: ['new'] });
    const before = await memory.list();
    await memory.resolve(conflictId, 'update');
    const { relations } = await memory.neighbours('plan');
    expect(relations.map(({ from, name, to }) => `${from} ${name} ${to}`)).toEqual([
      'old answers plan',
      'plan follows old',
      'plan rests_on old',
    ]);
    expect((await memory.neighbours('old')).neighbours.map(({ id }) => id)).toEqual(['plan']);
    await memory.undo();
    expect(await memory.list()).toEqual(before);
  });

  test('update of a memory that is no longer believed would hide the new text, and is refused', async () => {
    const { memory, conflictId } = await contradicted();
    await memory.rememberMany([{ id: 'newest', content: at(90), supersedes: 'old' }]);
    const before = await memory.list();
    const error = await expectCode(memory.resolve(conflictId, 'update'), 'invalid_argument');
    expect(error.message).toContain('superseded by "newest"');
    expect(await memory.list()).toEqual(before);
    await memory.undo();
    await memory.invalidate('old', 'wrong');
    await expectCode(memory.resolve(conflictId, 'update'), 'invalid_argument');
    await memory.resolve(conflictId, 'supersede');
  });

  test('supersede is refused where the old one has taken the place of the new one already', async () => {
    const { memory, conflictId } = await contradicted();
    await memory.remember(at(0), { supersedes: 'new' });
    const before = await memory.list();
    const error = await expectCode(memory.resolve(conflictId, 'supersede'), 'invalid_argument');
    expect(error.message).toBe(
      'resolution: memory "new" is itself superseded by "old", directly or through others; use keep-both, which leaves it so',
    );
    expect(await memory.list()).toEqual(before);
    await memory.resolve(conflictId, 'keep-both');
    expect(await memory.conflicts()).toEqual([]);
    expect((await memory.get('new'))?.effectiveWeight).toBe(0.1);
  });

  test('delete is refused where the new one would go with the old one: it was merged into it', async () => {
    const { memory } = await live();
    const entity = { type: 'entity' } as const;
    await memory.remember('Works in the engine room of the ship', { ...entity, id: 'old', title: 'Ada' });
    const said = 'Works in the engine room of the ships';
    const { conflicts } = await memory.remember(said, { ...entity, id: 'new', title: 'Ada Lovelace' });
    const conflictId = conflicts?.[0]?.conflictId as string;
    await memory.mergeEntities('new', 'old');
    const error = await expectCode(memory.resolve(conflictId, 'delete'), 'invalid_argument');
    expect(error.message).toContain('memory "new" is part of "old" or was made of it');
    expect(error.message).toContain('use keep-both');
    expect(await memory.get('old')).toBeDefined();
    expect(await memory.get('new')).toBeDefined();
    await memory.resolve(conflictId, 'keep-both');
    expect(await memory.conflicts()).toEqual([]);
  });

  test('delete: the old one is gone for good, and that is not undone', async () => {
    const { memory, conflictId } = await contradicted();
    const { memory: kept } = await memory.resolve(conflictId, 'delete');
    expect(kept.id).toBe('new');
    expect(await memory.get('old')).toBeUndefined();
    expect((await memory.history('old')).every(({ redacted }) => redacted)).toBe(true);
    expect(await memory.conflicts()).toEqual([]);
    const operation = (await memory.history('old')).at(-1)?.operation;
    await expectCode(memory.undo({ operation }), 'cannot_undo');
  });

  test('an unknown conflict or resolution is refused', async () => {
    const { memory, conflictId } = await contradicted();
    for (const wrong of ['', 'x', '1.5', '-1', '9'.repeat(16)]) {
      await expectCode(memory.resolve(wrong, 'keep-both'), 'invalid_argument');
    }
    await expectCode(memory.resolve('999', 'keep-both'), 'not_found');
    await expectCode(memory.resolve(conflictId, 'merge' as 'update'), 'invalid_argument');
    await memory.update('old', { content: at(90) });
    const error = await expectCode(memory.resolve(conflictId, 'supersede'), 'not_found');
    expect(error.message).toContain('conflicts lists');
    // Undoing the change of text brings the conflict back.
    await memory.undo();
    expect(await memory.conflicts()).toHaveLength(1);
  });
});
