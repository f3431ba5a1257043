import * as z from 'zod';
import type { RecordedRecall, Replay } from '../index.ts';
import { armSchema } from './hit.ts';
import { memoryLine } from './memory-text.ts';
import { counted, named, quoted } from './quote.ts';
import { instant, listOf, memorySchema } from './schemas.ts';
import { defineVerb } from './verb.ts';

const recordedHit = z.object({ id: z.string(), score: z.number() });

export const recalls = defineVerb('recalls', {
  output: z.object({
    recalls: listOf(
      z.object({
        recallId: z.string().describe('What replay takes'),
        verb: z.enum(['recall', 'context']),
        at: instant,
        now: instant.describe('The moment for which it was computed'),
        strategy: z.string(),
        profileHash: z.string(),
        sessionId: z.string().optional(),
        caller: z.string().optional().describe('The name of the token that asked'),
        query: z.string().optional(),
        queryHash: z.string().optional(),
        terms: z.number().optional(),
        options: z.record(z.string(), z.unknown()),
        hits: listOf(recordedHit),
        sequence: z.number(),
        usage: z.number(),
        completeness: z.enum(['exact', 'approximate']),
        arms: listOf(armSchema),
        durationMs: z.number(),
        redacted: z.boolean().describe('A memory that it returned was forgotten since'),
      } satisfies Record<keyof RecordedRecall, z.ZodType>),
    ),
  }),
  text: ({ recalls }) =>
    recalls.length === 0
      ? 'no recalls are recorded'
      : recalls
          .map(
            ({ recallId, at, strategy, query, hits, redacted }) =>
              `recall ${named(recallId)}, ${at}, ${named(strategy)}${query === undefined ? '' : ` ${quoted(query)}`}: ${counted(hits.length, 'hit')}${redacted ? ', redacted' : ''}`,
          )
          .join('\n'),
});

export const replay = defineVerb('replay', {
  output: z.object({
    recallId: z.string(),
    equal: z.boolean().describe('The same memories, in the same order, with the same scores to the bit'),
    reasons: listOf(
      z.object({
        reason: z.enum([
          'forgotten',
          'reranked',
          'profile',
          'embedder',
          'analyzer',
          'arms',
          'pairs',
          'texts',
          'moved',
          'unknown',
        ]),
        message: z.string(),
      }),
    ),
    recorded: listOf(recordedHit),
    hits: listOf(z.object({ memory: memorySchema, score: z.number() })),
  } satisfies Record<keyof Replay, z.ZodType>),
  text: ({ recallId, equal, reasons, hits }) =>
    [
      `recall ${named(recallId)} gives ${equal ? 'the same answer' : 'another answer now'}`,
      ...reasons.map(({ message }) => `because ${message}`),
      ...hits.map(({ memory, score }, at) => `${at + 1}. (${score.toFixed(3)}) ${memoryLine(memory)}`),
    ].join('\n'),
});
