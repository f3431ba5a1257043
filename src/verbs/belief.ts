import * as z from 'zod';
import { type Belief, RESOLUTIONS, type StandingConflict } from '../index.ts';
import { alike } from '../model/statement.ts';
import { memoryLine } from './memory-text.ts';
import { counted, named, quoted } from './quote.ts';
import { instant, listOf, memoryId, memorySchema, scope } from './schemas.ts';
import { defineVerb, operationOf } from './verb.ts';

export const invalidate = defineVerb({
  name: 'invalidate',
  title: 'Invalidate a memory',
  description:
    'Says that a memory is not true, or no longer, and why. It is kept and no longer recalled, and the same statement stays inactive when it is stored again. Use it when the user says that something is wrong and nothing takes its place; when something does, use update.',
  input: z.strictObject({ id: memoryId, reason: z.string().describe('Why it does not hold, in a sentence') }),
  output: memorySchema,
  access: 'write',
  destructive: false,
  idempotent: false,
  http: { method: 'POST', path: '/v1/memories/{id}/invalidate' },
  tool: true,
  run: (memory, { id, reason }, context) => memory.invalidate(id, reason, operationOf(context)),
  text: (memory) => `invalidated ${memoryLine(memory)}, because ${quoted(memory.invalidReason ?? '')}`,
});

export const revive = defineVerb({
  name: 'revive',
  title: 'Reinstate a memory',
  description:
    'Makes an invalidated memory hold again. Use it when remember answers that a statement is inactive, and the user says that it is true.',
  input: z.strictObject({ id: memoryId }),
  output: memorySchema,
  access: 'write',
  destructive: false,
  idempotent: true,
  http: { method: 'POST', path: '/v1/memories/{id}/revive' },
  tool: true,
  run: (memory, { id }, context) => memory.revive(id, operationOf(context)),
  text: (memory) => `revived ${memoryLine(memory)}`,
});

export const conflicts = defineVerb({
  name: 'conflicts',
  title: 'Conflicts',
  description:
    'Lists pairs of memories that contradict each other or say nearly the same, and wait for a decision, in the order in which they were noticed.',
  input: z.strictObject({ limit: z.int().min(1).max(1000).optional().describe('Default is 20') }),
  output: z.object({
    conflicts: listOf(
      z.object({
        conflictId: z.string().describe('What resolve takes'),
        older: memorySchema,
        newer: memorySchema,
        kind: z.enum(['similar', 'update']).describe('update: the newer one may give a new value'),
        similarity: z.number(),
        at: instant,
      } satisfies Record<keyof StandingConflict, z.ZodType>),
    ),
  }),
  access: 'read',
  destructive: false,
  idempotent: true,
  http: { method: 'GET', path: '/v1/conflicts' },
  tool: false,
  run: async (memory, { limit }) => ({ conflicts: await memory.conflicts(limit) }),
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

export const resolve = defineVerb({
  name: 'resolve',
  title: 'Resolve a conflict',
  description:
    'Ends a conflict that remember warned of. Ask the user which memory holds before you call it. keep-both: they do not contradict each other; update: the older one takes the text of the newer one; supersede: the older one stays and is hidden while the newer one holds; delete: the older one is erased for good.',
  input: z.strictObject({
    conflictId: z.string().describe('As remember returned it'),
    resolution,
  }),
  output: z.object({ resolution, memory: memorySchema.describe('The one that stays') }),
  access: 'write',
  destructive: true,
  idempotent: false,
  http: { method: 'POST', path: '/v1/conflicts/{conflictId}/resolve' },
  tool: true,
  run: (memory, { conflictId, resolution }, context) =>
    memory.resolve(conflictId, resolution, operationOf(context)),
  text: ({ resolution, memory }) => `resolved by ${resolution}: ${memoryLine(memory)}`,
});

export const beliefs = defineVerb({
  name: 'beliefs',
  title: 'Beliefs about a topic',
  description: 'Lists what was ever said about a topic, oldest first, and what of it is believed now.',
  input: z.strictObject({
    topicKey: z.string().describe('As it was given to remember'),
    scope: scope.optional().describe('As seen from this scope. Default is all'),
  }),
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
  access: 'read',
  destructive: false,
  idempotent: true,
  http: { method: 'GET', path: '/v1/beliefs' },
  tool: false,
  run: async (memory, { topicKey, scope }, context) => ({
    topicKey,
    beliefs: await memory.beliefs(topicKey, { scope, ...operationOf(context) }),
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
