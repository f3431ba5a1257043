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
  /** Another word table in the format of `table.ts`. Default is the table in the package. */
  readonly table?: URL | string | undefined;
}

/**
 * The middle of the plateau that the grid in bench/results/grid.json found on development conversations. The effect of
 * `minRelevance`, on right and on irrelevant results, is in bench/results/floor.json.
 */
const calibration: Calibration = { floor: 0.1, ceiling: 0.9, minRelevance: 0.17 };

/**
 * Cosines that as many sentence pairs exceed as exceed 0.75, 0.40, 0.70 and 0.85 with the sentence encoder that the
 * table was distilled from. Printed by `tools/distill/calibrate.mjs`.
 */
const thresholds: SimilarityThresholds = {
  conflict: 0.806,
  birthLink: 0.499,
  consolidation: 0.769,
  similarPair: 0.878,
};

/**
 * Creates the embedder that needs no network, no key and no model download. It sums word vectors, distilled from a
 * sentence encoder by `tools/distill`, with the weights of smooth inverse frequency, and normalises the sum to unit
 * length (Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", 2017).
 *
 * It knows English words only and ignores their order: good at topics and synonyms, blind to negation and to who did
 * what to whom. The same text gives the same bits everywhere: float64 sums in the order of the words, no transcendental
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
 * Returns the table next to this file. If a bundler has moved the code without the table, returns that of the installed
 * package, if there is one.
 */
function tableOfPackage(): URL | string {
  const file = besideThisFile();
  if (existsSync(file)) return file;
  try {
    // As a named import, webpack would follow `createRequire` and bundle the table as code.
    return module.createRequire(import.meta.url ?? programFile()).resolve('salience/table.bin');
  } catch {
    // Reading this file then fails with an error that says what to do.
    return file;
  }
}

/** Bundlers recognise `new URL(…, import.meta.url)` as a file. In CommonJS bundles `import.meta.url` is missing. */
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

/** Returns the unit vector of a text. `sum` is scratch space with the table's dimensions. */
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
  // Opposite words can cancel each other out. Such a text has no direction.
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

/** Adds four words at once: the same bits as word by word, with one read and write of the sum. */
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
