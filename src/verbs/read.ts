import * as z from 'zod';
import {
  type GetOptions,
  type HistoryEntry,
  type ListOptions,
  type MemoryPage,
  type OperationOptions,
  SalienceError,
} from '../index.ts';
import { linkKind } from './links.ts';
import { memoryLine } from './memory-text.ts';
import { counted, named } from './quote.ts';
import {
  asOfKnown,
  filterFields,
  instant,
  listOf,
  memoryId,
  memorySchema,
  scope,
  settingsSchema,
} from './schemas.ts';
import { defineVerb, operationOf } from './verb.ts';

export const get = defineVerb({
  name: 'get',
  title: 'Get a memory',
  description: 'Returns one memory by its id, with all its fields.',
  input: z.strictObject({
    id: memoryId,
    scope: scope.optional().describe('Where it is looked at from. Default is every scope'),
    asOf: asOfKnown.optional(),
  } satisfies Record<'id' | Exclude<keyof GetOptions, keyof OperationOptions>, z.ZodType>),
  output: memorySchema,
  access: 'read',
  destructive: false,
  idempotent: true,
  http: { method: 'GET', path: '/v1/memories/{id}' },
  tool: true,
  async run(memory, { id, ...options }, context) {
    const found = await memory.get(id, { ...options, ...operationOf(context) });
    if (found) return found;
    throw new SalienceError(
      'not_found',
      `memory ${JSON.stringify(id)} does not exist here: use an id that recall or list returned`,
      { details: { id } },
    );
  },
  text: (memory) => memoryLine(memory),
});

export const list = defineVerb({
  name: 'list',
  title: 'List memories',
  description:
    'Lists memories, newest update first, page by page. Use it to look through what is stored; to find something, use recall.',
  input: z.strictObject({
    ...filterFields,
    limit: z.int().min(1).max(1000).optional().describe('Default is 20'),
    order: z
      .enum(['updated', 'inserted'])
      .optional()
      .describe('updated (default): newest update first; inserted: in the order of insertion'),
    cursor: z.string().optional().describe('nextCursor of the page before'),
    asOf: asOfKnown.optional(),
  } satisfies Record<Exclude<keyof ListOptions, keyof OperationOptions>, z.ZodType>),
  output: z.object({
    memories: listOf(memorySchema),
    nextCursor: z.string().optional().describe('Absent on the last page'),
    redacted: z.number().optional().describe('Looking back: how many are missing, forgotten since'),
  } satisfies Record<keyof MemoryPage, z.ZodType>),
  access: 'read',
  destructive: false,
  idempotent: true,
  http: { method: 'GET', path: '/v1/memories' },
  tool: true,
  run: (memory, input, context) => memory.list({ ...input, ...operationOf(context) }),
  text: ({ memories, nextCursor, redacted }) =>
    [
      ...(memories.length === 0 ? ['no memories'] : memories.map((each) => memoryLine(each))),
      ...(redacted ? [`${counted(redacted, 'memory', 'memories')} of then forgotten since`] : []),
      ...(nextCursor === undefined ? [] : [`more with cursor ${nextCursor}`]),
    ].join('\n'),
});

export const history = defineVerb({
  name: 'history',
  title: 'History of a memory',
  description: 'Lists the writes of a memory, oldest first, each with the memory as it was before.',
  input: z.strictObject({ id: memoryId }),
  output: z.object({
    id: z.string(),
    events: listOf(
      z.object({
        sequence: z.number(),
        operation: z.number().describe('What undo takes'),
        at: instant,
        verb: z.string() as unknown as z.ZodType<HistoryEntry['verb'], HistoryEntry['verb']>,
        memoryId: z.string(),
        before: memorySchema.optional(),
        redacted: z.boolean().describe('The memory was forgotten, and its text is gone from here'),
        undoes: z.number().optional(),
        run: z.string().optional().describe('The run of maintenance that it was part of'),
        settings: settingsSchema.optional(),
        link: z
          .object({
            link: z.object({ ids: z.tuple([z.string(), z.string()]).readonly(), kind: linkKind }),
            before: z.object({ weight: z.number(), at: z.number() }).optional(),
          })
          .optional(),
      } satisfies Record<keyof HistoryEntry, z.ZodType>),
    ),
  }),
  access: 'read',
  destructive: false,
  idempotent: true,
  http: { method: 'GET', path: '/v1/memories/{id}/history' },
  tool: false,
  run: async (memory, { id }) => ({ id, events: await memory.history(id) }),
  text: ({ id, events }) =>
    [
      `[${named(id)}] ${counted(events.length, 'write')}`,
      ...events.map(({ at, verb, operation, before, redacted }) => {
        const was = redacted ? ' (redacted)' : before ? `, before: ${memoryLine(before)}` : '';
        return `- ${at} ${verb} (operation ${operation})${was}`;
      }),
    ].join('\n'),
});
