/**
 * The raw dot products of a query with consecutive rows of codes, `dimensions` bytes each. `products[i]` is that of
 * row `first + i`.
 */
export type Scan = (
  query: Int16Array,
  codes: Int8Array,
  dimensions: number,
  first: number,
  count: number,
  products: Int32Array,
) => void;

/**
 * What the kernel of scan.wat does, in plain TypeScript. Four rows at once share each component of the query; `imul` and `| 0` keep the sums
 * whole numbers, where `*` would make the engine look out for −0.
 */
export const scan: Scan = (query, codes, dimensions, first, count, products) => {
  let row = 0;
  for (; row + 3 < count; row += 4) {
    const start = (first + row) * dimensions;
    const second = start + dimensions;
    const third = second + dimensions;
    const fourth = third + dimensions;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let at = 0; at < dimensions; at++) {
      const component = query[at]!;
      a = (a + Math.imul(component, codes[start + at]!)) | 0;
      b = (b + Math.imul(component, codes[second + at]!)) | 0;
      c = (c + Math.imul(component, codes[third + at]!)) | 0;
      d = (d + Math.imul(component, codes[fourth + at]!)) | 0;
    }
    products[row] = a;
    products[row + 1] = b;
    products[row + 2] = c;
    products[row + 3] = d;
  }
  for (; row < count; row++) {
    const start = (first + row) * dimensions;
    let sum = 0;
    for (let at = 0; at < dimensions; at++) sum = (sum + Math.imul(query[at]!, codes[start + at]!)) | 0;
    products[row] = sum;
  }
};

/** Rows whose highest product is known. */
export const GROUP_ROWS = 128;

/** What `peaks` of the kernel does: the highest of each `GROUP_ROWS` products, and of what is left at the end. */
export function peaks(products: Int32Array, count: number, found: Int32Array): void {
  for (let start = 0; start < count; start += GROUP_ROWS) {
    let peak = products[start]!;
    for (let at = start + 1; at < Math.min(start + GROUP_ROWS, count); at++) {
      if (products[at]! > peak) peak = products[at]!;
    }
    found[start / GROUP_ROWS] = peak;
  }
}

/** How rows are picked: see scan.wat. Numbers of 32 bits. */
export interface Picking {
  readonly scale: number;
  readonly spread: number;
  readonly more: number;
}

/** The state of a row that is neither picked nor passed over; that of all others is 0. */
export const LEFT_OUT = 1;

/** The arrays that rows are picked from, and what is found. */
export interface PickArrays {
  readonly products: Int32Array;
  readonly scales: Float32Array;
  readonly residuals: Float32Array;
  /** What each row must reach more than not to be passed over. */
  readonly leasts: Float32Array;
  readonly states: Uint8Array;
  /** Of each row a number below 16. */
  readonly levels: Uint8Array;
  /** The highest product of each group of rows. */
  readonly peaks: Int32Array;
  /** 16 numbers of 32 bits: the lowest bytes of all of them, then the next ones. */
  readonly table: Uint8Array;
  /** The rows that were picked, counted from the first product, ascending. */
  readonly picked: Int32Array;
  /** One number: the highest reach of a row that was passed over; 0 where none was. */
  readonly highest: Float32Array;
}

const { fround } = Math;

/** Levels of a table. */
export const TABLE_LEVELS = 16;

/** What `spread` of the kernel does: writes what the table has for the level of each row into the leasts. */
export function spread({ levels, table, leasts }: PickArrays, count: number): void {
  const bytes = new Uint8Array(4);
  const number = new DataView(bytes.buffer);
  const values = Array.from({ length: TABLE_LEVELS }, (_, level) => {
    for (let byte = 0; byte < 4; byte++) bytes[byte] = table[byte * TABLE_LEVELS + level]!;
    return number.getFloat32(0, true);
  });
  for (let at = 0; at < count; at++) leasts[at] = values[levels[at]!]!;
}

/** What the kernel of scan.wat does, to the bit. */
export function pick(arrays: PickArrays, count: number, picking: Picking): number {
  const { products, scales, residuals, leasts, states, picked, highest } = arrays;
  const scale = fround(picking.scale);
  const spread = fround(picking.spread);
  const more = fround(picking.more);
  let found = 0;
  let top = 0;
  for (let at = 0; at < count; at++) {
    const product = fround(fround(fround(products[at]!) * scales[at]!) * scale);
    const reach = fround(fround(product + fround(residuals[at]! * spread)) + more);
    if (states[at] === LEFT_OUT) continue;
    if (!(reach <= leasts[at]!)) picked[found++] = at;
    else if (reach > top) top = reach;
  }
  highest[0] = top;
  return found;
}
