import { expect, test } from 'vitest';
import type { MemoryRecord } from '../domain/memory.ts';
import { meetsMetadata } from '../domain/metadata-condition.ts';
import { exclusionOf } from '../store/eligibility.ts';
import type { MemoryFilter } from '../store/store.ts';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import { indexOf, plainStore, relationsOf } from '../testing/index-oracle.ts';
import { sampleMemory } from '../testing/sample-memory.ts';
import { beliefColumns } from './belief-columns.ts';
import { ELIGIBLE, eligibleRows, OUTSIDE } from './eligible.ts';
import { removeMemory } from './resident-index.ts';

test('if nothing is hidden, all rows are eligible except dead ones', () => {
  const memories = plainStore(1, 3);
  const index = indexOf(memories);
  const relations = relationsOf(memories, []);
  const look = () =>
    eligibleRows(index, beliefColumns(index, relations, {}, ARBITRARY_NOW), {}, ARBITRARY_NOW);
  expect(look()).toEqual({
    rows: Int32Array.of(0, 1, 2),
    standing: Uint8Array.of(ELIGIBLE, ELIGIBLE, ELIGIBLE),
    filtered: 3,
  });
  removeMemory(index, 1);
  expect(look()).toEqual({
    rows: Int32Array.of(0, 2),
    standing: Uint8Array.of(ELIGIBLE, OUTSIDE, ELIGIBLE),
    filtered: 2,
  });
});

const [early, late] = [ARBITRARY_NOW - 1000, ARBITRARY_NOW + 1000];

/** What alone may keep one memory out among others that nothing does; beside it a filter. */
const hidden: readonly (readonly [Partial<MemoryRecord>, MemoryFilter])[] = [
  [{}, {}],
  [{ scope: 'project:a' }, { scopes: ['global'] }],
  [{ scope: 'project:a' }, { inScope: 'project:*' }],
  [{ type: 'event' }, { types: ['fact'] }],
  [{ type: 'event' }, { typesExclude: ['event'] }],
  [{ tags: ['red'] }, { tags: ['red'] }],
  [{}, { tags: ['red'] }],
  [{ metadata: { lang: 'ts' } }, { metadata: [{ key: 'lang', test: { in: ['ts'] } }] }],
  [{ supersedes: ['m0'] }, {}],
  [{ supersedes: ['m0'] }, { deep: true }],
  [{ tier: 'cold' }, {}],
  [{ tier: 'cold' }, { cold: true }],
  [{ tier: 'stub' }, { deep: true }],
  [{ consolidatedAt: ARBITRARY_NOW }, {}],
  [{ consolidatedAt: ARBITRARY_NOW }, { deep: true }],
  [{ invalidatedAt: ARBITRARY_NOW }, {}],
  [{ expiresAt: ARBITRARY_NOW }, {}],
  [{ expiresAt: late }, { validAt: late }],
  [{ validFrom: ARBITRARY_NOW }, {}],
  [{ validFrom: late }, {}],
  [{ validUntil: ARBITRARY_NOW }, {}],
  [{ validUntil: early }, {}],
  [{ type: 'plan', validUntil: early }, { includeExpired: true }],
];

test.each(hidden)('one memory with %j among plain ones, filtered by %j', (fields, filter) => {
  const memories = ['m0', 'm1', 'm2'].map((id, at) => ({
    memory: sampleMemory({ id, ...(at === 1 ? fields : {}) }),
    terms: new Map<string, number>(),
    vector: undefined,
  }));
  const index = indexOf(memories);
  const belief = beliefColumns(index, relationsOf(memories, memories), filter, ARBITRARY_NOW);
  const { metadata = [] } = filter;
  const within =
    metadata.length === 0
      ? undefined
      : new Set(
          memories.flatMap(({ memory }, key) => (meetsMetadata(memory.metadata, metadata) ? [key] : [])),
        );
  const replaced = new Set(memories.flatMap(({ memory }) => memory.supersedes));
  const eligible = memories.map(
    ({ memory }) =>
      exclusionOf({ ...memory, superseded: replaced.has(memory.id) }, filter, ARBITRARY_NOW) === undefined,
  );
  const { rows, standing } = eligibleRows(index, belief, filter, ARBITRARY_NOW, within);
  expect([...rows]).toEqual([0, 1, 2].filter((row) => eligible[row]));
  expect(Array.from(standing, (each) => each === ELIGIBLE)).toEqual(eligible);
});
