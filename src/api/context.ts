import * as z from 'zod';
import type { Context, ContextMessage } from '../index.ts';
import { traceSchema } from './hit.ts';
import { missingIn, missingText, nothingSchema, nothingText } from './missing.ts';
import { counted } from './quote.ts';
import { listOf, memorySchema } from './schemas.ts';
import { defineVerb } from './verb.ts';

const output = z.object({
  text: z.string().describe('What to put before the model; empty when no memory is in it'),
  messages: listOf(
    z.object({ role: z.enum(['system', 'user']), content: z.string() } satisfies Record<
      keyof ContextMessage,
      z.ZodType
    >),
  )
    .optional()
    .describe('The same as messages of a chat, with the format messages'),
  items: listOf(
    z.object({
      id: z.string(),
      number: z.number().describe('As which it stands in the text'),
      section: z.string(),
      score: z.number(),
      tokens: z.number(),
      memory: memorySchema,
    } satisfies Record<keyof Context['items'][number], z.ZodType>),
  ),
  omitted: listOf(
    z.looseObject({ id: z.string(), reason: z.string(), message: z.string() }),
  ) as unknown as z.ZodType<Context['omitted'], Context['omitted']>,
  tokens: z.number(),
  maxTokens: z.number(),
  totalScore: z.number(),
  totalValue: z.number(),
  lossBound: z.number().optional(),
  missing: listOf(z.string()).describe(
    'What should have taken part in the search and could not; looking back, what was forgotten since',
  ),
  nothing: nothingSchema,
  trace: traceSchema.optional(),
} satisfies Record<keyof Context | 'missing', z.ZodType>);

function answerOf(
  { items, trace, ...built }: Context,
  input: Readonly<Record<string, unknown>>,
): z.input<typeof output> {
  return {
    ...built,
    missing: missingIn(trace),
    items: items.map(({ score, ...item }) => ({ ...item, score: score.value })),
    ...(input['trace'] ? { trace } : {}),
  };
}

/** If memories were found but none fits, the text must not read as if nothing were known. */
const textOf = ({ text, items, omitted, maxTokens, nothing }: z.output<typeof output>) => {
  if (items.length > 0) return text;
  const eligible = omitted.filter(
    ({ reason }) => reason !== 'below-minimum-score' && reason !== 'no-section',
  );
  return eligible.length > 0
    ? `found ${counted(eligible.length, 'memory', 'memories')}, of which none fits into ${counted(maxTokens, 'token')}; raise maxTokens`
    : nothingText(nothing);
};

/** Warnings follow the text, outside of its fence. */
const withWarnings = (answer: z.output<typeof output>) =>
  [textOf(answer), ...missingText(true, answer.missing)].join('\n');

export const context = defineVerb('context', { output, shape: answerOf, text: withWarnings });

export const bootstrap = defineVerb('bootstrap', { output, shape: answerOf, text: withWarnings });

export const pinned = defineVerb('pinned', { output, shape: answerOf, text: withWarnings });
