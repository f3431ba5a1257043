import { toPathSegment } from '../model/path-segment.ts';

/**
 * Where each verb is asked. The table of verbs says the same, and a test holds the two together: a client needs no
 * schemas, which would be most of its weight.
 */
export const ROUTES = {
  remember: 'POST /v1/memories',
  remember_many: 'POST /v1/memories/batch',
  observe: 'POST /v1/observe',
  recall: 'POST /v1/recall',
  context: 'POST /v1/context',
  bootstrap: 'GET /v1/bootstrap',
  pinned: 'GET /v1/pinned',
  get: 'GET /v1/memories/{id}',
  list: 'GET /v1/memories',
  update: 'PATCH /v1/memories/{id}',
  set_importance: 'PUT /v1/memories/{id}/importance',
  feedback: 'POST /v1/memories/{id}/feedback',
  mark_used: 'POST /v1/used',
  forget: 'DELETE /v1/memories/{id}',
  forget_many: 'POST /v1/forget',
  undo: 'POST /v1/undo',
  explain: 'POST /v1/memories/{id}/explain',
  why_not: 'POST /v1/memories/{id}/why-not',
  history: 'GET /v1/memories/{id}/history',
  links: 'GET /v1/memories/{id}/links',
  link: 'PUT /v1/memories/{id}/links/{to}',
  unlink: 'DELETE /v1/memories/{id}/links/{to}',
  stats: 'GET /v1/stats',
  configure: 'PATCH /v1/settings',
  maintain: 'POST /v1/maintain',
  curate: 'POST /v1/curate',
  start_session: 'POST /v1/sessions',
  current_session: 'GET /v1/sessions/current',
  end_session: 'POST /v1/sessions/end',
  save_summary: 'POST /v1/summaries',
  timeline: 'GET /v1/memories/{id}/timeline',
  invalidate: 'POST /v1/memories/{id}/invalidate',
  revive: 'POST /v1/memories/{id}/revive',
  conflicts: 'GET /v1/conflicts',
  resolve: 'POST /v1/conflicts/{conflictId}/resolve',
  beliefs: 'GET /v1/beliefs',
  restore: 'POST /v1/restore',
  check: 'GET /v1/check',
  reindex: 'POST /v1/reindex',
} as const;

export type RemoteVerb = keyof typeof ROUTES;

export type Fields = Readonly<Record<string, unknown>>;

export interface VerbRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body: string | undefined;
}

/** The request that asks a verb: what the path names goes there, the rest into the query or the body. */
export function requestOf(verb: RemoteVerb, fields: Fields): VerbRequest {
  const [method = '', template = ''] = ROUTES[verb].split(' ');
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
      query.append(name, typeof each === 'object' ? JSON.stringify(each) : String(each));
    }
  }
  return { method, path: query.size === 0 ? path : `${path}?${query}`, body: undefined };
}
