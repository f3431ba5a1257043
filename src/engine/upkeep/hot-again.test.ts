import { describe, expect, test } from 'vitest';
import type { MemoryRecord } from '../../domain/memory.ts';
import type { MemoryEngine } from '../../index.ts';
import { stubContent } from '../../store/tiers.ts';
import { liveFading as live } from '../../testing/live-memory.ts';
import { vectorsIn } from '../../testing/store-contract/harness.ts';

const heron = `Saw a grey heron by the river ${'and watched it for a while '.repeat(12)}`.trim();

/** A fresh memory with one statement in it that has faded to `tier`, by the ordinary way. */
async function faded(tier: 'cold' | 'stub', fields: Partial<MemoryRecord> = {}) {
  const { memory, space, clock, pass } = await live();
  await memory.remember(heron, {
    id: 'heron',
    type: 'event',
    importance: 0,
    ...(fields.topicKey === undefined ? {} : { topicKey: fields.topicKey }),
  });
  pass(40);
  const set = async (change: (record: MemoryRecord) => MemoryRecord) => {
    const [record] = await space.get(['heron']);
    const after = change(record!);
    await space.write({ verb: 'maintain', at: clock.now() }, async () => ({
      changes: [
        {
          kind: 'replace',
          memory: after,
          ...(after.tier === 'stub' ? { indexed: { terms: new Map(), vector: undefined } } : {}),
        },
      ],
      result: undefined,
    }));
  };
  await set((record) => ({ ...record, tier: 'cold', coldSince: clock.now() }));
  if (tier === 'stub') {
    pass(181);
    await set((record) => ({ ...record, tier: 'stub', content: stubContent(record.content) }));
  }
  expect((await memory.get('heron'))?.tier).toBe(tier);
  return { memory, space, clock, pass };
}

async function isFound(memory: MemoryEngine, query = 'grey heron river'): Promise<boolean> {
  const { hits } = await memory.recall(query, { association: 'none', track: false });
  return hits.some((hit) => hit.memory.id === 'heron');
}

const affirmations: readonly [string, (memory: MemoryEngine) => Promise<unknown>, string?][] = [
  [
    'its topic has a new value',
    (memory) => memory.remember('Saw two herons by the grey river', { topicKey: 'bird' }),
    'herons',
  ],
  ['updated', (memory) => memory.update('heron', { tags: ['bird'] })],
  ['its importance is set', (memory) => memory.setImportance('heron', 0.7)],
  ['voted for', (memory) => memory.feedback('heron', 'up')],
  [
    'reinstated',
    async (memory) => {
      await memory.invalidate('heron', 'it was a stork');
      await memory.reinstate('heron');
    },
  ],
];

describe.each(['cold', 'stub'] as const)('a %s memory is hot again when it is', (tier) => {
  test.each(affirmations)('%s; an undo takes it back', async (_, affirm, query) => {
    const { memory, space } = await faded(tier, { topicKey: 'bird' });
    const before = await memory.get('heron');
    expect(await isFound(memory)).toBe(false);
    await affirm(memory);
    expect(await memory.get('heron')).toMatchObject({ tier: 'hot', coldSince: undefined });
    expect((await memory.get('heron'))?.content).not.toContain('[archived]');
    if (query === undefined) expect((await memory.get('heron'))?.content).toBe(heron);
    expect(await isFound(memory, query)).toBe(true);
    expect((await vectorsIn(space, ['heron']))[0]).toBeDefined();
    expect((await memory.stats()).memories).toBe(1);
    expect((await memory.maintain()).cooled).toEqual([]);
    await memory.undo();
    if ((await memory.get('heron'))?.invalidatedAt !== undefined) await memory.undo();
    expect(await memory.get('heron')).toEqual(before);
    expect(await isFound(memory)).toBe(false);
    expect((await vectorsIn(space, ['heron']))[0] !== undefined).toBe(tier === 'cold');
  });

  test('the statement of a batch, and is that memory', async () => {
    const { memory } = await faded(tier);
    const [outcome] = await memory.rememberMany([{ content: heron, type: 'event' }]);
    expect(outcome).toEqual({ id: 'heron', outcome: 'deduplicated' });
    expect(await memory.get('heron')).toMatchObject({ revisionCount: 1, tier: 'hot' });
  });

  test('invalidated and said again, it stays inactive', async () => {
    const { memory } = await faded(tier);
    await memory.invalidate('heron', 'it was a stork');
    expect(await memory.remember(heron, { type: 'event' })).toMatchObject({
      id: 'heron',
      outcome: 'deduplicated',
      inactive: { reason: 'it was a stork' },
    });
    expect((await memory.get('heron'))?.tier).toBe(tier);
    await memory.forget('heron');
    const again = await memory.remember(heron, { type: 'event' });
    expect(again).toMatchObject({ outcome: 'created', inactive: { reason: 'no reason was given' } });
  });
});

test.each([
  ['said again', (memory: MemoryEngine) => memory.remember(heron, { type: 'event' })],
  ['said in a batch', (memory: MemoryEngine) => memory.rememberMany([{ content: heron, type: 'event' }])],
])('a cold memory that is %s is hot again, and otherwise as it was', async (_, say) => {
  const { memory, clock, pass } = await faded('cold');
  const now = new Date(clock.now()).toISOString();
  const before = await memory.get('heron');
  expect([await say(memory)].flat()[0]).toMatchObject({ id: 'heron', outcome: 'deduplicated' });
  expect(await memory.get('heron')).toEqual({ ...before, tier: 'hot', coldSince: undefined, seen: now });
  expect(await isFound(memory)).toBe(true);
  // It cools again in the time that any other event takes.
  pass(24);
  expect((await memory.maintain()).cooled).toEqual([]);
  pass(1);
  expect((await memory.maintain({ dryRun: true })).cooled).toEqual(['heron']);
  await memory.undo();
  expect(await memory.get('heron')).toEqual(before);
});

test('a memory that was shown after it was stated again keeps that when the statement is undone', async () => {
  const { memory, pass } = await faded('cold');
  await memory.remember(heron, { type: 'event' });
  pass(1);
  await memory.recall('grey heron river');
  const { seen } = (await memory.get('heron'))!;
  await memory.undo();
  expect(await memory.get('heron')).toMatchObject({ tier: 'cold', seen });
});

test('a hot memory that is stated again or changed still cools on time', async () => {
  const { memory, pass } = await live();
  await memory.remember(heron, { id: 'heron', type: 'event', importance: 0 });
  pass(24);
  await memory.remember(heron, { type: 'event' });
  await memory.feedback('heron', 'up');
  expect((await memory.get('heron'))?.seen).toBeUndefined();
  pass(1);
  expect((await memory.maintain()).cooled).toEqual(['heron']);
});

test('a statement that only begins like a stub is another one', async () => {
  const { memory } = await faded('stub');
  expect(await memory.remember(`${heron} Then it left.`, { type: 'event' })).toMatchObject({
    outcome: 'created',
  });
  expect((await memory.get('heron'))?.tier).toBe('stub');
});

test('what a conflict ends with is hot', async () => {
  for (const resolution of ['update', 'supersede', 'keep-both'] as const) {
    const { memory, space, clock } = await live();
    await memory.remember('Anna lives in Oslo near the harbour', { id: 'heron' });
    const { conflicts } = await memory.remember('Anna lives in Bergen near the harbour', { id: 'newer' });
    expect(conflicts, resolution).toHaveLength(1);
    const records = await space.get(['heron', 'newer']);
    await space.write({ verb: 'maintain', at: clock.now() }, async () => ({
      changes: records.map((record) => ({
        kind: 'replace',
        memory: { ...record!, tier: 'cold', coldSince: clock.now() },
      })),
      result: undefined,
    }));
    const { memory: kept } = await memory.resolve(conflicts![0]!.conflictId, resolution);
    expect(kept).toMatchObject({ tier: 'hot', coldSince: undefined });
    expect((await memory.get(kept.id))?.tier).toBe('hot');
    expect(kept.seen).toBe(new Date(clock.now()).toISOString());
    if (resolution === 'keep-both') expect((await memory.get('heron'))?.tier).toBe('hot');
    await memory.undo();
    expect((await memory.get('heron'))?.tier).toBe('cold');
  }
});

test('a consolidated memory stays cold: the consolidation replaces it', async () => {
  const { memory, space, clock } = await live();
  await memory.remember(heron, { id: 'heron' });
  const [record] = await space.get(['heron']);
  const at = clock.now();
  await space.write({ verb: 'maintain', at }, async () => ({
    changes: [{ kind: 'replace', memory: { ...record!, tier: 'cold', coldSince: at, consolidatedAt: at } }],
    result: undefined,
  }));
  await memory.feedback('heron', 'up');
  expect((await memory.get('heron'))?.tier).toBe('cold');
});

test('a stub gets its vector back when it is said again', async () => {
  const { memory, space } = await faded('stub');
  const before = await memory.get('heron');
  expect(await memory.remember(heron, { type: 'event' })).toMatchObject({
    id: 'heron',
    outcome: 'deduplicated',
  });
  expect((await memory.get('heron'))?.content).toBe(heron);
  expect((await vectorsIn(space, ['heron']))[0]).toBeDefined();
  expect(await isFound(memory)).toBe(true);
  await memory.undo();
  expect(await memory.get('heron')).toEqual(before);
});
