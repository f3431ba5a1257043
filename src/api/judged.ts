import * as z from 'zod';
import type { Consolidated, JudgedSimilarity, JudgementReport } from '../index.ts';
import { listOf } from './schemas.ts';

/** What the calls of a language model cost. */
export const usage = z.object({
  promptTokens: z.number(),
  completionTokens: z.number(),
  calls: z.number(),
} satisfies Record<keyof JudgementReport['usage'], z.ZodType>);

/** What the model was asked, and what followed. */
export const judgementFields = {
  judgedBy: z.string().optional().describe('The language model that was asked'),
  judged: listOf(
    z.object({
      older: z.string(),
      newer: z.string(),
      verdict: z.string() as unknown as z.ZodType<JudgedSimilarity['verdict'], JudgedSimilarity['verdict']>,
      reason: z.string(),
    } satisfies Record<keyof JudgedSimilarity, z.ZodType>),
  ).describe('By CONTRADICTION and UPDATE the newer one has taken the place of the older one'),
  toJudge: listOf(z.object({ older: z.string(), newer: z.string() }))
    .optional()
    .describe('In a dry run: what the model would be asked about'),
  failures: listOf(z.string()).describe('Questions that got no usable answer'),
  usage,
} satisfies Record<keyof JudgementReport, z.ZodType>;

export const consolidatedSchema = listOf(
  z.object({
    id: z.string().optional(),
    from: listOf(z.string()),
    by: z.enum(['model', 'rules']).optional(),
  } satisfies Record<keyof Consolidated, z.ZodType>),
);
