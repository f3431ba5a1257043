import type { MemoryRecord } from '../../domain/memory.ts';
import { MOST_RELATIONS, unitedRelations } from '../../domain/relation.ts';

/** What a consolidation without a model says: everything that its originals say, one below the other. */
export function listedContent(memories: readonly Pick<MemoryRecord, 'title' | 'content'>[]): string {
  return memories
    .map(({ title, content }) => (title === undefined ? content : `${title}: ${content}`))
    .join('\n');
}

/** The tags of a consolidation: those of all its originals, as many as a memory may have. */
export function combinedTags(memories: readonly Pick<MemoryRecord, 'tags'>[]): readonly string[] {
  return [...new Set(memories.flatMap(({ tags }) => tags))].slice(0, 64);
}

/** What a consolidation states: the relations of all its originals, as many as a memory may have. */
export function combinedRelations(
  memories: readonly Pick<MemoryRecord, 'relations'>[],
): Pick<MemoryRecord, 'relations'> {
  const stated = memories.flatMap(({ relations = [] }) => relations);
  const relations = stated.length === 0 ? undefined : unitedRelations(stated).slice(0, MOST_RELATIONS);
  return { relations };
}

/** Whether a memory is the summary that a session gets when nobody writes one. */
export function isAutomaticSummary({ type, source, tags }: MemoryRecord): boolean {
  return type === 'summary' && source === 'inferred' && tags.includes('automatic');
}
