import { SalienceError } from '../domain/errors.ts';
import type { MemoryRecord } from '../domain/memory.ts';
import type { StoredSignals } from '../scoring/signals.ts';
import { holdsQuestion } from '../text/context.ts';
import {
  bytesOfColumns,
  type ColumnSet,
  codeOf,
  createColumns,
  type Dictionary,
  getRow,
  growColumns,
  setRow,
} from './columns.ts';
import { bytesOfGroups, createGroups, type Groups } from './groups.ts';
import { grow, holding, type WholeNumbers } from './grow.ts';
import { type Codes, createCodes } from './kernel/codes.ts';
import { createKeyRows, type KeyRows } from './key-rows.ts';
import { createNearVectors, dropNear, type NearVectors } from './near.ts';
import {
  addPosting,
  createPostings,
  MOST_ROWS,
  noPostings,
  type Postings,
  type PostingsOfTerms,
  rowOf,
} from './postings.ts';
import { type Quantised, quantise } from './quantise.ts';
import { createSessionLists, placeAmong, type SessionLists } from './session-lists.ts';
import { bytesOfVocabulary, type Vocabulary } from './vocabulary.ts';

/**
 * What a process keeps in memory of one space, so that a recall covers every memory without reading it: signals, 8-bit
 * vectors, postings. It is a cache: it can be rebuilt from the store at any time, and decides nothing alone.
 *
 * Each memory has a row. When its text changes, it moves to a new row, and the old row stays dead until the next
 * rebuild.
 */
export interface ResidentIndex {
  readonly columns: ColumnSet;
  /** Components of a vector; 0 until the first. */
  dimensions: number;
  /** Rows in use, dead ones included. */
  size: number;
  dead: number;
  alive: Uint8Array;
  /** The store's own number of the memory in a row. */
  keys: WholeNumbers;
  /** The memory's place in the order of insertion. The same array as `keys` as long as both have the same content. */
  ordinals: WholeNumbers;
  rowOfKey: KeyRows;
  /** How many terms the memory's text has, repetitions included. */
  lengths: WholeNumbers;
  /** Absent until the first vector. */
  codes: Codes | undefined;
  /** NaN for a memory without a vector. */
  scales: Float32Array;
  residuals: Float32Array;
  /** Brought up to date when a search needs them. */
  readonly groups: Groups;
  vectors: number;
  /** Vectors that were read because their codes are too much alike. */
  readonly near: NearVectors;
  /** By the store's number of the term. */
  postings: PostingsOfTerms;
  /** The texts of the terms. Absent until a query contains an unknown word, and after something was forgotten. */
  vocabulary: Vocabulary | undefined;
  /** The sessions in which memories were made. */
  readonly sessions: SessionRows;
  /** 1 where the content holds a question mark. */
  asks: Uint8Array;
  /** Grows with every change: data derived from the index is valid for one version. */
  version: number;
  /** The row of each recent change, in order; −1 − row if the change does not affect the rest of its session. */
  readonly changed: number[];
  readonly tags: Map<string, Set<number>>;
  readonly tagsOfRow: Map<number, readonly string[]>;
  /** Of the memories that are not stubs: how many there are, and how many terms they have. */
  memoryCount: number;
  totalLength: number;
}

export interface SessionRows {
  readonly dictionary: Dictionary;
  /** The number of each row's session, from 1 on; 0 without one. */
  codes: Uint32Array;
  lists: SessionLists;
}

/** A memory, ready to be added to the index. */
export interface IndexedMemory {
  readonly key: number;
  readonly ordinal: number;
  readonly signals: StoredSignals;
  readonly tags: readonly string[];
  readonly turn: Turn;
  /** The store's numbers of its terms, and how often each occurs. */
  readonly termIds: ArrayLike<number>;
  readonly termCounts: ArrayLike<number>;
  readonly vector: Quantised | Float32Array | undefined;
}

/** What a memory is in its session. */
export interface Turn {
  /** The session in which it was made. */
  readonly session: string | undefined;
  /** Whether its content holds a question mark. */
  readonly asks: boolean;
}

export function turnOf({ bornIn, content }: Pick<MemoryRecord, 'bornIn' | 'content'>): Turn {
  return { session: bornIn, asks: holdsQuestion(content) };
}

export function createResidentIndex(): ResidentIndex {
  const keys = new Uint32Array(0);
  return {
    columns: createColumns(),
    dimensions: 0,
    size: 0,
    dead: 0,
    alive: new Uint8Array(0),
    keys,
    ordinals: keys,
    rowOfKey: createKeyRows(),
    lengths: new Uint8Array(0),
    codes: undefined,
    scales: new Float32Array(0),
    residuals: new Float32Array(0),
    groups: createGroups(),
    vectors: 0,
    near: createNearVectors(),
    postings: createPostings(),
    vocabulary: undefined,
    sessions: {
      dictionary: { texts: [], codes: new Map() },
      codes: new Uint32Array(0),
      lists: createSessionLists(),
    },
    asks: new Uint8Array(0),
    version: 0,
    changed: [],
    tags: new Map(),
    tagsOfRow: new Map(),
    memoryCount: 0,
    totalLength: 0,
  };
}

/** The size of one entry of a term: row and frequency. */
const POSTING_BYTES = 4;
/** The size of a term: its entry, an array and its header. */
const TERM_BYTES = 400;

/** Returns the approximate size of the index in bytes. */
export function bytesOfIndex(index: ResidentIndex): number {
  const { codes, near, totalLength, postings, vocabulary, sessions } = index;
  const { alive, keys, ordinals, lengths, scales, residuals, asks } = index;
  const words = vocabulary ? bytesOfVocabulary(vocabulary) : 0;
  const vectors = (codes?.byteLength ?? 0) + near.bytes;
  const arrays = new Set([alive, keys, ordinals, lengths, scales, residuals, asks, sessions.codes]);
  const rows = [...arrays].reduce((sum, { byteLength }) => sum + byteLength, 0) + sessions.lists.bytes();
  return (
    rows +
    bytesOfGroups(index.groups) +
    bytesOfColumns(index.columns) +
    index.rowOfKey.bytes() +
    vectors +
    totalLength * POSTING_BYTES +
    postings.size * TERM_BYTES +
    words
  );
}

/** Makes room for `rows` more memories. Throws `space_too_large` beyond {@link MOST_ROWS}. */
export function reserve(index: ResidentIndex, rows: number): void {
  const length = index.size + rows;
  if (length > MOST_ROWS) {
    throw new SalienceError(
      'space_too_large',
      `a space holds at most ${MOST_ROWS.toLocaleString('en')} memories; put some of them into another space`,
    );
  }
  growColumns(index.columns, length);
  index.alive = grow(index.alive, length);
  const areSame = index.ordinals === index.keys;
  index.keys = grow(index.keys, length);
  index.ordinals = areSame ? index.keys : grow(index.ordinals, length);
  index.lengths = grow(index.lengths, length);
  index.sessions.codes = grow(index.sessions.codes, length);
  index.asks = grow(index.asks, length);
  index.scales = grow(index.scales, length);
  index.residuals = grow(index.residuals, length);
  index.codes?.reserve(length);
}

/** Adds a memory, replacing the one with the same key. */
export function putMemory(index: ResidentIndex, memory: IndexedMemory): void {
  removeMemory(index, memory.key);
  reserve(index, 1);
  const row = index.size++;
  putNumbers(index, row, memory);
  index.alive[row] = 1;
  index.rowOfKey.set(memory.key, row);
  setRow(index.columns, row, memory.signals);
  for (const tag of memory.tags) tagSet(index, tag).add(row);
  if (memory.tags.length > 0) index.tagsOfRow.set(row, memory.tags);
  putTerms(index, row, memory);
  putVector(index, row, memory.vector);
  putTurn(index, row, memory.turn);
  note(index, row);
}

/** Updates everything but the text of a memory. Returns false if the index does not have it. */
export function putSignals(index: ResidentIndex, key: number, signals: StoredSignals): boolean {
  const row = index.rowOfKey.get(key);
  if (row === undefined) return false;
  const before = getRow(index.columns, row);
  const moved = before.createdAt !== signals.createdAt;
  if (moved) removeTurn(index, row);
  setRow(index.columns, row, signals);
  if (moved) addToSession(index, row);
  const isApart = SEEN_BY_SESSION.every((name) => before[name] === signals[name]);
  note(index, isApart ? -1 - row : row);
  return true;
}

/** The signals, beside texts, that affect how other memories of the session are ranked. */
const SEEN_BY_SESSION = ['createdAt', 'textChangedAt', 'type', 'source', 'author', 'role'] as const;

function putNumbers(index: ResidentIndex, row: number, { key, ordinal }: IndexedMemory): void {
  const areSame = index.ordinals === index.keys;
  index.keys = holding(index.keys, key);
  if (areSame) index.ordinals = ordinal === key ? index.keys : index.keys.slice();
  index.keys[row] = key;
  if (index.ordinals === index.keys) return;
  index.ordinals = holding(index.ordinals, ordinal);
  index.ordinals[row] = ordinal;
}

/** At least this many changes are remembered. */
const MOST_CHANGES = 4096;

function note(index: ResidentIndex, row: number): void {
  const { changed } = index;
  index.version++;
  changed.push(row);
  if (changed.length >= 2 * MOST_CHANGES) changed.splice(0, MOST_CHANGES);
}

/** Returns the changes after a version, see {@link ResidentIndex.changed}; `undefined` if they are no longer known. */
export function changedSince(
  { version, changed }: ResidentIndex,
  before: number,
): readonly number[] | undefined {
  const count = version - before;
  return count <= changed.length ? changed.slice(changed.length - count) : undefined;
}

export function removeMemory(index: ResidentIndex, key: number): void {
  const row = index.rowOfKey.get(key);
  if (row === undefined) return;
  index.rowOfKey.delete(key);
  index.alive[row] = 0;
  index.dead++;
  note(index, row);
  removeTurn(index, row);
  for (const tag of index.tagsOfRow.get(row) ?? []) index.tags.get(tag)?.delete(row);
  index.tagsOfRow.delete(row);
  if (!Number.isNaN(index.scales[row]!)) index.vectors--;
  dropNear(index.near, row);
  if (!isStub(index, row)) {
    index.memoryCount--;
    index.totalLength -= index.lengths[row]!;
  }
}

/** Whether enough rows are dead for a rebuild to pay off. */
export function needsCompaction(index: ResidentIndex): boolean {
  return index.dead > 1000 && index.dead > index.size / 4;
}

export function signalsOfRow(index: ResidentIndex, row: number): StoredSignals {
  return getRow(index.columns, row);
}

export function averageLength(index: ResidentIndex): number {
  return index.memoryCount > 0 ? index.totalLength / index.memoryCount : 0;
}

/** How many living memories contain a term. */
export function documentFrequency(index: ResidentIndex, postings: Postings): number {
  if (index.dead === 0) return postings.count;
  let alive = 0;
  for (let at = 0; at < postings.count; at++) alive += index.alive[rowOf(postings.entries[at]!)]!;
  return alive;
}

function putTerms(index: ResidentIndex, row: number, memory: IndexedMemory): void {
  const { termIds, termCounts } = memory;
  let length = 0;
  // A stub counts in no statistics, and no word finds it.
  if (!isStub(index, row)) {
    for (let at = 0; at < termIds.length; at++) {
      addPosting(postingsOf(index, termIds[at]!), row, termCounts[at]!);
      length += termCounts[at]!;
    }
    index.memoryCount++;
    index.totalLength += length;
  }
  index.lengths = holding(index.lengths, length);
  index.lengths[row] = length;
}

function putVector(index: ResidentIndex, row: number, vector: IndexedMemory['vector']): void {
  if (vector === undefined) {
    index.scales[row] = Number.NaN;
    return;
  }
  const { codes, scale, residual } = vector instanceof Float32Array ? quantise(vector) : vector;
  if (index.codes === undefined) {
    index.dimensions = codes.length;
    index.codes = createCodes(codes.length);
    index.codes.reserve(row + 1);
  }
  index.codes.set(row, codes);
  index.scales[row] = scale;
  index.residuals[row] = residual;
  index.vectors++;
}

function putTurn(index: ResidentIndex, row: number, { session, asks }: Turn): void {
  index.asks[row] = asks ? 1 : 0;
  index.sessions.codes[row] = session === undefined ? 0 : codeOf(index.sessions.dictionary, session) + 1;
  addToSession(index, row);
}

/** Inserts a row into the list of its session. */
function addToSession(index: ResidentIndex, row: number): void {
  const { codes, lists } = index.sessions;
  const session = codes[row]!;
  if (session > 0) lists.insert(session, placeAmong(index, lists.of(session), row), row);
}

function removeTurn(index: ResidentIndex, row: number): void {
  const { codes, lists } = index.sessions;
  const session = codes[row]!;
  if (session === 0) return;
  // A memory that was removed and added again has two rows at the same place for a moment.
  const list = lists.of(session);
  lists.remove(session, list.indexOf(row, placeAmong(index, list, row)));
}

function isStub(index: ResidentIndex, row: number): boolean {
  const { codes, dictionary } = index.columns.attributes.tier;
  return dictionary.texts[codes[row]!] === 'stub';
}

function postingsOf(index: ResidentIndex, term: number) {
  let postings = index.postings.get(term);
  if (!postings) {
    postings = noPostings();
    index.postings.set(term, postings);
  }
  return postings;
}

function tagSet(index: ResidentIndex, tag: string): Set<number> {
  let rows = index.tags.get(tag);
  if (!rows) {
    rows = new Set();
    index.tags.set(tag, rows);
  }
  return rows;
}
