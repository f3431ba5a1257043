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

/** What could be read of a list. */
export interface ListAnswer<Item> {
  readonly items: readonly Item[];
  /** Items that could not be read. */
  readonly dropped: number;
}

/** What a model has to write for a zod type: all fields, no others, so that servers can enforce it. */
function jsonSchemaOf(type: ZodType): JsonSchema {
  const { $schema: _, ...schema } = type.toJSONSchema({
    io: 'output',
    target: 'draft-7',
    // A default is how we read a broken field, not an offer to leave it out.
    override: ({ jsonSchema }) => void delete jsonSchema.default,
  });
  return schema;
}

/**
 * An answer that is an object with one list. Items that do not fit are dropped and counted; only when none of them
 * fits has the model misunderstood, and is told so.
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

/** An answer that is one object of this type. `check` throws an error that tells the model what is wrong. */
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
 * Asks a model. One of the caller's own may return anything, or a value that it has not checked: `read` gives what to use of it,
 * or throws for what the schema does not give. Throws `model_invalid_output` for that, `aborted` as soon as the signal aborts,
 * also where the model does not listen, and what the model throws.
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
    // What is wrong may quote a text of the request.
    throw new SalienceError(
      'model_invalid_output',
      `${model.name} returned no value of the schema: the "generate" of a model of your own must return { value: schema.parse(answer) }, with what it spent`,
      { details: { model: model.name, ...usage } },
    );
  }
}

/** A list that its schema has read already. Throws for what is none. */
export function readListAnswer<Item>(value: unknown): ListAnswer<Item> {
  if (!Array.isArray(property(value, 'items')) || !Number.isSafeInteger(property(value, 'dropped'))) {
    throw new Error('not a list answer');
  }
  return value as ListAnswer<Item>;
}

/**
 * A model's words as a memory can hold them: well-formed, without control characters other than tab and line breaks,
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
