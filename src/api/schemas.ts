import * as z from 'zod';
import {
  aboutChange,
  CHANGE_FIELDS,
  type ChangeField,
  CREATE_FIELDS,
  FIELD_NAMES,
  FIELDS,
  type Field,
  type FieldName,
  isClearable,
} from '../domain/fields.ts';
import type {
  AsOf,
  Explanation,
  FilterOptions,
  Memory,
  MemoryChanges,
  Metadata,
  MetadataFilter,
  RememberInput,
  SpaceSettings,
} from '../index.ts';

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
/** What a field of a memory holds, as it is handed out. */
function outputOf({ kind, choices = [] }: Field): z.ZodType {
  switch (kind) {
    case 'number':
      return share;
    case 'count':
      return z.number();
    case 'flag':
      return z.boolean();
    case 'names':
    case 'texts':
      return z.array(z.string());
    case 'metadata':
      return metadata;
    case 'choice':
      return z.enum(choices as readonly [string, ...string[]]);
    case 'instant':
      return instant;
    default:
      return z.string();
  }
}

function described(schema: z.ZodType, about: string | undefined): z.ZodType {
  return about === undefined ? schema : schema.describe(`${about.charAt(0).toUpperCase()}${about.slice(1)}`);
}

/** Schemas whose values have the types of `Shape`. */
type SchemasOf<Shape> = {
  readonly [Name in keyof Required<Shape>]: undefined extends Shape[Name]
    ? z.ZodOptional<z.ZodType<Exclude<Shape[Name], undefined>, Exclude<Shape[Name], undefined>>>
    : z.ZodType<Shape[Name], Shape[Name]>;
};

function fieldSchemas<Shape>(schemaOf: (name: FieldName) => z.ZodType, names: readonly FieldName[]) {
  return Object.fromEntries(names.map((name) => [name, schemaOf(name)])) as unknown as SchemasOf<Shape>;
}

/** A remembered statement, every field of it. What is not known is absent. */
export const memorySchema = z.object({
  ...fieldSchemas<Omit<Memory, 'space' | 'effectiveWeight' | 'votes'>>((name) => {
    const field: Field = FIELDS[name];
    const value = field.set === 'engine' ? described(outputOf(field), field.about) : outputOf(field);
    return field.initial === undefined && !field.required ? value.optional() : value;
  }, FIELD_NAMES),
  space: z.string(),
  effectiveWeight: share.describe('The weight, or at most 0.1 while another memory has taken its place'),
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
export const rememberFields: SchemasOf<RememberInput> = {
  ...fieldSchemas<Omit<RememberInput, 'ttl'>>((name) => {
    const field: Field = FIELDS[name];
    const value = described(inputOf(field), field.about);
    return name === 'content' ? value : value.optional();
  }, CREATE_FIELDS),
  ttl: timeToLive.optional(),
};

/** What may be changed of a memory; `null` takes away what need not be there. */
export const changeFields: SchemasOf<MemoryChanges> = {
  ...fieldSchemas<Omit<MemoryChanges, 'ttl'>>((name) => {
    const field: Field = FIELDS[name];
    const about = aboutChange(name as ChangeField);
    return isClearable(name as ChangeField)
      ? described(inputOf(field).nullable().optional(), `${about}; null takes it away`)
      : described(inputOf(field).optional(), about);
  }, CHANGE_FIELDS),
  ttl: timeToLive.optional(),
};

function inputOf(field: Field): z.ZodType {
  return field.range ? z.number().min(field.range[0]).max(field.range[1]) : outputOf(field);
}

/** The names of fields that agents are not offered. */
export function notForAgents(names: readonly FieldName[]): readonly string[] {
  return names.filter((name) => (FIELDS[name] as Field).agents === false);
}

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
