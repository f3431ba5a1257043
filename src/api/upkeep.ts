import * as z from 'zod';
import {
  type CurationReport,
  type Health,
  type MaintenanceReport,
  type SpaceInfo,
  settingText,
} from '../index.ts';
import { consolidatedSchema, judgementFields } from './judged.ts';
import { counted, named } from './quote.ts';
import { listOf, settingsSchema } from './schemas.ts';
import { defineVerb } from './verb.ts';

const ids = listOf(z.string());
const counts = z.record(z.string(), z.number()) as z.ZodType<SpaceInfo['byType'], SpaceInfo['byType']>;

export const stats = defineVerb('stats', {
  output: z.object({
    name: z.string(),
    memories: z.number(),
    vectors: z.number(),
    terms: z.number(),
    byType: counts,
    byScope: counts,
    byTier: counts,
    links: z.number(),
    pendingPairs: z.number().describe('Conflicts that wait for a decision'),
    events: z.number(),
    sequence: z.number(),
    embedding: z.object({ model: z.string(), dimensions: z.number() }).optional(),
    analyzer: z.string().optional(),
    settings: settingsSchema,
    lastBackup: z.string().optional().describe('When "backup" last copied the space'),
    bytes: z.number(),
    schemaVersion: z.number(),
  } satisfies Record<Exclude<keyof SpaceInfo, 'path'>, z.ZodType>),
  text: ({ name, memories, byType, byScope, byTier, links, pendingPairs }) =>
    [
      `space ${named(name)}: ${counted(memories, 'memory', 'memories')}, ${counted(links, 'link')}, ${counted(pendingPairs, 'open conflict')}`,
      ...Object.entries({ type: byType, scope: byScope, tier: byTier }).map(
        ([by, counts]) =>
          `by ${by}: ${
            Object.entries(counts)
              .map(([key, count]) => `${named(key)} ${count}`)
              .join(', ') || 'none'
          }`,
      ),
    ].join('\n'),
});

export const maintain = defineVerb('maintain', {
  output: z.object({
    run: z.string().optional().describe('What undo takes'),
    dryRun: z.boolean(),
    fading: z.enum(['off', 'retention']).describe('How the space fades; with off nothing cools'),
    examined: z.number(),
    cooled: ids,
    archived: ids,
    expired: ids,
    consolidated: listOf(
      z.object({
        id: z.string().optional(),
        from: ids,
        by: z.enum(['model', 'rules']).optional().describe('Who wrote it'),
      }),
    ),
    compared: z.number(),
    similarPairs: listOf(
      z.object({
        older: z.string(),
        newer: z.string(),
        kind: z.enum(['similar', 'update']).describe('update: the newer one may give a new value'),
        similarity: z.number(),
      } satisfies Record<keyof MaintenanceReport['similarPairs'][number], z.ZodType>),
    ).describe('Found now; conflicts lists those that wait'),
    judgedBy: z.string().optional().describe('The language model that was asked'),
    judged: listOf(
      z.object({
        older: z.string(),
        newer: z.string(),
        verdict: z.enum(['CONTRADICTION', 'UPDATE', 'OVERLAP', 'NONE']),
        reason: z.string(),
      }),
    ),
    toJudge: listOf(z.object({ older: z.string(), newer: z.string() })).optional(),
    failures: listOf(z.string()),
    usage: z.object({ promptTokens: z.number(), completionTokens: z.number(), calls: z.number() }),
  } satisfies Record<keyof MaintenanceReport, z.ZodType>),
  text: ({ dryRun, examined, cooled, archived, expired, consolidated, similarPairs, judged }) =>
    `${dryRun ? 'would have' : 'done'}: ${examined} examined, ${cooled.length} cooled, ${archived.length} archived, ${expired.length} expired, ${consolidated.length} consolidated, ${counted(similarPairs.length, 'similar pair')} found, ${judged.length} judged`,
});

export const curate = defineVerb('curate', {
  output: z.object({
    run: z.string().optional().describe('What undo takes'),
    dryRun: z.boolean(),
    pruned: ids,
    deduplicated: listOf(z.object({ kept: z.string(), replaced: ids })),
    consolidated: consolidatedSchema,
    ...judgementFields,
  } satisfies Record<keyof CurationReport, z.ZodType>),
  text: ({ dryRun, pruned, deduplicated, consolidated, judged }) =>
    `${dryRun ? 'would have' : 'done'}: ${pruned.length} pruned, ${deduplicated.length} kept for their duplicates, ${consolidated.length} consolidated, ${judged.length} judged`,
});

export const configure = defineVerb('configure', {
  output: settingsSchema,
  text: ({ fading, recordRecalls, timeZone }) =>
    `fading ${settingText(fading)}, recording of recalls ${settingText(recordRecalls)}, time zone ${timeZone}`,
});

export const check = defineVerb('check', {
  output: z.object({ problems: listOf(z.string()) }),
  text: ({ problems }) => (problems.length === 0 ? 'the store is healthy' : problems.join('\n')),
});

export const health = defineVerb('health', {
  output: z.object({
    embedder: z.object({ model: z.string(), dimensions: z.number() }).optional(),
    warnings: listOf(z.string()),
    problems: listOf(z.string()),
  } satisfies Record<keyof Health, z.ZodType>),
  text: ({ warnings, problems }) =>
    [
      ...problems.map((each) => `problem: ${each}`),
      ...warnings.map((each) => `warning: ${each}`),
      ...(problems.length === 0 ? ['everything works'] : []),
    ].join('\n'),
});

export const reindex = defineVerb('reindex', {
  output: z.object({ outcome: z.literal('reindexed') }),
  text: () => 'reindexed',
});
