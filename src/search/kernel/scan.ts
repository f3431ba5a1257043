/**
 * Computes the raw dot products of a query with consecutive rows of codes, `dimensions` bytes each, times JOINED.
 * `products[i]` is that of row `first + i`. Codes come from `joinCodes`, the query from `joinQuery`.
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
 * How many components the kernel handles in a step. Within a step codes are joined in pairs; components after the last
 * full step are not.
 */
const STEP = 16;
/** Products with joined codes are scaled by this. */
export const JOINED = 256;

function joinedOf(length: number): number {
  return length - (length % STEP);
}

/** Makes a 16-bit number of each two codes, JOINED × the second + the first. In place. */
export function joinCodes(codes: Int8Array): void {
  // Read as a byte, a negative code is JOINED too large, so the upper byte is reduced by one.
  for (let at = 0; at < joinedOf(codes.length); at += 2) codes[at + 1]! -= codes[at]! < 0 ? 1 : 0;
}

/**
 * Returns the numbers that the kernel multiplies with joined codes. Each step has first the numbers for the second
 * codes, then those for the first codes, minus what the first codes already contribute through the joined number.
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

/** Returns the effective factor of the code of each component. */
export function codesOfQuery(numbers: Int16Array): Float64Array {
  const codes = new Float64Array(numbers);
  for (let at = 0; at < joinedOf(numbers.length); at += 2) {
    const place = at - (at % STEP) / 2;
    codes[at] = numbers[place + STEP / 2]! + numbers[place]! / JOINED;
    codes[at + 1] = numbers[place]!;
  }
  return codes;
}

/** The kernel of scan.wat in plain TypeScript. `imul` and `| 0` keep the sums whole numbers. */
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

/** How many rows are one group, whose highest product is known. */
export const GROUP_ROWS = 128;

/** Less than any product. */
export const NO_PRODUCT = -0x8000_0000;

/**
 * The `peaks` of the kernel in plain TypeScript: the highest of each `GROUP_ROWS` products, and of the rest at the end.
 */
export function peaks(products: Int32Array, count: number, found: Int32Array): void {
  for (let start = 0; start < count; start += GROUP_ROWS) {
    let peak = products[start]!;
    for (let at = start + 1; at < Math.min(start + GROUP_ROWS, count); at++) {
      if (products[at]! > peak) peak = products[at]!;
    }
    found[start / GROUP_ROWS] = peak;
  }
}
