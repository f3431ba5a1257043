/**
 * The raw dot products of a query with consecutive rows of codes, `dimensions` bytes each, times JOINED. `products[i]` is that of
 * row `first + i`. Codes are joined by `joinCodes`, the query by `joinQuery`.
 */
export type Scan = (
  query: Int16Array,
  codes: Int8Array,
  dimensions: number,
  first: number,
  count: number,
  products: Int32Array,
) => void;

/** Components whose codes are joined in pairs: as many as the kernel takes in a step. What is left at the end stays as it is. */
const STEP = 16;
/** What products with joined codes are multiples of. */
export const JOINED = 256;

function joinedOf(length: number): number {
  return length - (length % STEP);
}

/** In place: makes one number of 16 bits of each two codes, JOINED × the second + the first. */
export function joinCodes(codes: Int8Array): void {
  // The lower byte of a negative number is JOINED more than the number, which the upper one makes up for.
  for (let at = 0; at < joinedOf(codes.length); at += 2) codes[at + 1]! -= codes[at]! < 0 ? 1 : 0;
}

/**
 * The numbers that the kernel multiplies with joined codes. Of each step, first those of second codes, and then those of first codes,
 * less what the first ones have got with the second ones.
 */
export function joinQuery(components: Float64Array): Int16Array {
  const numbers = new Int16Array(components.length);
  const joined = joinedOf(components.length);
  for (let at = 0; at < joined; at += 2) {
    const place = at - (at % STEP) / 2;
    const second = Math.round(components[at + 1]!);
    numbers[place] = second;
    numbers[place + STEP / 2] = Math.round(components[at]! - second / JOINED);
  }
  for (let at = joined; at < components.length; at++) numbers[at] = Math.round(components[at]!);
  return numbers;
}

/** What the codes of each component are multiplied with, all in all. */
export function codesOfQuery(numbers: Int16Array): Float64Array {
  const codes = new Float64Array(numbers);
  for (let at = 0; at < joinedOf(numbers.length); at += 2) {
    const place = at - (at % STEP) / 2;
    codes[at] = numbers[place + STEP / 2]! + numbers[place]! / JOINED;
    codes[at + 1] = numbers[place]!;
  }
  return codes;
}

/** What the kernel of scan.wat does, in plain TypeScript. `imul` and `| 0` keep the sums whole numbers. */
export const scan: Scan = (query, codes, dimensions, first, count, products) => {
  const joined = joinedOf(dimensions);
  for (let row = 0; row < count; row++) {
    const start = (first + row) * dimensions;
    let sum = 0;
    for (let step = 0; step < joined; step += STEP) {
      for (let pair = 0; pair < STEP / 2; pair++) {
        const low = codes[start + step + 2 * pair]!;
        const both = (codes[start + step + 2 * pair + 1]! << 8) + (low & 0xff);
        sum = (sum + Math.imul(query[step + pair]!, both)) | 0;
        sum = (sum + Math.imul(query[step + STEP / 2 + pair]!, low << 8)) | 0;
      }
    }
    for (let at = joined; at < dimensions; at++) {
      sum = (sum + Math.imul(query[at]!, codes[start + at]! << 8)) | 0;
    }
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
