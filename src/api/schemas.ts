import * as z from 'zod';
import { capitalised } from '../domain/arguments.ts';
import { FIELD_NAMES, FIELDS, type Field, type FieldName } from '../domain/fields.ts';
import type { Explanation, Memory, Metadata, Relation, SpaceSettings } from '../index.ts';

/** A list as the engine returns it. Unlike zod's `readonly()`, it adds nothing to the JSON Schema. */
export function listOf<Item extends z.ZodType>(
  item: Item,
): z.ZodType<readonly z.output<Item>[], readonly z.input<Item>[]> {
  return z.array(item) as never;
}

export const instant = z.string().describe('ISO 8601');
const share = z.number().min(0).max(1);
const metadata = z.record(z.string(), z.unknown()) as unknown as z.ZodType<Metadata, Metadata>;

/** A relation as a memory states it. */
export const relationSchema = z.object({
  from: z.string(),
  name: z.string(),
  to: z.string(),
  weight: z.number(),
  confidence: share,
  validFrom: instant.exactOptional(),
  validUntil: instant.exactOptional(),
} satisfies Record<keyof Relation, z.ZodType>);

/** Returns the schema of a field of a memory, as it is returned to callers. */
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
    case 'relations':
      return listOf(relationSchema);
    case 'choice':
      return z.enum(choices as readonly [string, ...string[]]);
    case 'instant':
      return instant;
    default:
      return z.string();
  }
}

function described(schema: z.ZodType, about: string | undefined): z.ZodType {
  return about === undefined ? schema : schema.describe(capitalised(about));
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

/** A memory with all its fields. Unknown values are absent. */
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

/** The settings of a space. */
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
  recordRecalls: z.union([z.literal('off'), z.object({ days: z.number(), texts: z.boolean() })]),
  timeZone: z.string(),
  singleValued: listOf(z.string()),
  people: z.enum(['off', 'authors']),
} satisfies Record<keyof SpaceSettings, z.ZodType>);

const explanationNode = z.object({
  op: z.string(),
  value: z.number(),
  get inputs() {
    return z.array(explanationNode);
  },
  detail: z.record(z.string(), z.unknown()),
});

/** The tree of values that make up a score. */
export const explanationSchema = explanationNode as unknown as z.ZodType<Explanation, Explanation>;
