import * as z from 'zod';
import {
  type ForgetFilter,
  type ForgetOptions,
  type ForgetResult,
  type OperationOptions,
  SalienceError,
  type Undone,
} from '../index.ts';
import { invalidArgument } from '../model/check.ts';
import { CHANGE_FIELDS } from '../model/fields.ts';
import { SOURCES } from '../model/memory.ts';
import { memoryLine } from './memory-text.ts';
import { counted, named } from './quote.ts';
import { changeFields, filterFields, listOf, memoryId, memorySchema, notForAgents } from './schemas.ts';
import { defineVerb, operationOf } from './verb.ts';

export const update = defineVerb({
  name: 'update',
  title: 'Update a memory',
  description:
    'Changes a memory in place; what is not named stays, and undo takes it back. Use it to correct or complete what is remembered.',
  input: z.strictObject({ id: memoryId, ...changeFields }),
  output: memorySchema,
  access: 'write',
  destructive: false,
  idempotent: false,
  http: { method: 'PATCH', path: '/v1/memories/{id}' },
  tool: true,
  notForAgents: notForAgents(CHANGE_FIELDS),
  run: (memory, { id, ...changes }, context) => memory.update(id, changes, operationOf(context)),
  text: (memory) => `updated ${memoryLine(memory)}`,
});

const ids = listOf(z.string());

const forgotten = z.object({
  dryRun: z.boolean(),
  count: z.number().describe('How many are forgotten, what was made of them included'),
  forgotten: ids,
  rebuilt: ids.describe('Consolidations that were joined again without them'),
  reinstated: ids.describe('Originals of forgotten consolidations: believed again'),
  mayStillSay: ids.describe('Summaries that people wrote, and copies: they may say the same, and stay'),
  erased: z.enum(['bytes', 'rows']),
} satisfies Record<keyof ForgetResult, z.ZodType>);

function forgottenText({ dryRun, count, forgotten, rebuilt, reinstated, mayStillSay }: ForgetResult): string {
  const namesOf = (each: readonly string[]) => each.map(named).join(', ');
  return [
    `${dryRun ? 'would forget' : 'forgotten'} ${count > 10 || count === 0 ? counted(count, 'memory', 'memories') : namesOf(forgotten)}`,
    ...(rebuilt.length > 0 ? [`joined again without it: ${namesOf(rebuilt)}`] : []),
    ...(reinstated.length > 0 ? [`believed again: ${namesOf(reinstated)}`] : []),
    ...(mayStillSay.length > 0 ? [`may still say it: ${namesOf(mayStillSay)}`] : []),
  ].join('\n');
}

export const forget = defineVerb({
  name: 'forget',
  title: 'Forget a memory',
  description:
    'Erases a memory for good, its history and what was made of it included. There is no undo. Use it only when the user asks to forget something; correct what is merely wrong with update.',
  input: z.strictObject({ id: memoryId }),
  output: forgotten,
  access: 'write',
  destructive: true,
  idempotent: true,
  http: { method: 'DELETE', path: '/v1/memories/{id}' },
  tool: true,
  run: (memory, { id }, context) => memory.forget(id, operationOf(context)),
  text: forgottenText,
});

const { scope: _, ...forgetFilters } = filterFields;

export const forgetMany = defineVerb({
  name: 'forget_many',
  title: 'Forget memories',
  description:
    'Erases memories for good: those of a list of ids, or all that a filter finds, in one transaction. There is no undo: ask with dryRun first.',
  input: z.strictObject({
    ids: z
      .array(z.string())
      .optional()
      .describe('Not together with a filter. One that is unknown: nothing is forgotten'),
    ...forgetFilters,
    below: z.boolean().optional().describe('With inScope: in the scopes below it too. Default is false'),
    sessionId: z.string().optional().describe('Only of this session'),
    source: z.enum(SOURCES).optional().describe('Only from this source'),
    topicKey: z.string().optional().describe('Only about this topic'),
    dryRun: z.boolean().optional().describe('Only say what would be forgotten. Default is false'),
    limit: z.int().min(1).max(10_000).optional().describe('Most ids that a dry run lists. Default is 100'),
  } satisfies Record<
    'ids' | keyof ForgetFilter | Exclude<keyof ForgetOptions, keyof OperationOptions>,
    z.ZodType
  >),
  output: forgotten,
  access: 'write',
  destructive: true,
  idempotent: true,
  http: { method: 'POST', path: '/v1/forget' },
  tool: false,
  async run(memory, { ids, dryRun, limit, ...filter }, context) {
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

export const undo = defineVerb({
  name: 'undo',
  title: 'Undo a write',
  description:
    'Takes back the latest write, or the operation named; history lists operations. Forgetting cannot be undone.',
  input: z.strictObject({
    operation: z.int().min(1).optional().describe('Default is the latest that can be undone'),
    run: z.string().optional().describe('A whole run of maintenance, in place of an operation'),
  }),
  output: z.object({
    operation: z.number(),
    verb: z.string() as unknown as z.ZodType<Undone['verb'], Undone['verb']>,
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
  } satisfies Record<keyof Undone, z.ZodType>),
  access: 'write',
  destructive: true,
  idempotent: false,
  wholeSpace: true,
  http: { method: 'POST', path: '/v1/undo' },
  tool: true,
  run: (memory, { operation, run }, context) => {
    if (run === undefined) return memory.undo(operation, operationOf(context));
    if (operation !== undefined) throw invalidArgument('run', 'name an operation or a run, not both');
    return memory.undo({ run }, operationOf(context));
  },
  text: ({ operation, verb, memories }) =>
    [
      `undone: ${verb} (operation ${operation}), ${counted(memories.length, 'memory', 'memories')}`,
      ...memories.map(({ id, memory }) => (memory ? memoryLine(memory) : `[${named(id)}] is gone again`)),
    ].join('\n'),
});
