import type { SearchableMemory } from '../store/state.ts';
import type { Spelling } from '../store/store.ts';

/** Finds the stand-ins for terms that no visible memory has, by comparing every known word with each of them. */
export function spellNaively(
  terms: readonly string[],
  visible: readonly SearchableMemory[],
  written: ReadonlyMap<string, string> = new Map(),
): readonly Spelling[] {
  const frequencies = new Map<string, number>();
  for (const { memory, terms } of visible) {
    if (memory.tier === 'stub') continue;
    for (const term of terms.keys()) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  }
  const isWord = (term: string) => /^[\p{L}\p{M}]+$/u.test(term);
  const nearest = (term: string) => {
    const [letters] = (written.get(term) ?? term).split(/['’]/);
    const most = term.length < 4 ? 0 : letters!.length >= 9 ? 2 : letters!.length >= 5 ? 1 : 0;
    const isLongEnough = term.length >= 4 || /^(?:\p{Script=Han}|\p{Script=Hangul}{2})/u.test(term);
    const found = [...frequencies]
      .filter(([each]) => isWord(each))
      .map(([each, frequency]) => {
        const edits = editsBetween(term, each);
        const begins = isLongEnough && each !== term && each.startsWith(term);
        const rank = edits <= most ? edits : begins ? 3 : Infinity;
        return { term: each, frequency, rank, distance: edits <= most ? edits : undefined };
      });
    return found
      .filter(({ rank }) => rank < Infinity)
      .sort((a, b) => a.rank - b.rank || b.frequency - a.frequency || (a.term < b.term ? -1 : 1))
      .slice(0, 3)
      .map(({ term, distance }) => ({ term, distance }));
  };
  return [...new Set(terms)]
    .filter((term) => !frequencies.has(term) && isWord(term))
    .sort()
    .map((term) => ({ term, standIns: nearest(term) }))
    .filter(({ standIns }) => standIns.length > 0);
}

/** Optimal string alignment, by its recursive definition. */
export function editsBetween(a: string, b: string): number {
  const table = new Map<string, number>();
  const edits = (i: number, j: number): number => {
    if (i === 0 || j === 0) return i + j;
    const key = `${i},${j}`;
    const known = table.get(key);
    if (known !== undefined) return known;
    const options = [
      edits(i - 1, j) + 1,
      edits(i, j - 1) + 1,
      edits(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
    ];
    if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
      options.push(edits(i - 2, j - 2) + 1);
    const least = Math.min(...options);
    table.set(key, least);
    return least;
  };
  return edits(a.length, b.length);
}
