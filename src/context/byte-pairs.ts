/** Tokens by their bytes: those of one length stand together, in the order of their bytes, so that one is found by halving. */
export interface Vocabulary {
  /** What a text is cut into before anything is merged: global, and matches at every place. */
  readonly pieces: RegExp;
  readonly groups: readonly Group[];
}

/** The tokens of one length. */
interface Group {
  readonly length: number;
  readonly count: number;
  /** `count` × `length` bytes. */
  readonly bytes: Uint8Array;
  /** The rank of each token, three bytes each, the lowest first: pairs of a lower one are merged sooner. */
  readonly ranks: Uint8Array;
}

/** Pieces of which the number of tokens is remembered. */
const REMEMBERED = 20_000;
/** The longest of them: V8 lets a longer one refer to the text that it is a piece of, which would be kept with it. */
const LONGEST_REMEMBERED = 12;

/**
 * Reads what `scripts/vocabularies.mjs` wrote, in base64: for each length the length (1 byte), the number of tokens (3 bytes), their bytes and
 * their ranks. Nothing is made for each of 200,000 tokens: that is a tenth of a second, and 60 MB.
 */
export function readVocabulary(packed: string, pieces: RegExp): Vocabulary {
  const bytes = Buffer.from(packed, 'base64');
  const groups: Group[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes[at] as number;
    const count = bytes.readUIntLE(at + 1, 3);
    const tokens = at + 4;
    const ranks = tokens + count * length;
    const end = ranks + count * 3;
    groups[length] = {
      length,
      count,
      bytes: bytes.subarray(tokens, ranks),
      ranks: bytes.subarray(ranks, end),
    };
    at = end;
  }
  return { pieces, groups };
}

/** Counts the tokens of a text by byte pair encoding (R. Sennrich et al., 2016): exactly, in time that grows with n log n. */
export function createCounter({ pieces, groups }: Vocabulary): (text: string) => number {
  const encoder = new TextEncoder();
  const remembered = new Map<string, number>();
  const countPiece = (piece: string) => {
    if (piece.length > LONGEST_REMEMBERED) return countTokens(groups, encoder.encode(piece));
    let count = remembered.get(piece);
    if (count === undefined) {
      count = countTokens(groups, encoder.encode(piece));
      if (remembered.size >= REMEMBERED) remembered.clear();
      remembered.set(piece, count);
    }
    return count;
  };
  return (text) => {
    let count = 0;
    for (const piece of text.match(pieces) ?? []) count += countPiece(piece);
    return count;
  };
}

/** Pairs of neighbours are merged, the one of the lowest rank first, and of these the first, until no two together are a token. */
function countTokens(groups: readonly Group[], bytes: Uint8Array): number {
  const { length } = bytes;
  if (length === 1 || rankOf(groups, bytes, 0, length) !== undefined) return 1;
  // A part begins at `at`; where the next one does, and the one before.
  const next = Int32Array.from({ length }, (_, at) => at + 1);
  const before = Int32Array.from({ length }, (_, at) => at - 1);
  /** The rank of the part that begins here and the next one together; -1 where they are no token, and where no part begins. */
  const merged = new Int32Array(length).fill(-1);
  const queue: number[] = [];
  const consider = (at: number) => {
    const middle = next[at] as number;
    const rank = middle < length ? rankOf(groups, bytes, at, next[middle] as number) : undefined;
    merged[at] = rank ?? -1;
    if (rank !== undefined) push(queue, rank * PLACES + at);
  };
  for (let at = 0; at < length; at++) consider(at);
  let count = length;
  for (let first = pop(queue); first !== undefined; first = pop(queue)) {
    const at = first % PLACES;
    // Another pair may have taken a part of it away.
    if (merged[at] !== Math.floor(first / PLACES)) continue;
    const middle = next[at] as number;
    const after = next[middle] as number;
    next[at] = after;
    if (after < length) before[after] = at;
    merged[middle] = -1;
    count--;
    consider(at);
    if (at > 0) consider(before[at] as number);
  }
  return count;
}

/** More than a text has bytes: a rank and a place in one number, which the queue can compare. */
const PLACES = 2 ** 32;

/** The rank of the token of these bytes, if they are one. */
function rankOf(groups: readonly Group[], text: Uint8Array, start: number, end: number): number | undefined {
  const group = groups[end - start];
  if (!group) return undefined;
  const { bytes, ranks, length } = group;
  let low = 0;
  let high = group.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const token = middle * length;
    let difference = 0;
    for (let at = 0; at < length && difference === 0; at++)
      difference = (bytes[token + at] as number) - (text[start + at] as number);
    if (difference === 0) {
      const at = 3 * middle;
      return (ranks[at] as number) | ((ranks[at + 1] as number) << 8) | ((ranks[at + 2] as number) << 16);
    }
    if (difference < 0) low = middle + 1;
    else high = middle;
  }
  return undefined;
}

/** A heap, the lowest first. */
function push(heap: number[], value: number): void {
  let at = heap.length;
  while (at > 0) {
    const parent = (at - 1) >>> 1;
    const above = heap[parent] as number;
    if (above <= value) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = value;
}

function pop(heap: number[]): number | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && (heap[child + 1] as number) < (heap[child] as number)) child++;
    if ((heap[child] as number) >= last) break;
    heap[at] = heap[child] as number;
    at = child;
  }
  heap[at] = last;
  return first;
}
