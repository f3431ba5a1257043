import type { MemoryRecord } from '../../domain/memory.ts';
import { MOST_RELATIONS, unitedRelations } from '../../domain/relation.ts';

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
