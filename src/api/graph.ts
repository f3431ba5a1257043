import * as z from 'zod';
import type {
  GraphPath,
  MergeResult,
  Neighbour,
  Neighbourhood,
  NeighbourLink,
  RelateResult,
  SplitResult,
  UnrelateResult,
} from '../index.ts';
import { linkKind } from './links.ts';
import { counted, dayOf, named, quoted } from './quote.ts';
import { relationLine, statedRelation } from './relation.ts';
import { inactiveSchema } from './remembered.ts';
import { listOf, type MemoryOutput, memorySchema } from './schemas.ts';
import { defineVerb } from './verb.ts';

function titleOf({ id, title }: Pick<MemoryOutput, 'id' | 'title'>): string {
  return title === undefined ? `[${named(id)}]` : `[${named(id)}] ${named(title)}`;
}

export const relate = defineVerb('relate', {
  output: z.object({
    relation: statedRelation,
    sentence: z.string().describe('It in words'),
    outcome: z.enum(['created', 'updated', 'deduplicated']),
    inactive: inactiveSchema
      .optional()
      .describe('All that states it was invalidated: it does not hold until one of these is reinstated'),
  } satisfies Record<keyof RelateResult, z.ZodType>),
  text: ({ relation, sentence, outcome, inactive }) =>
    [
      `${outcome}: ${named(sentence)}`,
      relationLine(relation),
      ...(inactive === undefined
        ? []
        : [
            `It does not hold: what states it was invalidated on ${dayOf(inactive.since)}, because ${quoted(inactive.reason)}. If the user says that it is true after all, call reinstate.`,
          ]),
    ].join('\n'),
});

export const unrelate = defineVerb('unrelate', {
  output: z.object({
    id: z.string().describe('The relation that has ended'),
    sentence: z.string().describe('It in words'),
    statements: listOf(z.string()),
  } satisfies Record<keyof UnrelateResult, z.ZodType>),
  text: ({ sentence, statements }) =>
    `ended: ${named(sentence)}; stated by ${statements.map((id) => `[${named(id)}]`).join(', ')}`,
});

export const mergeEntities = defineVerb('mergeEntities', {
  output: z.object({
    entity: memorySchema,
    merged: z.string().describe('The id of the entity that is part of it now'),
    statements: listOf(z.string()).describe('The memories that stated its relations'),
  } satisfies Record<keyof MergeResult, z.ZodType>),
  text: ({ entity, merged, statements }) =>
    `merged [${named(merged)}] into ${titleOf(entity)}; ${counted(statements.length, 'statement')} rewritten`,
});

export const splitEntity = defineVerb('splitEntity', {
  output: z.object({
    entity: memorySchema,
    split: memorySchema,
    statements: listOf(z.string()).describe('The memories that state relations of the other one now'),
  } satisfies Record<keyof SplitResult, z.ZodType>),
  text: ({ entity, split, statements }) =>
    `split ${titleOf(split)} from ${titleOf(entity)}; ${counted(statements.length, 'statement')} rewritten`,
});

export const entities = defineVerb('entities', {
  output: z.object({ entities: listOf(memorySchema) }),
  text: ({ entities }) =>
    [
      counted(entities.length, 'entity', 'entities'),
      ...entities.map(
        (each) => `- ${titleOf(each)}${each.kind === undefined ? '' : ` (${named(each.kind)})`}`,
      ),
    ].join('\n'),
});

export const neighbours = defineVerb('neighbours', {
  output: z.object({
    entity: memorySchema,
    neighbours: listOf(
      z.object({
        id: z.string(),
        name: z.string().exactOptional(),
        kind: z.string().exactOptional(),
        type: z.string(),
        depth: z.number(),
        text: z.string().exactOptional().describe('The beginning of what it says'),
      } satisfies Record<keyof Neighbour, z.ZodType>),
    ),
    relations: listOf(statedRelation),
    links: listOf(
      z.object({
        ids: z.tuple([z.string(), z.string()]).readonly(),
        kind: linkKind,
        weight: z.number().describe('What is left of it now, 0–1'),
      } satisfies Record<keyof NeighbourLink, z.ZodType>),
    ).exactOptional(),
    truncated: z.literal(true).exactOptional(),
  } satisfies Record<keyof Neighbourhood, z.ZodType>),
  text: ({ entity, neighbours, relations, links = [], truncated }) =>
    [
      titleOf(entity),
      ...neighbours.map(({ depth, id, name }) => `${depth}. ${titleOf({ id, title: name })}`),
      ...(truncated ? ['and more; raise the limit'] : []),
      counted(relations.length, 'relation'),
      ...relations.map(relationLine),
      ...links.map(
        ({ ids, kind, weight }) => `- ${ids.map(named).join(' – ')} (${kind}, ${weight.toFixed(2)})`,
      ),
    ].join('\n'),
});

export const paths = defineVerb('paths', {
  output: z.object({
    paths: listOf(
      z.object({
        ids: listOf(z.string()),
        relations: listOf(statedRelation),
      } satisfies Record<keyof GraphPath, z.ZodType>),
    ),
  }),
  text: ({ paths }) =>
    [
      counted(paths.length, 'path'),
      ...paths.map(({ ids }) => `- ${ids.map((id) => `[${named(id)}]`).join(' – ')}`),
    ].join('\n'),
});
