import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
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
const pageBytes = 4096;

/** Pages that can be read one by one in the time that the whole file takes at once. */
const pagesBeforeAll = 512;

/**
 * A word table. Rows are addressed by the number of the word, 0 ≤ number < `size`. Embedding one question needs only a
 * few of millions of bytes, so at first only the pages that `find` visited are loaded: the columns hold zeros for other
 * words.
 */
export interface WordTable {
  readonly dimensions: number;
  readonly size: number;
  /** Weight of each word in the sum of a text, in (0, 1]. Frequent words have low weights. */
  readonly weights: Float32Array;
  /** Factor that turns a word's int8 row into its vector. */
  readonly scales: Float32Array;
  /** `size` × `dimensions` quantised components, row by row. */
  readonly rows: Int8Array;
  /** Returns the number of a word, or −1 if the table does not have it. It has lower-case ASCII words only. */
  find(word: string): number;
}

/**
 * Opens a word table. The first `pages` pages are read on demand, then the rest at once. Throws `embedder_failed` if
 * the file is missing, truncated, or not a word table of this version.
 */
export function openWordTable(file: URL | string, pages = pagesBeforeAll): WordTable {
  const reading = readAsNeeded(file, pages);
  try {
    return tableOf(file, reading);
  } catch (error) {
    reading.close();
    throw error;
  }
}

function tableOf(file: URL | string, { buffer, need }: PartlyRead): WordTable {
  if (buffer.byteLength < headerBytes) throw tableError(file, 'is cut short:');
  need(0, headerBytes);
  const header = new Uint32Array(buffer, 0, headerBytes / 4);
  const [found = 0, foundVersion = 0, dimensions = 0, size = 0, slotCount = 0, blockBytes = 0] = header;
  if (found !== magic || foundVersion !== version) throw tableError(file, `is not of version ${version}:`);
  // An open-addressing search ends at an empty slot, so there must be one.
  if (slotCount <= size || (slotCount & (slotCount - 1)) !== 0) throw tableError(file, 'is damaged:');

  let at = headerBytes;
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
  if (at > buffer.byteLength) throw tableError(file, 'is cut short:');

  const starts = new Uint32Array(buffer, startsAt, size + 1);
  const slots = new Uint16Array(buffer, slotsAt, slotCount);
  const block = new Uint8Array(buffer, blockAt, blockBytes);

  function find(word: string): number {
    const length = word.length;
    for (let slot = hashWord(word) & (slotCount - 1); ; slot = (slot + 1) & (slotCount - 1)) {
      need(slotsAt + 2 * slot, 2);
      const number = (slots[slot] ?? 0) - 1;
      if (number < 0) return -1;
      need(startsAt + 4 * number, 8);
      const from = starts[number] ?? 0;
      if ((starts[number + 1] ?? 0) - from !== length) continue;
      need(blockAt + from, length);
      let index = 0;
      while (index < length && block[from + index] === word.charCodeAt(index)) index++;
      if (index < length) continue;
      need(weightsAt + 4 * number, 4);
      need(scalesAt + 4 * number, 4);
      need(rowsAt + number * dimensions, dimensions);
      return number;
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

/** Computes 32-bit FNV-1a over the character codes (for an ASCII word: over its bytes). */
function hashWord(word: string): number {
  let hash = 0x811c_9dc5;
  for (let index = 0; index < word.length; index++) {
    hash = Math.imul(hash ^ word.charCodeAt(index), 0x0100_0193);
  }
  return hash >>> 0;
}

interface PartlyRead {
  /** As long as the file. Unread pages take no memory. */
  readonly buffer: ArrayBuffer;
  /** Makes sure that these bytes are read. */
  need(from: number, length: number): void;
  close(): void;
}

/**
 * Opens the file for reading on demand. It stays open until everything is read, so that rows of two tables never mix if
 * another file takes its name.
 */
function readAsNeeded(file: URL | string, pages: number): PartlyRead {
  const descriptor = trying(file, () => openSync(file, 'r'));
  const buffer = trying(file, () => new ArrayBuffer(fstatSync(descriptor).size));
  const bytes = new Uint8Array(buffer);
  const isRead = new Uint8Array(Math.ceil(bytes.length / pageBytes));
  let left = pages;
  let isOpen = true;

  function close(): void {
    if (isOpen) closeSync(descriptor);
    isOpen = false;
  }

  function read(from: number, to: number): void {
    while (from < to) {
      const count = trying(file, () => readSync(descriptor, bytes, from, to - from, from));
      if (count === 0) throw tableError(file, 'is cut short:');
      from += count;
    }
  }

  function need(from: number, length: number): void {
    if (!isOpen) return;
    for (let page = Math.floor(from / pageBytes); page * pageBytes < from + length; page++) {
      if (isRead[page]) continue;
      if (left-- > 0) {
        read(page * pageBytes, Math.min(bytes.length, (page + 1) * pageBytes));
        isRead[page] = 1;
      } else {
        read(0, bytes.length);
        close();
        return;
      }
    }
  }

  return { buffer, need, close };
}

function trying<Result>(file: URL | string, work: () => Result): Result {
  try {
    return work();
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

/** Returns the path as one would type it in a terminal. */
function nameOf(file: URL | string): string {
  return file instanceof URL && file.protocol === 'file:' ? fileURLToPath(file) : String(file);
}
