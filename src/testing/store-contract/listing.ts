import fc from 'fast-check';
import { expect } from 'vitest';
import { FIELD_FILTERS, FIELDS, SORT_NAMES, SORTS } from '../../domain/fields.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { meetsMetadata, parseMetadataFilter } from '../../domain/metadata-condition.ts';
import type { FieldCondition, ListRequest, MemoryFilter, SpaceStore } from '../../store/store.ts';
import { arbitraryMemory } from '../arbitrary-memory.ts';
import { arbitraryConditions } from '../arbitrary-metadata.ts';
import { sampleIndexed } from '../sample-memory.ts';
import { type ContractTest, expectCode, insert, model, onSpace, replace, start, write } from './harness.ts';

/** Lists all ids page by page, and checks the position and total of each page. */
async function listAll(
  space: SpaceStore,
  filter: MemoryFilter,
  limit: number,
  more: Partial<ListRequest> = {},
): Promise<readonly string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await space.list({ filter, limit, cursor, count: true, ...more });
    expect(page.position).toBe(ids.length);
    expect(page.total).toBeGreaterThanOrEqual(ids.length + page.memories.length);
    expect(page.memories.length).toBeLessThanOrEqual(limit);
    ids.push(...page.memories.map((memory) => memory.id));
    cursor = page.nextCursor;
    if (cursor === undefined) expect(page.total).toBe(ids.length);
  } while (cursor !== undefined);
  return ids;
}

/** Sorts memories naively, by comparing every two values. A missing value is below all others. */
function sortedNaively(
  memories: readonly MemoryRecord[],
  { sort = 'updated', direction }: Pick<ListRequest, 'sort' | 'direction'>,
): readonly MemoryRecord[] {
  const { field, direction: usual } = SORTS[sort];
  const sign = (direction ?? usual) === 'asc' ? 1 : -1;
  const compare = (a: MemoryRecord, b: MemoryRecord) => {
    const [left, right] = [a[field], b[field]];
    if (left === right) return a.ordinal - b.ordinal;
    if (left === undefined) return -1;
    return right === undefined || left > right ? 1 : -1;
  };
  return memories.toSorted((a, b) => sign * compare(a, b));
}

function meetsNaively(memory: MemoryRecord, { field, compare, value }: FieldCondition): boolean {
  const has = memory[field];
  if (compare === 'is') return has === value;
  return has !== undefined && (compare === 'from' ? !(has < value) : has < value);
}

/** Draws conditions. Some of these memories meet some of the conditions; others no memory meets. */
function arbitraryWhere(memories: readonly MemoryRecord[]): fc.Arbitrary<readonly FieldCondition[]> {
  const one = fc.constantFrom(...Object.values(FIELD_FILTERS)).chain(({ field, compare }) => {
    const there = memories.flatMap((memory) => memory[field] ?? []);
    const { kind } = FIELDS[field];
    const other = kind === 'instant' ? fc.integer() : kind === 'flag' ? fc.boolean() : fc.constant('a\0b');
    const value = there.length === 0 ? other : fc.oneof(fc.constantFrom(...there), other);
    return value.map((each): FieldCondition => ({ field, compare, value: each }));
  });
  return fc.array(one, { maxLength: 2 });
}

export const listingTests: readonly ContractTest[] = [
  onSpace(
    'a list is ordered by the last update, newest first, then by what was inserted last',
    async (space) => {
      expect(await space.list({ filter: {}, limit: 5 })).toEqual({ memories: [], nextCursor: undefined });
      await write(space, [
        insert({ id: 'b', updatedAt: start + 1 }),
        insert({ id: '\uff5e', updatedAt: start }),
        insert({ id: '\u{1f600}', updatedAt: start }),
        insert({ id: 'a', updatedAt: start + 1 }),
        insert({ id: 'z', updatedAt: start + 2, tier: 'stub' }),
        insert({ id: 'A', updatedAt: start + 1, tier: 'cold' }),
      ]);
      const expected = ['z', 'A', 'a', 'b', '\u{1f600}', '\uff5e'];
      for (const limit of [1, 2, 3, 5, 6, 100]) expect(await listAll(space, {}, limit)).toEqual(expected);
      const inserted = ['b', '\uff5e', '\u{1f600}', 'a', 'z', 'A'];
      for (const limit of [1, 2, 3, 5, 6, 100])
        expect(await listAll(space, {}, limit, { sort: 'inserted' })).toEqual(inserted);
    },
  ),
  onSpace('a cursor stays in its place while memories are written', async (space) => {
    await write(
      space,
      [3, 2, 1, 0].map((age) => insert({ id: `m${age}`, updatedAt: start - age })),
    );
    const first = await space.list({ filter: {}, limit: 2 });
    expect(first.memories.map((memory) => memory.id)).toEqual(['m0', 'm1']);
    await write(space, [
      insert({ id: 'newer', updatedAt: start + 1 }),
      insert({ id: 'older', updatedAt: start - 9 }),
    ]);
    await write(space, [{ kind: 'remove', id: 'm1' }]);
    const second = await space.list({ filter: {}, limit: 2, cursor: first.nextCursor });
    expect(second.memories.map((memory) => memory.id)).toEqual(['m2', 'm3']);
    const third = await space.list({ filter: {}, limit: 2, cursor: second.nextCursor });
    expect(third.memories.map((memory) => memory.id)).toEqual(['older']);
    expect(third.nextCursor).toBeUndefined();
  }),
  onSpace('an invalid cursor or limit is refused', async (space) => {
    await write(space, [insert({ id: 'a' })]);
    for (const cursor of [
      '',
      'x',
      '🫖',
      Buffer.from('[1]').toString('base64url'),
      Buffer.from('["1","a"]').toString('base64url'),
    ]) {
      await expectCode(space.list({ filter: {}, limit: 1, cursor }), 'invalid_argument');
    }
    for (const limit of [0, -1, 1.5, Number.NaN]) {
      await expectCode(space.list({ filter: {}, limit }), 'invalid_argument');
    }
  }),
  onSpace('filters by scope, type and tags', async (space) => {
    await write(space, [
      insert({ id: '1', scope: 'global', type: 'fact', tags: ['x', 'y'] }),
      insert({ id: '2', scope: 'project:a', type: 'rule', tags: ['x'] }),
      insert({ id: '3', scope: 'project:b', type: 'own type', tags: ["it's", 'y', 'X'] }),
    ]);
    const ids = async (filter: MemoryFilter) => (await listAll(space, filter, 2)).toSorted();
    expect(await ids({ scopes: ['global', 'project:b'] })).toEqual(['1', '3']);
    expect(await ids({ scopes: [] })).toEqual([]);
    expect(await ids({ inScope: 'global' })).toEqual(['1']);
    expect(await ids({ inScope: 'project:*' })).toEqual(['2', '3']);
    expect(await ids({ inScope: 'proj:*' })).toEqual([]);
    expect(await ids({ scopes: ['global', 'project:a'], inScope: 'project:*' })).toEqual(['2']);
    expect(await ids({ types: ['rule', 'own type'] })).toEqual(['2', '3']);
    expect(await ids({ types: [] })).toEqual([]);
    expect(await ids({ typesExclude: ['fact'] })).toEqual(['2', '3']);
    expect(await ids({ typesExclude: [] })).toEqual(['1', '2', '3']);
    expect(await ids({ tags: ['x'] })).toEqual(['1', '2']);
    expect(await ids({ tags: ['y', 'x'] })).toEqual(['1']);
    expect(await ids({ tags: ["it's"] })).toEqual(['3']);
    expect(await ids({ tags: [] })).toEqual(['1', '2', '3']);
    expect(await ids({ scopes: ['global', 'project:a'], types: ['rule'], tags: ['x'] })).toEqual(['2']);
  }),
  onSpace('filters by metadata, typed, as it is now', async (space) => {
    await write(space, [
      insert({ id: 'number', metadata: { n: 3, open: true } }),
      insert({ id: 'text', metadata: { n: '3', open: false } }),
      insert({ id: 'other', metadata: { n: 30, list: [3], none: null } }),
      insert({ id: 'empty', tags: ['x'] }),
    ]);
    const ids = async (filter: Parameters<typeof parseMetadataFilter>[0], more: MemoryFilter = {}) =>
      (await listAll(space, { ...more, metadata: parseMetadataFilter(filter) }, 2)).toSorted();
    expect(await ids({})).toEqual(['empty', 'number', 'other', 'text']);
    expect(await ids({ n: 3 })).toEqual(['number']);
    expect(await ids({ n: [3, '3'] })).toEqual(['number', 'text']);
    expect(await ids({ n: { atLeast: 3 } })).toEqual(['number', 'other']);
    expect(await ids({ n: { below: 4 }, open: true })).toEqual(['number']);
    expect(await ids({ list: 3 })).toEqual([]);
    expect(await ids({ list: { exists: true }, none: null })).toEqual(['other']);
    expect(await ids({ n: { exists: false } })).toEqual(['empty']);
    expect(await ids({ n: { exists: false } }, { tags: ['y'] })).toEqual([]);
    await write(space, [
      replace({ id: 'number', metadata: { n: 4 } }),
      { kind: 'remove', id: 'text' },
      insert({ id: 'new', metadata: { n: 3 } }),
    ]);
    expect(await ids({ n: [3, '3'] })).toEqual(['new']);
    expect(await ids({ open: { exists: true } })).toEqual([]);
  }),
  {
    title: 'any conditions on any metadata let through what meets them',
    async run({ store }) {
      let run = 0;
      const memories = fc.uniqueArray(arbitraryMemory, { selector: (each) => each.id, maxLength: 15 });
      const filters = fc.array(arbitraryConditions, { minLength: 1, maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(memories, filters, async (list, several) => {
          await using space = await store.openSpace(`run-${run++}`);
          await write(
            space,
            list.map((memory) => ({ kind: 'insert', memory, indexed: sampleIndexed(memory) })),
          );
          for (const metadata of several) {
            const expected = list.filter((memory) => meetsMetadata(memory.metadata, metadata));
            expect((await listAll(space, { metadata }, 4)).toSorted()).toEqual(
              expected.map(({ id }) => id).toSorted(),
            );
          }
        }),
        { numRuns: 25 },
      );
    },
  },
  {
    title: 'pages of any size, from anywhere, are slices of the one order of what meets the conditions',
    async run({ store }) {
      let run = 0;
      const drawn = fc
        .uniqueArray(arbitraryMemory, { selector: (each) => each.id, maxLength: 20 })
        .chain((list) =>
          fc.record({
            list: fc.constant(list),
            limit: fc.integer({ min: 1, max: 6 }),
            asked: fc.array(
              fc.record({
                sort: fc.constantFrom(undefined, ...SORT_NAMES),
                direction: fc.constantFrom(undefined, 'asc' as const, 'desc' as const),
                where: arbitraryWhere(list),
                offset: fc.nat(25),
              }),
              { minLength: 1, maxLength: 12 },
            ),
          }),
        );
      await fc.assert(
        fc.asyncProperty(drawn, async ({ list, limit, asked }) => {
          await using space = await store.openSpace(`run-${run++}`);
          await write(
            space,
            list.map((memory) => ({ kind: 'insert', memory, indexed: sampleIndexed(memory) })),
          );
          const placed = list.map((memory, at) => ({ ...memory, ordinal: at + 1 }));
          for (const { offset, ...request } of asked) {
            const met = placed.filter((memory) => request.where.every((each) => meetsNaively(memory, each)));
            const expected = sortedNaively(met, request).map(({ id }) => id);
            expect(await listAll(space, {}, limit, request)).toEqual(expected);
            const counted = { filter: {}, ...request, limit, count: true };
            const jumped = await space.list({ ...counted, offset });
            expect(jumped.memories.map(({ id }) => id)).toEqual(expected.slice(offset, offset + limit));
            expect(jumped.position).toBe(Math.min(offset, expected.length));
            expect(jumped.total).toBe(expected.length);
            for (const [at, id] of expected.entries()) {
              const begin = Math.max(0, Math.min(at - Math.floor(limit / 2), expected.length - limit));
              const page = await space.list({ ...counted, around: id });
              expect(page.memories.map((each) => each.id)).toEqual(expected.slice(begin, begin + limit));
              expect(page.position).toBe(begin);
            }
          }
        }),
        { numRuns: 25 },
      );
    },
  },
  onSpace('what was never accessed counts as accessed before all others, both ways', async (space) => {
    await write(space, [
      insert({ id: 'never' }),
      insert({ id: 'late', lastAccessedAt: start + 1 }),
      insert({ id: 'never too' }),
      insert({ id: 'long ago', lastAccessedAt: -start }),
    ]);
    const up = ['never', 'never too', 'long ago', 'late'];
    for (const limit of [1, 2, 3, 9]) {
      expect(await listAll(space, {}, limit, { sort: 'accessed', direction: 'asc' })).toEqual(up);
      expect(await listAll(space, {}, limit, { sort: 'accessed' })).toEqual(up.toReversed());
    }
  }),
  onSpace('a span of time has its beginning and not its end', async (space) => {
    await write(
      space,
      [0, 1, 2].map((at) => insert({ id: String(at), createdAt: start + at })),
    );
    const where = [
      { field: 'createdAt', compare: 'from', value: start + 1 },
      { field: 'createdAt', compare: 'before', value: start + 2 },
    ] as const;
    expect(await listAll(space, {}, 5, { where })).toEqual(['1']);
    expect(await listAll(space, {}, 5, { where: where.slice(1), sort: 'created' })).toEqual(['1', '0']);
  }),
  onSpace('a cursor belongs to its order and its filters', async (space) => {
    await write(
      space,
      [1, 2, 3].map((at) => insert({ id: String(at), author: 'Ada', tags: ['x'] })),
    );
    const where = [{ field: 'author', compare: 'is', value: 'Ada' }] as const;
    const request = { filter: { tags: ['x'] }, where, sort: 'created', limit: 1 } as const;
    const { nextCursor: cursor } = await space.list(request);
    const next = await space.list({ ...request, cursor, limit: 5, direction: 'desc' });
    expect(next.memories.map(({ id }) => id)).toEqual(['2', '1']);
    for (const other of [
      { sort: 'updated' },
      { direction: 'asc' },
      { filter: {} },
      { filter: { tags: ['y'] } },
      { where: [] },
      { where: [{ ...where[0], value: 'Ben' }] },
      { offset: 0 },
      { around: '1' },
    ] as const) {
      await expectCode(space.list({ ...request, cursor, ...other }), 'invalid_argument');
    }
  }),
  onSpace('a page with an invalid offset or start is refused', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'b', tags: ['x'] })]);
    for (const offset of [-1, 1.5, Number.NaN]) {
      await expectCode(space.list({ filter: {}, limit: 1, offset }), 'invalid_argument');
    }
    await expectCode(space.list({ filter: {}, limit: 1, offset: 0, around: 'a' }), 'invalid_argument');
    await expectCode(space.list({ filter: {}, limit: 1, around: 'nobody' }), 'not_found');
    await expectCode(space.list({ filter: { tags: ['x'] }, limit: 1, around: 'a' }), 'not_found');
    const uncounted = await space.list({ filter: {}, limit: 1, around: 'a' });
    expect([uncounted.total, uncounted.position]).toEqual([undefined, undefined]);
  }),
  onSpace('info counts what there is', async (space) => {
    expect(await space.info()).toMatchObject({
      name: 'alice',
      memories: 0,
      sequence: 0,
      embedding: undefined,
      analyzer: undefined,
    });
    await write(
      space,
      [
        insert({ id: '1', content: 'tea tea cup', type: 'fact' }, [1, 0, 0]),
        insert({ id: '2', content: 'tea pot', type: '__proto__', scope: 'project:a' }, [0, 1, 0]),
        insert({ id: '3', content: 'cup', type: 'fact' }),
      ],
      {},
      { analyzer: 'simple-1' },
    );
    const info = await space.info();
    expect(info).toMatchObject({
      memories: 3,
      vectors: 2,
      terms: 3,
      byScope: { global: 2, 'project:a': 1 },
      byTier: { hot: 3 },
      links: 0,
    });
    expect(Object.entries(info.byType).toSorted()).toEqual([
      ['__proto__', 1],
      ['fact', 2],
    ]);
    expect(info).toMatchObject({ events: 3, sequence: 3, embedding: model, analyzer: 'simple-1' });
  }),
  onSpace(
    'a page ends before the memory that makes its JSON too long, and has one at least',
    async (space) => {
      await write(
        space,
        ['a', 'b', 'c', 'd'].map((id) => insert({ id, content: 'é'.repeat(100) })),
      );
      const { memories } = await space.list({ filter: {}, limit: 9 });
      const length = JSON.stringify(memories[0]).length;
      const pages = async (maxCharacters: number) => {
        const sizes: number[] = [];
        let cursor: string | undefined;
        do {
          const page = await space.list({ filter: {}, limit: 9, maxCharacters, cursor });
          sizes.push(page.memories.length);
          cursor = page.nextCursor;
        } while (cursor !== undefined);
        return sizes;
      };
      expect(await pages(1)).toEqual([1, 1, 1, 1]);
      expect(await pages(2 * length)).toEqual([2, 2]);
      expect(await pages(2 * length - 1)).toEqual([1, 1, 1, 1]);
      expect(await pages(3 * length)).toEqual([3, 1]);
      expect(await pages(4 * length)).toEqual([4]);
    },
  ),
];
