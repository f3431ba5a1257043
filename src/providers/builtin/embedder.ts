import { existsSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { throwIfAborted } from '../../domain/errors.ts';
import { programFile } from '../../domain/program-file.ts';
import { mapInSlices, startLongSlices } from '../../domain/slices.ts';
import type { Calibration, Embedder, SimilarityThresholds } from '../embedder.ts';
import { openWordTable, type WordTable } from './table.ts';
import { findWord, tokenize } from './tokenize.ts';

/** Options of {@link builtinEmbedder}. */
export interface BuiltinEmbedderOptions {
  /** Another word table in the format of `table.ts`. Default is the one that comes with the package. */
  readonly table?: URL | string | undefined;
}

/**
 * The middle of the plateau that the grid in bench/results/grid.json found on development conversations. What the
 * floor of relevance loses and refuses is in bench/results/floor.json.
 */
const calibration: Calibration = { floor: 0.1, ceiling: 0.9, minRelevance: 0.17 };

/**
 * The cosines at which as many sentence pairs lie above as lie above 0.75, 0.40, 0.70 and 0.85 for the sentence encoder that
 * the table was distilled from: printed by `tools/distill/calibrate.mjs`.
 */
const thresholds: SimilarityThresholds = {
  conflict: 0.806,
  birthLink: 0.499,
  consolidation: 0.769,
  similarPair: 0.878,
};

/**
 * The embedder that needs no network, no key and no model download: a table of word vectors, distilled from a sentence
 * encoder by `tools/distill`, summed with the weights of smooth inverse frequency and brought to unit length
 * (Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", 2017).
 *
 * Knows English words only, and not their order: good at topics and synonyms, blind to negation and to who did what to
 * whom. The same text gives the same bits everywhere: float64 sums in the order of the words, no transcendental
 * functions. The table (under 10 MB) is read at the first call of `embed` and shared by all embedders that use it.
 * `embed` throws `aborted`, and `embedder_failed` when the table cannot be read.
 */
export function builtinEmbedder(options: BuiltinEmbedderOptions = {}): Embedder {
  const file = options.table ?? tableOfPackage();
  return {
    model: 'builtin-1',
    dimensions: 256,
    calibration,
    thresholds,
    async embed(texts, { signal } = {}) {
      throwIfAborted(signal);
      const table = openTable(file);
      const sum = new Float64Array(table.dimensions);
      const slices = startLongSlices();
      const unlessAborted = () => slices()?.then(() => throwIfAborted(signal));
      return mapInSlices(texts, (text) => embedText(table, text, sum), unlessAborted);
    },
  };
}

/**
 * The table beside this file; where a bundler has moved the code and not the table, that of the installed package, if
 * there is one.
 */
function tableOfPackage(): URL | string {
  const file = besideThisFile();
  if (existsSync(file)) return file;
  try {
    // Named alone, `createRequire` is followed by webpack, which then reads the table as code.
    return module.createRequire(import.meta.url ?? programFile()).resolve('salience/table.bin');
  } catch {
    // Reading this one says what to do.
    return file;
  }
}

/** In these words bundlers know it for a file; one that makes CommonJS leaves no address to be beside. */
function besideThisFile(): URL | string {
  try {
    return new URL('./table.bin', import.meta.url);
  } catch {
    return join(dirname(programFile()), 'table.bin');
  }
}

const openTables = new Map<string, WordTable>();

function openTable(file: URL | string): WordTable {
  const key = String(file);
  let table = openTables.get(key);
  if (table === undefined) {
    table = openWordTable(file);
    openTables.set(key, table);
  }
  return table;
}

/** The unit vector of one text; `sum` is scratch space of the table's dimensions. */
function embedText(table: WordTable, text: string, sum: Float64Array): Float32Array | undefined {
  const { dimensions } = table;
  const words = tokenize(text)
    .map((word) => findWord(table, word))
    .filter((number) => number >= 0);
  sum.fill(0);
  let at = 0;
  for (; at + 4 <= words.length; at += 4) addFour(table, words, at, sum);
  for (; at < words.length; at++) addOne(table, words[at] as number, sum);
  let squares = 0;
  for (let index = 0; index < dimensions; index++) squares += (sum[index] as number) * (sum[index] as number);
  // Opposite words can cancel out; such a text has no direction.
  if (squares < 1e-12) return undefined;
  const length = Math.sqrt(squares);
  const vector = new Float32Array(dimensions);
  for (let index = 0; index < dimensions; index++) vector[index] = (sum[index] as number) / length;
  return vector;
}

function addOne({ dimensions, rows, scales, weights }: WordTable, word: number, sum: Float64Array): void {
  const factor = (weights[word] as number) * (scales[word] as number);
  const from = word * dimensions;
  for (let index = 0; index < dimensions; index++) {
    sum[index] = (sum[index] as number) + factor * (rows[from + index] as number);
  }
}

/** The same bits as one word after the other, and the sum is read and written once. */
function addFour(table: WordTable, words: readonly number[], at: number, sum: Float64Array): void {
  const { dimensions, rows, scales, weights } = table;
  const [a, b, c, d] = words.slice(at, at + 4) as [number, number, number, number];
  const factorA = (weights[a] as number) * (scales[a] as number);
  const factorB = (weights[b] as number) * (scales[b] as number);
  const factorC = (weights[c] as number) * (scales[c] as number);
  const factorD = (weights[d] as number) * (scales[d] as number);
  const [fromA, fromB, fromC, fromD] = [a * dimensions, b * dimensions, c * dimensions, d * dimensions];
  for (let index = 0; index < dimensions; index++) {
    sum[index] =
      (sum[index] as number) +
      factorA * (rows[fromA + index] as number) +
      factorB * (rows[fromB + index] as number) +
      factorC * (rows[fromC + index] as number) +
      factorD * (rows[fromD + index] as number);
  }
}
