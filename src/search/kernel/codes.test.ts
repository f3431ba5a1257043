import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { compileKernel } from '../../../scripts/kernel.mjs';

declare const WebAssembly: { readonly Memory: { readonly prototype: { grow(pages: number): number } } };

import { type Codes, createCodes, createKernelCodes, createPlainCodes, SCAN_ROWS } from './codes.ts';
import { codesOfQuery, GROUP_ROWS, JOINED, joinCodes, joinQuery } from './scan.ts';

const code = fc.integer({ min: -127, max: 127 });

/** Extreme codes come often: their products are the largest sums there are. */
const codesOf = (length: number) =>
  fc
    .array(fc.oneof(fc.constantFrom(-127, 0, 127), code), { minLength: length, maxLength: length })
    .map((values) => Int8Array.from(values));

/** Of a query: no sum of as many products as there are dimensions exceeds 31 bits. */
const queryOf = (length: number) => {
  const most = (2 ** 23 - 1) / (127 * length) - 1;
  const component = fc.oneof(
    fc.constantFrom(-most, 0, most),
    fc.double({ min: -most, max: most, noNaN: true }),
  );
  return fc
    .array(component, { minLength: length, maxLength: length })
    .map((values) => joinQuery(Float64Array.from(values)));
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

function naive(query: Int16Array, row: Int8Array): number {
  const numbers = codesOfQuery(query);
  return row.reduce((sum, value, at) => sum + value * numbers[at]!, 0) * JOINED;
}

function joined(row: Int8Array): Int8Array {
  const codes = row.slice();
  joinCodes(codes);
  return codes;
}

/** As the kernel reads it. */
const queryLike = (row: Int8Array, times: number) =>
  joinQuery(Float64Array.from(row, (value) => value * times));

describe.each([
  ['the kernel', createKernelCodes],
  [
    'the kernel with a memory that threads share',
    (dimensions: number) => createKernelCodes(dimensions, true),
  ],
  ['the plain scan', createPlainCodes],
  ['what an index uses', createCodes],
])('%s', (_, create) => {
  test('computes the products of rows from any one on', () => {
    fc.assert(
      fc.property(scans, ({ dimensions, query, rows, first }) => {
        const codes = create(dimensions) as Codes;
        rows.forEach((row, at) => {
          codes.reserve(at + 1);
          codes.set(at, joined(row));
        });
        const found = codes.products(query, first, rows.length - first);
        const expected = rows.slice(first).map((row) => naive(query, row));
        expect([...found.subarray(0, rows.length - first)]).toEqual(expected);
        const peaks = Array.from({ length: Math.ceil(expected.length / GROUP_ROWS) }, (_, group) =>
          Math.max(...expected.slice(group * GROUP_ROWS, (group + 1) * GROUP_ROWS)),
        );
        expect([...codes.peaks(expected.length).subarray(0, peaks.length)]).toEqual(peaks);
      }),
    );
  });

  test('keeps every row while it grows past several pages', () => {
    const dimensions = 96;
    const codes = create(dimensions) as Codes;
    const rowOf = (row: number) =>
      Int8Array.from({ length: dimensions }, (_, at) => ((row * 31 + at) % 255) - 127);
    const query = queryLike(rowOf(5), 1);
    const count = 2 * SCAN_ROWS + 1;
    for (let row = 0; row < count; row++) {
      codes.reserve(row + 1);
      codes.set(row, joined(rowOf(row)));
    }
    expect(codes.byteLength).toBeGreaterThanOrEqual(count * dimensions);
    for (const first of [0, SCAN_ROWS, count - 1]) {
      const length = Math.min(SCAN_ROWS, count - first);
      const found = codes.products(query, first, length);
      for (const at of [0, length >> 1, length - 1]) expect(found[at]).toBe(naive(query, rowOf(first + at)));
    }
    expect([...codes.view(count - 1, 1)]).toEqual([...joined(rowOf(count - 1))]);
  });

  test.each([1, 3, 4, 5, 7, 8, 127, 1026, SCAN_ROWS - 3, SCAN_ROWS - 2, SCAN_ROWS - 1, SCAN_ROWS])(
    'computes the products of %i rows, and writes no others',
    (count) => {
      const dimensions = 33;
      const rows = Array.from({ length: SCAN_ROWS + 2 }, (_, row) =>
        Int8Array.from({ length: dimensions }, (_, at) => ((row * row + at * 7) % 255) - 127),
      );
      const query = queryLike(rows[8]!, 9.7);
      const codes = create(dimensions) as Codes;
      codes.reserve(rows.length);
      rows.forEach((row, at) => {
        codes.set(at, joined(row));
      });
      const peaks = codes.peaks(1).fill(-1);
      codes.products(query, 2, SCAN_ROWS).fill(-1);
      const found = codes.products(query, 2, count);
      expect([...found.subarray(0, count)]).toEqual(rows.slice(2, 2 + count).map((row) => naive(query, row)));
      expect(new Set([...found.subarray(count), ...peaks, -1])).toEqual(new Set([-1]));
    },
  );
});

test('shared codes stay in one memory while they grow', () => {
  const codes = createCodes(64, true);
  codes.reserve(1000);
  const view = codes.view(0, 1000);
  expect(view.buffer).toBeInstanceOf(SharedArrayBuffer);
  codes.reserve(100_000);
  view.fill(7);
  expect([...codes.view(999, 2)]).toEqual([...new Int8Array(64).fill(7), ...new Int8Array(64)]);
  expect(createCodes(64).view(0, 0).buffer).toBeInstanceOf(ArrayBuffer);
});

test('without shared memory, codes have a memory of their own', () => {
  const { Memory } = WebAssembly;
  const refused = vi.spyOn(WebAssembly as { Memory: unknown }, 'Memory', 'get');
  refused.mockReturnValue(
    class {
      constructor(limits: { readonly shared?: boolean }) {
        if (limits.shared) throw new RangeError('no memory');
        // biome-ignore lint/correctness/noConstructorReturn: it stands for the other one.
        return new (Memory as unknown as new (limits: object) => object)(limits);
      }
    },
  );
  try {
    const codes = createCodes(64, true);
    codes.reserve(1);
    expect(codes.view(0, 1).buffer).toBeInstanceOf(ArrayBuffer);
    expect([...codes.products(new Int16Array(64), 0, 1).subarray(0, 1)]).toEqual([0]);
  } finally {
    refused.mockRestore();
  }
});

test('codes move to a plain array where no more memory can be had for the kernel', () => {
  const codes = createCodes(64);
  const rows = Array.from({ length: 2000 }, (_, row) => new Int8Array(64).fill(row % 127));
  const put = (row: number) => {
    codes.reserve(row + 1);
    codes.set(row, joined(rows[row]!));
  };
  for (let row = 0; row < 1000; row++) put(row);
  const refused = vi.spyOn(WebAssembly.Memory.prototype, 'grow').mockImplementation(() => {
    throw new RangeError('no memory');
  });
  try {
    for (let row = 1000; row < 2000; row++) put(row);
    expect(refused).toHaveBeenCalledOnce();
  } finally {
    refused.mockRestore();
  }
  const query = queryLike(rows[2]!, 1);
  expect([...codes.products(query, 0, 2000).subarray(0, 2000)]).toEqual(rows.map((row) => naive(query, row)));
});

test('module.ts is what the WebAssembly text compiles to', async () => {
  expect(await compileKernel()).toBe(readFileSync(new URL('module.ts', import.meta.url), 'utf8'));
});
