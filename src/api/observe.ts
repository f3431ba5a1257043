import * as z from 'zod';
import type { LeftOut, ObservedGraph, ObserveFailure, ObserveResult } from '../index.ts';
import { usage } from './judged.ts';
import { memoryLine } from './memory-text.ts';
import { counted, named } from './quote.ts';
import { listOf, memorySchema } from './schemas.ts';
import { defineVerb } from './verb.ts';

export const observe = defineVerb('observe', {
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
    graph: z
      .object({
        entities: listOf(z.string()),
        relations: listOf(z.string()),
        questions: z.number().describe('New entities that may be another one; conflicts lists them'),
        leftOut: listOf(
          z.object({
            kind: z.enum(['entity', 'alias', 'relation']),
            name: z.string(),
            reason: z.enum(['unstated', 'unreadable', 'same', 'inactive']),
          } satisfies Record<keyof LeftOut, z.ZodType>),
        ),
      } satisfies Record<keyof ObservedGraph, z.ZodType>)
      .optional(),
  } satisfies Record<keyof ObserveResult, z.ZodType>),
  text: ({ created, updated, deduplicated, merged, failures, judgedBy, graph }) =>
    [
      `${created.length} created, ${updated.length} updated, ${deduplicated.length} known, ${merged} merged; judged by ${judgedBy === 'model' ? 'a language model' : 'rules'}`,
      ...(graph
        ? [
            `${counted(graph.entities.length, 'entity', 'entities')}, ${counted(graph.relations.length, 'relation')}, ${counted(graph.questions, 'question')}, ${graph.leftOut.length} left out`,
          ]
        : []),
      ...[...created, ...updated].map((id) => `- ${named(id)}`),
      ...failures.map(
        ({ positions, code, kept }) =>
          `warning: ${counted(positions.length, 'message')} failed (${code}); kept as ${kept}`,
      ),
    ].join('\n'),
});

export const feedback = defineVerb('feedback', {
  output: memorySchema,
  text: (memory) => `usefulness ${memory.usefulness.toFixed(2)}: ${memoryLine(memory)}`,
});

export const markUsed = defineVerb('markUsed', {
  output: z.object({ ids: listOf(z.string()) }),
  text: ({ ids }) => `${counted(ids.length, 'memory', 'memories')} used`,
});

export const setImportance = defineVerb('setImportance', {
  output: memorySchema,
  text: (memory) => `importance ${memory.importance.toFixed(2)}: ${memoryLine(memory)}`,
});
