import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { MemoryRecord } from '../domain/memory.ts';
import { indexContent } from '../testing/index-content.ts';
import { indexed, vocabulary } from '../testing/index-oracle.ts';
import { sampleMemory, unitVector } from '../testing/sample-memory.ts';
import { decodePages, encodePages, placesOfParts } from './pages.ts';
import {
  bytesOfIndex,
  createResidentIndex,
  putMemory,
  type ResidentIndex,
  removeMemory,
} from './resident-index.ts';

/** Sessions whose turns come in any order, memories that were updated and such that were not, ordinals beyond 32 bits. */
const arbitraryStep = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      key: fc.oneof(
        { weight: 9, arbitrary: fc.integer({ min: 1, max: 40 }) },
        fc.constantFrom(2 ** 33, 9000),
      ),
      beyond: fc.constantFrom(0, 70_000, 2 ** 40),
      createdAt: fc.integer({ min: 0, max: 20 }),
      updatedAfter: fc.constantFrom<number>(0, 0, 0, 5),
      session: fc.constantFrom(undefined, 's', 't'),
      author: fc.nat({ max: 300 }),
      // Terms come in any order: their numbers do not ascend.
      words: fc.subarray(vocabulary.slice(1)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ gone: fc.integer({ min: 1, max: 40 }) }) },
);
type Step = typeof arbitraryStep extends fc.Arbitrary<infer Each> ? Each : never;

function take(index: ResidentIndex, step: Step): void {
  if ('gone' in step) {
    removeMemory(index, step.gone);
    return;
  }
  const { key, beyond, createdAt, updatedAfter, session, author, words } = step;
  const memory: MemoryRecord = sampleMemory({
    id: `m${key}`,
    ordinal: beyond + key,
    createdAt,
    updatedAt: createdAt + updatedAfter,
    author: `a${author}`,
    bornIn: session,
  });
  const terms = new Map(words.map((word) => [word, 1]));
  if (words.length < 2) terms.set(vocabulary[0]!, (beyond % 300) + 1);
  putMemory(index, indexed(key, memory, { terms, vector: undefined }));
}

test('an index that was saved and loaded is equal, and stays equal through the same changes', () => {
  fc.assert(
    fc.property(
      fc.array(arbitraryStep, { maxLength: 60 }),
      fc.array(arbitraryStep, { maxLength: 30 }),
      (before, after) => {
        const index = createResidentIndex();
        for (const step of before) take(index, step);
        const read = decodePages(encodePages(index))!;
        expect(indexContent(read)).toEqual(indexContent(index));
        for (const step of after) {
          take(index, step);
          take(read, step);
        }
        expect(indexContent(read)).toEqual(indexContent(index));
        expect(indexContent(decodePages(encodePages(read))!)).toEqual(indexContent(index));
      },
    ),
  );
});

test('postings that do not fit together are refused', () => {
  const index = createResidentIndex();
  for (const [key, words] of [
    [1, ['cedar']],
    [2, ['birch', 'cedar']],
    [3, ['birch']],
  ] as const)
    take(index, {
      key,
      beyond: 0,
      createdAt: key,
      updatedAfter: 0,
      session: 's',
      author: 1,
      words: [...words],
    });
  const decodedWith = (terms: readonly number[]) => {
    const parts = new Map(encodePages(index));
    parts.set('terms', new Uint8Array(Float64Array.from(terms).buffer));
    return decodePages(parts);
  };
  // Amber stands in the two with one word.
  expect(decodedWith([0, 2, 1, 2, 2, 2])).toBeDefined();
  for (const terms of [
    [1, 2, 0, 2, 2, 2],
    [0, 2, 0, 2, 2, 2],
    [0, 2, Number.NaN, 2, 2, 2],
    [0, 1.5, 1, 2.5, 2, 2],
    [0, 0, 1, 4, 2, 2],
    [0, 2, 1, -1, 2, 5],
    [0, 2, 1, 2, 2, 3],
    [0, 2, 1, 2],
    [0, 2, 1, 2 ** 32, 2, 2],
    [0, 2, 1, 2, 2, 2 + 2 ** 32],
  ]) {
    expect([terms, decodedWith(terms)]).toEqual([terms, undefined]);
  }
});

interface SavedHeader {
  readonly size: number;
  readonly columns: Readonly<Record<string, object>>;
  readonly dictionaries: Readonly<Record<string, readonly string[]>>;
}

test.each<[what: string, damage: (header: SavedHeader) => object]>([
  ['one row more', ({ size }) => ({ size: size + 1 })],
  ['a negative size', () => ({ size: -1 })],
  ['other dimensions', () => ({ dimensions: 5 })],
  ['a session too few', () => ({ sessions: [] })],
  ['an author too few', ({ dictionaries }) => ({ dictionaries: { ...dictionaries, author: [] } })],
  ['no dictionaries', () => ({ dictionaries: undefined })],
  ['a dictionary of numbers', ({ dictionaries }) => ({ dictionaries: { ...dictionaries, author: [1, 2] } })],
  ['tags of a row that is not there', ({ size }) => ({ tags: [[size, ['t']]] })],
  ['tags that are no texts', () => ({ tags: [[0, [7]]] })],
  ['a column too few', ({ columns }) => ({ columns: { ...columns, lengths: undefined } })],
  [
    'a column of another kind',
    ({ columns }) => ({ columns: { ...columns, scales: { kind: 'Uint32Array', of: 'rows' } } }),
  ],
  [
    'a kind that is not there',
    ({ columns }) => ({ columns: { ...columns, scales: { kind: 'Array', of: 'rows' } } }),
  ],
  [
    'one value, where there are more',
    ({ columns }) => ({ columns: { ...columns, 'clock.createdAt': { kind: 'Float64Array', of: 'all' } } }),
  ],
  [
    'a clock like one with a single value',
    ({ columns }) => ({ columns: { ...columns, 'clock.createdAt': { as: 'expiresAt' } } }),
  ],
  [
    'a clock like one that is not there',
    ({ columns }) => ({ columns: { ...columns, 'clock.createdAt': { as: 'readAt' } } }),
  ],
  [
    'a signal like a clock',
    ({ columns }) => ({ columns: { ...columns, 'signal.importance': { as: 'createdAt' } } }),
  ],
  ['keys like ordinals', ({ columns }) => ({ columns: { ...columns, keys: { as: 'keys' } } })],
])('a header with %s is refused', (_, damage) => {
  const index = createResidentIndex();
  for (let key = 1; key <= 5; key++) {
    const memory = sampleMemory({
      id: `m${key}`,
      createdAt: key,
      author: `a${key}`,
      importance: key / 10,
      bornIn: 's',
    });
    putMemory(
      index,
      indexed(key, memory, { terms: new Map([['word', 1]]), vector: unitVector([key, 1, 2, 3]) }),
    );
  }
  const parts = encodePages(index);
  expect(decodePages(parts)?.size).toBe(5);
  const header = JSON.parse(new TextDecoder().decode(parts.get('header'))) as SavedHeader;
  const damaged = new TextEncoder().encode(JSON.stringify({ ...header, ...damage(header) }));
  expect(decodePages(new Map([...parts, ['header', damaged]]))).toBeUndefined();
});

test.each([0, 19, 21, 40])(
  'codes of %i bytes, where the header says 20, are not put where the kernel reads',
  (length) => {
    const index = createResidentIndex();
    for (let key = 1; key <= 5; key++)
      putMemory(
        index,
        indexed(key, sampleMemory({ id: `m${key}` }), {
          terms: new Map(),
          vector: unitVector([key, 1, 2, 3]),
        }),
      );
    const places = placesOfParts();
    const header = encodePages(index).get('header')!;
    places.place('header', header.length).set(header);
    expect(places.place('codes', length, true)).toEqual(new Uint8Array(length));
    expect([places.codes(), places.areShared()]).toEqual([undefined, false]);
    expect(places.place('codes', 20, true)).toHaveLength(20);
    expect([places.codes()?.dimensions, places.areShared()]).toEqual([4, true]);
  },
);

test('codes are saved in the format of the current layout number', () => {
  const index = createResidentIndex();
  const vector = unitVector(Array.from({ length: 18 }, (_, at) => ((at * 7) % 11) - 4));
  putMemory(index, indexed(1, sampleMemory({ id: 'm1' }), { terms: new Map(), vector }));
  const parts = encodePages(index);
  const { layout } = JSON.parse(new TextDecoder().decode(parts.get('header'))) as { layout: number };
  expect([layout, ...Int8Array.from(parts.get('codes')!)]).toEqual([
    14, 23, -23, 79, -50, -111, 17, -2, -19, 79, -104, 48, 32, -16, -1, -88, -128, 11, -59,
  ]);
});

test('more than 256 and more than 65,536 authors stay distinct', () => {
  const index = createResidentIndex();
  const put = (key: number) =>
    putMemory(
      index,
      indexed(key, sampleMemory({ id: `m${key}`, author: `a${key}` }), {
        terms: new Map(),
        vector: undefined,
      }),
    );
  const authors = (of: ResidentIndex) => {
    const { codes, dictionary } = of.columns.attributes.author;
    return Array.from(codes.subarray(0, of.size), (code) => dictionary.texts[code]);
  };
  for (const [count, bytes] of [
    [256, 1],
    [257, 2],
    [65_537, 4],
  ] as const) {
    for (let key = index.size + 1; key <= count; key++) put(key);
    expect(index.columns.attributes.author.codes.BYTES_PER_ELEMENT).toBe(bytes);
    expect(authors(decodePages(encodePages(index))!)).toEqual(authors(index));
  }
});

test('memories that were never updated share their clocks, once they were saved, until one was', () => {
  const index = createResidentIndex();
  const put = (key: number, updatedAt = key) =>
    take(index, {
      key,
      beyond: 0,
      createdAt: key,
      updatedAfter: updatedAt - key,
      session: 's',
      author: 1,
      words: [],
    });
  for (let key = 1; key <= 10; key++) put(key);
  const read = decodePages(encodePages(index))!;
  const { clocks } = read.columns;
  expect(clocks.updatedAt).toBe(clocks.createdAt);
  take(read, { key: 11, beyond: 0, createdAt: 11, updatedAfter: 0, session: 's', author: 1, words: [] });
  expect(clocks.updatedAt).toBe(clocks.createdAt);
  take(read, { key: 5, beyond: 0, createdAt: 5, updatedAfter: 9, session: 's', author: 1, words: [] });
  expect(clocks.updatedAt).not.toBe(clocks.createdAt);
  expect([...clocks.updatedAt.subarray(0, 12)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14]);
  expect([...clocks.createdAt.subarray(0, 12)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 5]);
});

test('a row takes few bytes beside its vector and its words', () => {
  const index = createResidentIndex();
  for (let key = 1; key <= 1000; key++)
    take(index, {
      key,
      beyond: 0,
      createdAt: key,
      updatedAfter: 0,
      session: `s${key % 20}` as 's',
      author: 1,
      words: [],
    });
  const read = decodePages(encodePages(index))!;
  const words = read.totalLength * 5 + read.postings.size * 400;
  // Marks, numbers, one clock of their own, a place in a session, and what all share.
  expect((bytesOfIndex(read) - words) / 1000).toBeLessThan(55);
});
