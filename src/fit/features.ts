import { setImmediate } from 'node:timers/promises';
import type { ClockName } from '../domain/fields.ts';
import type { Instant } from '../domain/time.ts';
import { signalsRead } from '../scoring/evaluate.ts';
import type { ParameterValue } from '../scoring/profile.ts';
import {
  type AttributeName,
  attributeText,
  isAttributeName,
  isClockName,
  isSignalName,
  type SignalName,
} from '../scoring/signals.ts';
import type { Inspection, SearchRequest, Snapshot } from '../store/store.ts';

/**
 * What a formula reads of every memory that one question may be answered with, a value a row. Whatever the parameters of
 * the formula, its ranking follows from this.
 */
export interface QuestionFeatures {
  readonly now: Instant;
  /** Those that the question was asked with; what the embedder sets is among them. */
  readonly parameters: Readonly<Record<string, ParameterValue>>;
  readonly ids: readonly string[];
  /** NaN where unknown. */
  readonly signals: Readonly<Partial<Record<SignalName, Float64Array>>>;
  /** Milliseconds; NaN where unknown. */
  readonly clocks: Readonly<Partial<Record<ClockName, Float64Array>>>;
  readonly attributes: Readonly<Partial<Record<AttributeName, readonly string[]>>>;
  /** What decides between equal scores: see `compareRanked`. */
  readonly bm25: Float64Array;
  readonly similarity: Float64Array;
  readonly updatedAt: Float64Array;
  readonly ordinal: Float64Array;
}

/** Of so many memories the features are read at a time: others come to their turn in between. */
const CHUNK = 200;

/** The features of those of the memories that the request may return. */
export async function readFeatures(
  snapshot: Snapshot,
  request: SearchRequest,
  ids: readonly string[],
): Promise<QuestionFeatures> {
  const columns = columnsFor(request, ids.length);
  for (let start = 0; start < ids.length; start += CHUNK) {
    for (const inspected of await snapshot.inspect(ids.slice(start, start + CHUNK), request)) {
      if (inspected && inspected.excluded === undefined) columns.add(inspected);
    }
    await setImmediate();
  }
  return columns.features();
}

/** Room for what a request's formula reads of `most` memories. */
function columnsFor(request: SearchRequest, most: number) {
  const names = [...signalsRead(request.profile)];
  const columnsOf = <Name extends string, Column>(
    isMeant: (name: string) => name is Name,
    make: () => Column,
  ): Record<Name, Column> =>
    Object.fromEntries(names.filter(isMeant).map((name) => [name, make()])) as Record<Name, Column>;
  const numbers = () => new Float64Array(most);
  const ids: string[] = [];
  const signals = columnsOf(isSignalName, numbers);
  const clocks = columnsOf(isClockName, numbers);
  const attributes = columnsOf(isAttributeName, (): string[] => []);
  const own = { bm25: numbers(), similarity: numbers(), updatedAt: numbers(), ordinal: numbers() };
  const numeric = Object.entries<Float64Array>({ ...signals, ...clocks }) as [
    SignalName | ClockName,
    Float64Array,
  ][];
  const texts = Object.entries(attributes) as [AttributeName, string[]][];
  return {
    add({ id, ordinal, bm25, signals: known }: Inspection): void {
      const row = ids.length;
      ids.push(id);
      for (const [name, column] of numeric) column[row] = known[name] ?? Number.NaN;
      for (const [name, column] of texts) column.push(attributeText(known, name));
      own.bm25[row] = bm25;
      own.similarity[row] = known.similarity ?? Number.NaN;
      own.updatedAt[row] = known.updatedAt ?? Number.NaN;
      own.ordinal[row] = ordinal;
    },
    features(): QuestionFeatures {
      const filled = (column: Float64Array) => column.slice(0, ids.length);
      return {
        now: request.now,
        parameters: request.profile.parameters,
        ids,
        signals: eachColumn(signals, filled),
        clocks: eachColumn(clocks, filled),
        attributes,
        ...eachColumn(own, filled),
      };
    },
  };
}

/** The features of some of the rows. */
export function ofRows(features: QuestionFeatures, rows: readonly number[]): QuestionFeatures {
  const numbers = (values: Float64Array): Float64Array =>
    Float64Array.from(rows, (row) => values[row] as number);
  const texts = (values: readonly string[]): readonly string[] => rows.map((row) => values[row] as string);
  return {
    ...features,
    ids: texts(features.ids),
    signals: eachColumn(features.signals, numbers),
    clocks: eachColumn(features.clocks, numbers),
    attributes: eachColumn(features.attributes, texts),
    bm25: numbers(features.bm25),
    similarity: numbers(features.similarity),
    updatedAt: numbers(features.updatedAt),
    ordinal: numbers(features.ordinal),
  };
}

function eachColumn<Name extends string, Column, Other>(
  columns: Readonly<Partial<Record<Name, Column>>>,
  change: (column: Column) => Other,
): Record<Name, Other> {
  return Object.fromEntries(
    Object.entries<Column>(columns as Record<string, Column>).map(([name, column]) => [name, change(column)]),
  ) as Record<Name, Other>;
}
