import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SalienceError } from '../../domain/errors.ts';
import { retention } from '../../scoring/index.ts';
import type { Store } from '../../store/store.ts';
import { live } from '../../testing/live-memory.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';

const coffee = [
  { id: 'roast', content: 'Prefers dark roast coffee' },
  { id: 'grinder', content: 'Owns a coffee grinder' },
  { id: 'tea', content: 'Drinks green tea in the evening' },
] as const;

describe('use reinforces what was returned, and nothing else', () => {
  test('direct hits gain stability by their spacing, are counted, and remember the session', async () => {
    const { memory, pass } = await live();
    await memory.rememberMany(coffee);
    pass(7);
    const { hits, trace } = await memory.recall('coffee', {
      strategy: 'retention',
      limit: 2,
      sessionId: 's1',
      association: 'none',
    });
    expect(hits.map((hit) => hit.memory.id).sort()).toEqual(['grinder', 'roast']);
    expect(trace.stages.map(({ name }) => name)).toContain('effects');
    // Scores in an answer are those before its effects.
    for (const hit of hits) expect(hit.memory.accessCount).toBe(0);
    const after = await memory.get('roast');
    expect(after).toMatchObject({
      accessCount: 1,
      sessions: ['s1'],
      lastAccessedAt: '2026-01-08T00:00:00.000Z',
    });
    expect(after?.stability).toBeCloseTo(0.25 + 0.1, 12);
    expect(await memory.get('tea')).toMatchObject({ accessCount: 0, stability: 0.25 });
    // A day later the same recall teaches little; three weeks later twice as much as a week, and no more.
    pass(1);
    await memory.recall('coffee', { strategy: 'retention', limit: 2, association: 'none' });
    expect((await memory.get('roast'))?.stability).toBeCloseTo(0.35 + 0.1 / 7, 12);
    pass(21);
    await memory.recall('coffee', { strategy: 'retention', limit: 2, association: 'none' });
    expect((await memory.get('roast'))?.stability).toBeCloseTo(0.35 + 0.1 / 7 + 0.2, 12);
  });

  test('pairs of direct hits are linked, from what is left of their link', async () => {
    const { memory, pass } = await live();
    const together = async () => (await memory.links('roast')).filter(({ kind }) => kind === 'co-retrieval');
    await memory.rememberMany(coffee);
    for (let round = 0; round < 2; round++)
      await memory.recall('coffee', { strategy: 'retention', limit: 2 });
    const [first] = await together();
    expect(first).toMatchObject({ id: 'grinder', kind: 'co-retrieval' });
    expect(first?.weight).toBeCloseTo(0.2, 12);
    pass(90);
    const [faded] = await together();
    expect(faded?.weight).toBeCloseTo(0.2 / Math.E, 12);
    // Reading does not write the decay back, so that it cannot compound.
    expect((await together())[0]).toEqual(faded);
    expect(faded?.storedWeight).toBeCloseTo(0.2, 12);
    await memory.recall('coffee', { strategy: 'retention', limit: 2 });
    expect((await together())[0]?.weight).toBeCloseTo(0.2 / Math.E + 0.1, 12);
  });

  test('ten uses in three sessions make a stable memory core, and a procedure that is core still never fades', async () => {
    const { memory, pass } = await live();
    await memory.rememberMany([
      { id: 'fact', content: 'The deploy key lives in the vault', importance: 1 },
      {
        id: 'steps',
        content: 'To deploy, take the key from the vault and run the script',
        type: 'procedure',
        importance: 1,
      },
    ]);
    for (let use = 0; use < 10; use++) {
      expect((await memory.get('fact'))?.core).toBe(false);
      pass(14);
      await memory.recall('deploy key vault', { strategy: 'retention', sessionId: `s${use % 3}` });
    }
    expect(await memory.get('fact')).toMatchObject({ core: true, accessCount: 10, stability: 1 });
    const steps = await memory.get('steps');
    expect(steps?.core).toBe(true);
    expect(retention({ ...signals(steps!) }, { now: '2036-01-01' })).toBe(1);
    expect(retention({ ...signals((await memory.get('fact'))!) }, { now: '2036-01-01' })).toBe(0.6);
  });

  test('five-factor counts; other strategies, explain, whyNot and effects none leave nothing behind', async () => {
    const { memory, space, pass } = await live();
    await memory.rememberMany(coffee);
    pass(3);
    const before = await memory.list();
    for (const strategy of ['hybrid', 'balanced', 'lexical', 'scoped', 'bm25', 'vector'] as const) {
      await memory.recall('coffee', { strategy });
    }
    await memory.recall('coffee', { strategy: 'retention', track: false });
    await memory.explain('roast', { query: 'coffee', strategy: 'retention' });
    await memory.whyNot('tea', { query: 'coffee', strategy: 'retention', limit: 1 });
    expect(await memory.list()).toEqual(before);
    expect(await space.usage()).toEqual([]);
    await memory.recall('coffee', { strategy: 'five-factor', limit: 1 });
    const counted = (await memory.list()).memories.filter(({ accessCount }) => accessCount === 1);
    expect(counted).toHaveLength(1);
    expect(counted[0]?.lastAccessedAt).toBeUndefined();
  });

  test('an update or its undo does not take back what was learned meanwhile', async () => {
    const { memory, pass } = await live();
    await memory.rememberMany(coffee);
    await memory.update('roast', { content: 'Prefers very dark roast coffee' });
    pass(7);
    await memory.recall('dark roast', { strategy: 'retention', limit: 1 });
    await memory.undo();
    expect(await memory.get('roast')).toMatchObject({ content: 'Prefers dark roast coffee', accessCount: 1 });
  });

  test('the state can be rebuilt from the usage log', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            days: fc.integer({ min: 0, max: 40 }),
            query: fc.constantFrom('coffee', 'tea evening', 'grinder'),
            session: fc.constantFrom('a', 'b', undefined),
            strategy: fc.constantFrom('retention' as const, 'five-factor' as const),
          }),
          { maxLength: 8 },
        ),
        async (uses) => {
          const { memory, space, pass } = await live();
          await memory.rememberMany(coffee);
          for (const { days, query, session, strategy } of uses) {
            pass(days);
            await memory.recall(query, { strategy, sessionId: session, limit: 2 });
          }
          const copy = await live();
          await copy.memory.rememberMany(coffee);
          const { decideUse } = await import('./reinforce.ts');
          for (const { sequence: _, ...usage } of await space.usage()) {
            await copy.space.use(usage, (reader) => decideUse(reader, usage));
          }
          expect(await copy.memory.list()).toEqual(await memory.list());
          const ids = coffee.map(({ id }) => id);
          expect(await copy.space.links(ids)).toEqual(await space.links(ids));
        },
      ),
      { numRuns: 30 },
    );
  });
});

function signals(memory: {
  type: string;
  core: boolean;
  stability: number;
  importance: number;
  createdAt: string;
  lastAccessedAt: string | undefined;
}) {
  const { type, core, stability, importance, createdAt, lastAccessedAt } = memory;
  return { type, core, stability, importance, createdAt, lastAccessedAt };
}

test.each([
  [new SalienceError('store_read_only', 'frozen'), 'the space cannot be written to'],
  [new SalienceError('store_full', 'no space is left'), undefined],
])('a use that cannot be written is told: %s', async (refused, skipped) => {
  const inner = createReferenceStore();
  const use = () => Promise.reject(refused);
  const openSpace: Store['openSpace'] = async (...given) => ({ ...(await inner.openSpace(...given)), use });
  const { memory } = await live({ store: { ...inner, openSpace } });
  await memory.remember('Drinks oolong tea', { id: 'tea' });
  const asked = memory.recall('oolong', { strategy: 'retention' });
  if (skipped === undefined) return expect(asked).rejects.toBe(refused);
  const { hits, trace } = await asked;
  expect(hits.map(({ memory: { id } }) => id)).toEqual(['tea']);
  expect(JSON.stringify(trace.stages)).toContain(skipped);
});
