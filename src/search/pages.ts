import { CLOCK_NAMES, type ClockName } from '../domain/fields.ts';
import { atOnce } from '../domain/slices.ts';
import { STORED_ATTRIBUTE_NAMES, STORED_SIGNAL_NAMES } from '../scoring/signals.ts';
import type { PlaceOfPart } from '../store/rows.ts';
import { type AttributeCodes, codeOf, type Dictionary, sharedArray } from './columns.ts';
import type { WholeNumbers } from './grow.ts';
import { type Codes, createCodes } from './kernel/codes.ts';
import { arrayOf, asBytes, NUMBERS, type PageParts, STEP } from './parts.ts';
import { decodingPostings, encodingPostings } from './posting-pages.ts';
import { createResidentIndex, type ResidentIndex } from './resident-index.ts';
import { packing } from './session-lists.ts';

export type { PageParts } from './parts.ts';

/** To be changed with the layout of the parts. */
const LAYOUT = 14;

const KINDS = { Uint8Array, Uint16Array, Uint32Array, Float32Array, Float64Array, Int8Array };
type Kind = keyof typeof KINDS;
type Column = Float32Array | WholeNumbers;

/**
 * A column has a number for each row, or one for all rows. A clock may be the same as an earlier clock, and ordinals
 * the same as keys.
 */
type SavedColumn = { readonly kind: Kind; readonly of: 'rows' | 'all' } | { readonly as: ClockName | 'keys' };

interface Header {
  readonly layout: number;
  readonly columns: Readonly<Record<string, SavedColumn>>;
  readonly size: number;
  readonly dimensions: number;
  readonly vectors: number;
  readonly memoryCount: number;
  readonly totalLength: number;
  readonly dictionaries: Readonly<Record<string, readonly string[]>>;
  readonly sessions: readonly string[];
  /** The tags of each row that has any. */
  readonly tags: readonly (readonly [row: number, tags: readonly string[]])[];
}

export function encodePages(index: ResidentIndex): PageParts {
  return atOnce(encoding(index));
}

/** Encodes the index in steps. Nothing may be added to it meanwhile. */
export function* encoding(index: ResidentIndex): Generator<undefined, PageParts> {
  const living = livingRows(index);
  const newRow = new Int32Array(index.size).fill(-1);
  living.forEach((row, at) => {
    newRow[row] = at;
  });
  const sessions = livingSessions(index, living);
  const parts = new Map<string, Uint8Array>();
  const columns: Record<string, SavedColumn> = {};
  const clocks: [name: ClockName, array: Float64Array][] = [];
  for (const [name, array] of columnArrays(index, sessions.codes)) {
    const kind = array.constructor.name as Kind;
    columns[name] = { kind, of: 'rows' };
    if (name === 'ordinals' && array === index.keys) {
      columns[name] = { as: 'keys' };
      continue;
    }
    if (living.length > 0 && isUniform(index, array)) {
      columns[name] = { kind, of: 'all' };
      parts.set(name, asBytes(array.slice(0, 1)));
      continue;
    }
    const kept = array === sessions.codes ? array : picked(array, living);
    yield;
    const clock = CLOCK_NAMES.find((each) => name === `clock.${each}`);
    if (clock && living.length > 1) {
      const same = clocks.find(([, each]) => isSame(each, kept as Float64Array));
      if (same) {
        columns[name] = { as: same[0] };
        continue;
      }
      clocks.push([clock, kept as Float64Array]);
    }
    parts.set(name, asBytes(kept));
    yield;
  }
  const { codes, dimensions } = index;
  const keptCodes = new Int8Array(living.length * dimensions);
  for (let at = 0; at < living.length; at++) {
    if (codes) keptCodes.set(codes.view(living[at]!, 1), at * dimensions);
    if (at % STEP === 0) yield;
  }
  parts.set('codes', asBytes(keptCodes));
  yield* encodingPostings(index, newRow, parts);
  const header: Header = {
    layout: LAYOUT,
    columns,
    size: living.length,
    dimensions: index.dimensions,
    vectors: index.vectors,
    memoryCount: index.memoryCount,
    totalLength: index.totalLength,
    dictionaries: Object.fromEntries(
      STORED_ATTRIBUTE_NAMES.map((name) => [name, index.columns.attributes[name].dictionary.texts]),
    ),
    sessions: sessions.texts,
    tags: [...index.tagsOfRow].map(([row, tags]) => [newRow[row]!, tags] as const),
  };
  // The header comes first because it says where the codes go.
  return new Map([['header', new TextEncoder().encode(JSON.stringify(header))], ...parts]);
}

/**
 * Decodes an index. Returns `undefined` if the layout is a different one or the parts do not fit together; the index
 * can then be built from the memories.
 */
export function decodePages(parts: PageParts): ResidentIndex | undefined {
  return atOnce(decoding(parts));
}

/** Where the parts of a saved index are written as they are read. */
export interface Places {
  readonly place: PlaceOfPart;
  /** Returns the codes if they were written where the kernel can read them. */
  codes(): Codes | undefined;
  /** Whether another thread may still write the codes while the other parts are decoded. */
  areShared(): boolean;
}

/**
 * Writes codes directly to where the kernel reads them: they are most of an index, and allocating memory costs more
 * than processing them.
 */
export function placesOfParts(): Places {
  let header: Uint8Array | undefined;
  let codes: Codes | undefined;
  let areShared = false;
  return {
    place(name, length, isShared) {
      if (name === 'codes') {
        const { size = 0, dimensions = 0 } = readHeader(header) ?? {};
        if (length > 0 && length === size * dimensions) {
          codes = createCodes(dimensions, isShared);
          codes.reserve(size);
          areShared = isShared === true;
          return asBytes(codes.view(0, size));
        }
      }
      const bytes = new Uint8Array(length);
      if (name === 'header') header = bytes;
      return bytes;
    },
    codes: () => codes,
    areShared: () => areShared,
  };
}

/** Decodes an index in steps of less than a millisecond, apart from the header. */
export function* decoding(
  parts: PageParts,
  places?: Places,
): Generator<undefined, ResidentIndex | undefined> {
  const header = readHeader(parts.get('header'));
  if (!header || !(yield* fitting(header, parts))) return undefined;
  yield;
  const index = createResidentIndex();
  const { columns, sessions } = index;
  const { size } = header;
  const column = <Of extends Column>(name: string) => columnOf<Of>(header, parts, name);
  index.size = size;
  index.dimensions = header.dimensions;
  index.vectors = header.vectors;
  index.memoryCount = header.memoryCount;
  index.totalLength = header.totalLength;
  index.alive = new Uint8Array(size).fill(1);
  index.keys = column('keys');
  index.ordinals = 'as' in header.columns['ordinals']! ? index.keys : column('ordinals');
  index.lengths = column('lengths');
  index.scales = column('scales');
  index.residuals = column('residuals');
  index.asks = column('asks');
  if (header.dimensions > 0) index.codes = places?.codes() ?? (yield* copied(header, parts));
  const shared = (name: string) => {
    const saved = header.columns[name]!;
    const array = column<Float64Array>(name);
    return 'of' in saved && saved.of === 'all' ? sharedArray(columns, array[0]!) : array;
  };
  for (const name of STORED_SIGNAL_NAMES) columns.signals[name] = shared(`signal.${name}`);
  for (const name of CLOCK_NAMES) {
    const saved = header.columns[`clock.${name}`]!;
    if ('as' in saved) {
      columns.clocks[name] = columns.clocks[saved.as as ClockName];
      columns.twins.add(name);
    } else {
      columns.clocks[name] = shared(`clock.${name}`);
    }
  }
  columns.zeros = new Uint8Array(size);
  columns.isEmpty = size === 0;
  for (const name of STORED_ATTRIBUTE_NAMES) {
    const attribute = columns.attributes[name];
    const codes = column<AttributeCodes>(`attribute.${name}`);
    attribute.codes = codes.length === size ? codes : columns.zeros;
    for (const text of header.dictionaries[name] ?? []) {
      attribute.dictionary.codes.set(text, attribute.dictionary.texts.push(text) - 1);
    }
  }
  yield;
  for (let row = 0; row < size; row += STEP) {
    index.rowOfKey.take(index.keys, row, Math.min(size, row + STEP));
    yield;
  }
  sessions.codes = column('sessions');
  for (const text of header.sessions) codeOf(sessions.dictionary, text);
  sessions.lists = yield* packing(index);
  for (const [row, tags] of header.tags) {
    if (row % STEP === 0) yield;
    index.tagsOfRow.set(row, tags);
    for (const tag of tags) {
      const rows = index.tags.get(tag);
      if (rows) rows.add(row);
      else index.tags.set(tag, new Set([row]));
    }
  }
  return (yield* decodingPostings(index, parts)) ? index : undefined;
}

function* copied({ size, dimensions }: Header, parts: PageParts): Generator<undefined, Codes> {
  const codes = createCodes(dimensions);
  codes.reserve(size);
  const saved = arrayOf(Int8Array, parts, 'codes');
  for (let row = 0; row < size; row += STEP) {
    const count = Math.min(STEP, size - row);
    codes.view(row, count).set(saved.subarray(row * dimensions, (row + count) * dimensions));
    yield;
  }
  return codes;
}

function readHeader(bytes: Uint8Array | undefined): Header | undefined {
  if (!bytes) return undefined;
  try {
    const header: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isHeader(header) ? header : undefined;
  } catch {
    return undefined;
  }
}

function isHeader(value: unknown): value is Header {
  if (typeof value !== 'object' || value === null) return false;
  const header = value as Partial<Header>;
  const { size, dimensions, vectors, memoryCount, totalLength, columns, dictionaries, sessions, tags } =
    header;
  const isText = (each: unknown) => typeof each === 'string';
  return (
    header.layout === LAYOUT &&
    [size, dimensions, vectors, memoryCount, totalLength].every(
      (count) => Number.isSafeInteger(count) && (count as number) >= 0,
    ) &&
    typeof columns === 'object' &&
    columns !== null &&
    Object.values(columns).every(isSavedColumn) &&
    typeof dictionaries === 'object' &&
    dictionaries !== null &&
    Object.values(dictionaries).every((texts) => Array.isArray(texts) && texts.every(isText)) &&
    Array.isArray(sessions) &&
    sessions.every(isText) &&
    Array.isArray(tags) &&
    tags.every(
      ([row, texts]: Header['tags'][number]) =>
        isRow(row, size as number) && Array.isArray(texts) && texts.every(isText),
    )
  );
}

function isSavedColumn(value: unknown): value is SavedColumn {
  if (typeof value !== 'object' || value === null) return false;
  const { as, kind, of } = value as { as?: unknown; kind?: unknown; of?: unknown };
  if (as !== undefined) return typeof as === 'string';
  return typeof kind === 'string' && Object.hasOwn(KINDS, kind) && (of === 'rows' || of === 'all');
}

/** Whether every part has the length that the header says, and every attribute code has a text. */
function* fitting(header: Header, parts: PageParts): Generator<undefined, boolean> {
  const { size, dimensions, dictionaries, sessions } = header;
  const isColumn = (name: string, kinds: readonly Kind[]): boolean => {
    const saved = header.columns[name];
    if (saved === undefined) return false;
    if ('as' in saved) return name.startsWith('clock.') && hasRows(`clock.${saved.as}`, kinds);
    return hasRows(name, kinds) || (saved.of === 'all' && size > 0 && hasLength(name, saved.kind, 1));
  };
  const hasRows = (name: string, kinds: readonly Kind[]) => {
    const saved = header.columns[name];
    return (
      saved !== undefined &&
      !('as' in saved) &&
      saved.of === 'rows' &&
      kinds.includes(saved.kind) &&
      hasLength(name, saved.kind, size)
    );
  };
  const isAs = (name: string, other: string) => {
    const saved = header.columns[name];
    return saved !== undefined && 'as' in saved && saved.as === other;
  };
  const hasLength = (name: string, kind: Kind, length: number) =>
    parts.get(name)?.length === length * KINDS[kind].BYTES_PER_ELEMENT;
  const fits =
    hasRows('keys', ['Uint32Array', 'Float64Array']) &&
    (isAs('ordinals', 'keys') || hasRows('ordinals', ['Uint32Array', 'Float64Array'])) &&
    hasRows('lengths', ['Uint8Array', 'Uint16Array', 'Uint32Array', 'Float64Array']) &&
    hasRows('sessions', ['Uint32Array']) &&
    ['scales', 'residuals'].every((name) => hasRows(name, ['Float32Array'])) &&
    hasRows('asks', ['Uint8Array']) &&
    STORED_SIGNAL_NAMES.every((name) => isColumn(`signal.${name}`, ['Float64Array'])) &&
    CLOCK_NAMES.every((name) => isColumn(`clock.${name}`, ['Float64Array'])) &&
    STORED_ATTRIBUTE_NAMES.every((name) =>
      isColumn(`attribute.${name}`, ['Uint8Array', 'Uint16Array', 'Uint32Array']),
    ) &&
    parts.get('codes')?.length === size * dimensions;
  if (!fits) return false;
  for (const name of STORED_ATTRIBUTE_NAMES) {
    const codes = columnOf<AttributeCodes>(header, parts, `attribute.${name}`);
    if (!(yield* areBelow(codes, Math.max(1, dictionaries[name]?.length ?? 0)))) return false;
  }
  return yield* areBelow(columnOf<Uint32Array>(header, parts, 'sessions'), sessions.length + 1);
}

function columnOf<Of extends Column>({ columns }: Header, parts: PageParts, name: string): Of {
  const saved = columns[name]!;
  if ('as' in saved) throw new Error(`${name} is another column`);
  return arrayOf(KINDS[saved.kind] as Float64ArrayConstructor, parts, name) as Column as Of;
}

function isRow(value: unknown, size: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < size;
}

/**
 * Returns the sessions that still have a memory, and for each living row the number of its session among them, from 1
 * on.
 */
function livingSessions(
  { sessions }: ResidentIndex,
  living: Int32Array,
): { readonly texts: readonly string[]; readonly codes: Uint32Array } {
  const kept: Dictionary = { texts: [], codes: new Map() };
  const codes = Uint32Array.from(living, (row) => {
    const code = sessions.codes[row]!;
    return code === 0 ? 0 : codeOf(kept, sessions.dictionary.texts[code - 1]!) + 1;
  });
  return { texts: kept.texts, codes };
}

function livingRows(index: ResidentIndex): Int32Array {
  const rows = new Int32Array(index.size - index.dead);
  let count = 0;
  for (let row = 0; row < index.size; row++) if (index.alive[row] === 1) rows[count++] = row;
  return rows;
}

/** Whether the array is one that columns with a single value share. */
function isUniform({ columns }: ResidentIndex, array: Column): boolean {
  return array === columns.zeros || columns.shared.has(array as Float64Array);
}

function picked(array: Column, rows: Int32Array): Column {
  const kept = new (array.constructor as Float64ArrayConstructor)(rows.length);
  for (let at = 0; at < rows.length; at++) kept[at] = array[rows[at]!]!;
  return kept;
}

function isSame(a: Float64Array, b: Float64Array): boolean {
  for (let at = 0; at < a.length; at++) if (!Object.is(a[at], b[at])) return false;
  return true;
}

function columnArrays(
  index: ResidentIndex,
  sessions: Uint32Array,
): readonly (readonly [name: string, array: Column])[] {
  const { columns } = index;
  return [
    ['keys', index.keys],
    ['ordinals', index.ordinals],
    ['lengths', index.lengths],
    ['scales', index.scales],
    ['residuals', index.residuals],
    ['asks', index.asks],
    ['sessions', sessions],
    ...STORED_SIGNAL_NAMES.map((name) => [`signal.${name}`, columns.signals[name]] as const),
    ...CLOCK_NAMES.map((name) => [`clock.${name}`, columns.clocks[name]] as const),
    ...STORED_ATTRIBUTE_NAMES.map((name) => [`attribute.${name}`, columns.attributes[name].codes] as const),
  ];
}

/** Whether all numbers are below a limit. */
function* areBelow(numbers: AttributeCodes, limit: number): Generator<undefined, boolean> {
  for (let start = 0; start < numbers.length; start += NUMBERS) {
    if (isBeyond(numbers, start, Math.min(numbers.length, start + NUMBERS), limit - 1)) return false;
    yield;
  }
  return true;
}

/** Tests millions of numbers without branches: one beyond `last` sets the sign bit, which is read once at the end. */
function isBeyond(numbers: AttributeCodes, from: number, to: number, last: number): boolean {
  let beyond = 0;
  for (let at = from; at < to; at++) {
    const number = numbers[at]!;
    beyond |= number | (last - number);
  }
  return beyond < 0;
}
