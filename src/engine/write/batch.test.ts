import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { live } from '../../testing/live-memory.ts';
import { expectCode } from '../../testing/store-contract/harness.ts';
import type { MemoryEngine } from '../memory-engine.ts';
import type { RememberInput } from '../types.ts';

const plain = { embedder: 'none' } as const;

describe('within one batch', () => {
  const outcomes = async (inputs: readonly RememberInput[]) => {
    const { memory } = await live(plain);
    const results = await memory.rememberMany(inputs);
    return { memory, outcomes: results.map(({ id, outcome }) => `${outcome} ${id}`) };
  };
  const recalled = async (memory: MemoryEngine, query: string) =>
    (await memory.recall(query)).hits.map((hit) => hit.memory.id);

  it('a superseded memory no longer counts for its topic or as known word for word', async () => {
    const topic = await outcomes([
      { content: 'Drinks tea', id: 'a', topicKey: 'drink' },
      { content: 'Drinks nothing now', id: 'b', supersedes: 'a' },
      { content: 'Drinks coffee', id: 'c', topicKey: 'drink' },
    ]);
    expect(topic.outcomes).toEqual(['created a', 'created b', 'created c']);
    expect(await recalled(topic.memory, 'coffee')).toEqual(['c']);
    const words = await outcomes([
      { content: 'Drinks tea', id: 'a' },
      { content: 'Drinks nothing now', id: 'b', supersedes: 'a' },
      { content: 'Drinks tea', id: 'c' },
    ]);
    expect(words.outcomes).toEqual(['created a', 'created b', 'created c']);
    expect(await recalled(words.memory, 'tea')).toEqual(['c']);
  });

  it('a memory in an invisible scope supersedes nothing', async () => {
    const { outcomes: known } = await outcomes([
      { content: 'Drinks tea', id: 'a' },
      { content: 'Drinks nothing', id: 'b', supersedes: 'a', scope: 'project:a' },
      { content: 'Drinks tea', id: 'c' },
    ]);
    expect(known).toEqual(['created a', 'created b', 'deduplicated a']);
  });

  it('a memory supersedes another one until it ends', async () => {
    const { outcomes: known } = await outcomes([
      { content: 'Drinks tea', id: 'a' },
      { content: 'Drinks milk', id: 'b', supersedes: 'a', topicKey: 'drink' },
      { content: 'Drank juice', id: 'ignored', topicKey: 'drink', validUntil: '2025-06-01' },
      { content: 'Drinks tea', id: 'c' },
    ]);
    expect(known).toEqual(['created a', 'created b', 'updated b', 'deduplicated a']);
  });

  it('a statement that has ended or expired is remembered anew', async () => {
    for (const end of [{ validUntil: '2025-01-01' }, { expiresAt: '2025-01-01' }]) {
      for (const more of [{}, { topicKey: 'work' }]) {
        const { memory, outcomes: known } = await outcomes([
          { content: 'Works at Acme', id: 'old', createdAt: '2024-01-01', ...end, ...more },
          { content: 'Works at Acme', id: 'new', ...more },
          { content: 'Works at Acme', id: 'again', ...more },
        ]);
        expect(known).toEqual([
          'created old',
          'created new',
          more.topicKey ? 'updated new' : 'deduplicated new',
        ]);
        expect(await recalled(memory, 'Acme')).toEqual(['new']);
      }
    }
    const entity = { content: 'Ann', title: 'Ann', type: 'entity' };
    expect(
      (
        await outcomes([
          { ...entity, id: 'a', validUntil: '2025-01-01' },
          { ...entity, id: 'b' },
        ])
      ).outcomes,
    ).toEqual(['created a', 'created b']);
  });

  it('a memory inherits importance along the supersession chain, in whatever order', async () => {
    const x = { content: 'Two', id: 'x', importance: 0.9 };
    const y = { content: 'Three', id: 'y', supersedes: 'x', importance: 0.1 };
    const z = { content: 'Four', id: 'z', supersedes: 'y', importance: 0.2 };
    const { memory: single } = await live(plain);
    for (const { content, ...options } of [x, y, z]) await single.remember(content, options);
    const weightOf = async (memory: MemoryEngine, id: string) => {
      const found = await memory.get(id);
      return [id, found?.importance, found?.importanceSource, found?.stability];
    };
    for (const batch of [
      [x, y, z],
      [z, y, x],
      [y, x, z],
      [z, x, y],
    ]) {
      const { memory } = await outcomes(batch);
      for (const id of ['y', 'z']) {
        const [, importance] = await weightOf(memory, id);
        expect(importance).toBe(0.9);
        expect(await weightOf(memory, id)).toEqual(await weightOf(single, id));
      }
    }
    const { memory } = await live(plain);
    await expectCode(memory.rememberMany([{ ...x, supersedes: 'y' }, y]), 'invalid_argument');
  });

  it('a statement that was invalidated and forgotten comes back inactive, once', async () => {
    const { memory } = await live(plain);
    await memory.remember('The sky is green', { id: 'sky' });
    await memory.invalidate('sky', 'it is blue');
    await memory.forget('sky');
    const sky = (id: string) => ({ content: 'The sky is green', id });
    expect(await memory.rememberMany([sky('a'), sky('b')])).toMatchObject([
      { id: 'a', outcome: 'created', inactive: {} },
      { id: 'a', outcome: 'deduplicated', inactive: {} },
    ]);
  });
});

test('a batch has the same result as its statements one by one', async () => {
  const at = (day: number) => new Date(Date.UTC(2026, 0, day)).toISOString();
  // The clock stands at the second day.
  const said = fc.record(
    {
      content: fc.constantFrom('One', 'Two', 'Two ', 'Three'),
      type: fc.constantFrom('fact', 'plan', 'entity'),
      title: fc.constantFrom('Ann', 'Bob'),
      aliases: fc.constantFrom(['Ann'], ['Bob'], ['Cy']),
      topicKey: fc.constantFrom('t', 'u'),
      scope: fc.constantFrom('global', 'project:a', 'project:b'),
      createdAt: fc.constantFrom(at(0), at(1)),
      validFrom: fc.constantFrom(at(0), at(4)),
      validUntil: fc.constantFrom(at(1), at(5)),
      expiresAt: fc.constantFrom(at(1), at(5)),
      importance: fc.constantFrom(0.1, 0.5, 0.9),
      /** How many statements before it those stand that it supersedes. */
      back: fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: ['content'] },
  );
  const statements = fc.array(said, { maxLength: 9, size: 'max' }).map((list) =>
    list.map(({ back = [], aliases, ...each }, index): RememberInput & { id: string } => ({
      ...each,
      id: `s${index}`,
      ...(each.type === 'entity' && aliases ? { aliases } : {}),
      supersedes: back.filter((steps) => steps <= index).map((steps) => `s${index - steps}`),
    })),
  );
  const oneByOne = async (memory: MemoryEngine, list: readonly RememberInput[]) => {
    const results = [];
    for (const { content, ...options } of list) {
      // Only a single statement is compared with what it may contradict.
      const { unchecked: _, ...result } = await memory.remember(content, options);
      results.push(result);
    }
    return results;
  };
  const stateOf = async (memory: MemoryEngine) =>
    (await memory.list({ sort: 'inserted', limit: 100 })).memories;
  const events = fc.subarray(['reword', 'invalidate', 'forget'] as const);
  await fc.assert(
    fc.asyncProperty(statements, fc.integer({ min: 0, max: 3 }), events, async (list, count, happened) => {
      const [known, rest] = [list.slice(0, count), list.slice(count)];
      const [batch, single] = [await live(plain), await live(plain)];
      for (const { memory, pass } of [batch, single]) {
        // One whose statement was known already is not there to be superseded.
        for (const each of known) await oneByOne(memory, [each]).catch(() => undefined);
        const [first, second] = await stateOf(memory);
        if (first && happened.includes('reword')) await memory.update(first.id, { content: 'Two' });
        if (second && happened.includes('invalidate')) await memory.invalidate(second.id, 'no');
        if (second && happened.includes('forget')) await memory.forget(second.id);
        pass(1);
      }
      const refused = (error: Error) => error;
      const some = await batch.memory.rememberMany(rest).catch(refused);
      const others = await oneByOne(single.memory, rest).catch(refused);
      // All or nothing: what was said before the refused one differs.
      if (some instanceof Error && others instanceof Error) return;
      expect(some).toEqual(others);
      expect(await stateOf(batch.memory)).toEqual(await stateOf(single.memory));
    }),
    { numRuns: 100 },
  );
});
