import * as z from 'zod';
import type { Memory } from '../index.ts';
import { CREATE_FIELDS } from '../model/fields.ts';
import { counted } from './quote.ts';
import { rememberedSchema, rememberedText } from './remembered.ts';
import { listOf, memorySchema, notForAgents, rememberFields } from './schemas.ts';
import { defineVerb, operationOf } from './verb.ts';

const rememberedAll = z.object({ memories: listOf(rememberedSchema) });

export const remember = defineVerb({
  name: 'remember',
  title: 'Remember',
  description:
    'Stores one statement for later conversations: a fact, preference, decision, rule, event, plan. Use it when you learn something that should outlive this conversation. Store one statement a call. Recall first; change what is known already with update. When it answers that the statement may contradict something, ask the user.',
  input: z.strictObject(rememberFields),
  output: rememberedSchema,
  access: 'write',
  destructive: false,
  idempotent: false,
  http: { method: 'POST', path: '/v1/memories' },
  tool: true,
  notForAgents: notForAgents(CREATE_FIELDS),
  run: (memory, { content, ...options }, context) =>
    memory.remember(content, { ...options, ...operationOf(context) }),
  text: rememberedText,
});

export const rememberMany = defineVerb({
  name: 'remember_many',
  title: 'Remember many',
  description: 'Stores many statements in one transaction: all of them, or none.',
  input: z.strictObject({ memories: z.array(z.strictObject(rememberFields)).max(10_000) }),
  output: rememberedAll,
  access: 'write',
  destructive: false,
  idempotent: false,
  http: { method: 'POST', path: '/v1/memories/batch' },
  tool: false,
  run: async (memory, { memories }, context) => ({
    memories: await memory.rememberMany(memories, operationOf(context)),
  }),
  text: ({ memories }) =>
    [
      counted(memories.length, 'statement'),
      ...rememberedSchema.shape.outcome.options.flatMap((outcome) => {
        const count = memories.filter((each) => each.outcome === outcome).length;
        return count === 0 ? [] : [`${count} ${outcome}`];
      }),
    ].join(', '),
});

export const restore = defineVerb({
  name: 'restore',
  title: 'Restore',
  description: 'Restores memories that were listed or exported, every field as it was, in one transaction.',
  input: z.strictObject({
    memories: z
      .array(memorySchema.partial().required({ id: true, content: true, createdAt: true }))
      .max(10_000),
  }),
  output: rememberedAll,
  access: 'write',
  destructive: false,
  idempotent: false,
  http: { method: 'POST', path: '/v1/restore' },
  tool: false,
  run: async (memory, { memories }, context) => ({
    // The engine checks each field, and takes its default for one that is absent.
    memories: await memory.restore(memories as unknown as readonly Memory[], operationOf(context)),
  }),
  text: ({ memories }) => `restored ${counted(memories.length, 'memory', 'memories')}`,
});
