import { CLOCK_NAMES, type ClockName } from '../domain/fields.ts';
import {
  isFlag,
  STORED_ATTRIBUTE_NAMES,
  STORED_SIGNAL_NAMES,
  type StoredAttributeName,
  type StoredSignalName,
  type StoredSignals,
} from '../scoring/signals.ts';
import { grow } from './grow.ts';

/** Texts as small numbers, in the order in which they came. */
export interface Dictionary {
  readonly texts: string[];
  readonly codes: Map<string, number>;
}

/** The resident signals, clocks and attributes of the memories of one space, one value a row. */
export interface ColumnSet {
  readonly signals: Record<StoredSignalName, Float64Array>;
  readonly clocks: Record<ClockName, Float64Array>;
  readonly attributes: Record<StoredAttributeName, { codes: Uint32Array; dictionary: Dictionary }>;
}

export function createColumns(): ColumnSet {
  return {
    signals: record(STORED_SIGNAL_NAMES, () => new Float64Array(0)),
    clocks: record(CLOCK_NAMES, () => new Float64Array(0)),
    attributes: record(STORED_ATTRIBUTE_NAMES, () => ({
      codes: new Uint32Array(0),
      dictionary: { texts: [] as string[], codes: new Map<string, number>() },
    })),
  };
}

export function growColumns(columns: ColumnSet, length: number): void {
  for (const name of STORED_SIGNAL_NAMES) columns.signals[name] = grow(columns.signals[name], length);
  for (const name of CLOCK_NAMES) columns.clocks[name] = grow(columns.clocks[name], length);
  for (const name of STORED_ATTRIBUTE_NAMES) {
    const attribute = columns.attributes[name];
    attribute.codes = grow(attribute.codes, length);
  }
}

/** Sets a row from the signals of a memory. */
export function setRow(columns: ColumnSet, row: number, signals: StoredSignals): void {
  for (const name of STORED_SIGNAL_NAMES) columns.signals[name][row] = signals[name];
  for (const name of CLOCK_NAMES) columns.clocks[name][row] = signals[name] ?? Number.NaN;
  for (const name of STORED_ATTRIBUTE_NAMES) {
    const { codes, dictionary } = columns.attributes[name];
    codes[row] = codeOf(dictionary, String(signals[name]));
  }
}

/** The signals of a row, exactly as they were set. */
export function getRow(columns: ColumnSet, row: number): StoredSignals {
  const signals: Record<string, unknown> = {};
  for (const name of STORED_SIGNAL_NAMES) signals[name] = columns.signals[name][row];
  for (const name of CLOCK_NAMES) {
    const at = columns.clocks[name][row]!;
    if (!Number.isNaN(at)) signals[name] = at;
  }
  for (const name of STORED_ATTRIBUTE_NAMES) {
    const { codes, dictionary } = columns.attributes[name];
    const text = dictionary.texts[codes[row]!];
    signals[name] = isFlag(name) ? text === 'true' : text;
  }
  return signals as unknown as StoredSignals;
}

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
