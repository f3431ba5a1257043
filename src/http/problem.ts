import { outcomeOf } from '../api/index.ts';
import { SalienceError, type SalienceErrorCode } from '../domain/errors.ts';

/** The body of an error response by RFC 9457, with the engine's code and details. */
export interface Problem {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: SalienceErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
}

/** HTTP statuses by error code. Every other code is 400. */
const statuses: Partial<Record<SalienceErrorCode, number>> = {
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  timed_out: 408,
  already_exists: 409,
  cannot_undo: 409,
  redacted: 410,
  precondition_failed: 412,
  content_too_large: 413,
  idempotency_conflict: 422,
  rate_limited: 429,
  server_failed: 500,
  embedder_mismatch: 500,
  settings_mismatch: 500,
  unknown_embedder: 500,
  store_failed: 500,
  store_corrupt: 500,
  not_a_store: 500,
  newer_store: 500,
  unreadable_file: 500,
  unwritable_file: 500,
  unsupported: 501,
  embedder_failed: 502,
  model_failed: 502,
  model_invalid_output: 502,
  store_read_only: 503,
  store_busy: 503,
  store_replaced: 503,
  too_many_spaces: 503,
  space_too_large: 507,
  closed: 503,
  aborted: 503,
  store_full: 507,
};

/**
 * Codes with a status of 500 or more whose messages clients may read. The other messages may name files, servers and
 * models.
 */
const told: ReadonlySet<SalienceErrorCode> = new Set(['aborted', 'closed', 'unsupported']);

/** Codes of failures that pass by themselves. */
const passing: ReadonlySet<SalienceErrorCode> = new Set(['store_busy', 'too_many_spaces']);

/** Seconds after which a client should try again. */
const RETRY_AFTER = 5;

/** Whether the database of the store could not be reached. */
function isUnavailable(error: SalienceError): boolean {
  return error.details['unavailable'] === true;
}

function statusOf(error: unknown, code: SalienceErrorCode): number {
  if (!SalienceError.isInstance(error) || !isUnavailable(error)) return statuses[code] ?? 400;
  // 503 tells clients and proxies to send the request again. A write that was done, or may have been, must not be repeated.
  return outcomeOf(error) ? 500 : 503;
}

/** Returns the problem for the client. `hidden`: the problem leaves out details that must be logged. */
export function problemOf(error: unknown): { readonly problem: Problem; readonly hidden: boolean } {
  const code = SalienceError.isInstance(error) ? error.code : 'server_failed';
  const status = statusOf(error, code);
  const hidden = status >= 500 && !told.has(code);
  const { message, details } =
    SalienceError.isInstance(error) && !hidden
      ? error
      : (outcomeOf(error) ?? { message: 'the server cannot do this now; see its log', details: {} });
  const title = code.replaceAll('_', ' ');
  return { problem: { type: 'about:blank', title, status, detail: message, code, details }, hidden };
}

/** Returns the headers that an error needs besides its problem. */
export function headersOf(error: unknown): Readonly<Record<string, string>> {
  if (!SalienceError.isInstance(error)) return {};
  if (error.code === 'unauthorized') return { 'www-authenticate': 'Bearer realm="salience"' };
  if (error.code === 'rate_limited') return { 'retry-after': String(error.details['retryAfter']) };
  if ((passing.has(error.code) || isUnavailable(error)) && !outcomeOf(error))
    return { 'retry-after': String(RETRY_AFTER) };
  return {};
}

/** Converts an error to a response. `status` overrides the status of its code. */
export function problemResponse(
  error: unknown,
  headers: Readonly<Record<string, string>> = {},
  status?: number,
): Response {
  const { problem } = problemOf(error);
  const said = status === undefined ? problem : { ...problem, status };
  return new Response(JSON.stringify(said), {
    status: said.status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  });
}
