import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Memory } from '../../index.ts';
import { live } from '../../testing/live-memory.ts';

/** What becomes of the memory "old": its weight counts for at most .1 in the first three. */
const fates = ['superseded', 'superseded by a chain', 'consolidated', 'left alone', 'reinstated'] as const;

/** A space in which the memory "old" has a fate, with neighbours, a conflict and a topic. */
async function fated(fate: (typeof fates)[number], weight: number) {
  const { memory, space, clock, pass } = await live();
  await memory.remember('Anna lives in Oslo near the harbour', { id: 'old', weight, topicKey: 'home' });
  pass(1);
  const { conflicts } = await memory.remember('Anna lives in Bergen near the harbour', { id: 'newer' });
  pass(1);
  if (fate.startsWith('superseded') || fate === 'reinstated') {
    await memory.remember('Ben moved to Trondheim', { id: 'above', supersedes: 'old' });
  }
  if (fate === 'superseded by a chain') {
    await memory.remember('Carl went to sea', { id: 'top', supersedes: 'above' });
  }
  if (fate !== 'superseded' && fate.startsWith('superseded'))
    await memory.invalidate('above', 'it was not so');
  if (fate === 'reinstated') await memory.invalidate('above', 'it was not so');
  if (fate === 'consolidated') {
    const [record] = await space.get(['old']);
    const at = clock.now();
    await space.write({ verb: 'maintain', at }, async () => ({
      changes: [{ kind: 'replace', memory: { ...record!, tier: 'cold', coldSince: at, consolidatedAt: at } }],
      result: undefined,
    }));
  }
  pass(1);
  return { memory, conflictId: conflicts?.[0]?.conflictId };
}

type Verbs = Awaited<ReturnType<typeof fated>>;
type Shown = Memory | undefined;

const verbs: Readonly<Record<string, (given: Verbs) => Promise<Shown>>> = {
  get: ({ memory }) => memory.get('old'),
  list: async ({ memory }) => (await memory.list()).memories.find(({ id }) => id === 'old'),
  beliefs: async ({ memory }) =>
    (await memory.beliefs('home')).find((belief) => belief.memory.id === 'old')?.memory,
  history: async ({ memory }) => {
    await memory.setImportance('old', 0.6);
    return (await memory.history('old')).findLast(({ memoryId }) => memoryId === 'old')?.before;
  },
  timeline: async ({ memory }) => (await memory.timeline('old')).memory,
  'timeline of another': async ({ memory }) =>
    (await memory.timeline('newer')).before.find(({ id }) => id === 'old'),
  update: ({ memory }) => memory.update('old', { tags: ['x'] }),
  feedback: ({ memory }) => memory.feedback('old', 'up'),
  setImportance: ({ memory }) => memory.setImportance('old', 0.7),
  invalidate: ({ memory }) => memory.invalidate('old', 'it was not so'),
  reinstate: async ({ memory }) => {
    await memory.invalidate('old', 'it was not so');
    return memory.reinstate('old');
  },
  undo: async ({ memory }) => {
    await memory.update('old', { tags: ['x'] });
    return (await memory.undo()).memories.find(({ id }) => id === 'old')?.memory;
  },
  conflicts: async ({ memory }) => (await memory.conflicts())[0]?.older,
  'recall, deep': async ({ memory }) => {
    const { hits } = await memory.recall('Oslo harbour', {
      deep: true,
      track: false,
      association: 'none',
    });
    return hits.find((hit) => hit.memory.id === 'old')?.memory;
  },
  'context, mustInclude': async ({ memory }) => {
    const { items } = await memory.context('Oslo harbour', { maxTokens: 500, mustInclude: ['old'] });
    return items.find(({ id }) => id === 'old')?.memory;
  },
};

test.each(Object.entries(verbs))('%s shows the weight that a memory has by now', async (_, ask) => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...fates), fc.constantFrom(0.1, 0.2, 1), async (fate, weight) => {
      const given = await fated(fate, weight);
      const shown = await ask(given);
      const hidden = fate.startsWith('superseded') || fate === 'consolidated';
      expect([shown?.weight, shown?.effectiveWeight], fate).toEqual([weight, hidden ? 0.1 : weight]);
    }),
    { numRuns: 12, examples: fates.map((fate) => [fate, 1]) },
  );
});

test('of a conflict that is resolved by superseding, the older one counts for less from then on', async () => {
  const { memory, conflictId } = await fated('left alone', 1);
  expect(conflictId).toBeDefined();
  const { memory: kept } = await memory.resolve(conflictId!, 'supersede');
  expect(kept).toMatchObject({ id: 'newer', effectiveWeight: 1 });
  expect((await memory.get('old'))?.effectiveWeight).toBe(0.1);
  await memory.undo();
  expect((await memory.get('old'))?.effectiveWeight).toBe(1);
});
