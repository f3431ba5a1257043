// Makes src/providers/builtin/table.bin. Deterministic: the same packages give the same bytes.

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { writeWordTable } from './asset.mjs';
import { fitWordVectors } from './fit.mjs';
import { eigenvectors, project } from './linear.mjs';
import { findWord, tableFile, tokenize } from './runtime.mjs';
import { encodeAll, openTeacher, readPieces, teacherDimensions } from './teacher.mjs';
import { chooseVocabulary } from './vocabulary.mjs';
import { readSynsets, readTagCounts } from './wordnet.mjs';

const size = 35_000;
/** Why not 512 of half the bits: docs/decisions/0073-the-table-stays.md. */
const dimensions = 256;
/** The a of smooth inverse frequency: a word of this probability has half the weight of a rare one. */
const smoothing = 3e-4;
const lambda = 0.2;
const rounds = 2;
const steps = 20;

const synsets = readSynsets();
const teacher = await openTeacher();
const vocabulary = chooseVocabulary({
  size,
  synsets,
  tagCounts: readTagCounts(),
  pieces: readPieces(),
  encode: (text) => teacher.tokenizer.encode(text),
});
const numbers = new Map(vocabulary.map(({ word }, number) => [word, number]));
const weights = Float64Array.from(vocabulary, ({ probability }) => smoothing / (smoothing + probability));

const texts = trainingTexts(synsets);
console.log(`${vocabulary.length} words, ${texts.length} texts`);
const wordRows = await encodeAll(
  'words',
  vocabulary.map(({ written }) => written),
);
const textRows = await encodeAll('texts', texts);

console.log('principal directions');
const { vectors: directions } = eigenvectors(secondMoments(textRows), teacherDimensions);
const prior = project(wordRows, directions, teacherDimensions, dimensions);
const targets = project(textRows, directions, teacherDimensions, dimensions);

console.log('fit');
const vectors = fitWordVectors({
  bags: toBags(texts),
  targets,
  prior,
  weights,
  dimensions,
  lambda,
  rounds,
  steps,
});

const bytes = writeWordTable({ words: vocabulary.map(({ word }) => word), weights, vectors, dimensions });
writeFileSync(tableFile, bytes);
console.log(`${bytes.length} bytes, sha256 ${createHash('sha256').update(bytes).digest('hex')}`);

/** Examples first: everyday phrases; then definitions. */
function trainingTexts(synsets) {
  return [
    ...new Set([
      ...synsets.flatMap(({ examples }) => examples),
      ...synsets.map(({ definition }) => definition),
    ]),
  ];
}

function toBags(texts) {
  const table = { find: (word) => numbers.get(word) ?? -1 };
  const starts = new Uint32Array(texts.length + 1);
  const words = [];
  texts.forEach((text, index) => {
    for (const word of tokenize(text)) {
      const number = findWord(table, word);
      if (number >= 0) words.push(number);
    }
    starts[index + 1] = words.length;
  });
  return { starts, words: Uint32Array.from(words) };
}

/** Σ row·row′ over every fourth text: enough for stable directions. */
function secondMoments(rows) {
  const moments = new Float64Array(teacherDimensions * teacherDimensions);
  for (let row = 0; row < rows.length; row += 4 * teacherDimensions) {
    for (let i = 0; i < teacherDimensions; i++) {
      const left = rows[row + i];
      for (let j = i; j < teacherDimensions; j++) moments[i * teacherDimensions + j] += left * rows[row + j];
    }
  }
  for (let i = 0; i < teacherDimensions; i++) {
    for (let j = 0; j < i; j++) moments[i * teacherDimensions + j] = moments[j * teacherDimensions + i];
  }
  return moments;
}
