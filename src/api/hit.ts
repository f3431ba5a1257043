import * as z from 'zod';
import type { Arm, Hit, SpelledWord, StageTrace, Trace } from '../index.ts';
import { statedRelation } from './relation.ts';
import { explanationSchema, instant, listOf, memorySchema } from './schemas.ts';

export const explaining = z.boolean().describe('Also return how every score was computed. Default is false');

/** The named parts of a score. */
export const features = z.record(z.string(), z.number()) as z.ZodType<Hit['features'], Hit['features']>;

const signals = z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])) as unknown as z.ZodType<
  Hit['signals'],
  Hit['signals']
>;

export const hitSchema = z.object({
  memory: memorySchema,
  score: z.number().describe('0–1; comparable within this strategy only'),
  snippet: z.string().optional().describe('The words around the matches'),
  isAssociative: z.boolean().describe('Found through links of other hits'),
  path: listOf(z.string()).optional().describe('The ids that led to it'),
  viaDeepRecall: z.boolean(),
  relation: statedRelation.optional().describe('Of a hit that is a relation; memory is what states it'),
  features: features.optional().describe('With explain: the named parts of the score'),
  signals: signals.optional().describe('With explain: what the formula reads; clocks in ms since 1970'),
  explanation: explanationSchema.optional().describe('With explain: the tree of values of the score'),
} satisfies Record<Exclude<keyof Hit, 'explain'> | 'explanation', z.ZodType>);

export const stageName = z.string() as unknown as z.ZodType<StageTrace['name'], StageTrace['name']>;

const stageSchema = z.object({
  name: stageName,
  candidates: z.number(),
  survivors: z.number(),
  atMost: z.enum(['candidates', 'survivors']).optional().describe('Which of these is an upper bound'),
  durationMs: z.number(),
  promptTokens: z.number(),
  completionTokens: z.number(),
  reason: z.string().optional(),
} satisfies Record<keyof StageTrace, z.ZodType>);

export const armSchema = z.object({
  name: z.enum(['lexical', 'vector', 'dates', 'rerank']),
  status: z.enum(['ran', 'not-used', 'off', 'failed', 'blank']),
  reason: z.string().optional(),
} satisfies Record<keyof Arm, z.ZodType>);

export const traceSchema = z.object({
  strategy: z.string(),
  profileHash: z.string(),
  stages: listOf(stageSchema),
  totalMs: z.number(),
  totalTokens: z.number(),
  completeness: z.enum(['exact', 'approximate']),
  upperBound: z.number(),
  minRelevance: z.number().optional().describe('The floor of relevance, where there is one'),
  arms: listOf(armSchema),
  dates: listOf(z.object({ text: z.string(), from: instant, to: instant }))
    .optional()
    .describe('The dates that the query names; the end is not included'),
  spelling: listOf(
    z.object({
      word: z.string(),
      standIns: listOf(z.object({ term: z.string(), weight: z.number() })),
    } satisfies Record<keyof SpelledWord, z.ZodType>),
  )
    .optional()
    .describe('Words of the query that no visible memory has, and the terms looked for in their place'),
  sequence: z.number(),
  recallId: z.string().optional().describe('What replay takes, where recalls are recorded'),
  indexRebuilt: z.literal(true).optional().describe('The space was reindexed or restored while it was open'),
  asOf: z
    .object({ known: instant.optional(), valid: instant.optional(), redacted: z.number() })
    .optional()
    .describe('Of a look back: where to, and how many memories were forgotten since'),
} satisfies Record<keyof Trace, z.ZodType>);

/** Converts a hit to the form of its schema. */
export function hitOutput<Strategy extends string>(
  { score, explain, features, signals, ...hit }: Hit<Strategy>,
  explaining: boolean | undefined,
): z.input<typeof hitSchema> {
  return { ...hit, score: score.value, ...(explaining ? { features, signals, explanation: explain() } : {}) };
}
