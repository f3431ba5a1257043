import { grow } from '../grow.ts';
import { instantiate, MOST_PAGES, PAGE_BYTES } from './instance.ts';
import { SCAN_BASE64, SHARED_SCAN_BASE64 } from './module.ts';
import { GROUP_ROWS, peaks, scan } from './scan.ts';

/** How many rows are multiplied at once, and how long the arrays of the kernel are. */
export const SCAN_ROWS = 2048;

/** The 8-bit codes of an index's vectors, row after row, and their dot products with a query. */
export interface Codes {
  /** How many codes a row has. */
  readonly dimensions: number;
  /** Size in bytes. */
  readonly byteLength: number;
  /** Makes room for `rows` rows in all. */
  reserve(rows: number): void;
  set(row: number, codes: Int8Array): void;
  /** Returns the codes of some rows. Valid until more room is made. */
  view(row: number, count: number): Int8Array;
  /** Returns the dot products of a query with at most `SCAN_ROWS` rows. Valid until the next call. */
  products(query: Int16Array, first: number, count: number): Int32Array;
  /** Returns the highest of each `GROUP_ROWS` of the last `count` products. Valid until the next call. */
  peaks(count: number): Int32Array;
}

/**
 * Creates codes where the SIMD kernel can read them, or in a plain array if the runtime has no WebAssembly memory that
 * large. `isShared`: in memory that another thread can write, if the runtime has it.
 */
export function createCodes(dimensions: number, isShared = false): Codes {
  let codes = (isShared ? createKernelCodes(dimensions, true) : undefined) ?? createKernelCodes(dimensions);
  if (codes === undefined) return createPlainCodes(dimensions);
  let rows = 0;
  return {
    dimensions,
    get byteLength() {
      return codes!.byteLength;
    },
    reserve(wanted) {
      try {
        codes!.reserve(wanted);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        const plain = createPlainCodes(dimensions);
        plain.reserve(wanted);
        plain.view(0, rows).set(codes!.view(0, rows));
        codes = plain;
      }
      rows = Math.max(rows, wanted);
    },
    set: (row, values) => codes!.set(row, values),
    view: (row, count) => codes!.view(row, count),
    products: (query, first, count) => codes!.products(query, first, count),
    peaks: (count) => codes!.peaks(count),
  };
}

/** Creates codes in a plain array: for runtimes without SIMD, and to test the kernel against. */
export function createPlainCodes(dimensions: number): Codes {
  let codes = new Int8Array(0);
  const { products, peaks: found } = resultArrays(new ArrayBuffer(RESULT_BYTES), 0);
  return {
    dimensions,
    get byteLength() {
      return codes.length;
    },
    reserve(rows) {
      codes = grow(codes, rows * dimensions);
    },
    set: (row, values) => codes.set(values, row * dimensions),
    view: (row, count) => codes.subarray(row * dimensions, (row + count) * dimensions),
    products(query, first, count) {
      scan(query, codes, dimensions, first, count, products);
      return products;
    },
    peaks(count) {
      peaks(products, count, found);
      return found;
    },
  };
}

/** The size in bytes of the products and peaks. */
const RESULT_BYTES = 4 * SCAN_ROWS + 4 * (SCAN_ROWS / GROUP_ROWS);

function resultArrays(buffer: ArrayBuffer | SharedArrayBuffer, at: number) {
  return {
    products: new Int32Array(buffer, at, SCAN_ROWS),
    peaks: new Int32Array(buffer, at + 4 * SCAN_ROWS, SCAN_ROWS / GROUP_ROWS),
  };
}

type ScanFunction = (
  query: number,
  codes: number,
  dimensions: number,
  count: number,
  products: number,
) => void;

type PeaksFunction = (products: number, count: number, peaks: number) => void;

interface Kernel {
  readonly scan: ScanFunction;
  readonly peaks: PeaksFunction;
}

/**
 * Creates codes in a WebAssembly memory of their own: the query first, then the products and peaks, then the codes,
 * so that growing moves nothing. Returns `undefined` without a kernel or such a memory, as under a limit of address space.
 */
export function createKernelCodes(dimensions: number, isShared = false): Codes | undefined {
  const resultsAt = Math.ceil((2 * dimensions) / 16) * 16;
  const codesAt = resultsAt + RESULT_BYTES;
  const instance = instantiate<Kernel>(isShared ? SHARED_SCAN_BASE64 : SCAN_BASE64, codesAt, isShared);
  if (!instance) return undefined;
  const { memory, exports: run } = instance;
  // Growing detaches the buffer, so all views are made again, here alone.
  let query: Int16Array = new Int16Array(0);
  let results = resultArrays(memory.buffer, resultsAt);
  let codes: Int8Array = new Int8Array(0);
  const refresh = () => {
    query = new Int16Array(memory.buffer, 0, dimensions);
    results = resultArrays(memory.buffer, resultsAt);
    codes = new Int8Array(memory.buffer, codesAt);
  };
  refresh();
  return {
    dimensions,
    get byteLength() {
      return memory.buffer.byteLength;
    },
    reserve(rows) {
      const missing = rows * dimensions - codes.length;
      if (missing <= 0) return;
      const pages = memory.buffer.byteLength / PAGE_BYTES;
      // Grows by at least half, so that adding one row at a time does not grow it each time.
      const wanted = Math.max(Math.ceil(missing / PAGE_BYTES), Math.ceil(pages / 2));
      memory.grow(Math.min(wanted, Math.max(Math.ceil(missing / PAGE_BYTES), MOST_PAGES - pages)));
      refresh();
    },
    set: (row, values) => codes.set(values, row * dimensions),
    view: (row, count) => codes.subarray(row * dimensions, (row + count) * dimensions),
    products(values, first, count) {
      query.set(values);
      run.scan(0, codesAt + first * dimensions, dimensions, count, resultsAt);
      return results.products;
    },
    peaks(count) {
      run.peaks(resultsAt, count, resultsAt + 4 * SCAN_ROWS);
      return results.peaks;
    },
  };
}
