import * as z from 'zod';
import {
  type BatchOptions,
  type ConfigureOptions,
  CURATION_ACTIONS,
  type CurateOptions,
  type CurationReport,
  type MaintainOptions,
  type MaintenanceReport,
  type OperationOptions,
  type SpaceInfo,
  settingText,
} from '../index.ts';
import { consolidatedSchema, judgementFields, judgingFields } from './judged.ts';
import { counted, named } from './quote.ts';
import { listOf, settingsSchema } from './schemas.ts';
import { defineVerb, operationOf } from './verb.ts';

const ids = listOf(z.string());
const counts = z.record(z.string(), z.number()) as z.ZodType<SpaceInfo['byType'], SpaceInfo['byType']>;

export const stats = defineVerb({
  name: 'stats',
  title: 'Statistics',
  description: 'Counts what is remembered: memories by type, scope and tier, links, bytes.',
  input: z.strictObject({}),
  // Not the path: where a server keeps its files is nobody else's business.
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
    bytes: z.number(),
    schemaVersion: z.number(),
  } satisfies Record<Exclude<keyof SpaceInfo, 'path'>, z.ZodType>),
  access: 'read',
  destructive: false,
  idempotent: true,
  wholeSpace: true,
  http: { method: 'GET', path: '/v1/stats' },
  tool: true,
  run: (memory) => memory.stats(),
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

export const maintain = defineVerb({
  name: 'maintain',
  title: 'Maintain',
  description:
    'Runs maintenance: cools what has faded, archives what is long cold, forgets what has expired, notices similar memories. Idempotent; safe while others recall.',
  input: z.strictObject({
    dryRun: z.boolean().optional().describe('Only report what would change. Default is false'),
    consolidate: z
      .union([z.boolean(), z.array(z.string())])
      .optional()
      .describe(
        'Also consolidate similar memories of one type: true for those that have faded, or the ids to consider. Default is false',
      ),
    run: z.string().optional().describe('The id of an interrupted run, to go on with'),
    fade: z.boolean().optional().describe('Whether memories cool, are archived and expire. Default is true'),
    ...judgingFields,
  } satisfies Record<Exclude<keyof MaintainOptions, keyof BatchOptions>, z.ZodType>),
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
        by: z.enum(['model', 'join']).optional().describe('Who wrote it'),
      }),
    ),
    compared: z.number(),
    similarPairs: listOf(z.object({ older: z.string(), newer: z.string(), similarity: z.number() })).describe(
      'Found now; conflicts lists those that wait',
    ),
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
  access: 'write',
  destructive: true,
  idempotent: true,
  wholeSpace: true,
  http: { method: 'POST', path: '/v1/maintain' },
  tool: false,
  run: (memory, input, context) => memory.maintain({ ...input, ...operationOf(context) }),
  text: ({ dryRun, examined, cooled, archived, expired, consolidated, similarPairs, judged }) =>
    `${dryRun ? 'would have' : 'done'}: ${examined} examined, ${cooled.length} cooled, ${archived.length} archived, ${expired.length} expired, ${consolidated.length} consolidated, ${counted(similarPairs.length, 'similar pair')} found, ${judged.length} judged`,
});

export const curate = defineVerb({
  name: 'curate',
  title: 'Curate',
  description:
    'Tidies up: judges similar pairs, merges duplicates, joins what has faded, takes out what is useless. It can be undone.',
  input: z.strictObject({
    dryRun: z.boolean().optional().describe('Only report what would change. Default is false'),
    actions: z
      .array(z.enum(CURATION_ACTIONS))
      .optional()
      .describe('In this order. Default is reconcile, deduplicate, consolidate, prune'),
    run: z.string().optional().describe('The id of an interrupted run, to go on with'),
    ...judgingFields,
  } satisfies Record<Exclude<keyof CurateOptions, keyof OperationOptions>, z.ZodType>),
  output: z.object({
    run: z.string().optional().describe('What undo takes'),
    dryRun: z.boolean(),
    pruned: ids,
    deduplicated: listOf(z.object({ kept: z.string(), replaced: ids })),
    consolidated: consolidatedSchema,
    ...judgementFields,
  } satisfies Record<keyof CurationReport, z.ZodType>),
  access: 'write',
  destructive: true,
  idempotent: true,
  wholeSpace: true,
  http: { method: 'POST', path: '/v1/curate' },
  tool: false,
  run: (memory, input, context) => memory.curate({ ...input, ...operationOf(context) }),
  text: ({ dryRun, pruned, deduplicated, consolidated, judged }) =>
    `${dryRun ? 'would have' : 'done'}: ${pruned.length} pruned, ${deduplicated.length} kept for their duplicates, ${consolidated.length} consolidated, ${judged.length} judged`,
});

export const configure = defineVerb({
  name: 'configure',
  title: 'Configure the space',
  description:
    'Reads, or changes, how the memories of the space fade and the time zone in which days are meant.',
  input: z.strictObject({
    fading: z
      .union([
        z.enum(['off', 'retention']),
        z.strictObject({ mode: z.literal('off') }),
        z.strictObject({
          mode: z.literal('retention'),
          curve: z.enum(['exponential', 'power']).optional(),
          daysAtFloor: z.number().min(0).max(3650).optional(),
          daysCold: z.number().min(0).max(36_500).optional(),
        }),
      ])
      .optional()
      .describe('off: nothing cools or is archived; retention: what is not used does'),
    timeZone: z.string().optional().describe('An IANA name such as Europe/Berlin'),
  } satisfies Record<Exclude<keyof ConfigureOptions, keyof OperationOptions>, z.ZodType>),
  output: settingsSchema,
  access: 'write',
  destructive: false,
  idempotent: true,
  http: { method: 'PATCH', path: '/v1/settings' },
  tool: false,
  run: (memory, input, context) => memory.configure({ ...input, ...operationOf(context) }),
  text: ({ fading, timeZone }) => `fading ${settingText(fading)}, time zone ${timeZone}`,
});

export const check = defineVerb({
  name: 'check',
  title: 'Check the store',
  description: 'Says what is wrong with the store; nothing when it is healthy.',
  input: z.strictObject({}),
  output: z.object({ problems: listOf(z.string()) }),
  access: 'read',
  destructive: false,
  idempotent: true,
  wholeSpace: true,
  http: { method: 'GET', path: '/v1/check' },
  tool: false,
  run: async (memory) => ({ problems: await memory.check() }),
  text: ({ problems }) => (problems.length === 0 ? 'the store is healthy' : problems.join('\n')),
});

export const reindex = defineVerb({
  name: 'reindex',
  title: 'Reindex',
  description: 'Computes vectors and terms of all memories anew, with the embedder and analyzer in use.',
  input: z.strictObject({}),
  output: z.object({ outcome: z.literal('reindexed') }),
  access: 'write',
  destructive: false,
  idempotent: true,
  wholeSpace: true,
  http: { method: 'POST', path: '/v1/reindex' },
  tool: false,
  async run(memory, _, context) {
    await memory.reindex(operationOf(context));
    return { outcome: 'reindexed' as const };
  },
  text: () => 'reindexed',
});
