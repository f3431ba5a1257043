import { CLOCK_NAMES, type ClockName } from '../domain/fields.ts';
import { valueAt } from '../scoring/compile.ts';
import {
  isFlag,
  STORED_ATTRIBUTE_NAMES,
  STORED_SIGNAL_NAMES,
  type StoredAttributeName,
  type StoredSignalName,
  type StoredSignals,
} from '../scoring/signals.ts';
import { grow, holding } from './grow.ts';

/** Texts numbered in the order in which they were added. */
export interface Dictionary {
  readonly texts: string[];
  readonly codes: Map<string, number>;
}

/** One byte each as long as there are at most 256 texts. */
export type AttributeCodes = Uint8Array | Uint16Array | Uint32Array;

/** The resident signals, clocks and attributes of the memories of one space, one value for each row. */
export interface ColumnSet {
  readonly signals: Record<StoredSignalName, Float64Array>;
  readonly clocks: Record<ClockName, Float64Array>;
  readonly attributes: Record<StoredAttributeName, { codes: AttributeCodes; dictionary: Dictionary }>;
  /**
   * Arrays of length 1, shared by every column that has the same value in all rows, and that value. Most clocks are
   * unknown for every memory, and most counts are 0. A column that gets a second value gets its own array. See {@link
   * valueAt}.
   */
  readonly shared: Map<Float64Array, number>;
  /** The shared codes of every attribute whose codes are all 0. */
  zeros: Uint8Array;
  /** Clocks that share the array of an earlier clock: most memories were never updated after they were created. */
  readonly twins: Set<ClockName>;
  /** Whether no row was set yet. The first row decides what is shared. */
  isEmpty: boolean;
}

export function createColumns(): ColumnSet {
  const zeros = new Uint8Array(0);
  return {
    signals: record(STORED_SIGNAL_NAMES, () => new Float64Array(0)),
    clocks: record(CLOCK_NAMES, () => new Float64Array(0)),
    attributes: record(STORED_ATTRIBUTE_NAMES, () => ({
      codes: zeros as AttributeCodes,
      dictionary: { texts: [] as string[], codes: new Map<string, number>() },
    })),
    shared: new Map(),
    zeros,
    twins: new Set(),
    isEmpty: true,
  };
}

export function growColumns(columns: ColumnSet, length: number): void {
  const { signals, clocks, attributes, shared } = columns;
  if (columns.zeros.length >= length) return;
  const grown = new Map<Float64Array, Float64Array>();
  const longer = (array: Float64Array) => {
    if (shared.has(array)) return array;
    const made = grown.get(array) ?? grow(array, length);
    grown.set(array, made);
    return made;
  };
  for (const name of STORED_SIGNAL_NAMES) signals[name] = longer(signals[name]);
  for (const name of CLOCK_NAMES) clocks[name] = longer(clocks[name]);
  const { zeros } = columns;
  columns.zeros = grow(zeros, length);
  for (const name of STORED_ATTRIBUTE_NAMES) {
    const { codes } = attributes[name];
    attributes[name].codes = codes === zeros ? columns.zeros : grow(codes, length);
  }
}

/** Sets a row from the signals of a memory. */
export function setRow(columns: ColumnSet, row: number, signals: StoredSignals): void {
  if (columns.isEmpty) shareAll(columns, signals);
  for (const name of STORED_SIGNAL_NAMES) setValue(columns, columns.signals, name, row, signals[name]);
  for (const name of CLOCK_NAMES) {
    const value = signals[name] ?? Number.NaN;
    if (columns.twins.has(name)) {
      // The earlier clock has already been set.
      if (Object.is(columns.clocks[name][row], value)) continue;
      columns.clocks[name] = columns.clocks[name].slice();
      columns.twins.delete(name);
    }
    setValue(columns, columns.clocks, name, row, value);
  }
  for (const name of STORED_ATTRIBUTE_NAMES) {
    const attribute = columns.attributes[name];
    const code = codeOf(attribute.dictionary, String(signals[name]));
    if (attribute.codes === columns.zeros) {
      if (code === 0) continue;
      attribute.codes = columns.zeros.slice();
    }
    attribute.codes = holding(attribute.codes, code) as AttributeCodes;
    attribute.codes[row] = code;
  }
}

function setValue<Name extends string>(
  columns: ColumnSet,
  arrays: Record<Name, Float64Array>,
  name: Name,
  row: number,
  value: number,
): void {
  if (columns.shared.has(arrays[name])) {
    const before = arrays[name];
    if (Object.is(before[0], value)) return;
    arrays[name] = new Float64Array(columns.zeros.length).fill(before[0]!);
    if (!arraysOf(columns).has(before)) columns.shared.delete(before);
  }
  arrays[name][row] = value;
}

/** Before the first row is set, every column is shared and has the value of that row. */
function shareAll(columns: ColumnSet, first: StoredSignals): void {
  for (const name of STORED_SIGNAL_NAMES) columns.signals[name] = sharedArray(columns, first[name]);
  for (const name of CLOCK_NAMES) columns.clocks[name] = sharedArray(columns, first[name] ?? Number.NaN);
  columns.isEmpty = false;
}

/** Returns the array that is shared by all columns with this value in all rows. */
export function sharedArray({ shared }: ColumnSet, value: number): Float64Array {
  for (const [array, of] of shared) if (Object.is(of, value)) return array;
  const array = Float64Array.of(value);
  shared.set(array, value);
  return array;
}

/** Returns the size of the columns in bytes. */
export function bytesOfColumns(columns: ColumnSet): number {
  return [...arraysOf(columns)].reduce((sum, { byteLength }) => sum + byteLength, 0);
}

function arraysOf({ signals, clocks, attributes }: ColumnSet): ReadonlySet<Float64Array | AttributeCodes> {
  return new Set([
    ...Object.values(signals),
    ...Object.values(clocks),
    ...Object.values(attributes).map(({ codes }) => codes),
  ]);
}

/** Returns the signals of a row, exactly as they were set. */
export function getRow(columns: ColumnSet, row: number): StoredSignals {
  // Copying keeps one shape; adding so many names one by one makes slow objects.
  const signals: Record<string, unknown> = { ...UNKNOWN };
  for (const name of STORED_SIGNAL_NAMES) signals[name] = valueAt(columns.signals[name], row);
  for (const name of CLOCK_NAMES) {
    const at = valueAt(columns.clocks[name], row);
    if (!Number.isNaN(at)) signals[name] = at;
  }
  for (const name of STORED_ATTRIBUTE_NAMES) {
    const { codes, dictionary } = columns.attributes[name];
    const text = dictionary.texts[codes[row]!];
    signals[name] = isFlag(name) ? text === 'true' : text;
  }
  return signals as unknown as StoredSignals;
}

const UNKNOWN = Object.fromEntries(
  [...STORED_SIGNAL_NAMES, ...CLOCK_NAMES, ...STORED_ATTRIBUTE_NAMES].map((name) => [name, undefined]),
);

export function codeOf(dictionary: Dictionary, text: string): number {
  const known = dictionary.codes.get(text);
  if (known !== undefined) return known;
  const code = dictionary.texts.length;
  dictionary.texts.push(text);
  dictionary.codes.set(text, code);
  return code;
}

function record<Name extends string, Value>(names: readonly Name[], make: () => Value): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, make()])) as Record<Name, Value>;
}
