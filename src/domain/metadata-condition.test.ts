import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryConditions, arbitraryMetadata } from '../testing/arbitrary-metadata.ts';
import type { Metadata } from './memory.ts';
import { type MetadataFilter, meetsMetadata, parseMetadataFilter } from './metadata-condition.ts';

const meets = (metadata: Metadata, filter: MetadataFilter) =>
  meetsMetadata(metadata, parseMetadataFilter(filter));
const task = {
  status: 'open',
  priority: 3,
  due: '2026-03-01',
  done: false,
  note: null,
  tags: ['a'],
  by: { id: 1 },
};

describe('a filter of metadata', () => {
  it.each([[new Map([['n', 9]])], [[]], [null], ['n']])('is an object, not %o', (filter) => {
    expect(() => parseMetadataFilter(filter as unknown as MetadataFilter)).toThrow('expected an object');
  });

  it.each<MetadataFilter>([
    {},
    { status: 'open' },
    { status: ['closed', 'open'] },
    { status: { in: ['open'] } },
    { priority: 3, done: false, note: null },
    { priority: { atLeast: 3, atMost: 3 } },
    { priority: { above: 2.5, below: 4 } },
    { due: { atLeast: '2026-02-28', below: '2026-03-02' } },
    { tags: { exists: true }, by: { exists: true }, note: { exists: true }, nothing: { exists: false } },
    { toString: { exists: false } },
    { priority: { atLeast: 3, below: undefined } },
  ])('meets %j', (filter) => {
    expect(meets(task, filter)).toBe(true);
  });

  it.each<MetadataFilter>([
    { status: 'Open' },
    { status: [] },
    { priority: '3' },
    { priority: { atLeast: '3' } },
    { due: { above: 0 } },
    { done: 0 },
    { done: 'false' },
    { note: 'null' },
    { nothing: null },
    { tags: 'a' },
    { by: { above: 0 } },
    { nothing: { below: 5 } },
    { status: { exists: false } },
    { status: 'open', priority: 4 },
    { constructor: { exists: true } },
  ])('does not meet %j', (filter) => {
    expect(meets(task, filter)).toBe(false);
  });

  it.each<readonly [string, unknown]>([
    ['metadata', null],
    ['metadata', ['a']],
    ['metadata', 'a'],
    ['metadata.a', {}],
    ['metadata.a', { above: 1, below: 'b' }],
    ['metadata.a', { above: Number.NaN }],
    ['metadata.a', { above: true }],
    ['metadata.a', { exists: 'yes' }],
    ['metadata.a', { exists: true, above: 1 }],
    ['metadata.a', { in: [{}] }],
    ['metadata.a', [1, [2]]],
    ['metadata.a', Number.POSITIVE_INFINITY],
    ['metadata.a.over', { over: 1 }],
  ])('names %s as wrong', (field, said) => {
    const filter = field === 'metadata' ? said : { a: said };
    expect(() => parseMetadataFilter(filter as MetadataFilter)).toThrow(
      expect.objectContaining({ code: 'invalid_argument', details: { field } }),
    );
  });

  it('is met by exactly what each of its conditions allows', () => {
    fc.assert(
      fc.property(arbitraryMetadata, arbitraryConditions, (metadata, conditions) => {
        const values = new Map(Object.entries(metadata));
        const expected = conditions.every(({ key, test }) => {
          const found = values.get(key);
          if ('exists' in test) return values.has(key) === test.exists;
          if ('in' in test) return values.has(key) && test.in.some((each) => each === found);
          const fits = Object.entries(test).map(([name, bound]) => {
            if (typeof found !== typeof bound) return false;
            const [a, b] = [found, bound] as [number, number];
            const order = a < b ? -1 : a > b ? 1 : 0;
            return { above: order > 0, atLeast: order >= 0, below: order < 0, atMost: order <= 0 }[name];
          });
          return fits.every((each) => each === true);
        });
        expect(meetsMetadata(metadata, conditions)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });
});
