import { toPathSegment } from '../domain/path-segment.ts';
import { type VerbName, verbEntry } from '../domain/verbs.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface VerbRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body: string | undefined;
}

/** The request that asks a verb: what the path names goes there, the rest into the query or the body. */
export function requestOf(verb: VerbName, fields: Fields): VerbRequest {
  const [method = '', template = ''] = (verbEntry(verb).route ?? '').split(' ');
  const rest = new Map(Object.entries(fields).filter(([, value]) => value !== undefined));
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
    for (const each of Array.isArray(value) ? value : [value]) {
      query.append(name, inQuery(each));
    }
  }
  return { method, path: query.size === 0 ? path : `${path}?${query}`, body: undefined };
}

function inQuery(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
