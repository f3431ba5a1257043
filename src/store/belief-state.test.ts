import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beliefStates, grouped, isSuperseded } from './belief-state.ts';

const key = fc.nat(7);

test('the states are those of each memory by itself, in webs with cycles too', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(key, key), { maxLength: 14 }),
      fc.array(fc.tuple(key, key, fc.constantFrom(0, 0.5, 0.75, 1)), { maxLength: 6 }),
      fc.uniqueArray(key),
      (pairs, updates, believed) => {
        const successors = grouped(pairs);
        const newer = grouped(
          updates.map(([older, newer, similarity]) => [older, { key: newer, similarity }] as const),
        );
        const isBelieved = (each: number) => believed.includes(each);
        const superseded = (each: number) => isSuperseded(each, successors, isBelieved);
        const expected = Array.from({ length: 8 }, (_, each) => {
          const standing = (newer.get(each) ?? []).filter(({ key }) => isBelieved(key) && !superseded(key));
          return [superseded(each), Math.max(0, ...standing.map(({ similarity }) => similarity))];
        });
        const states = beliefStates({ successors, newer }, isBelieved);
        expect(
          Array.from({ length: 8 }, (_, each) => {
            const { superseded, conflict } = states.get(each) ?? { superseded: false, conflict: 0 };
            return [superseded, conflict];
          }),
        ).toEqual(expected);
      },
    ),
    { numRuns: 2000 },
  );
});

test.each([
  ['none of which is believed', () => false, 0],
  ['whose end alone is believed', (each: number) => each === 9999, 9999],
  ['all of which are believed', () => true, 9999],
])('a chain of 10,000, %s, is asked about once', (_, isBelieved, superseded) => {
  const successors = new Map(Array.from({ length: 9999 }, (_, each) => [each, [each + 1]] as const));
  let asked = 0;
  const counted = (each: number) => {
    asked++;
    return isBelieved(each);
  };
  const states = beliefStates({ successors, newer: new Map() }, counted);
  expect([states.size, asked]).toEqual([superseded, 9999]);
});
