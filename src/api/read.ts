import * as z from 'zod';
import { type HistoryEntry, type Memory, type MemoryPage, SalienceError } from '../index.ts';
import { linkKind } from './links.ts';
import { memoryLine } from './memory-text.ts';
import { counted, named } from './quote.ts';
import { instant, listOf, memorySchema, settingsSchema } from './schemas.ts';
import { defineVerb } from './verb.ts';

export const get = defineVerb('get', {
  output: memorySchema,
  shape(found: Memory | undefined, { id }) {
    if (found) return found;
    throw new SalienceError(
      'not_found',
      `memory ${JSON.stringify(id)} does not exist here: use an id that recall or list returned`,
      { details: { id } },
    );
  },
  text: (memory) => memoryLine(memory),
});

export const list = defineVerb('list', {
  output: z.object({
    memories: listOf(memorySchema),
    nextCursor: z.string().optional().describe('Absent on the last page'),
    total: z.number().optional().describe('How many the list has on all of its pages'),
    position: z.number().optional().describe('How many of them come before this page'),
    redacted: z.number().optional().describe('Looking back: how many are missing, forgotten since'),
  } satisfies Record<keyof MemoryPage, z.ZodType>),
  text: ({ memories, nextCursor, total, position = 0, redacted }) =>
    [
      ...(memories.length === 0 ? ['no memories'] : memories.map((each) => memoryLine(each))),
      ...(total === undefined || memories.length === 0 || memories.length === total
        ? []
        : [`${position + 1}–${position + memories.length} of ${total}`]),
      ...(redacted ? [`${counted(redacted, 'memory', 'memories')} of then forgotten since`] : []),
      ...(nextCursor === undefined ? [] : [`more with cursor ${nextCursor}`]),
    ].join('\n'),
});

export const history = defineVerb('history', {
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
  text: ({ id, events }) =>
    [
      `[${named(id)}] ${counted(events.length, 'write')}`,
      ...events.map(({ at, verb, operation, before, redacted }) => {
        const was = redacted ? ' (redacted)' : before ? `, before: ${memoryLine(before)}` : '';
        return `- ${at} ${verb} (operation ${operation})${was}`;
      }),
    ].join('\n'),
});
