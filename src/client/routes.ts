import { invalidArgument, wholeCharacters } from '../domain/check.ts';
import { isPlain } from '../domain/options.ts';
import { toPathSegment } from '../domain/path-segment.ts';
import { parseInstant } from '../domain/time.ts';
import { type VerbName, verbEntry } from '../domain/verbs.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface VerbRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body: string | undefined;
}

/**
 * The request that asks a verb: what the path names goes there, the rest into the query or the body. Throws what the engine throws for
 * values that JSON would turn into others: `invalid_time`, `invalid_argument`, `invalid_text`.
 */
export function requestOf(verb: VerbName, fields: Fields): VerbRequest {
  const [method = '', template = ''] = (verbEntry(verb).route ?? '').split(' ');
  const rest = new Map(Object.entries(fields).filter(([, value]) => value !== undefined));
  for (const [name, value] of rest) checkSendable(value, name);
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest.get(name));
    rest.delete(name);
    return toPathSegment(value);
  });
  if (method !== 'GET' && method !== 'DELETE') {
    return { method, path, body: rest.size === 0 ? undefined : JSON.stringify(Object.fromEntries(rest)) };
  }
  const query = new URLSearchParams();
  for (const [name, value] of rest) {
    // An empty list must not look like one that was left out.
    const each = Array.isArray(value) && value.length > 0 ? value : [value];
    for (const one of each) query.append(name, inQuery(one));
  }
  return { method, path: query.size === 0 ? path : `${path}?${query}`, body: undefined };
}

function checkSendable(value: unknown, field: string): void {
  if (value instanceof Date) parseInstant(value, field);
  else if (typeof value === 'string') wholeCharacters(value, field);
  else if (typeof value === 'number' && !Number.isFinite(value)) {
    throw invalidArgument(field, `expected a finite number, not ${value}`);
  } else if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') {
    throw invalidArgument(field, `a ${typeof value} cannot be sent as JSON`);
  } else if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) {
      if (each === undefined) throw invalidArgument(`${field}[${at}]`, 'undefined cannot be sent as JSON');
      checkSendable(each, `${field}[${at}]`);
    }
  } else if (typeof value === 'object' && value !== null) {
    // Of a map or a set JSON would keep nothing.
    if (!isPlain(value)) throw invalidArgument(field, 'expected an object of fields');
    for (const [name, each] of Object.entries(value)) checkSendable(each, `${field}.${name}`);
  }
}

function inQuery(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
