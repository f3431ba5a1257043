import type { ZodType } from 'zod';
import { SalienceError } from '../domain/errors.ts';
import {
  addUsage,
  type Generated,
  type GenerateRequest,
  type JsonOutput,
  type JsonSchema,
  type LanguageModel,
  NO_USAGE,
} from '../providers/language-model.ts';
import { property } from '../providers/property.ts';
import { unlessAborted } from '../providers/waiting.ts';

/** The readable items of a list. */
export interface ListAnswer<Item> {
  readonly items: readonly Item[];
  /** How many items could not be read. */
  readonly dropped: number;
}

/**
 * Returns the JSON schema for a zod type: all fields are required and no others allowed, so that servers can enforce
 * it.
 */
function jsonSchemaOf(type: ZodType): JsonSchema {
  const { $schema: _, ...schema } = type.toJSONSchema({
    io: 'output',
    target: 'draft-7',
    // A default is what we use for an unreadable field; it must not make the field optional.
    override: ({ jsonSchema }) => void delete jsonSchema.default,
  });
  return schema;
}

/**
 * Describes an answer that is an object with one list. Items that do not match are dropped and counted. Only if none
 * matches is the answer rejected, with an explanation for the model.
 */
export async function listOutput<Item>(
  name: string,
  item: ZodType<Item>,
): Promise<JsonOutput<ListAnswer<Item>>> {
  const { z } = await import('zod');
  const envelope = z.object({ [name]: z.array(z.unknown()) });
  return {
    jsonSchema: jsonSchemaOf(z.object({ [name]: z.array(item) })),
    parse(value) {
      const list = envelope.safeParse(value).data?.[name];
      if (list === undefined) throw new Error(`the object needs the list "${name}"`);
      const readings = list.map((each) => item.safeParse(each));
      const items = readings.flatMap(({ success, data }) => (success ? [data] : []));
      if (list.length > 0 && items.length === 0) {
        const issue = readings[0]?.error?.issues[0];
        throw new Error(`${[name, 0, ...(issue?.path ?? [])].join('.')}: ${issue?.message}`);
      }
      return { items, dropped: list.length - items.length };
    },
  };
}

/** Describes an answer that is one object of this type. `check` throws an error that tells the model what is wrong. */
export function objectOutput<Value>(
  type: ZodType<Value>,
  check: (value: Value) => void = () => {},
): JsonOutput<Value> {
  return {
    jsonSchema: jsonSchemaOf(type),
    parse(value) {
      const { data, error } = type.safeParse(value);
      if (data === undefined) {
        const issue = error?.issues[0];
        throw new Error(`${issue?.path.join('.')}: ${issue?.message}`);
      }
      check(data);
      return data;
    },
  };
}

/**
 * Asks a model. A custom model may return anything, or an unchecked value, so `read` returns the usable value, or
 * throws if it does not match the schema. Throws `model_invalid_output` in that case, `aborted` as soon as the signal
 * aborts, even if the model ignores it, and any error of the model.
 */
export async function askModel<Value>(
  model: LanguageModel,
  request: GenerateRequest<Value>,
  read: (value: unknown) => NoInfer<Value>,
): Promise<Generated<Value>> {
  const answer: Generated<Value> | null | undefined = await unlessAborted(
    () => model.generate(request),
    request.signal,
  );
  const usage = addUsage(NO_USAGE, answer ?? NO_USAGE);
  try {
    return { value: read(property(answer, 'value')), ...usage };
  } catch {
    // The reason is not included: it may quote a text of the request.
    throw new SalienceError(
      'model_invalid_output',
      `${model.name} returned no value of the schema: the "generate" of a model of your own must return { value: schema.parse(answer) }, with what it spent`,
      { details: { model: model.name, ...usage } },
    );
  }
}

/** Returns a list that its schema has already read. Throws if it is not one. */
export function readListAnswer<Item>(value: unknown): ListAnswer<Item> {
  if (!Array.isArray(property(value, 'items')) || !Number.isSafeInteger(property(value, 'dropped'))) {
    throw new Error('not a list answer');
  }
  return value as ListAnswer<Item>;
}

/**
 * Returns a model's text as a memory can store it: well-formed, without control characters except tab and line breaks,
 * trimmed.
 */
export function cleanText(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '')
      .trim()
  );
}
