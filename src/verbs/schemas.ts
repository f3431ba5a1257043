import * as z from 'zod';
import type { Explanation, FilterOptions, Memory, Metadata, RememberInput } from '../index.ts';
import { JUDGES, MEMORY_TYPES, SOURCES, TIERS } from '../model/memory.ts';

/** A list as the engine hands it out. Unlike `readonly()` of zod it says nothing in JSON Schema. */
export function listOf<Item extends z.ZodType>(
  item: Item,
): z.ZodType<readonly z.output<Item>[], readonly z.input<Item>[]> {
  return z.array(item) as never;
}

export const instant = z.string().describe('ISO 8601');
const share = z.number().min(0).max(1);
const metadata = z.record(z.string(), z.unknown()) as unknown as z.ZodType<Metadata, Metadata>;

export const memoryId = z.string().describe('The id of a memory, as remember and recall return it');
export const scope = z.string().describe('A path such as "global", "project:match" or "team:a/project:b"');
const memoryType = z.string().describe(`One of ${MEMORY_TYPES.join(', ')}, or a word of your own`);

/** A remembered statement, every field of it. What is not known is absent. */
export const memorySchema = z.object({
  id: z.string(),
  space: z.string(),
  scope: z.string(),
  type: z.string(),
  title: z.string().optional(),
  content: z.string(),
  tags: listOf(z.string()),
  metadata,
  topicKey: z.string().optional(),
  sessionId: z.string().optional(),
  createdAt: instant,
  updatedAt: instant,
  lastAccessedAt: instant.optional(),
  validFrom: instant.optional(),
  validUntil: instant.optional(),
  expiresAt: instant.optional(),
  invalidatedAt: instant.optional(),
  coldSince: instant.optional(),
  consolidatedAt: instant.optional(),
  importance: share,
  importanceJudge: z.enum(JUDGES),
  confidence: share,
  usefulness: share,
  weight: share,
  stability: share,
  accessCount: z.number(),
  sessions: listOf(z.string()),
  revisionCount: z.number(),
  tier: z.enum(TIERS),
  core: z.boolean(),
  supersedes: z.string().optional(),
  source: z.enum(SOURCES),
  sourceRef: z.string().optional(),
} satisfies Record<keyof Memory, z.ZodType>);

export type MemoryOutput = z.output<typeof memorySchema>;

/** What may be said about a new memory. The engine checks lengths and texts. */
export const rememberFields = {
  content: z
    .string()
    .describe('One statement that stands on its own: who, what, when; names instead of pronouns'),
  type: memoryType.optional().describe(`${memoryType.description}. Default is fact`),
  scope: scope.optional().describe(`Who may see it: ${scope.description}. Default is global`),
  title: z.string().optional(),
  tags: z.array(z.string()).optional(),
  importance: share
    .optional()
    .describe('.8–1 critical (medical, security), .5–.7 useful preferences, .1–.4 casual. Default is .5'),
  confidence: share.optional().describe('How sure it is. Default is .8'),
  weight: z.number().min(0.1).max(1).optional().describe('Default is 1'),
  validFrom: instant.optional().describe('ISO 8601; hidden before'),
  validUntil: instant.optional().describe('ISO 8601; hidden after'),
  expiresAt: instant.optional().describe('ISO 8601; forgotten for good after'),
  metadata: metadata.optional().describe('Any JSON that belongs to it'),
  source: z.enum(SOURCES).optional().describe('Default is stated'),
  sourceRef: z.string().optional().describe('A pointer to the origin: a file, a commit, a message id'),
  sessionId: z.string().optional(),
  id: z.string().optional().describe('At most 128 characters. Default is a new one'),
  createdAt: instant.optional().describe('ISO 8601; when it was first known. Default is now'),
  updatedAt: instant.optional().describe('ISO 8601. Default is createdAt'),
} satisfies Record<keyof RememberInput, z.ZodType>;

/** Which memories are looked at. */
export const filterFields = {
  scope: scope.optional().describe('As seen from this scope: its memories and those above. Default is all'),
  types: z.array(z.string()).optional().describe('Only these types'),
  typesExclude: z.array(z.string()).optional().describe('Not these types; not together with types'),
  tags: z.array(z.string()).optional().describe('Only memories that carry all of these tags'),
} satisfies Record<keyof FilterOptions, z.ZodType>;

const explanationNode = z.object({
  op: z.string(),
  value: z.number(),
  get inputs() {
    return z.array(explanationNode);
  },
  detail: z.record(z.string(), z.unknown()),
});

/** The tree of values that a score is made of. */
export const explanationSchema = explanationNode as unknown as z.ZodType<Explanation, Explanation>;
