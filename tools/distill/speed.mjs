// Measures the built-in embedder: the first call in a fresh process, then texts a second in one thread.

import { statSync } from 'node:fs';
import { builtinEmbedder, tableFile } from './runtime.mjs';
import { readSynsets } from './wordnet.mjs';

const embedder = builtinEmbedder();
const started = performance.now();
await embedder.embed(['the first text']);
const cold = performance.now() - started;

const texts = readSynsets()
  .flatMap(({ examples }) => examples)
  .slice(0, 20_000);
const words = texts.reduce((sum, text) => sum + text.split(' ').length, 0);
await embedder.embed(texts);
const seconds = [];
for (let run = 0; run < 5; run++) {
  const from = performance.now();
  await embedder.embed(texts);
  seconds.push((performance.now() - from) / 1000);
}
seconds.sort((a, b) => a - b);
console.log(`table ${(statSync(tableFile).size / 1e6).toFixed(2)} MB; first call ${cold.toFixed(1)} ms`);
console.log(
  `${Math.round(texts.length / seconds[2])} texts/s of ${(words / texts.length).toFixed(1)} words (median of 5)`,
);
