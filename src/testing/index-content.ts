import { frequencyOf, rowOf } from '../search/postings.ts';
import { type ResidentIndex, signalsOfRow } from '../search/resident-index.ts';

/** Returns the content of an index by key. It is equal for two indexes that give the same answers, however they were built. */
export function indexContent(index: ResidentIndex): ReadonlyMap<number, unknown> {
  const terms = new Map<number, [term: number, count: number][]>();
  for (const [term, postings] of index.postings) {
    for (const entry of postings.entries.subarray(0, postings.count)) {
      const list = terms.get(rowOf(entry)) ?? [];
      terms.set(rowOf(entry), list);
      list.push([term, frequencyOf(postings, entry)]);
    }
  }
  const content = new Map<number, unknown>();
  for (const [key, row] of [...index.rowOfKey].sort(([a], [b]) => a - b)) {
    content.set(key, {
      ordinal: index.ordinals[row],
      signals: signalsOfRow(index, row),
      tags: index.tagsOfRow.get(row) ?? [],
      length: index.lengths[row],
      asks: index.asks[row],
      session: sessionOf(index, row),
      terms: (terms.get(row) ?? []).sort(([a], [b]) => a - b),
      codes: Number.isNaN(index.scales[row]) ? undefined : [...(index.codes?.view(row, 1) ?? [])],
      scale: index.scales[row],
      residual: Number.isNaN(index.scales[row]) ? undefined : index.residuals[row],
    });
  }
  return content;
}

/** The session of a row, and the keys of all memories made in it, in order. */
function sessionOf({ sessions, keys }: ResidentIndex, row: number) {
  const code = sessions.codes[row];
  if (!code) return undefined;
  return {
    id: sessions.dictionary.texts[code - 1],
    keys: Array.from(sessions.lists.of(code), (each) => keys[each]),
  };
}
