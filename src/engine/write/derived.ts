import type { MemoryRecord } from '../../domain/memory.ts';
import { MOST_RELATIONS, unitedRelations } from '../../domain/relation.ts';
import type { SpaceReader } from '../../store/store.ts';
import { withFullText } from '../../store/tiers.ts';

/** Returns the content of a consolidation that is made without a model: the text of each original, one per line. */
export function listedContent(memories: readonly Pick<MemoryRecord, 'title' | 'content'>[]): string {
  return memories
    .map(({ title, content }) => (title === undefined ? content : `${title}: ${content}`))
    .join('\n');
}

/** Returns the tags of a consolidation: those of all its originals, at most 64. */
export function combinedTags(memories: readonly Pick<MemoryRecord, 'tags'>[]): readonly string[] {
  return [...new Set(memories.flatMap(({ tags }) => tags))].slice(0, 64);
}

/** Returns the relations of a consolidation: those of all its originals, at most `MOST_RELATIONS`. */
export function combinedRelations(
  memories: readonly Pick<MemoryRecord, 'relations'>[],
): Pick<MemoryRecord, 'relations'> {
  const stated = memories.flatMap(({ relations = [] }) => relations);
  const relations = stated.length === 0 ? undefined : unitedRelations(stated).slice(0, MOST_RELATIONS);
  return { relations };
}

/** Whether a memory is a summary that a session got automatically because nobody wrote one. */
export function isAutomaticSummary({ type, source, tags }: MemoryRecord): boolean {
  return type === 'summary' && source === 'inferred' && tags.includes('automatic');
}

/** An original of a consolidation that is recalled on its own again, because the consolidation no longer contains it. */
export interface Reinstated {
  readonly memory: MemoryRecord;
  /** Whether it was a stub: its text is restored and must be indexed again. */
  readonly wasArchived: boolean;
}

/**
 * Returns those of the originals `ids` that are still consolidated, as they are once reinstated. Leaves out what another
 * consolidation contains; `contained` returns what a consolidation will contain.
 */
export async function reinstatedAmong(
  reader: SpaceReader,
  ids: readonly string[],
  contained: (consolidation: MemoryRecord) => readonly string[],
): Promise<readonly Reinstated[]> {
  if (ids.length === 0) return [];
  const elsewhere = new Set(
    (await reader.find('derivedFrom', ids))
      .filter(({ source }) => source === 'consolidated')
      .flatMap((memory) => contained(memory)),
  );
  const originals = await reader.get(ids.filter((id) => !elsewhere.has(id)));
  return Promise.all(
    originals
      .filter((memory) => memory?.consolidatedAt !== undefined)
      .map(async (memory): Promise<Reinstated> => {
        const whole = await withFullText(reader, memory as MemoryRecord);
        return {
          memory: { ...whole, consolidatedAt: undefined, coldSince: undefined, tier: 'hot' },
          wasArchived: memory?.tier === 'stub',
        };
      }),
  );
}
