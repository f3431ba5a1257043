import type { MemoryRecord } from '../../domain/memory.ts';
import type { Instant } from '../../domain/time.ts';
import { birthWeight } from '../../scoring/association.ts';
import { cosine } from '../../scoring/similarity.ts';
import type { Change, IndexedText } from '../../store/store.ts';

/** Larger batches are bulk loads: their memories do not come from one moment, so they get no links. */
const MOST_TOGETHER = 64;

/** Returns the links between memories that are remembered together and whose vectors are similar by the embedder's threshold. */
export function birthLinks(
  records: readonly MemoryRecord[],
  indexed: readonly IndexedText[],
  threshold: number,
  at: Instant,
): readonly Change[] {
  if (records.length > MOST_TOGETHER) return [];
  return records.flatMap((first, index) =>
    records.slice(index + 1).flatMap((second, offset): Change[] => {
      const [a, b] = [indexed[index]?.vector, indexed[index + 1 + offset]?.vector];
      const weight = a && b ? birthWeight(cosine(a, b), threshold) : 0;
      const ids: readonly [string, string] =
        first.id < second.id ? [first.id, second.id] : [second.id, first.id];
      return weight === 0 ? [] : [{ kind: 'link', link: { ids, kind: 'birth', weight, at } }];
    }),
  );
}
