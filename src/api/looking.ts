import * as z from 'zod';
import { WRITES } from '../domain/verbs.ts';
import type { Activity, Operation, UseActivity, WriteActivity } from '../index.ts';
import { counted, named } from './quote.ts';
import { instant, listOf } from './schemas.ts';
import { defineVerb } from './verb.ts';

const ids = listOf(z.string());

export const operations = defineVerb('operations', {
  output: z.object({
    operations: listOf(
      z.object({
        operation: z.number().describe('What undo takes'),
        verb: z.enum(WRITES),
        at: instant,
        memories: z.number().describe('How many memories it wrote'),
        ids: ids.describe('The first ten of them; where it wrote none, those that it linked'),
        links: z.number().describe('How many links it changed'),
        run: z.string().optional().describe('The run of maintenance that it was part of'),
        undoes: z.number().optional(),
        undoneBy: z.number().optional(),
        undoable: z.boolean(),
        because: z.enum(['undo', 'undone', 'forgotten', 'changed']).optional().describe('Why it is not'),
      } satisfies Record<keyof Operation, z.ZodType>),
    ),
  }),
  text: ({ operations }) =>
    operations.length === 0
      ? 'nothing was written yet'
      : operations
          .map(({ operation, at, verb, memories, ids, undoable, because }) => {
            const which =
              memories > ids.length ? counted(memories, 'memory', 'memories') : ids.map(named).join(', ');
            return `- ${operation} ${at} ${verb} ${which}${undoable ? '' : ` (no undo: ${because})`}`;
          })
          .join('\n'),
});

export const activity = defineVerb('activity', {
  output: z.object({
    entries: listOf(
      z.union([
        z.object({
          kind: z.literal('write'),
          at: instant,
          operation: z.number().describe('What undo takes'),
          verb: z.enum(WRITES),
          ids,
          run: z.string().optional(),
          undoes: z.number().optional(),
        } satisfies Record<keyof WriteActivity, z.ZodType>),
        z.object({
          kind: z.literal('use'),
          at: instant,
          strategy: z.string(),
          effect: z.enum(['reinforce', 'count', 'touch', 'see']),
          ids,
          sessionId: z.string().optional(),
        } satisfies Record<keyof UseActivity, z.ZodType>),
      ]),
    ),
    position: z.string().describe('Where to go on: what the next call takes as after'),
  } satisfies Record<keyof Activity, z.ZodType>),
  text: ({ entries, position }) =>
    [
      ...entries.map((entry) => {
        const what = entry.kind === 'write' ? entry.verb : `${entry.strategy} (${entry.effect})`;
        return `- ${entry.at} ${entry.kind} ${what}: ${entry.ids.map(named).join(', ')}`;
      }),
      `position ${position}`,
    ].join('\n'),
});
