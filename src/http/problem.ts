import { SalienceError, type SalienceErrorCode } from '../model/errors.ts';

/** An error as it is answered: RFC 9457, with the engine's code and details. */
export interface Problem {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: SalienceErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The status of each code that is not the asker's mistake in what was sent (400). */
const statuses: Partial<Record<SalienceErrorCode, number>> = {
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  timed_out: 408,
  already_exists: 409,
  cannot_undo: 409,
  embedder_mismatch: 409,
  precondition_failed: 412,
  content_too_large: 413,
  idempotency_conflict: 422,
  rate_limited: 429,
  server_failed: 500,
  store_failed: 500,
  store_corrupt: 500,
  not_a_store: 500,
  newer_store: 500,
  unreadable_file: 500,
  unwritable_file: 500,
  unsupported: 501,
  embedder_failed: 502,
  store_read_only: 503,
  store_busy: 503,
  closed: 503,
  aborted: 503,
  store_full: 507,
};

/** The problem that an error is for whoever asked. What nobody expected is told in the log, not to strangers. */
export function problemOf(error: unknown): Problem {
  const known = SalienceError.isInstance(error)
    ? error
    : new SalienceError('server_failed', 'the server failed at this request; its log says at what');
  const status = statuses[known.code] ?? 400;
  return {
    type: 'about:blank',
    title: known.code.replaceAll('_', ' '),
    status,
    // Messages about files name paths of the server.
    detail: status === 500 && known === error ? hidden(known) : known.message,
    code: known.code,
    details: status === 500 ? {} : known.details,
  };
}

function hidden({ code }: SalienceError): string {
  return code === 'server_failed' ? 'the server failed' : `the store of the server failed (${code}); its log says why`;
}

export function problemResponse(error: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  const problem = problemOf(error);
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  });
}
