import * as z from 'zod';
import { alike } from '../domain/statement.ts';
import type { Conflict, Inactive, RememberResult } from '../index.ts';
import { counted, dayOf, named, quoted } from './quote.ts';
import { instant, listOf } from './schemas.ts';

/** Since when, and why, a statement is inactive. */
export const inactiveSchema = z.object({ since: instant, reason: z.string() } satisfies Record<
  keyof Inactive,
  z.ZodType
>);

/** The result of remembering a statement. */
export const rememberedSchema = z.object({
  id: z.string(),
  outcome: z
    .enum(['created', 'updated', 'deduplicated'] satisfies readonly RememberResult['outcome'][])
    .describe('updated: its topic was known; deduplicated: it was known, word for word but for white space'),
  inactive: inactiveSchema
    .optional()
    .describe('It was invalidated before, and is not recalled until it is reinstated'),
  differs: listOf(z.string())
    .optional()
    .describe('Fields that were given but not stored, because the known memory has other values'),
  conflicts: listOf(
    z.object({
      conflictId: z.string().describe('What resolve takes'),
      id: z.string(),
      similarity: z.number(),
      content: z.string(),
    } satisfies Record<keyof Conflict, z.ZodType>),
  )
    .optional()
    .describe('Memories that it may contradict'),
  warning: z.string().optional(),
  unchecked: z.string().optional().describe('Why contradictions could not be looked for'),
} satisfies Record<keyof RememberResult, z.ZodType>);

type RememberedOutput = z.output<typeof rememberedSchema>;

/** `revival` says what to do if an invalidated statement is true after all. */
export function rememberedText(
  { id, outcome, inactive, differs = [], conflicts = [], unchecked }: RememberedOutput,
  revival = 'call reinstate',
): string {
  return [
    `${outcome} ${named(id)}`,
    ...(inactive === undefined
      ? []
      : [
          `It is not recalled: it was invalidated on ${dayOf(inactive.since)}, because ${quoted(inactive.reason)}. If the user says that it is true after all, ${revival}.`,
        ]),
    ...(differs.length === 0
      ? []
      : [`It was known, and its ${differs.join(', ')} stayed as before; to change that, call update.`]),
    ...(conflicts.length === 0
      ? []
      : [
          `It may contradict ${counted(conflicts.length, 'memory', 'memories')}. Ask the user which is correct, never keep both silently, and resolve each conflict:`,
          ...conflicts.map(
            ({ conflictId, id, similarity, content }) =>
              `- conflict ${named(conflictId)}, ${alike(similarity)}: [${named(id)}] ${quoted(content)}`,
          ),
        ]),
    ...(unchecked === undefined ? [] : [`could not check for contradictions: ${unchecked}`]),
  ].join('\n');
}
