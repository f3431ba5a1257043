import * as z from 'zod';
import type { MemoryLink } from '../index.ts';
import { counted, named } from './quote.ts';
import { instant, listOf } from './schemas.ts';
import { defineVerb } from './verb.ts';

export const linkKind = z.enum([
  'co-retrieval',
  'birth',
  'sequence',
  'consolidation',
  'stated',
] satisfies readonly MemoryLink['kind'][]);

export const links = defineVerb('links', {
  output: z.object({
    id: z.string(),
    links: listOf(
      z.object({
        id: z.string().describe('The memory at the other end'),
        kind: linkKind,
        weight: z.number().describe('What is left of it now, 0–1'),
        storedWeight: z.number(),
        at: instant,
      } satisfies Record<keyof MemoryLink, z.ZodType>),
    ),
  }),
  text: ({ id, links }) =>
    [
      `[${named(id)}] ${counted(links.length, 'link')}`,
      ...links.map(({ id, kind, weight }) => `- [${named(id)}] ${kind} ${weight.toFixed(2)}`),
    ].join('\n'),
});

export const link = defineVerb('link', {
  output: z.object({ id: z.string(), to: z.string(), outcome: z.literal('linked') }),
  text: ({ id, to }) => `linked ${named(id)} and ${named(to)}`,
});

export const unlink = defineVerb('unlink', {
  output: z.object({ id: z.string(), to: z.string(), outcome: z.literal('unlinked') }),
  text: ({ id, to }) => `unlinked ${named(id)} and ${named(to)}`,
});
