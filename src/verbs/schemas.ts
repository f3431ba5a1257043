import * as z from 'zod';
import type {
  AsOf,
  Explanation,
  FilterOptions,
  Memory,
  Metadata,
  MetadataFilter,
  RememberInput,
  SpaceSettings,
} from '../index.ts';
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
  ordinal: z.number().describe('Its place in the order of insertion'),
  space: z.string(),
  scope: z.string(),
  type: z.string(),
  title: z.string().optional(),
  content: z.string(),
  tags: listOf(z.string()),
  metadata,
  topicKey: z.string().optional(),
  author: z.string().optional(),
  role: z.string().optional(),
  sessionId: z.string().optional(),
  bornIn: z.string().optional().describe('The session in which it was made'),
  createdAt: instant,
  updatedAt: instant,
  lastAccessedAt: instant.optional(),
  seen: instant.optional(),
  validFrom: instant.optional(),
  validUntil: instant.optional(),
  expiresAt: instant.optional(),
  invalidatedAt: instant.optional(),
  invalidReason: z.string().optional(),
  coldSince: instant.optional(),
  consolidatedAt: instant.optional(),
  importance: share,
  importanceJudge: z.enum(JUDGES),
  confidence: share,
  usefulness: share,
  weight: share,
  effectiveWeight: share.describe('The weight, or at most .1 while another memory has taken its place'),
  stability: share,
  accessCount: z.number(),
  sessions: listOf(z.string()),
  revisionCount: z.number(),
  tier: z.enum(TIERS),
  core: z.boolean(),
  supersedes: listOf(z.string()).describe('The memories that it replaces'),
  source: z.enum(SOURCES),
  sourceRef: z.string().optional(),
  derivedFrom: listOf(z.string()).describe('The memories that it was made of'),
  votes: listOf(z.object({ voter: z.string(), vote: z.union([z.literal(1), z.literal(-1)]) })).optional(),
} satisfies Record<keyof Memory, z.ZodType>);

export type MemoryOutput = z.output<typeof memorySchema>;

/** What was decided for a space. */
export const settingsSchema = z.object({
  fading: z.discriminatedUnion('mode', [
    z.object({ mode: z.literal('off') }),
    z.object({
      mode: z.literal('retention'),
      curve: z.enum(['exponential', 'power']),
      daysAtFloor: z.number(),
      daysCold: z.number(),
    }),
  ]),
  timeZone: z.string(),
} satisfies Record<keyof SpaceSettings, z.ZodType>);

export const timeToLive = z
  .string()
  .describe(
    'How long it lives: "7d", "24h", an ISO 8601 duration, or the time at which it ends. A plan or transient_state is no longer valid then, everything else is forgotten',
  );

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
  ttl: timeToLive.optional(),
  topicKey: z
    .string()
    .optional()
    .describe(
      'A key for what it is about, such as "ada/coffee/milk": the next statement with this key and scope replaces it',
    ),
  supersedes: z
    .array(z.string())
    .optional()
    .describe('The ids of the memories that it replaces: they stay, and are no longer recalled'),
  metadata: metadata.optional().describe('Any JSON that belongs to it'),
  source: z.enum(SOURCES).optional().describe('Default is stated'),
  sourceRef: z.string().optional().describe('A pointer to the origin: a file, a commit, a message id'),
  author: z.string().optional().describe('Who said it, by name'),
  role: z.string().optional().describe('user, assistant, system, tool, or another word'),
  sessionId: z.string().optional().describe('As start_session returned it'),
  id: z.string().optional().describe('At most 128 characters. Default is a new one'),
  createdAt: instant.optional().describe('ISO 8601; when it was first known. Default is now'),
  updatedAt: instant.optional().describe('ISO 8601. Default is createdAt'),
} satisfies Record<keyof RememberInput, z.ZodType>;

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const bound = z.union([z.string(), z.number()]).optional();
// The engine says which tests go together.
const metadataFilter = z
  .record(
    z.string(),
    z.union([
      scalar,
      z.array(scalar),
      z.strictObject({
        in: z.array(scalar).optional(),
        exists: z.boolean().optional(),
        above: bound,
        atLeast: bound,
        below: bound,
        atMost: bound,
      }),
    ]),
  )
  .describe(
    'Only memories with this metadata: a value, some values, or a test, by property: {"status": "open", "priority": {"atLeast": 3}}',
  ) as unknown as z.ZodType<MetadataFilter, MetadataFilter>;

const asOfFields = {
  known: instant.optional().describe('What was known then. ISO 8601; default is now'),
  valid: instant.optional().describe('What was true then, by what is known. ISO 8601; default is now'),
} satisfies Record<keyof AsOf, z.ZodType>;

/** A moment to look back to. */
export const asOf = z.strictObject(asOfFields).describe('Looks back; nothing is learnt from it');
/** What was true then does not matter where nothing is hidden for not being true. */
export const asOfKnown = z.strictObject({ known: asOfFields.known }).describe('Looks back');

/** Which memories are looked at. */
export const filterFields = {
  scope: scope.optional().describe('As seen from this scope: its memories and those above. Default is all'),
  inScope: z
    .string()
    .optional()
    .describe('Only what lies in this scope itself, not above; "project:*" is every scope of that kind'),
  types: z.array(z.string()).optional().describe('Only these types'),
  typesExclude: z.array(z.string()).optional().describe('Not these types; not together with types'),
  tags: z.array(z.string()).optional().describe('Only memories that carry all of these tags'),
  metadata: metadataFilter.optional(),
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
