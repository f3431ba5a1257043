import * as z from 'zod';
import type { MemoryChanges, Undone } from '../index.ts';
import { memoryLine } from './memory-text.ts';
import { counted, named } from './quote.ts';
import { instant, listOf, memoryId, memorySchema, rememberFields, timeToLive } from './schemas.ts';
import { defineVerb, operationOf } from './verb.ts';

const { content, type, scope, tags, metadata, importance, confidence, weight } = rememberFields;

const changeFields = {
  content: content.optional().describe('The new statement, whole'),
  title: z.string().nullable().optional().describe('null takes it away'),
  type: type.describe('The new type'),
  scope: scope.describe('The new scope'),
  tags: tags.describe('All its tags from now on'),
  metadata,
  importance,
  confidence,
  weight,
  validFrom: instant.nullable().optional().describe('ISO 8601; null takes it away'),
  validUntil: instant.nullable().optional().describe('ISO 8601; null takes it away'),
  expiresAt: instant.nullable().optional().describe('ISO 8601; null takes it away'),
  ttl: timeToLive.optional(),
  topicKey: z.string().nullable().optional().describe('What it is about; null takes it away'),
  author: z.string().nullable().optional().describe('Who said it; null takes it away'),
  role: z.string().nullable().optional().describe('user, assistant, system, tool …; null takes it away'),
  sourceRef: z.string().nullable().optional().describe('A pointer to the origin; null takes it away'),
} satisfies Record<keyof MemoryChanges, z.ZodType>;

export const update = defineVerb({
  name: 'update',
  title: 'Update a memory',
  description:
    'Changes a memory in place; what is not named stays, and undo takes it back. Use it to correct or complete what is remembered.',
  input: z.strictObject({ id: memoryId, ...changeFields }),
  output: memorySchema,
  access: 'write',
  destructive: false,
  idempotent: false,
  http: { method: 'PATCH', path: '/v1/memories/{id}' },
  tool: true,
  run: (memory, { id, ...changes }, context) => memory.update(id, changes, operationOf(context)),
  text: (memory) => `updated ${memoryLine(memory)}`,
});

export const forget = defineVerb({
  name: 'forget',
  title: 'Forget a memory',
  description:
    'Erases a memory for good, its history included. There is no undo. Use it only when the user asks to forget something; correct what is merely wrong with update.',
  input: z.strictObject({ id: memoryId }),
  output: z.object({ id: z.string(), outcome: z.literal('forgotten') }),
  access: 'write',
  destructive: true,
  idempotent: true,
  http: { method: 'DELETE', path: '/v1/memories/{id}' },
  tool: true,
  async run(memory, { id }, context) {
    await memory.forget(id, operationOf(context));
    return { id, outcome: 'forgotten' as const };
  },
  text: ({ id }) => `forgotten ${named(id)}`,
});

export const undo = defineVerb({
  name: 'undo',
  title: 'Undo a write',
  description:
    'Takes back the latest write, or the operation named; history lists operations. Forgetting cannot be undone.',
  input: z.strictObject({
    operation: z.int().min(1).optional().describe('Default is the latest that can be undone'),
  }),
  output: z.object({
    operation: z.number(),
    verb: z.string() as unknown as z.ZodType<Undone['verb'], Undone['verb']>,
    memories: listOf(
      z.object({
        id: z.string(),
        memory: memorySchema.optional().describe('As it is again; absent: it is gone'),
      }),
    ),
  } satisfies Record<keyof Undone, z.ZodType>),
  access: 'write',
  destructive: true,
  idempotent: false,
  http: { method: 'POST', path: '/v1/undo' },
  tool: true,
  run: (memory, { operation }, context) => memory.undo(operation, operationOf(context)),
  text: ({ operation, verb, memories }) =>
    [
      `undone: ${verb} (operation ${operation}), ${counted(memories.length, 'memory', 'memories')}`,
      ...memories.map(({ id, memory }) => (memory ? memoryLine(memory) : `[${named(id)}] is gone again`)),
    ].join('\n'),
});
