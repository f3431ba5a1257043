import * as z from 'zod';
import {
  type ForgetFilter,
  type ForgetOptions,
  type ForgetResult,
  SalienceError,
  type UndoResult,
} from '../index.ts';
import { memoryLine } from './memory-text.ts';
import { counted, named } from './quote.ts';
import { listOf, memorySchema } from './schemas.ts';
import { defineVerb, operationOf } from './verb.ts';

export const update = defineVerb('update', {
  output: memorySchema,
  text: (memory) => `updated ${memoryLine(memory)}`,
});

const ids = listOf(z.string());

const forgotten = z.object({
  dryRun: z.boolean(),
  count: z.number().describe('How many are forgotten, what was made of them included'),
  forgotten: ids,
  rebuilt: ids.describe('Consolidations that were made again without them'),
  reinstated: ids.describe('Originals of forgotten consolidations: believed again'),
  mayStillSay: ids.describe(
    'Summaries that people wrote, copies, and what took over its text or name, now or in its history: they may say the same, and stay',
  ),
  erased: z.enum(['bytes', 'rows']),
} satisfies Record<keyof ForgetResult, z.ZodType>);

function forgottenText({ dryRun, count, forgotten, rebuilt, reinstated, mayStillSay }: ForgetResult): string {
  const namesOf = (each: readonly string[]) => each.map(named).join(', ');
  return [
    `${dryRun ? 'would forget' : 'forgotten'} ${count > 10 || count === 0 ? counted(count, 'memory', 'memories') : namesOf(forgotten)}`,
    ...(rebuilt.length > 0 ? [`consolidated again without it: ${namesOf(rebuilt)}`] : []),
    ...(reinstated.length > 0 ? [`believed again: ${namesOf(reinstated)}`] : []),
    ...(mayStillSay.length > 0 ? [`may still say it: ${namesOf(mayStillSay)}`] : []),
  ].join('\n');
}

export const forget = defineVerb('forget', {
  output: forgotten,
  text: forgottenText,
});

type ForgetInput = ForgetFilter & ForgetOptions & { readonly ids?: readonly string[] };

export const forgetMany = defineVerb('forgetMany', {
  output: forgotten,
  async run(memory, input, context) {
    const { ids, dryRun, limit, ...filter } = input as ForgetInput;
    const options = { dryRun, limit, ...operationOf(context) };
    if (ids === undefined) return memory.forget(filter, options);
    const [field] = Object.keys(filter);
    if (field === undefined) return memory.forget(ids, options);
    throw new SalienceError('invalid_argument', `${field}: give ids or a filter, not both`, {
      details: { field },
    });
  },
  text: forgottenText,
});

export const undo = defineVerb('undo', {
  output: z.object({
    operation: z.number(),
    verb: z.string() as unknown as z.ZodType<UndoResult['verb'], UndoResult['verb']>,
    memories: listOf(
      z.object({
        id: z.string(),
        memory: memorySchema.optional().describe('As it is again; absent: it is gone'),
      }),
    ),
    run: z.string().optional(),
    skipped: listOf(z.object({ id: z.string(), reason: z.enum(['changed', 'forgotten']) }))
      .optional()
      .describe('Of a run: what was left as it is, because it was changed or forgotten since'),
  } satisfies Record<keyof UndoResult, z.ZodType>),
  text: ({ operation, verb, memories }) =>
    [
      `undone: ${verb} (operation ${operation}), ${counted(memories.length, 'memory', 'memories')}`,
      ...memories.map(({ id, memory }) => (memory ? memoryLine(memory) : `[${named(id)}] is gone again`)),
    ].join('\n'),
});
