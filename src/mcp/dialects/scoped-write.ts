import * as z from 'zod';
import { named, quoted } from '../../api/quote.ts';
import { operationOf } from '../../api/verb.ts';
import { alike } from '../../domain/statement.ts';
import { defineTool } from '../tool.ts';
import { placeOf } from './projects.ts';
import { lineOf, memoryType, project, scope, scopedMemory, scopedMemoryOf, tags } from './scoped-shapes.ts';

export const remember = defineTool({
  name: 'remember',
  title: 'Remember',
  description: 'Stores one statement, for everywhere (global) or for a project.',
  input: z.strictObject({
    content: z.string().describe('One self-contained statement'),
    scope,
    project,
    type: memoryType.optional().describe('Default is fact'),
    tags,
    weight: z
      .number()
      .min(0.1)
      .max(1)
      .optional()
      .describe('1 certain (default), 0.5 tentative, 0.3 partly outdated'),
    supersedes: z
      .string()
      .optional()
      .describe(
        'The id of the memory that it replaces: it stays, with a weight of 0.1, and is no longer recalled',
      ),
    ttl: z.string().optional().describe('How long it lives: "24h", "7d"'),
  }),
  output: z.object({
    id: z.string(),
    outcome: z.string(),
    conflicts: z
      .array(z.object({ id: z.string(), similarity: z.number(), content: z.string() }))
      .optional()
      .describe('Memories that it may contradict: ask the user which is correct'),
    inactive: z
      .string()
      .optional()
      .describe('Why it is not recalled: the reason for which it was invalidated'),
    differs: z
      .array(z.string())
      .optional()
      .describe('Fields that were given but not stored, because the known memory has other values'),
    unchecked: z.string().optional().describe('Why contradictions could not be looked for'),
  }),
  access: 'write',
  destructive: false,
  idempotent: false,
  async run(memory, { content, scope, project, ...options }, context) {
    const { inactive, conflicts, differs, ...remembered } = await memory.remember(content, {
      ...options,
      scope: placeOf(scope, project),
      ...operationOf(context),
    });
    return {
      ...remembered,
      ...(conflicts && { conflicts: [...conflicts] }),
      ...(inactive && { inactive: inactive.reason }),
      ...(differs && { differs: [...differs] }),
    };
  },
  text: ({ id, outcome, conflicts = [], inactive, differs = [], unchecked }) =>
    [
      `${outcome} ${named(id)}`,
      ...(differs.length === 0 ? [] : [`it was known, and its ${differs.join(', ')} stayed as before`]),
      ...(inactive === undefined ? [] : [`not recalled, because it was invalidated: ${quoted(inactive)}`]),
      ...(unchecked === undefined ? [] : [`could not check for contradictions: ${unchecked}`]),
      ...(conflicts.length === 0 ? [] : warningOf(id, conflicts)),
    ].join('\n'),
});

/**
 * Describes the conflicts of a new statement in terms of this dialect's tools. None of them resolves a conflict by
 * itself.
 */
function warningOf(
  id: string,
  conflicts: readonly { readonly id: string; readonly similarity: number; readonly content: string }[],
): readonly string[] {
  return [
    'CONTRADICTION DETECTED. Stored; potentially conflicting memories:',
    ...conflicts.map((each) => `[${named(each.id)}] (${alike(each.similarity)}) ${quoted(each.content)}`),
    'Ask the user which is correct, and never keep both silently. Then:',
    '1. Keep both, if they are complementary',
    `2. Update the old one: update(id=<old_id>, content=...), and forget(id=${quoted(id)})`,
    '3. Supersede: remember the same again, with supersedes=<old_id>',
    '4. Delete the old one: forget(id=<old_id>)',
  ];
}

export const forget = defineTool({
  name: 'forget',
  title: 'Forget',
  description: 'Erases a memory for good. There is no undo.',
  input: z.strictObject({ id: z.string() }),
  output: z.object({ id: z.string() }),
  access: 'write',
  destructive: true,
  idempotent: true,
  async run(memory, { id }, context) {
    await memory.forget(id, operationOf(context));
    return { id };
  },
  text: ({ id }) => `forgotten ${named(id)}`,
});

export const update = defineTool({
  name: 'update',
  title: 'Update',
  description: 'Replaces the content of a memory; its age starts again.',
  input: z.strictObject({ id: z.string(), content: z.string() }),
  output: scopedMemory,
  access: 'write',
  destructive: false,
  idempotent: false,
  run: async (memory, { id, content }, context) =>
    scopedMemoryOf(await memory.update(id, { content }, operationOf(context))),
  text: (memory) => `updated ${lineOf(memory)}`,
});
