/**
 * Vectors of rows that are too much alike for their 8-bit codes. A search had to read them; the next one need not.
 * Equal vectors are stored once. They are kept by row, because a row never changes its vector.
 */
export interface NearVectors {
  /** By row: the number of its vector. */
  readonly numbers: Map<number, number>;
  readonly vectors: (Float32Array | undefined)[];
  /** By number: how many rows have this vector. */
  readonly uses: number[];
  /** The numbers of the vectors that begin with these components. */
  readonly byStart: Map<string, number[]>;
  bytes: number;
}

/** Vectors may take as many bytes as the codes, and this many in any case. */
const LEAST_BYTES = 1 << 20;
/** The size of a row's map entry. */
const ENTRY_BYTES = 40;

export function createNearVectors(): NearVectors {
  return { numbers: new Map(), vectors: [], uses: [], byStart: new Map(), bytes: 0 };
}

/** Keeps the vector of a row unless all vectors would then take more than `most` bytes, or 1 MiB if that is more. */
export function keepNear(near: NearVectors, row: number, vector: Float32Array, most: number): void {
  if (near.numbers.has(row)) return;
  const start = vector.subarray(0, 8).join();
  const alike = near.byStart.get(start) ?? [];
  let number = alike.find((each) => isSame(near.vectors[each]!, vector));
  const bytes = ENTRY_BYTES + (number === undefined ? vector.byteLength : 0);
  if (near.bytes + bytes > Math.max(most, LEAST_BYTES)) return;
  near.bytes += bytes;
  if (number === undefined) {
    number = near.vectors.length;
    near.vectors.push(vector.slice());
    near.uses.push(0);
    near.byStart.set(start, [...alike, number]);
  }
  near.uses[number]!++;
  near.numbers.set(row, number);
}

/** Drops the vector of a row. The vector itself is removed with its last row. */
export function dropNear(near: NearVectors, row: number): void {
  const number = near.numbers.get(row);
  if (number === undefined) return;
  near.numbers.delete(row);
  near.bytes -= ENTRY_BYTES;
  if (--near.uses[number]! > 0) return;
  const vector = near.vectors[number]!;
  const start = vector.subarray(0, 8).join();
  const left = near.byStart.get(start)!.filter((each) => each !== number);
  if (left.length > 0) near.byStart.set(start, left);
  else near.byStart.delete(start);
  near.vectors[number] = undefined;
  near.bytes -= vector.byteLength;
}

function isSame(a: Float32Array, b: Float32Array): boolean {
  for (let at = 0; at < a.length; at++) if (!Object.is(a[at], b[at])) return false;
  return a.length === b.length;
}
