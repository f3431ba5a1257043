import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SalienceError } from '../../domain/errors.ts';

/**
 * The file `table.bin`, little-endian, every section aligned to four bytes:
 *
 * | bytes | content |
 * | --- | --- |
 * | 4 | magic `SLWT` |
 * | 4 | uint32 version, 1 |
 * | 4 | uint32 dimensions d |
 * | 4 | uint32 number of words n |
 * | 4 | uint32 number of hash slots h, a power of two |
 * | 4 | uint32 length b of the word block in bytes |
 * | 4·n | float32 weight of each word: a / (a + p), p its estimated probability |
 * | 4·n | float32 scale of each word's row |
 * | 4·(n+1) | uint32 start of each word in the word block, and its end |
 * | 2·h | uint16 hash slots: 1 + number of the word, 0 for an empty slot; open addressing, next slot on collision |
 * | b | word block: the words in ASCII, most frequent first, without separators |
 * | n·d | int8 rows; word i is the vector scale[i] · row[i] |
 *
 * A word's first slot is its 32-bit FNV-1a hash over its character codes, modulo h. The hash table comes ready in the
 * file because building a Map of 36,000 words takes longer than reading the file.
 */
const magic = 0x5457_4c53;
const version = 1;
const headerBytes = 24;

/** A read word table. Rows are addressed by the word's number, 0 ≤ number < `size`. */
export interface WordTable {
  readonly dimensions: number;
  readonly size: number;
  /** Weight of each word in a text's sum, in (0, 1]: low for frequent words. */
  readonly weights: Float32Array;
  /** Factor that turns a word's int8 row into its vector. */
  readonly scales: Float32Array;
  /** `size` × `dimensions` quantised components, row by row. */
  readonly rows: Int8Array;
  /** Number of a word, or −1 for a word that the table does not hold. Only lower-case ASCII words are held. */
  find(word: string): number;
}

/**
 * Reads a word table from a file.
 * Throws `embedder_failed` when there is no such file, when it is no word table of this version or when it is cut short.
 */
export function readWordTable(file: URL | string): WordTable {
  const bytes = readBytes(file);
  // A small file can come from Node's shared pool at an odd offset; typed views need an aligned start.
  const start = bytes.byteOffset % 4 === 0 ? bytes.byteOffset : 0;
  const buffer = start === bytes.byteOffset ? bytes.buffer : new Uint8Array(bytes).buffer;
  if (bytes.byteLength < headerBytes) throw tableError(file, 'is cut short:');
  const header = new Uint32Array(buffer, start, headerBytes / 4);
  const [found = 0, foundVersion = 0, dimensions = 0, size = 0, slotCount = 0, blockBytes = 0] = header;
  if (found !== magic || foundVersion !== version) throw tableError(file, `is not of version ${version}:`);
  // An open-addressing search ends at an empty slot, so there must be one.
  if (slotCount <= size || (slotCount & (slotCount - 1)) !== 0) throw tableError(file, 'is damaged:');

  let at = start + headerBytes;
  const take = (length: number): number => {
    const from = at;
    at += Math.ceil(length / 4) * 4;
    return from;
  };
  const weightsAt = take(4 * size);
  const scalesAt = take(4 * size);
  const startsAt = take(4 * (size + 1));
  const slotsAt = take(2 * slotCount);
  const blockAt = take(blockBytes);
  const rowsAt = take(size * dimensions);
  if (at - start > bytes.byteLength) throw tableError(file, 'is cut short:');

  const starts = new Uint32Array(buffer, startsAt, size + 1);
  const slots = new Uint16Array(buffer, slotsAt, slotCount);
  const block = new Uint8Array(buffer, blockAt, blockBytes);

  function find(word: string): number {
    const length = word.length;
    for (let slot = hashWord(word) & (slotCount - 1); ; slot = (slot + 1) & (slotCount - 1)) {
      const number = (slots[slot] ?? 0) - 1;
      if (number < 0) return -1;
      const from = starts[number] ?? 0;
      if ((starts[number + 1] ?? 0) - from !== length) continue;
      let index = 0;
      while (index < length && block[from + index] === word.charCodeAt(index)) index++;
      if (index === length) return number;
    }
  }

  return {
    dimensions,
    size,
    weights: new Float32Array(buffer, weightsAt, size),
    scales: new Float32Array(buffer, scalesAt, size),
    rows: new Int8Array(buffer, rowsAt, size * dimensions),
    find,
  };
}

/** 32-bit FNV-1a over the character codes (of an ASCII word: over its bytes). */
function hashWord(word: string): number {
  let hash = 0x811c_9dc5;
  for (let index = 0; index < word.length; index++) {
    hash = Math.imul(hash ^ word.charCodeAt(index), 0x0100_0193);
  }
  return hash >>> 0;
}

function readBytes(file: URL | string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    const missing = (cause as { readonly code?: unknown }).code === 'ENOENT';
    const copy = `a bundler does not copy it: copy the file that require.resolve('salience/table.bin') names to ${nameOf(file)}, or leave the package salience out of the bundle`;
    throw tableError(file, missing ? `is missing; ${copy}; else` : 'cannot be read:', cause);
  }
}

function tableError(file: URL | string, problem: string, cause?: unknown): SalienceError {
  const name = nameOf(file);
  return new SalienceError(
    'embedder_failed',
    `the word table ${name} ${problem} reinstall the package, or make the table again with tools/distill`,
    { details: { file: name }, cause },
  );
}

/** As one would write it in a terminal. */
function nameOf(file: URL | string): string {
  return file instanceof URL && file.protocol === 'file:' ? fileURLToPath(file) : String(file);
}
