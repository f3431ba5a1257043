import * as z from 'zod';
import { alike } from '../domain/statement.ts';
import { type Belief, type PendingConflict, RESOLUTIONS } from '../index.ts';
import { memoryLine } from './memory-text.ts';
import { counted, named, quoted } from './quote.ts';
import { instant, listOf, memorySchema } from './schemas.ts';
import { defineVerb } from './verb.ts';

export const invalidate = defineVerb('invalidate', {
  output: memorySchema,
  text: (memory) => `invalidated ${memoryLine(memory)}, because ${quoted(memory.invalidReason ?? '')}`,
});

export const reinstate = defineVerb('reinstate', {
  output: memorySchema,
  text: (memory) => `reinstated ${memoryLine(memory)}`,
});

export const conflicts = defineVerb('conflicts', {
  output: z.object({
    conflicts: listOf(
      z.object({
        conflictId: z.string().describe('What resolve takes'),
        older: memorySchema,
        newer: memorySchema,
        kind: z.enum(['similar', 'update']).describe('update: the newer one may give a new value'),
        similarity: z.number(),
        at: instant,
      } satisfies Record<keyof PendingConflict, z.ZodType>),
    ),
  }),
  text: ({ conflicts }) =>
    conflicts.length === 0
      ? 'no conflicts wait'
      : conflicts
          .map(({ conflictId, older, newer, similarity }) =>
            [
              `conflict ${named(conflictId)}, ${alike(similarity)}:`,
              `  older ${memoryLine(older)}`,
              `  newer ${memoryLine(newer)}`,
            ].join('\n'),
          )
          .join('\n'),
});

const resolution = z.enum(RESOLUTIONS);

export const resolve = defineVerb('resolve', {
  output: z.object({ resolution, memory: memorySchema.describe('The one that stays') }),
  text: ({ resolution, memory }) => `resolved by ${resolution}: ${memoryLine(memory)}`,
});

export const beliefs = defineVerb('beliefs', {
  output: z.object({
    topicKey: z.string(),
    beliefs: listOf(
      z.object({
        memory: memorySchema,
        believed: z.boolean(),
        because: (z.string() as unknown as z.ZodType<NonNullable<Belief['because']>, Belief['because']>)
          .optional()
          .describe('Why it is not believed: superseded, invalidated, expired, …'),
        supersededBy: listOf(z.string()),
      } satisfies Record<keyof Belief, z.ZodType>),
    ),
  }),
  text: ({ topicKey, beliefs }) =>
    [
      `${named(topicKey)}: ${counted(beliefs.length, 'statement')}`,
      ...beliefs.map(
        ({ memory, believed, because = '' }) =>
          `- ${believed ? 'believed' : `not believed (${because})`} ${memoryLine(memory)}`,
      ),
    ].join('\n'),
});
