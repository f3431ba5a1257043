import type * as z from 'zod';
import { invalidArgument } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import type { Grant } from './tokens.ts';

type Fields = Readonly<Record<string, unknown>>;

const BODY = { details: { field: 'body' } };

/** Parses the body of a request into fields. Throws `invalid_argument`. */
export function parseJsonFields(body: string, contentType: string | undefined): Fields {
  if (body === '') return {};
  if (!/^application\/json\s*(;|$)/i.test(contentType ?? '')) {
    throw new SalienceError(
      'invalid_argument',
      'send the body as JSON, with content-type: application/json',
      {
        details: { field: 'content-type' },
      },
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new SalienceError('invalid_argument', 'the body is not valid JSON, or is cut off', BODY);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new SalienceError('invalid_argument', 'the body must be a JSON object', BODY);
}

/**
 * Parses a query string into fields by the types of the schema. A list is its field repeated, an empty list `[]`, an
 * object JSON. A value that does not fit its type stays text, and the schema reports it.
 */
export function parseQueryFields(schema: z.ZodObject, query: URLSearchParams): Fields {
  const fields = [...new Set(query.keys())].map((name): [string, unknown] => {
    const values = query.getAll(name);
    // `hasOwn`, because every object inherits names such as `constructor`.
    const kind = Object.hasOwn(schema.shape, name) ? kindOf(schema.shape[name]) : undefined;
    if (kind === 'array') return [name, values.length === 1 && values[0] === '[]' ? [] : values];
    const [value = ''] = values;
    if (values.length > 1) throw invalidArgument(name, 'must be given once');
    if (kind === 'number' && value.trim() !== '' && Number.isFinite(Number(value)))
      return [name, Number(value)];
    if (kind === 'boolean' && (value === 'true' || value === 'false')) return [name, value === 'true'];
    if (kind === 'object' || kind === 'record') return [name, parseObject(value, name)];
    return [name, value];
  });
  return Object.fromEntries(fields);
}

function parseObject(value: string, name: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw invalidArgument(name, 'write it as JSON');
  }
}

/** Returns the type of a schema without its optional and default wrappers. */
function kindOf(schema: unknown): string | undefined {
  let inner = schema as z.core.$ZodType | undefined;
  while (inner && 'innerType' in inner._zod.def) inner = inner._zod.def.innerType as z.core.$ZodType;
  return inner?._zod.def.type;
}

/**
 * Removes the names of the space from the fields. Only the token decides the space; an argument may repeat its name.
 * Throws `forbidden` for another name.
 */
export function withoutSpace(fields: Fields, { space }: Grant): Fields {
  const { space: named = space, user_id: user = space, ...rest } = fields;
  if (named === space && user === space) return rest;
  throw new SalienceError('forbidden', 'the token opens another space than the request names; leave it out');
}
