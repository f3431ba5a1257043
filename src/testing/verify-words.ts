import type { TermCounts, WordCounts } from '../scoring/word-counts.ts';

/**
 * Recomputes a signal of words from its counts by the documented formulas, without the code that it verifies. Returns what is wrong,
 * or `undefined` if nothing is.
 */
export function wordsFault(value: number, counts: WordCounts): string | undefined {
  const { texts, totalLength, length, neighbours, terms } = counts;
  const integers = [
    texts,
    totalLength,
    length,
    ...neighbours.map((each) => each.length),
    ...terms.flatMap((term) => [term.texts, term.count, ...term.around]),
    ...counts.unknown.map((term) => term.texts),
  ];
  const odd = integers.find((each) => !Number.isInteger(each) || each < 0);
  if (odd !== undefined) return `${odd} is not a count`;
  if (length > totalLength) return `its ${length} terms are more than all ${totalLength}`;
  if (texts === 0 && totalLength > 0) return `no text has ${totalLength} terms`;
  if (terms.reduce((sum, { count }) => sum + count, 0) > length) return 'it has more words than terms';

  const average = texts === 0 ? 0 : totalLength / texts;
  if (average !== counts.averageLength) return wrong('averageLength', average, counts.averageLength);

  let fullLength = length;
  for (const neighbour of neighbours) {
    const weight = weightOf(neighbour, length);
    if (weight !== neighbour.weight) return wrong(`weight of ${neighbour.id}`, weight, neighbour.weight);
    fullLength += weight * neighbour.length;
  }
  if (fullLength !== counts.fullLength) return wrong('fullLength', fullLength, counts.fullLength);

  const denominator = 1.2 * (1 - 0.75 + 0.75 * (average === 0 ? 1 : fullLength / average));
  let bm25 = 0;
  for (const term of terms) {
    const fault = termFault(term, counts, denominator);
    if (fault !== undefined) return fault;
    bm25 += term.score;
  }
  const unknown = counts.unknown.find((each) => each.idf !== idfOf(each.texts, texts));
  if (unknown) return wrong(`idf of ${unknown.word}`, idfOf(unknown.texts, texts), unknown.idf);
  const most = fullMatch(counts);
  const share = most === 0 ? 0 : bm25 / most;
  const signal = 0.9 * Math.min(share, 1) + (0.1 * Math.max(0, share - 1)) / 1.2;
  return signal === value ? undefined : wrong('value', signal, value);
}

function termFault(
  term: TermCounts,
  { texts, neighbours }: WordCounts,
  denominator: number,
): string | undefined {
  const name = JSON.stringify(term.word);
  if (term.texts > texts) return `${name} is in ${term.texts} of ${texts} texts`;
  if (term.around.length !== neighbours.length)
    return `${name} has counts of ${term.around.length} neighbours, not ${neighbours.length}`;
  const idf = idfOf(term.texts, texts);
  const weights = term.insteadOf === undefined ? [1] : [0.5, 0.25];
  if (!weights.includes(term.weight)) return `${name} has the weight ${term.weight}`;
  if (idf !== term.idf) return wrong(`idf of ${name}`, idf, term.idf);
  let frequency = term.count;
  neighbours.forEach(({ weight }, at) => {
    frequency += weight * (term.around[at] ?? 0);
  });
  if (frequency !== term.frequency) return wrong(`frequency of ${name}`, frequency, term.frequency);
  const score = term.weight * idf * ((frequency * 2.2) / (frequency + denominator));
  return score === term.score ? undefined : wrong(`score of ${name}`, score, term.score);
}

function idfOf(texts: number, all: number): number {
  return Math.log(1 + (all + 50 - texts + 0.5) / (texts + 0.5));
}

/**
 * Returns the score of a full match: the sum over all terms of the query, in sorted order. A term that others replace counts with
 * its own weight or with theirs, whichever is greater.
 */
function fullMatch({ terms, unknown }: WordCounts): number {
  const places = new Map<string, number>(unknown.map(({ term }) => [term, 0]));
  for (const { term, insteadOf = term, weight, idf } of terms) {
    places.set(insteadOf, (places.get(insteadOf) ?? 0) + weight * idf);
  }
  return [...places.keys()].sort().reduce((sum, term) => {
    const own = unknown.find((each) => each.term === term)?.idf ?? 0;
    return sum + Math.max(own, places.get(term) ?? 0);
  }, 0);
}

/** Returns the weight of a neighbour, by its offset, whether it is a question before the text, and the lengths of both texts. */
function weightOf({ offset, asks, length }: WordCounts['neighbours'][number], own: number): number {
  const shares: Readonly<Record<number, number>> = { [-2]: 0.15, [-1]: asks ? 0.7 : 0.3, 1: 0.25, 2: 0.15 };
  const short = (terms: number) => (terms > 25 ? 25 / terms : 1);
  return (shares[offset] ?? Number.NaN) * (short(own) * short(length));
}

function wrong(what: string, computed: number, said: number): string {
  return `its counts give the ${what} ${computed}, and it says ${said}`;
}
