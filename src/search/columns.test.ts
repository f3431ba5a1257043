import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { signalsOf } from '../scoring/signals.ts';
import { arbitraryMemory } from '../testing/arbitrary-memory.ts';
import { sampleMemory } from '../testing/sample-memory.ts';
import { bytesOfColumns, createColumns, getRow, growColumns, setRow } from './columns.ts';

describe('columns that share an array', () => {
  test('every row has the value that it was last set to, to the bit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constant(sampleMemory({ id: 'a' })), arbitraryMemory), {
          minLength: 1,
          maxLength: 40,
        }),
        fc.array(fc.tuple(fc.nat(), arbitraryMemory), { maxLength: 10 }),
        (memories, changes) => {
          const columns = createColumns();
          const expected = memories.map(signalsOf);
          expected.forEach((signals, row) => {
            growColumns(columns, row + 1);
            setRow(columns, row, signals);
          });
          for (const [at, memory] of changes) {
            const row = at % memories.length;
            expected[row] = signalsOf(memory);
            setRow(columns, row, expected[row]);
          }
          // toEqual tells 0 from -0.
          expect(expected.map((_, row) => getRow(columns, row))).toEqual(
            expected.map((signals) => ({ ...signals })),
          );
          // Whatever is shared has one value, and is in use.
          for (const [array, value] of columns.shared) {
            expect(array.every((each) => Object.is(each, value))).toBe(true);
            expect([...Object.values(columns.signals), ...Object.values(columns.clocks)]).toContain(array);
          }
          expect(columns.zeros.every((each) => each === 0)).toBe(true);
        },
      ),
    );
  });

  test('take little space if most columns have a single value', () => {
    const columns = createColumns();
    const rows = 1000;
    growColumns(columns, rows);
    for (let row = 0; row < rows; row++)
      setRow(columns, row, signalsOf(sampleMemory({ id: `m${row}`, createdAt: row, updatedAt: row })));
    const { signals, clocks, attributes } = columns;
    const numbers = Object.keys(signals).length + Object.keys(clocks).length;
    const alone = rows * (8 * numbers + 4 * Object.keys(attributes).length);
    expect(bytesOfColumns(columns)).toBeLessThan(alone / 2);
  });
});
