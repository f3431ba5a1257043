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
 * The inputs of a formula for every memory that may answer a question, with one row per memory. They determine the
 * ranking for any parameters of the formula.
 */
export interface QuestionFeatures {
  readonly now: Instant;
  /** The parameters that the question was asked with, including those that the embedder sets. */
  readonly parameters: Readonly<Record<string, ParameterValue>>;
  readonly ids: readonly string[];
  /** NaN if unknown. */
  readonly signals: Readonly<Partial<Record<SignalName, Float64Array>>>;
  /** Milliseconds; NaN if unknown. */
  readonly clocks: Readonly<Partial<Record<ClockName, Float64Array>>>;
  readonly attributes: Readonly<Partial<Record<AttributeName, readonly string[]>>>;
  /** This and the following columns break ties between equal scores; see `compareRanked`. */
  readonly bm25: Float64Array;
  readonly similarity: Float64Array;
  readonly updatedAt: Float64Array;
  readonly ordinal: Float64Array;
}

/** How many memories are read at a time, so that other work runs in between. */
const CHUNK = 200;

/** Reads the features of those of the memories that the request may return. */
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

/** Allocates the columns that the formula of a request reads, for at most `most` memories. */
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

/** Returns the features of some of the rows. */
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
