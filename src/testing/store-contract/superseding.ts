import fc from 'fast-check';
import { expect } from 'vitest';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import { isBelieved } from '../../store/eligibility.ts';
import type { Change, MemoryFilter, SpaceStore } from '../../store/store.ts';
import { type ContractTest, insert, inspectIn, onSpace, replace, searchIn, start, write } from './harness.ts';

const profile = resolveProfile(builtinProfile('bm25'));
const query = { terms: ['content'] };

/** Returns the ids that a search finds. Also checks that `inspect` agrees for each memory. */
async function believed(
  space: SpaceStore,
  filter: MemoryFilter = {},
  now = start,
): Promise<readonly string[]> {
  const { hits } = await searchIn(space, { profile, query, filter, now, limit: 1000 });
  const found = hits.map(({ memory }) => memory.id).toSorted();
  const { memories } = await space.list({ filter: {}, limit: 1000 });
  const inspections = await inspectIn(
    space,
    memories.map(({ id }) => id),
    { profile, query, filter, now },
  );
  const eligible = inspections.flatMap((each) => (each && each.excluded === undefined ? [each.id] : []));
  expect(eligible.toSorted()).toEqual(found);
  for (const hit of hits) {
    expect(inspections.find((each) => each?.id === hit.memory.id)?.signals).toEqual(hit.signals);
  }
  return found;
}

const chain = (...fields: readonly object[]): readonly Change[] =>
  ['a', 'b', 'c'].map((id, at) =>
    insert({ id, supersedes: at === 0 ? [] : ['_ab'[at] as string], ...fields[at] }),
  );

export const supersedingTests: readonly ContractTest[] = [
  onSpace('the newest of a chain is the belief, in whatever order it was written', async (space) => {
    const [a, b, c] = chain() as [Change, Change, Change];
    for (const order of [
      [a, b, c],
      [c, b, a],
      [b, c, a],
      [c, a, b],
    ]) {
      for (const each of order) await write(space, [each]);
      expect(await believed(space)).toEqual(['c']);
      expect(await believed(space, { deep: true })).toEqual(['a', 'b', 'c']);
      await write(
        space,
        order.map((each) => ({ kind: 'remove', id: (each as { memory: { id: string } }).memory.id })),
      );
      expect(await believed(space)).toEqual([]);
    }
  }),
  onSpace(
    'new memories whose place is taken are not believed, however many are written with them',
    async (space) => {
      await write(space, [insert({ id: 'c', supersedes: ['a', 'b'] })]);
      expect(await believed(space)).toEqual(['c']);
      await write(space, [insert({ id: 'a' })]);
      expect(await believed(space)).toEqual(['c']);
      await write(space, [insert({ id: 'd' }), insert({ id: 'b' }), insert({ id: 'e' })]);
      expect(await believed(space)).toEqual(['c', 'd', 'e']);
    },
  ),
  onSpace('the signal `superseded` and the reason of `inspect` name superseded memories', async (space) => {
    await write(space, chain());
    const { hits } = await searchIn(space, { profile, query, filter: { deep: true }, now: start, limit: 9 });
    expect(new Map(hits.map(({ memory, signals }) => [memory.id, signals.superseded]))).toEqual(
      new Map([
        ['a', true],
        ['b', true],
        ['c', false],
      ]),
    );
    const inspected = await inspectIn(space, ['a', 'c'], { profile, query, filter: {}, now: start });
    expect(inspected.map((each) => each?.excluded)).toEqual(['superseded', undefined]);
  }),
  onSpace('only memories in the scopes of a search supersede others', async (space) => {
    await write(space, [
      insert({ id: 'everywhere' }),
      insert({ id: 'in a', scope: 'project:a', supersedes: ['everywhere'] }),
      insert({ id: 'in b', scope: 'project:b', supersedes: ['in a'] }),
    ]);
    const from = (...scopes: readonly string[]) => believed(space, { scopes: ['global', ...scopes] });
    expect(await from()).toEqual(['everywhere']);
    expect(await from('project:a')).toEqual(['in a']);
    // The middle of the chain is not visible here, but the memory that supersedes it is.
    expect(await from('project:b')).toEqual(['in b']);
    expect(await from('project:a', 'project:b')).toEqual(['in b']);
    expect(await believed(space)).toEqual(['in b']);
    expect(await from()).toEqual(['everywhere']);
  }),
  onSpace('the older memory is believed when the newer one is not valid', async (space) => {
    const later = start + 10;
    const cases: readonly (readonly [object, before: string, at: string])[] = [
      [{ expiresAt: later }, 'b', 'a'],
      [{ invalidatedAt: later, invalidReason: 'wrong' }, 'b', 'a'],
      [{ validFrom: later }, 'a', 'b'],
      [{ expiresAt: later, core: true }, 'b', 'b'],
      // A memory that is cold, consolidated or archived still supersedes the older one.
      [{ tier: 'cold' }, '', ''],
      [{ consolidatedAt: start }, '', ''],
    ];
    for (const [fields, before, after] of cases) {
      await write(space, [insert({ id: 'a' }), insert({ id: 'b', supersedes: ['a'], ...fields })]);
      const ids = (id: string) => (id === '' ? [] : [id]);
      expect(await believed(space, {}, later - 1), JSON.stringify(fields)).toEqual(ids(before));
      expect(await believed(space, {}, later), JSON.stringify(fields)).toEqual(ids(after));
      await write(
        space,
        ['a', 'b'].map((id) => ({ kind: 'remove', id })),
      );
    }
    await write(space, [insert({ id: 'a' }), insert({ id: 'b', supersedes: ['a'], validUntil: later })]);
    expect(await believed(space, {}, later)).toEqual(['b']);
    expect(await believed(space, {}, later + 1)).toEqual(['a']);
  }),
  onSpace(
    'the truth of another moment: what superseded counts since it was made, or since it says',
    async (space) => {
      await write(space, [
        insert({ id: 'a' }),
        insert({ id: 'b', supersedes: ['a'], createdAt: start + 10 }),
        insert({ id: 'c', supersedes: ['b'], createdAt: start + 20, validFrom: start + 5 }),
      ]);
      const at = (validAt: number) => believed(space, { validAt }, start + 100);
      expect(await at(start)).toEqual(['a', 'b']);
      expect(await at(start + 5)).toEqual(['c']);
      expect(await at(start + 50)).toEqual(['c']);
    },
  ),
  onSpace('a chain whose middle was forgotten falls into two', async (space) => {
    await write(space, chain());
    expect(await believed(space)).toEqual(['c']);
    await write(space, [{ kind: 'redact', id: 'b' }], { verb: 'forget' });
    expect(await believed(space)).toEqual(['a', 'c']);
  }),
  onSpace('changing, removing or restoring a memory changes at once what is superseded', async (space) => {
    await write(space, chain());
    expect(await believed(space)).toEqual(['c']);
    // Without its middle, the chain falls into two.
    await write(space, [{ kind: 'remove', id: 'b' }]);
    expect(await believed(space)).toEqual(['a', 'c']);
    await write(space, [insert({ id: 'b', supersedes: ['a'] })]);
    expect(await believed(space)).toEqual(['c']);
    await write(space, [replace({ id: 'c', supersedes: ['a'] })]);
    expect(await believed(space)).toEqual(['b', 'c']);
    await write(space, [{ kind: 'redact', id: 'c' }], { verb: 'forget' });
    expect(await believed(space)).toEqual(['b']);
    await write(space, [replace({ id: 'b', supersedes: [] })]);
    expect(await believed(space)).toEqual(['a', 'b']);
    expect(await space.check()).toEqual([]);
  }),
  onSpace(
    'another handle of the space sees at its next search what was superseded meanwhile',
    async (space, store) => {
      const other = await store.openSpace('alice');
      await write(space, chain());
      expect(await believed(other)).toEqual(['c']);
      await write(space, [{ kind: 'remove', id: 'b' }]);
      expect(await believed(other)).toEqual(['a', 'c']);
      await write(other, [insert({ id: 'd', supersedes: ['a', 'c'] })]);
      expect(await believed(space)).toEqual(['d']);
      await write(space, [{ kind: 'redact', id: 'd' }], { verb: 'forget' });
      expect(await believed(other)).toEqual(['a', 'c']);
    },
  ),
  onSpace('a reindexed space keeps its supersessions', async (space) => {
    await write(space, chain());
    const derive = async (memories: readonly unknown[]) =>
      memories.map(() => ({ terms: new Map([['content', 1]]), vector: undefined }));
    await space.reindex({ analyzer: 'other', embedding: undefined, derive });
    expect(await believed(space)).toEqual(['c']);
  }),
  onSpace(
    'a pair that waits to be judged contests the older memory, where the newer one is believed',
    async (space) => {
      await write(space, [
        insert({ id: 'old' }),
        insert({ id: 'new', scope: 'project:a' }),
        insert({ id: 'newer', supersedes: ['new'], expiresAt: start + 5 }),
        insert({ id: 'newest' }),
        { kind: 'queue-pair', pair: { older: 'old', newer: 'new', kind: 'update', similarity: 0.75 } },
        { kind: 'queue-pair', pair: { older: 'old', newer: 'newest', kind: 'update', similarity: 0.5 } },
      ]);
      const conflictAt = async (filter: MemoryFilter, now = start) => {
        const request = { profile, query, filter, now };
        const [inspection] = await inspectIn(space, ['old'], request);
        const { hits } = await searchIn(space, { ...request, limit: 10 });
        expect(hits.find(({ memory }) => memory.id === 'old')?.signals.conflict).toBe(
          inspection?.signals.conflict,
        );
        return inspection?.signals.conflict;
      };
      expect(await conflictAt({ scopes: ['global'] })).toBe(0.5);
      expect(await conflictAt({ scopes: ['global', 'project:a'] })).toBe(0.5);
      expect(await conflictAt({ scopes: ['global', 'project:a'] }, start + 5)).toBe(0.75);
      const [first, second] = await space.pendingPairs(2);
      const settle = (sequence: number | undefined): Change => ({
        kind: 'settle-pair',
        sequence: sequence as number,
        resolution: 'keep-both',
      });
      await write(space, [settle(second?.sequence)]);
      expect(await conflictAt({ scopes: ['global'] })).toBe(0);
      expect(await conflictAt({}, start + 5)).toBe(0.75);
      await write(space, [settle(first?.sequence)]);
      expect(await conflictAt({}, start + 5)).toBe(0);
    },
  ),
  onSpace('a long chain costs neither the stack nor the answer', async (space) => {
    const length = 3000;
    await write(
      space,
      Array.from({ length }, (_, at) =>
        insert({
          id: `m${at}`,
          supersedes: at === 0 ? [] : [`m${at - 1}`],
          expiresAt: at > 0 ? start + at : undefined,
        }),
      ),
    );
    const { hits } = await searchIn(space, { profile, query, filter: {}, now: start, limit: 10 });
    expect(hits.map(({ memory }) => memory.id)).toEqual([`m${length - 1}`]);
    const later = await searchIn(space, { profile, query, filter: {}, now: start + length, limit: 10 });
    expect(later.hits.map(({ memory }) => memory.id)).toEqual(['m0']);
  }),
  onSpace(
    'any web of memories is believed as the definition says, whatever was searched before',
    async (space) => {
      const id = fc.integer({ min: 0, max: 7 });
      const scope = fc.constantFrom('global', 'project:a', 'project:b');
      const step = fc.oneof(
        fc.record({
          kind: fc.constant('put' as const),
          id,
          below: fc.uniqueArray(id, { maxLength: 3 }),
          scope,
          expires: fc.option(fc.nat(6), { nil: undefined }),
        }),
        fc.record({ kind: fc.constant('remove' as const), id }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.nat(6), async (steps, age) => {
          for (const each of steps) {
            const [present] = await space.get([`m${each.id}`]);
            if (each.kind === 'remove') {
              if (present) await write(space, [{ kind: 'remove', id: `m${each.id}` }]);
              continue;
            }
            const fields = {
              id: `m${each.id}`,
              scope: each.scope,
              // Memories supersede lower ones only, so there are no cycles, as in the engine.
              supersedes: each.below.filter((other) => other < each.id).map((other) => `m${other}`),
              expiresAt: each.expires === undefined ? undefined : start + each.expires,
            };
            await write(space, [present ? replace(fields) : insert(fields)]);
            const { memories } = await space.list({ filter: {}, limit: 100 });
            const now = start + age;
            for (const scopes of [undefined, ['global', 'project:a']]) {
              const filter = scopes ? { scopes } : {};
              const hides = (older: string, seen: ReadonlySet<string>): boolean =>
                memories.some(
                  (memory) =>
                    memory.supersedes.includes(older) &&
                    !seen.has(memory.id) &&
                    (isBelieved(memory, filter, now) || hides(memory.id, new Set([...seen, memory.id]))),
                );
              const expected = memories.filter(
                (memory) => isBelieved(memory, filter, now) && !hides(memory.id, new Set()),
              );
              expect(await believed(space, filter, now)).toEqual(
                expected.map((memory) => memory.id).toSorted(),
              );
            }
          }
        }),
        { numRuns: 25 },
      );
    },
  ),
];
