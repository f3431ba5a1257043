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
import type { SearchRequest, Snapshot } from '../store/store.ts';

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

/** The features of those of the memories that the request may return. */
export async function readFeatures(
  snapshot: Snapshot,
  request: SearchRequest,
  ids: readonly string[],
): Promise<QuestionFeatures> {
  const inspected = await snapshot.inspect(ids, request);
  const found = inspected.flatMap((each) => (each && each.excluded === undefined ? [each] : []));
  const names = [...signalsRead(request.profile)];
  const numbers = (name: SignalName | ClockName) =>
    Float64Array.from(found, ({ signals }) => signals[name] ?? Number.NaN);
  const columns = <Name extends string, Column>(
    of: (name: string) => boolean,
    column: (name: Name) => Column,
  ): Record<Name, Column> =>
    Object.fromEntries(names.filter(of).map((name) => [name, column(name as Name)])) as Record<Name, Column>;
  return {
    now: request.now,
    parameters: request.profile.parameters,
    ids: found.map(({ id }) => id),
    signals: columns(isSignalName, numbers),
    clocks: columns(isClockName, numbers),
    attributes: columns(isAttributeName, (name: AttributeName) =>
      found.map(({ signals }) => attributeText(signals, name)),
    ),
    bm25: Float64Array.from(found, ({ bm25 }) => bm25),
    similarity: numbers('similarity'),
    updatedAt: numbers('updatedAt'),
    ordinal: Float64Array.from(found, ({ ordinal }) => ordinal),
  };
}

/** The features of some of the rows. */
export function ofRows(features: QuestionFeatures, rows: readonly number[]): QuestionFeatures {
  const numbers = (values: Float64Array): Float64Array =>
    Float64Array.from(rows, (row) => values[row] as number);
  const texts = (values: readonly string[]): readonly string[] => rows.map((row) => values[row] as string);
  const each = <Values>(columns: Readonly<Record<string, Values>>, pick: (values: Values) => Values) =>
    Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, pick(values)]));
  return {
    ...features,
    ids: texts(features.ids),
    signals: each(features.signals, numbers),
    clocks: each(features.clocks, numbers),
    attributes: each(features.attributes, texts),
    bm25: numbers(features.bm25),
    similarity: numbers(features.similarity),
    updatedAt: numbers(features.updatedAt),
    ordinal: numbers(features.ordinal),
  };
}
