import { invalidArgument, number, text, wholeNumber } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { messageOf, SalienceError } from '../domain/errors.ts';
import { onlyKeys } from '../domain/options.ts';
import type { Calibration, Embedder, EmbedderInput, SimilarityThresholds } from './embedder.ts';
import { unlessAborted } from './waiting.ts';

const THRESHOLDS = {
  conflict: 0.75,
  birthLink: 0.4,
  consolidation: 0.7,
  similarPair: 0.85,
} as const satisfies SimilarityThresholds;

/**
 * Wraps an embedder of the caller: checks it and its results, and fills in defaults. Throws `invalid_argument` with
 * what is wrong.
 */
export function checkedEmbedder(embedder: EmbedderInput): Embedder {
  const model = text(embedder.model, 'embedder.model', { maxCharacters: 1000 });
  const dimensions = wholeNumber(embedder.dimensions, 'embedder.dimensions', 1, 65_536);
  const given = async <Answer>(ask: () => Promise<Answer>, signal: AbortSignal | undefined) => {
    try {
      return await unlessAborted(ask, signal);
    } catch (cause) {
      if (SalienceError.isInstance(cause)) throw cause;
      throw new SalienceError('embedder_failed', `the embedder ${model} failed: ${messageOf(cause)}`, {
        details: { model },
        cause,
      });
    }
  };
  return {
    model,
    dimensions,
    calibration: checkedCalibration(embedder.calibration, 'embedder.calibration'),
    thresholds: checkedThresholds(embedder.thresholds, 'embedder.thresholds'),
    async embed(texts, options) {
      const vectors: unknown = await given(() => embedder.embed(texts, options), options?.signal);
      if (!Array.isArray(vectors) || vectors.length !== texts.length) {
        const found = Array.isArray(vectors) ? `${vectors.length} vectors` : describe(vectors);
        throw wrong(model, `${found} for ${texts.length} texts; return one a text, in order`);
      }
      return vectors.map((vector) => checkedVector(vector, model, dimensions));
    },
  };
}

const EXPECTED = 'return a Float32Array, or undefined where it knows nothing';

/**
 * Converts a vector to 32-bit floats, since most libraries return plain arrays. Throws `embedder_failed`,
 * `embedder_mismatch`.
 */
function checkedVector(given: unknown, model: string, dimensions: number): Float32Array | undefined {
  if (given === undefined) return undefined;
  if (!Array.isArray(given) && !ArrayBuffer.isView(given)) {
    throw wrong(model, `${given === null ? 'null' : typeof given} as a vector; ${EXPECTED}`);
  }
  const vector = asFloats(given as unknown as number[]);
  if (!vector) throw wrong(model, `a vector that holds something other than numbers; ${EXPECTED}`);
  if (vector.length !== dimensions) {
    const message = `the embedder ${model} returned a vector of ${vector.length} numbers, its dimensions are ${dimensions}`;
    throw new SalienceError('embedder_mismatch', message, { details: { model, dimensions } });
  }
  let squares = 0;
  for (let at = 0; at < dimensions; at++) squares += vector[at]! * vector[at]!;
  if (Math.abs(squares - 1) < 1e-3) return vector;
  if (Number.isNaN(squares))
    throw wrong(model, `a vector that holds something other than numbers; ${EXPECTED}`);
  const length = Math.sqrt(squares);
  const advice =
    length === 0
      ? 'return undefined for a text of which it knows nothing'
      : 'configure it to return normalised vectors';
  throw wrong(model, `a vector of length ${length}, not 1; ${advice}`);
}

/**
 * Copies the vector, because an embedder may reuse its array. Returns `undefined` for values that are not numbers, such
 * as a bigint.
 */
function asFloats(given: ArrayLike<number>): Float32Array | undefined {
  try {
    return Float32Array.from(given);
  } catch {
    return undefined;
  }
}

function wrong(model: string, what: string): SalienceError {
  return new SalienceError('embedder_failed', `the embedder ${model} returned ${what}`, {
    details: { model },
  });
}

export function checkedCalibration(
  calibration: Calibration = { floor: 0.2, ceiling: 0.9 },
  field = 'calibration',
): Calibration {
  onlyKeys(calibration, ['floor', 'ceiling', 'minRelevance'], field);
  const floor = number(calibration.floor, `${field}.floor`, -1, 1);
  const ceiling = number(calibration.ceiling, `${field}.ceiling`, -1, 1);
  if (floor >= ceiling) throw invalidArgument(field, 'floor must be below ceiling');
  const { minRelevance } = calibration;
  if (minRelevance === undefined) return { floor, ceiling };
  return { floor, ceiling, minRelevance: number(minRelevance, `${field}.minRelevance`, 0, 1) };
}

export function checkedThresholds(
  thresholds: Partial<SimilarityThresholds> = {},
  field = 'thresholds',
): SimilarityThresholds {
  const names = Object.keys(THRESHOLDS) as readonly (keyof SimilarityThresholds)[];
  onlyKeys(thresholds, names, field);
  const given = (name: keyof SimilarityThresholds) =>
    number(thresholds[name] ?? THRESHOLDS[name], `${field}.${name}`, -1, 1);
  return {
    conflict: given('conflict'),
    birthLink: given('birthLink'),
    consolidation: given('consolidation'),
    similarPair: given('similarPair'),
  };
}
