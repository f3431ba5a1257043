import type { KeyedRows } from '../store/rows.ts';
import {
  compareStandIns,
  distanceWithin,
  isSpelt,
  MOST_STAND_INS,
  mayBegin,
  mistakesIn,
  type StandIn,
  type Units,
  unitsOf,
} from '../text/spelling.ts';
import { grow } from './grow.ts';
import type { ResidentIndex } from './resident-index.ts';

/**
 * The terms of an index, searched for those that resemble a word. Built when a query first contains an unknown word,
 * with about 28 bytes for a term of eight letters. It is not sorted, so new terms are appended.
 */
export interface Vocabulary {
  /** How many terms of the postings were added, including the unused numbers. */
  taken: number;
  /** Numbers in the postings that no longer have a term. A store may give them to other terms. */
  unused: readonly number[];
  count: number;
  ids: Uint32Array;
  /** The letters of each term: a bit for each of a to z, and six more for all other characters. */
  letters: Uint32Array;
  /** Where each term begins in `units`, and where the last one ends. */
  starts: Uint32Array;
  units: Uint16Array;
}

/** A known term that stands in for a word of a query. */
export interface FoundStandIn extends StandIn {
  readonly id: number;
  /** How many visible memories contain it. */
  readonly frequency: number;
}

const BATCH = 10_000;

/** Updates run one after another, so that concurrent recalls do not add the same terms twice. */
const underWay = new WeakMap<ResidentIndex, Promise<unknown>>();

/** Returns the vocabulary of an index, brought up to date. */
export function vocabularyOf(index: ResidentIndex, source: Pick<KeyedRows, 'termsOf'>): Promise<Vocabulary> {
  const before = underWay.get(index) ?? Promise.resolve();
  const vocabulary = before.catch(() => {}).then(() => upToDate(index, source));
  underWay.set(index, vocabulary);
  return vocabulary;
}

async function upToDate(index: ResidentIndex, source: Pick<KeyedRows, 'termsOf'>): Promise<Vocabulary> {
  index.vocabulary ??= {
    taken: 0,
    unused: [],
    count: 0,
    ids: new Uint32Array(0),
    letters: new Uint32Array(0),
    starts: new Uint32Array(1),
    units: new Uint16Array(0),
  };
  const vocabulary = index.vocabulary;
  const { unused } = vocabulary;
  if (unused.length > 0) {
    const terms = await source.termsOf(unused);
    vocabulary.unused = [];
    take(vocabulary, unused, terms);
  }
  if (vocabulary.taken === index.postings.size) return vocabulary;
  let batch: number[] = [];
  let at = 0;
  const taken = vocabulary.taken;
  for (const id of index.postings.keys()) {
    if (at++ < taken) continue;
    batch.push(id);
    if (batch.length < BATCH) continue;
    take(vocabulary, batch, await source.termsOf(batch));
    vocabulary.taken += batch.length;
    batch = [];
  }
  take(vocabulary, batch, await source.termsOf(batch));
  vocabulary.taken = index.postings.size;
  return vocabulary;
}

function take(
  vocabulary: Vocabulary,
  given: readonly number[],
  terms: readonly (string | undefined)[],
): void {
  const unused: number[] = [];
  let end = vocabulary.starts[vocabulary.count]!;
  let length = end;
  for (const term of terms) length += term?.length ?? 0;
  const most = vocabulary.count + terms.length;
  vocabulary.ids = grow(vocabulary.ids, most);
  vocabulary.letters = grow(vocabulary.letters, most);
  vocabulary.starts = grow(vocabulary.starts, most + 1);
  vocabulary.units = grow(vocabulary.units, length);
  const { ids, letters, starts, units } = vocabulary;
  for (let at = 0; at < terms.length; at++) {
    const term = terms[at];
    if (term === undefined) unused.push(given[at]!);
    if (term === undefined || !isSpelt(term)) continue;
    const start = end;
    for (let unit = 0; unit < term.length; unit++) units[end++] = term.charCodeAt(unit);
    const place = vocabulary.count++;
    ids[place] = given[at]!;
    letters[place] = lettersOf(units, start, term.length);
    starts[place + 1] = end;
  }
  if (unused.length > 0) vocabulary.unused = [...vocabulary.unused, ...unused];
}

/**
 * Returns the known terms that may stand in for a term, best first. `frequencyOf` returns how many visible memories
 * contain one; a term in none of them is not used. `written` is the word that the term comes from.
 */
export function standIns(
  vocabulary: Vocabulary,
  term: string,
  frequencyOf: (id: number) => number,
  written?: string,
): readonly FoundStandIn[] {
  const word = unitsOf(term);
  const most = mistakesIn(term, written);
  const found = most === 0 ? [] : known(vocabulary, misspelt(vocabulary, word, most), frequencyOf);
  // Terms that begin with the word come after those that it may be a misspelling of.
  if (found.length < MOST_STAND_INS && mayBegin(term)) {
    const near = new Set(found.map(({ id }) => id));
    const begun = begunBy(vocabulary, word).filter(({ place }) => !near.has(vocabulary.ids[place]!));
    found.push(...known(vocabulary, begun, frequencyOf));
  }
  return found.slice(0, MOST_STAND_INS);
}

interface Resembling {
  readonly place: number;
  readonly distance: number | undefined;
}

function misspelt({ count, letters, starts, units }: Vocabulary, word: Units, most: number): Resembling[] {
  const own = lettersOf(word.units, 0, word.length);
  const found: Resembling[] = [];
  for (let place = 0; place < count; place++) {
    const start = starts[place]!;
    const length = starts[place + 1]! - start;
    const longer = length - word.length;
    if (longer > most || longer < -most) continue;
    // An edit removes one letter and adds one, at most.
    if (bitsOf(letters[place]! ^ own) > 2 * most) continue;
    const distance = distanceWithin(word, { units, start, length }, most);
    if (distance <= most) found.push({ place, distance });
  }
  return found;
}

function begunBy({ count, letters, starts, units }: Vocabulary, word: Units): Resembling[] {
  const own = lettersOf(word.units, 0, word.length);
  const found: Resembling[] = [];
  for (let place = 0; place < count; place++) {
    if ((own & ~letters[place]!) !== 0) continue;
    const start = starts[place]!;
    if (starts[place + 1]! - start <= word.length) continue;
    let at = 0;
    while (at < word.length && units[start + at] === word.units[at]) at++;
    if (at === word.length) found.push({ place, distance: undefined });
  }
  return found;
}

/** Returns those that a visible memory contains, best first. */
function known(
  { ids, starts, units }: Vocabulary,
  resembling: readonly Resembling[],
  frequencyOf: (id: number) => number,
): FoundStandIn[] {
  return resembling
    .map(({ place, distance }) => {
      const id = ids[place]!;
      const term = String.fromCharCode(...units.subarray(starts[place]!, starts[place + 1]!));
      return { id, term, distance, frequency: frequencyOf(id) };
    })
    .filter(({ frequency }) => frequency > 0)
    .sort(compareStandIns);
}

function lettersOf(units: ArrayLike<number>, start: number, length: number): number {
  let letters = 0;
  for (let at = start; at < start + length; at++) {
    const letter = units[at]! - 97;
    letters |= 1 << (letter >= 0 && letter < 26 ? letter : 26 + (units[at]! % 6));
  }
  return letters >>> 0;
}

function bitsOf(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Returns the approximate size in bytes. */
export function bytesOfVocabulary({ ids, letters, starts, units }: Vocabulary): number {
  return ids.byteLength + letters.byteLength + starts.byteLength + units.byteLength;
}
