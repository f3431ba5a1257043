/** Rows that one call of a scan covers. */
export const SCAN_ROWS = 4096;

/**
 * The raw dot products of a query with consecutive rows of codes, `dimensions` bytes each: the one function that a
 * faster kernel replaces. `products[i]` is that of row `first + i`.
 */
export type Scan = (
  query: Int8Array,
  codes: Int8Array,
  dimensions: number,
  first: number,
  count: number,
  products: Int32Array,
) => void;

/** The scan in plain TypeScript. */
export const scan: Scan = (query, codes, dimensions, first, count, products) => {
  const even = dimensions - (dimensions % 4);
  for (let row = 0; row < count; row++) {
    const start = (first + row) * dimensions;
    // Four sums at once: each addition alone would wait for the one before.
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let at = 0; at < even; at += 4) {
      a += query[at]! * codes[start + at]!;
      b += query[at + 1]! * codes[start + at + 1]!;
      c += query[at + 2]! * codes[start + at + 2]!;
      d += query[at + 3]! * codes[start + at + 3]!;
    }
    for (let at = even; at < dimensions; at++) a += query[at]! * codes[start + at]!;
    products[row] = a + b + c + d;
  }
};
