import * as z from 'zod';
import type { MemoryLink } from '../index.ts';
import { counted, named } from './quote.ts';
import { instant, listOf, memoryId } from './schemas.ts';
import { defineVerb, operationOf } from './verb.ts';

export const linkKind = z.enum([
  'co-retrieval',
  'birth',
  'sequence',
  'consolidation',
  'stated',
] satisfies readonly MemoryLink['kind'][]);

const ends = { id: memoryId, to: z.string().describe('The id of the other memory') };

export const links = defineVerb({
  name: 'links',
  title: 'Links of a memory',
  description: 'Lists what a memory is associated with, strongest first.',
  input: z.strictObject({ id: memoryId }),
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
  access: 'read',
  destructive: false,
  idempotent: true,
  http: { method: 'GET', path: '/v1/memories/{id}/links' },
  tool: false,
  run: async (memory, { id }, context) => ({ id, links: await memory.links(id, operationOf(context)) }),
  text: ({ id, links }) =>
    [
      `[${named(id)}] ${counted(links.length, 'link')}`,
      ...links.map(({ id, kind, weight }) => `- [${named(id)}] ${kind} ${weight.toFixed(2)}`),
    ].join('\n'),
});

export const link = defineVerb({
  name: 'link',
  title: 'Link two memories',
  description: 'States that two memories belong together, so that one brings the other in.',
  input: z.strictObject({
    ...ends,
    weight: z.number().min(0.01).max(1).optional().describe('Default is .8'),
  }),
  output: z.object({ id: z.string(), to: z.string(), outcome: z.literal('linked') }),
  access: 'write',
  destructive: false,
  idempotent: true,
  http: { method: 'PUT', path: '/v1/memories/{id}/links/{to}' },
  tool: false,
  async run(memory, { id, to, weight }, context) {
    await memory.link(id, to, { weight, ...operationOf(context) });
    return { id, to, outcome: 'linked' as const };
  },
  text: ({ id, to }) => `linked ${named(id)} and ${named(to)}`,
});

export const unlink = defineVerb({
  name: 'unlink',
  title: 'Unlink two memories',
  description: 'Takes the links between two memories away, or those of the kinds named.',
  input: z.strictObject({
    ...ends,
    kinds: z.array(linkKind).optional().describe('Default is all that are stored'),
  }),
  output: z.object({ id: z.string(), to: z.string(), outcome: z.literal('unlinked') }),
  access: 'write',
  destructive: true,
  idempotent: true,
  http: { method: 'DELETE', path: '/v1/memories/{id}/links/{to}' },
  tool: false,
  async run(memory, { id, to, kinds }, context) {
    await memory.unlink(id, to, { kinds, ...operationOf(context) });
    return { id, to, outcome: 'unlinked' as const };
  },
  text: ({ id, to }) => `unlinked ${named(id)} and ${named(to)}`,
});
