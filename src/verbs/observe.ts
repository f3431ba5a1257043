import * as z from 'zod';
import type {
  ConversationMessage,
  FeedbackOptions,
  MarkUsedOptions,
  Observed,
  ObserveFailure,
  ObserveOptions,
  OperationOptions,
} from '../index.ts';
import { usage } from './judged.ts';
import { memoryLine } from './memory-text.ts';
import { counted, named } from './quote.ts';
import { instant, listOf, memoryId, memorySchema, rememberFields } from './schemas.ts';
import { defineVerb, operationOf } from './verb.ts';

type Options<All extends OperationOptions> = Exclude<keyof All, keyof OperationOptions>;

export const observe = defineVerb({
  name: 'observe',
  title: 'Observe a conversation',
  description:
    'Remembers what a part of a conversation is worth remembering for: facts that a language model finds in it or, without one, each message of content as an event. Use it to store what was said as it was said; to store one statement in your own words, use remember. Do not pass the same messages twice.',
  input: z.strictObject({
    messages: z
      .array(
        z.strictObject({
          role: z.string().describe('user, assistant, or another'),
          content: z.string(),
          name: z.string().optional().describe("The speaker's name"),
          at: instant.optional().describe('ISO 8601; when it was said. Default is now'),
          id: z.string().optional().describe('To be found again as the source of memories'),
        } satisfies Record<keyof ConversationMessage, z.ZodType>),
      )
      .min(1)
      .describe('In the order in which they were said'),
    scope: rememberFields.scope,
    sessionId: rememberFields.sessionId,
    tags: rememberFields.tags.describe('For every memory'),
    metadata: rememberFields.metadata.describe('For every memory'),
    minImportance: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('What is less important is not kept. Default is 0'),
    onFailure: z
      .enum(['events', 'skip'])
      .optional()
      .describe('What becomes of messages that the model fails on. Default is events'),
    batchSize: z.int().min(1).max(200).optional().describe('Messages in one question. Default is 20'),
    concurrency: z.int().min(1).max(64).optional().describe('Questions at once. Default is 2'),
    contextMessages: z.int().min(0).max(50).optional().describe('Earlier ones shown. Default is 4'),
    maxOutputTokens: z.int().min(1).optional().describe('Of one answer of the model'),
  } satisfies Record<'messages' | Options<ObserveOptions>, z.ZodType>),
  output: z.object({
    created: listOf(z.string()),
    updated: listOf(z.string()),
    deduplicated: listOf(z.string()).describe('Known word for word, but for white space'),
    merged: z.number().describe('Near-duplicates that were left out or replaced'),
    failures: listOf(
      z.object({
        positions: listOf(z.number()).describe('Of the messages, from 0'),
        code: z.string() as unknown as z.ZodType<ObserveFailure['code'], ObserveFailure['code']>,
        message: z.string(),
        kept: z.enum(['events', 'nothing']),
      } satisfies Record<keyof ObserveFailure, z.ZodType>),
    ),
    dropped: z.number().describe("Memories in the model's answers that could not be read"),
    usage,
    judgedBy: z.enum(['model', 'rules']),
  } satisfies Record<keyof Observed, z.ZodType>),
  access: 'write',
  destructive: false,
  idempotent: false,
  http: { method: 'POST', path: '/v1/observe' },
  tool: true,
  run: (memory, { messages, ...options }, context) =>
    memory.observe(messages, { ...options, ...operationOf(context) }),
  text: ({ created, updated, deduplicated, merged, failures, judgedBy }) =>
    [
      `${created.length} created, ${updated.length} updated, ${deduplicated.length} known, ${merged} merged; judged by ${judgedBy === 'model' ? 'a language model' : 'rules'}`,
      ...[...created, ...updated].map((id) => `- ${named(id)}`),
      ...failures.map(
        ({ positions, code, kept }) =>
          `warning: ${counted(positions.length, 'message')} failed (${code}); kept as ${kept}`,
      ),
    ].join('\n'),
});

export const feedback = defineVerb({
  name: 'feedback',
  title: 'Rate a memory',
  description:
    'Votes for or against a memory, which makes it more or less useful from now on. Use it when the user says, or it becomes clear, that a recalled memory helped or misled. A voter has one vote on a memory; the latest counts.',
  input: z.strictObject({
    id: memoryId,
    vote: z.enum(['up', 'down']).describe('up: it helped'),
    voter: z.string().optional().describe('Who votes. Default is user'),
  } satisfies Record<'id' | 'vote' | Options<FeedbackOptions>, z.ZodType>),
  output: memorySchema,
  access: 'write',
  destructive: false,
  idempotent: true,
  http: { method: 'POST', path: '/v1/memories/{id}/feedback' },
  tool: true,
  run: (memory, { id, vote, ...options }, context) =>
    memory.feedback(id, vote, { ...options, ...operationOf(context) }),
  text: (memory) => `usefulness ${memory.usefulness.toFixed(2)}: ${memoryLine(memory)}`,
});

export const markUsed = defineVerb({
  name: 'mark_used',
  title: 'Mark memories as used',
  description: 'Says which memories an answer was really made of. Returns those that are in the space.',
  input: z.strictObject({
    ids: z.array(z.string()).min(1),
    sessionId: rememberFields.sessionId,
    effect: z
      .enum(['touch', 'count', 'reinforce'])
      .optional()
      .describe(
        'What they learn: when they were used (default), how often too, or all that retention learns',
      ),
  } satisfies Record<'ids' | Options<MarkUsedOptions>, z.ZodType>),
  output: z.object({ ids: listOf(z.string()) }),
  access: 'write',
  destructive: false,
  idempotent: false,
  http: { method: 'POST', path: '/v1/used' },
  tool: false,
  run: async (memory, { ids, ...options }, context) => ({
    ids: await memory.markUsed(ids, { ...options, ...operationOf(context) }),
  }),
  text: ({ ids }) => `${counted(ids.length, 'memory', 'memories')} used`,
});

export const setImportance = defineVerb({
  name: 'set_importance',
  title: 'Set the importance',
  description:
    "Sets the importance of a memory as a person's judgement, which no model and no rule changes again.",
  input: z.strictObject({ id: memoryId, importance: z.number().min(0).max(1) }),
  output: memorySchema,
  access: 'write',
  destructive: false,
  idempotent: true,
  http: { method: 'PUT', path: '/v1/memories/{id}/importance' },
  tool: false,
  run: (memory, { id, importance }, context) => memory.setImportance(id, importance, operationOf(context)),
  text: (memory) => `importance ${memory.importance.toFixed(2)}: ${memoryLine(memory)}`,
});
