import * as z from 'zod';
import type { Comparison, RankedHit, StrategyAgreement, StrategyRanking } from '../index.ts';
import { armSchema } from './hit.ts';
import { memoryLine } from './memory-text.ts';
import { named, plainLine } from './quote.ts';
import { listOf, memorySchema } from './schemas.ts';
import { defineVerb } from './verb.ts';

const ranking = z.object({
  strategy: z.string(),
  takesQuery: z.boolean().describe('false: it ranks without the query'),
  hits: listOf(
    z.object({
      rank: z.number().describe('From 1'),
      memory: memorySchema,
      isAssociative: z.boolean().describe('Found through links of other hits'),
      snippet: z.string().optional().describe('The words around the matches'),
    } satisfies Record<keyof RankedHit, z.ZodType>),
  )
    .optional()
    .describe('Absent when the strategy could not rank'),
  alone: listOf(z.string()).optional().describe('The ids that no other strategy found'),
  failure: z.string().optional().describe('Why it could not rank'),
  arms: listOf(armSchema),
} satisfies Record<keyof StrategyRanking, z.ZodType>);

const agreement = z.object({
  between: z.tuple([z.string(), z.string()]) as unknown as z.ZodType<
    readonly [string, string],
    readonly [string, string]
  >,
  shared: z.number().describe('Memories that are in both'),
  overlap: z.number().optional().describe('The same as a share of the longer ranking, 0 to 1'),
  tau: z.number().optional().describe("Kendall's tau-b of both rankings, -1 to 1"),
} satisfies Record<keyof StrategyAgreement, z.ZodType>);

export const compare = defineVerb('compare', {
  output: z.object({
    query: z.string(),
    limit: z.number(),
    rankings: listOf(ranking),
    agreement: listOf(agreement),
  } satisfies Record<keyof Comparison, z.ZodType>),
  text: ({ rankings, agreement }) =>
    [
      ...rankings.flatMap(({ strategy, takesQuery, hits, failure = 'unknown' }) => {
        const name = takesQuery ? named(strategy) : `${named(strategy)}, without the query`;
        if (!hits) return [`${name}: could not rank: ${plainLine(failure)}`];
        if (hits.length === 0) return [`${name}: nothing found`];
        return [`${name}:`, ...hits.map(({ rank, memory }) => `${rank}. ${memoryLine(memory)}`)];
      }),
      ...agreement.map(
        ({ between: [a, b], tau, overlap }) =>
          `${named(a)} and ${named(b)}: tau ${shown(tau)}, overlap ${shown(overlap)}`,
      ),
    ].join('\n'),
});

function shown(value: number | undefined): string {
  return value === undefined ? 'undefined' : value.toFixed(2);
}
