import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indexed } from '../testing/index-oracle.ts';
import { sampleMemory } from '../testing/sample-memory.ts';
import { decodePages, encodePages } from './pages.ts';
import { createResidentIndex, putMemory, removeMemory } from './resident-index.ts';

test.each([[1], [2]])(
  'of two rows that stand in the same place of a session, the one that is removed goes: %i',
  (gone) => {
    // A memory that was gone and came back under another key: the new row may be put in before the old one is taken out.
    const index = createResidentIndex();
    const memory = sampleMemory({ id: 'back', ordinal: 1, bornIn: 's' });
    const before = sampleMemory({ id: 'before', ordinal: 0, bornIn: 's' });
    for (const [key, each] of [before, memory, memory].entries()) {
      putMemory(index, indexed(key, each, { terms: new Map(), vector: undefined }));
    }
    removeMemory(index, gone);
    expect([...index.sessions.lists.of(1)].sort()).toEqual([0, 1, 2].filter((row) => row !== gone));
  },
);

test('ordinals are those of the memories, and share the array of keys as long as both are the same', () => {
  const seen = new Set<boolean>();
  const number = fc.constantFrom(1, 2, 3, 4, 5, 2 ** 32 - 1, 2 ** 32, 2 ** 40);
  fc.assert(
    fc.property(
      fc.array(fc.record({ key: number, ordinal: fc.option(number, { nil: undefined, freq: 3 }) }), {
        minLength: 1,
        maxLength: 8,
      }),
      fc.constantFrom('equal', 'any'),
      (puts, kind) => {
        const index = createResidentIndex();
        const expected = new Map<number, number>();
        for (const [at, { key, ordinal = key }] of puts.entries()) {
          const own = kind === 'equal' ? key : ordinal;
          const memory = sampleMemory({ id: `m${at}`, ordinal: own });
          putMemory(index, indexed(key, memory, { terms: new Map(), vector: undefined }));
          expected.set(key, own);
        }
        const areSame = index.ordinals === index.keys;
        seen.add(areSame);
        if (kind === 'equal') expect(areSame).toBe(true);
        const parts = encodePages(index);
        expect(parts.has('ordinals')).toBe(!areSame);
        for (const each of [index, decodePages(parts)!]) {
          const found = [...each.rowOfKey].map(([key, row]) => [key, each.keys[row], each.ordinals[row]]);
          expect(new Map(found.map(([key, , ordinal]) => [key, ordinal]))).toEqual(expected);
          expect(found.every(([key, kept]) => key === kept)).toBe(true);
        }
        const header = JSON.parse(new TextDecoder().decode(parts.get('header')));
        header.columns.ordinals = { as: 'createdAt' };
        const damaged = new TextEncoder().encode(JSON.stringify(header));
        expect(decodePages(new Map([...parts, ['header', damaged]]))).toBeUndefined();
      },
    ),
  );
  expect(seen.size).toBe(2);
});
