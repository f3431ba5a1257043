import { type Argument, narrowingArguments } from '../domain/arguments.ts';
import { invalidArgument, texts, wholeCharacters } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { SalienceError } from '../domain/errors.ts';
import { FIELD_FILTERS, INSTANT_FIELDS } from '../domain/fields.ts';
import { type MetadataFilter, parseMetadataFilter } from '../domain/metadata-condition.ts';
import { isPlain } from '../domain/options.ts';
import { toPathSegment } from '../domain/path-segment.ts';
import { parseScope } from '../domain/scope.ts';
import { parseInstant } from '../domain/time.ts';
import { type VerbName, verbEntry } from '../domain/verbs.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface VerbRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly body: string | undefined;
}

/**
 * Returns the request for a verb. Path parameters go into the path, all other fields into the query or the body. Throws
 * what the engine would throw for values that JSON or a URL would change: `invalid_time`, `invalid_argument`,
 * `invalid_text`, `invalid_scope`, `not_found`.
 */
export function requestOf(verb: VerbName, fields: Fields): VerbRequest {
  const { route = '', arguments: known = {} } = verbEntry(verb);
  const [method = '', template = ''] = route.split(' ');
  const rest = new Map(Object.entries(fields).filter(([, value]) => value !== undefined));
  for (const [name, value] of rest) checkSendable(value, name, name);
  // JSON drops a condition whose value is `undefined`, so the filter would match more memories.
  if (rest.has('metadata') && known['metadata'] === narrowingArguments.metadata)
    parseMetadataFilter(rest.get('metadata') as MetadataFilter);
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    checkWritten(rest.get(name), name, known[name]);
    const value = String(rest.get(name));
    // A path cannot contain an empty segment, and nothing has an empty id.
    if (value === '')
      throw new SalienceError('not_found', `${name}: nothing has an empty id`, {
        details: { [name]: value },
      });
    rest.delete(name);
    return toPathSegment(value);
  });
  if (method !== 'GET' && method !== 'DELETE') {
    return { method, path, body: rest.size === 0 ? undefined : JSON.stringify(Object.fromEntries(rest)) };
  }
  const query = new URLSearchParams();
  for (const [name, value] of rest) {
    checkWritten(value, name, known[name]);
    for (const one of Array.isArray(value) ? listInQuery(value) : [value]) query.append(name, inQuery(one));
  }
  return { method, path: query.size === 0 ? path : `${path}?${query}`, body: undefined };
}

/** Throws for values that would look like others in a URL: `null` would become the name "null". */
function checkWritten(value: unknown, field: string, { type, items }: Argument = {}): void {
  if (type === 'string' && typeof value !== 'string' && !(value instanceof Date)) {
    if (field === 'scope' || field === 'inScope') parseScope(value as string);
    throw invalidArgument(field, `expected a string, not ${describe(value)}`);
  }
  if ((type === 'number' || type === 'integer') && typeof value !== 'number') {
    throw invalidArgument(field, `${describe(value)} must be a number`);
  }
  if (type !== 'array') return;
  if (items?.type === 'string') texts(value, field, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  else if (!Array.isArray(value)) throw invalidArgument(field, 'expected a list');
}

/**
 * Returns the values of a list in a query. An empty list is one `[]`, because a list without values would look left
 * out. A list of the text `[]` is sent as two of them, so that it is not read as the empty list.
 */
function listInQuery(list: readonly unknown[]): readonly unknown[] {
  if (list.length === 0) return [[]];
  return list.every((each) => each === '[]') ? ['[]', '[]'] : list;
}

const INSTANTS: ReadonlySet<string> = new Set([
  ...INSTANT_FIELDS,
  ...Object.entries(FIELD_FILTERS).flatMap(([name, { compare }]) => (compare === 'is' ? [] : [name])),
  ...['ttl', 'known', 'valid', 'at', 'endedAt'],
]);

function checkSendable(value: unknown, field: string, name: string | undefined): void {
  if (value instanceof Date) {
    // JSON would turn a `Date` into text. Metadata holds no times, whatever its fields are called.
    if (name === undefined || !INSTANTS.has(name)) {
      throw invalidArgument(field, 'expected no date here; give its ISO string, from toISOString()');
    }
    parseInstant(value, field);
  } else if (typeof value === 'string') wholeCharacters(value, field);
  else if (typeof value === 'number' && !Number.isFinite(value)) {
    throw invalidArgument(field, `expected a finite number, not ${value}`);
  } else if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') {
    throw invalidArgument(field, `a ${typeof value} cannot be sent as JSON`);
  } else if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) {
      if (each === undefined) throw invalidArgument(`${field}[${at}]`, 'undefined cannot be sent as JSON');
      checkSendable(each, `${field}[${at}]`, name);
    }
  } else if (typeof value === 'object' && value !== null) {
    // JSON would encode a `Map` or a `Set` as an empty object.
    if (!isPlain(value)) throw invalidArgument(field, 'expected an object of fields');
    const isMetadata = name === undefined || name === 'metadata';
    for (const [key, each] of Object.entries(value))
      checkSendable(each, `${field}.${key}`, isMetadata ? undefined : key);
  }
}

function inQuery(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
