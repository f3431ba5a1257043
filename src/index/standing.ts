import type { Instant } from '../model/time.ts';
import { type Belief, isBelieved } from '../store/eligibility.ts';
import { type Relations, standingsOf } from '../store/standing.ts';
import type { MemoryFilter } from '../store/store.ts';
import { codeOf } from './columns.ts';
import { type ResidentIndex, signalsOfRow } from './resident-index.ts';

/**
 * Writes into the columns how memories stand to each other where and when a recall looks. The rest of the index does
 * not depend on the recall: the function that comes back undoes it, and must be called before the next one.
 */
export function applyStandings(
  index: ResidentIndex,
  relations: Relations<number>,
  filter: MemoryFilter,
  now: Instant,
): () => void {
  if (relations.successors.size === 0 && relations.newer.size === 0) return () => {};
  const standings = standingsOf(relations, (key) => {
    const row = index.rowOfKey.get(key);
    return row !== undefined && isBelieved(signalsOfRow(index, row) as Belief, filter, now);
  });
  const { contested } = index.columns.signals;
  const { codes, dictionary } = index.columns.attributes.superseded;
  const ordinary = codeOf(dictionary, 'false');
  const rows: number[] = [];
  for (const [key, standing] of standings) {
    const row = index.rowOfKey.get(key);
    if (row === undefined) continue;
    rows.push(row);
    contested[row] = standing.contested;
    codes[row] = standing.superseded ? codeOf(dictionary, 'true') : ordinary;
  }
  return () => {
    for (const row of rows) {
      contested[row] = 0;
      codes[row] = ordinary;
    }
  };
}
