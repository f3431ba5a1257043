// Chooses the words of the table and estimates how frequent each is.

import { tokenize } from './runtime.mjs';

/** Contractions in everyday English: the glosses hold too few of them to be counted. */
const contractions =
  `i'm i've i'll i'd you're you've you'll you'd he's he'll he'd she's she'll she'd it's it'll it'd we're we've
we'll we'd they're they've they'll they'd that's that'll that'd there's there'll here's what's what're what'll who's who'll who'd
where's when's why's how's let's don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't couldn't shouldn't
mustn't haven't hasn't hadn't needn't ain't y'all o'clock could've should've would've might've gonna wanna gotta`.split(
    /\s+/,
  );

const leastOfContraction = 2e-5;
const storable = /^[a-z0-9']{1,24}$/;
const number = /^\d{1,4}$|^\d+(st|nd|rd|th|s)$/;

/**
 * The words with the greatest usefulness: a mean of three estimates of frequency, the encoder's own unigram model
 * (everyday English of the web), the word's share of WordNet's definitions and examples, and its lemma's share of
 * WordNet's sense-tagged text. The probability that its weight is made of leaves the last one out: names of classes
 * stand for proper names there ("person"). Definitions have a manner of their own ("of or relating to"), hence the
 * small share of the text.
 * @param {{size: number, synsets: readonly import('./wordnet.mjs').Synset[], tagCounts: ReadonlyMap<string, number>,
 *   pieces: readonly (readonly [string, number])[], encode: (text: string) => number[]}} input
 * @returns {{word: string, written: string, probability: number, usefulness: number}[]} Most useful first. `written`: the
 *   word with the capitals that the encoder finds most probable.
 */
export function chooseVocabulary({ size, synsets, tagCounts, pieces, encode }) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  let total = 0;
  const everyday = new Set(contractions);
  /** @type {Map<string, string>} */
  const writtenAs = new Map();
  for (const { lemmas, definition, examples } of synsets) {
    for (const text of [definition, ...examples]) {
      for (const token of tokenize(text)) {
        const word = everyday.has(token) ? token : withoutSuffix(token);
        counts.set(word, (counts.get(word) ?? 0) + 1);
        total++;
      }
    }
    for (const lemma of lemmas) {
      if (lemma.includes(' ')) continue;
      for (const word of tokenize(lemma).map(withoutSuffix)) if (!counts.has(word)) counts.set(word, 0);
      if (/^\p{Lu}\p{Ll}+$/u.test(lemma) && !writtenAs.has(lemma.toLowerCase()))
        writtenAs.set(lemma.toLowerCase(), lemma);
    }
  }
  for (const [piece] of pieces) {
    const word = piece.replace(/^\u2581/, '');
    if (piece.startsWith('\u2581') && /^\p{L}{2,}$/u.test(word)) {
      for (const token of tokenize(word)) if (!counts.has(token)) counts.set(token, 0);
    }
  }
  for (const word of [...contractions, 'i', 'a']) if (!counts.has(word)) counts.set(word, 0);
  let tagged = 0;
  for (const count of tagCounts.values()) tagged += count;

  /** @param {string} text */
  const logProbability = (text) =>
    encode(text).reduce((sum, id) => sum + (id === 0 ? -20 : (pieces[id]?.[1] ?? -20)), 0);
  const entries = [];
  for (const [word, count] of counts) {
    if (!storable.test(word) || (/\d/.test(word) && !number.test(word))) continue;
    const forms = [word, word.charAt(0).toUpperCase() + word.slice(1), word.toUpperCase()];
    if (writtenAs.has(word)) forms.push(String(writtenAs.get(word)));
    let written = word;
    let best = -Infinity;
    for (const form of forms) {
      const value = logProbability(form);
      if (value > best) [best, written] = [value, form];
    }
    const fromPieces = Math.exp(best);
    const fromText = count / total;
    const fromTags = (tagCounts.get(word) ?? 0) / tagged;
    const share = 0.75 * fromPieces + 0.25 * fromText;
    entries.push({
      word,
      written,
      probability: everyday.has(word) ? Math.max(share, leastOfContraction) : share,
      usefulness: everyday.has(word) ? 1 : 0.6 * fromPieces + 0.2 * fromText + 0.2 * fromTags,
    });
  }
  entries.sort((a, b) => b.usefulness - a.usefulness || (a.word < b.word ? -1 : 1));
  return entries.slice(0, size);
}

/** The runtime looks a possessive up by its base, so the table holds no apostrophes but those of contractions. */
function withoutSuffix(word) {
  const apostrophe = word.indexOf("'");
  return apostrophe > 0 ? word.slice(0, apostrophe) : word;
}
