/**
 * The tokens of an encoding. Tokens of one length are stored together, sorted by their bytes, so that binary search
 * finds one.
 */
export interface Vocabulary {
  /** Splits a text before anything is merged. A global pattern that matches at every place. */
  readonly pieces: RegExp;
  readonly groups: readonly Group[];
}

/** The tokens of one length. */
interface Group {
  readonly length: number;
  readonly count: number;
  /** `count` × `length` bytes. */
  readonly bytes: Uint8Array;
  /** The rank of each token in three bytes, lowest byte first. Pairs with a lower rank are merged first. */
  readonly ranks: Uint8Array;
}

/** How many pieces are cached with their number of tokens. */
const REMEMBERED = 20_000;
/**
 * The longest piece that is cached. V8 lets a longer one refer to the text it came from, which would then stay in
 * memory.
 */
const LONGEST_REMEMBERED = 12;

/**
 * Reads what `scripts/vocabularies.mjs` wrote, in base64. For each length: the length (1 byte), the number of tokens (3
 * bytes), their bytes and their ranks. No object is created for each of the 200,000 tokens: that would take a tenth of
 * a second and 60 MB.
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

/** Creates an exact counter of tokens by byte pair encoding (R. Sennrich et al., 2016). Its time grows with n log n. */
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

/** Merges neighbouring pairs until no pair is a token: lowest rank first, and the leftmost of equal ranks. */
function countTokens(groups: readonly Group[], bytes: Uint8Array): number {
  const { length } = bytes;
  if (length === 1 || rankOf(groups, bytes, 0, length) !== undefined) return 1;
  // For a part that begins at `at`: where the next part begins, and where the previous one does.
  const next = Int32Array.from({ length }, (_, at) => at + 1);
  const before = Int32Array.from({ length }, (_, at) => at - 1);
  /** The rank of this part merged with the next one; −1 if the pair is not a token, or if no part begins here. */
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
    // Skips a pair of which another merge has taken a part.
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

/** More than the bytes of any text: combines a rank and a place in one number, which the queue can compare. */
const PLACES = 2 ** 32;

/** Returns the rank of these bytes as a token, if they are one. */
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

/** Inserts a value into a min-heap. */
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
