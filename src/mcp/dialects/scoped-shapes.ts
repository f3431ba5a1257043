import * as z from 'zod';
import { named, quoted } from '../../api/quote.ts';
import { LONGEST_LIST } from '../../domain/arguments.ts';
import type { Memory } from '../../index.ts';
import { projectOfScope } from './projects.ts';

const TYPES = ['fact', 'rule', 'decision', 'feedback', 'context'] as const;

export const scope = z.string().optional().describe('"global" or "project"');
export const project = z.string().optional().describe('The name of the project');
export const tags = z.array(z.string()).max(LONGEST_LIST).optional();
export const memoryType = z.enum(TYPES);

/** A memory in the form of mememory. */
export const scopedMemory = z.object({
  id: z.string(),
  content: z.string(),
  scope: z.string(),
  project: z.string().nullable(),
  type: z.string(),
  tags: z.array(z.string()),
  weight: z.number(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type ScopedMemory = z.output<typeof scopedMemory>;

export function scopedMemoryOf(memory: Memory): ScopedMemory {
  const project = projectOfScope(memory.scope);
  return {
    id: memory.id,
    content: memory.content,
    scope: project === undefined ? memory.scope : 'project',
    project: project ?? null,
    type: memory.type,
    tags: [...memory.tags],
    weight: memory.effectiveWeight,
    created_at: memory.createdAt,
    updated_at: memory.updatedAt,
  };
}

export function lineOf({ id, content, scope, project, type, updated_at }: ScopedMemory): string {
  const where = project === null ? scope : `project:${project}`;
  return `[${named(id)}] ${named(type)} · ${named(where)} · ${updated_at.slice(0, 10)}: ${quoted(content)}`;
}
