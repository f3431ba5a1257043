import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { compileKernel } from '../../../scripts/kernel.mjs';

declare const WebAssembly: { readonly Memory: { readonly prototype: { grow(pages: number): number } } };

import { type Codes, createCodes, createKernelCodes, createPlainCodes, SCAN_ROWS } from './codes.ts';

const code = fc.integer({ min: -127, max: 127 });

/** Extreme codes come often: their products are the largest sums there are. */
const codesOf = (length: number) =>
  fc
    .array(fc.oneof(fc.constantFrom(-127, 0, 127), code), { minLength: length, maxLength: length })
    .map((values) => Int8Array.from(values));

/** Of a query: no sum of as many products as there are dimensions exceeds 31 bits. */
const queryOf = (length: number) => {
  const most = Math.min(0x7fff, Math.floor(0x7fffffff / (127 * length)));
  const component = fc.oneof(fc.constantFrom(-most, 0, most), fc.integer({ min: -most, max: most }));
  return fc
    .array(component, { minLength: length, maxLength: length })
    .map((values) => Int16Array.from(values));
};

const scans = fc
  .record({
    dimensions: fc.oneof(fc.integer({ min: 1, max: 70 }), fc.constantFrom(31, 32, 33, 64, 256, 1536)),
    rows: fc.integer({ min: 1, max: 9 }),
  })
  .chain(({ dimensions, rows }) =>
    fc.record({
      dimensions: fc.constant(dimensions),
      query: queryOf(dimensions),
      rows: fc.array(codesOf(dimensions), { minLength: rows, maxLength: rows }),
      first: fc.nat(rows - 1),
    }),
  );

function naive(query: ArrayLike<number>, row: Int8Array): number {
  return row.reduce((sum, value, at) => sum + value * query[at]!, 0);
}

describe.each([
  ['the kernel', createKernelCodes],
  ['the plain scan', createPlainCodes],
  ['what an index uses', createCodes],
])('%s', (_, create) => {
  test('computes the products of rows from any one on', () => {
    fc.assert(
      fc.property(scans, ({ dimensions, query, rows, first }) => {
        const codes = create(dimensions) as Codes;
        rows.forEach((row, at) => {
          codes.reserve(at + 1);
          codes.set(at, row);
        });
        const found = codes.products(query, first, rows.length - first);
        expect([...found.subarray(0, rows.length - first)]).toEqual(
          rows.slice(first).map((row) => naive(query, row)),
        );
      }),
    );
  });

  test('keeps every row while it grows past several pages', () => {
    const dimensions = 96;
    const codes = create(dimensions) as Codes;
    const rowOf = (row: number) =>
      Int8Array.from({ length: dimensions }, (_, at) => ((row * 31 + at) % 255) - 127);
    const query = Int16Array.from(rowOf(5));
    const count = 2 * SCAN_ROWS + 1;
    for (let row = 0; row < count; row++) {
      codes.reserve(row + 1);
      codes.set(row, rowOf(row));
    }
    expect(codes.byteLength).toBeGreaterThanOrEqual(count * dimensions);
    for (const first of [0, SCAN_ROWS, count - 1]) {
      const length = Math.min(SCAN_ROWS, count - first);
      const found = codes.products(query, first, length);
      for (const at of [0, length >> 1, length - 1]) expect(found[at]).toBe(naive(query, rowOf(first + at)));
    }
    expect([...codes.view(count - 1, 1)]).toEqual([...rowOf(count - 1)]);
  });
});

test('codes move to a plain array where no more memory can be had for the kernel', () => {
  const codes = createCodes(64);
  const rows = Array.from({ length: 3000 }, (_, row) => new Int8Array(64).fill(row % 127));
  const put = (row: number) => {
    codes.reserve(row + 1);
    codes.set(row, rows[row]!);
  };
  for (let row = 0; row < 1500; row++) put(row);
  const refused = vi.spyOn(WebAssembly.Memory.prototype, 'grow').mockImplementation(() => {
    throw new RangeError('no memory');
  });
  try {
    for (let row = 1500; row < 3000; row++) put(row);
    expect(refused).toHaveBeenCalledOnce();
  } finally {
    refused.mockRestore();
  }
  expect([...codes.products(Int16Array.from(rows[2]!), 0, 3000).subarray(0, 3000)]).toEqual(
    rows.map((row) => naive(rows[2]!, row)),
  );
});

test('module.ts is what scan.wat compiles to', async () => {
  expect(await compileKernel()).toBe(readFileSync(new URL('module.ts', import.meta.url), 'utf8'));
});
