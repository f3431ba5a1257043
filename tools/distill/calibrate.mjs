// Finds the builtin cosines that mean what the documented thresholds mean for a neural sentence encoder.
//
// Quantile matching: over one set of sentence pairs from WordNet, as many pairs must lie above the builtin's threshold
// as lie above the documented cosine of the encoder that the table was distilled from.

import { builtinEmbedder } from './runtime.mjs';
import { encodeAll, teacherDimensions } from './teacher.mjs';
import { readSynsets } from './wordnet.mjs';

const documented = { conflict: 0.75, birthLink: 0.4, consolidation: 0.7, similarPair: 0.85 };
const pairsOfAKind = 3000;

const kinds = makePairs(readSynsets());
const texts = [...new Set(Object.values(kinds).flat(2))];
const numbers = new Map(texts.map((text, number) => [text, number]));
const teacher = await encodeAll('calibration', texts);
const table = await builtinEmbedder().embed(texts);

const teacherCosine = ([a, b]) =>
  dot(
    teacher.subarray(numbers.get(a) * teacherDimensions, (numbers.get(a) + 1) * teacherDimensions),
    teacher.subarray(numbers.get(b) * teacherDimensions, (numbers.get(b) + 1) * teacherDimensions),
  );
const tableCosine = ([a, b]) => dot(table[numbers.get(a)] ?? [], table[numbers.get(b)] ?? []);

for (const [kind, pairs] of Object.entries(kinds)) {
  const [encoder, builtin] = [
    pairs.map(teacherCosine).sort(ascending),
    pairs.map(tableCosine).sort(ascending),
  ];
  const at = (values) =>
    [0.05, 0.25, 0.5, 0.75, 0.95, 0.999].map((share) => quantile(values, share).toFixed(3)).join(' ');
  console.log(
    `${kind}: ${pairs.length} pairs; quantiles .05 .25 .5 .75 .95 .999: encoder ${at(encoder)}; builtin ${at(builtin)}`,
  );
}
const all = Object.values(kinds).flat();
const encoder = all.map(teacherCosine).sort(ascending);
const builtin = all.map(tableCosine).sort(ascending);
for (const [name, cosine] of Object.entries(documented)) {
  const share = encoder.findIndex((value) => value >= cosine) / encoder.length;
  console.log(
    `${name}: encoder ${cosine} → builtin ${quantile(builtin, share).toFixed(3)} (quantile ${share.toFixed(4)})`,
  );
}

/**
 * Equally many pairs of five kinds, so that all cosines occur: strangers, example sentences of one word, examples of one
 * synset, definitions of one word's senses, and an example with the word replaced by a synonym.
 * @param {readonly import('./wordnet.mjs').Synset[]} synsets
 */
function makePairs(synsets) {
  const strangers = [];
  const oneSynset = [];
  const synonym = [];
  const examplesOf = new Map();
  const definitionsOf = new Map();
  const examples = synsets.flatMap((synset) => synset.examples).filter((text) => text.split(' ').length >= 4);
  for (const [index, text] of examples.entries())
    strangers.push([text, examples[(index * 7919 + 4801) % examples.length]]);
  for (const { lemmas, definition, examples } of synsets) {
    const sentences = examples.filter((text) => text.split(' ').length >= 4);
    if (sentences.length > 1) oneSynset.push([sentences[0], sentences[1]]);
    for (const lemma of lemmas) {
      definitionsOf.set(lemma, [...(definitionsOf.get(lemma) ?? []), definition]);
      if (sentences.length > 0) examplesOf.set(lemma, [...(examplesOf.get(lemma) ?? []), sentences[0]]);
    }
    for (const sentence of sentences) {
      const used = lemmas.find((lemma) => sentence.split(' ').includes(lemma));
      const other = lemmas.find((lemma) => lemma !== used);
      if (used && other)
        synonym.push([
          sentence,
          sentence
            .split(' ')
            .map((word) => (word === used ? other : word))
            .join(' '),
        ]);
    }
  }
  const firstTwo = (lists) =>
    [...lists.values()]
      .filter((list) => list.length > 1 && list[0] !== list[1])
      .map((list) => list.slice(0, 2));
  const kinds = {
    strangers,
    oneWord: firstTwo(examplesOf),
    oneSynset,
    definitions: firstTwo(definitionsOf),
    synonym,
  };
  return Object.fromEntries(
    Object.entries(kinds).map(([kind, pairs]) => [
      kind,
      everyNth(
        pairs.filter(([a, b]) => a !== b),
        pairsOfAKind,
      ),
    ]),
  );
}

/** `count` pairs, evenly spread over the list. */
function everyNth(pairs, count) {
  return Array.from(
    { length: Math.min(count, pairs.length) },
    (_, index) => pairs[Math.floor((index * pairs.length) / count)],
  );
}

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

function dot(left, right) {
  let sum = 0;
  for (let k = 0; k < left.length; k++) sum += left[k] * right[k];
  return sum;
}

function ascending(a, b) {
  return a - b;
}
