import { ABORTED, SalienceError, type SalienceErrorCode } from '../domain/errors.ts';
import { formatInstant, parseInstant } from '../domain/time.ts';
import { type VerbName, verbEntry } from '../domain/verbs.ts';
import type { OperationOptions } from '../index.ts';
import { type Fields, requestOf, type VerbRequest } from './routes.ts';

export interface TransportOptions {
  /** Of the server, such as `http://127.0.0.1:7411`. */
  readonly url: string;
  readonly token: string;
  /** Default is the global one. */
  readonly fetch?: typeof fetch | undefined;
}

export interface AskOptions extends OperationOptions {
  /** A write is done only while the memory has this tag; else the server answers `precondition_failed`. */
  readonly ifMatch?: string | undefined;
  /** Told the tag of a memory that is answered. */
  readonly tagged?: ((etag: string) => void) | undefined;
}

/** Asks a server. */
export interface Transport {
  ask<Answer>(verb: VerbName, fields: Fields, options?: AskOptions): Promise<Answer>;
  /** What is no verb. */
  askPath<Answer>(path: string, options?: Pick<OperationOptions, 'signal'>): Promise<Answer>;
}

/**
 * Asks over `fetch`. A connection that ends before an answer is tried once more: writes carry an idempotency key, so
 * that the server does them once.
 */
export function createTransport({ url, token, fetch: given }: TransportOptions): Transport {
  const base = url.replace(/\/+$/, '');
  const send = async <Answer>(
    request: VerbRequest,
    options: AskOptions = {},
    mayWrite = false,
  ): Promise<Answer> => {
    const { signal, now, ifMatch, tagged } = options;
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (request.body !== undefined) headers['content-type'] = 'application/json';
    if (request.method !== 'GET') headers['idempotency-key'] = randomKey();
    if (now !== undefined) headers['salience-now'] = formatInstant(parseInstant(now, 'now'));
    if (ifMatch !== undefined) headers['if-match'] = ifMatch;
    const once = async () => {
      const response = await (given ?? fetch)(`${base}${request.path}`, {
        method: request.method,
        headers,
        // Followed, the token would go where nobody has sent it.
        redirect: 'manual',
        ...(request.body === undefined ? {} : { body: request.body }),
        ...(signal ? { signal } : {}),
      });
      return { response, text: await response.text() };
    };
    const wasAborted = signal?.aborted === true;
    let mayBeDone = false;
    const { response, text } = await once().catch((first: unknown) => {
      if (signal?.aborted) throw failureOf(first, base, signal, mayWrite && !wasAborted);
      mayBeDone = mayWrite && !isUnsent(first);
      return once().catch((cause: unknown) => {
        throw failureOf(cause, base, signal, mayBeDone || (mayWrite && !isUnsent(cause)));
      });
    });
    const answer = parse(text);
    if (response.ok && answer !== undefined) {
      const etag = response.headers.get('etag');
      if (etag !== null) tagged?.(etag);
      return answer as Answer;
    }
    throw errorOf(response, answer, base, mayWrite, mayBeDone);
  };
  return {
    ask: (verb, fields, options) =>
      send(requestOf(verb, fields), options, verbEntry(verb).access === 'write' && fields['dryRun'] !== true),
    askPath: (path, options) => send({ method: 'GET', path, body: undefined }, options),
  };
}

/** No `randomUUID`: browsers have it on pages of HTTPS and of this machine alone. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Every answer is an object; what is none is `undefined`. */
function parse(text: string): Fields | undefined {
  try {
    return asFields(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function asFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/**
 * Whether a server may have answered this without a look at the idempotency key. Any other refusal of a key that was done
 * says that it was.
 */
function isBeforeKey(status: number): boolean {
  return status === 401 || status === 408 || status === 429 || status >= 500;
}

/**
 * The error that the server answered, as the engine would have thrown it. `mayBeDone`: this is the answer to a second
 * request, and the first may have been done.
 */
function errorOf(
  { status, type, headers }: Response,
  answer: Fields | undefined,
  base: string,
  mayWrite: boolean,
  mayBeDone: boolean,
): SalienceError {
  const problem = answer ?? {};
  // So many bytes of headers, the path among them, no server reads. A problem that says so is for whoever writes requests.
  if (status === 414 || status === 431) {
    return new SalienceError(
      'invalid_argument',
      'the arguments are too long: reading sends them in the path; give fewer or shorter ones, or ask in several calls',
      { details: { status } },
    );
  }
  if (typeof problem['code'] === 'string' && typeof problem['detail'] === 'string') {
    const { code, detail } = problem as { readonly code: SalienceErrorCode; readonly detail: string };
    const details = asFields(problem['details']) ?? {};
    const isKnown = details['inDoubt'] !== undefined || details['written'] !== undefined;
    return mayBeDone && !isKnown && isBeforeKey(status)
      ? new SalienceError(code, `${detail}. ${IN_DOUBT}`, { details: { ...details, inDoubt: true } })
      : new SalienceError(code, detail, { details });
  }
  // A page is not told where it would have been sent.
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const location = headers.get('location');
    const where = location === null ? 'another address' : location;
    return new SalienceError(
      'server_failed',
      `${base} redirects to ${where}, and the token is sent nowhere else; give the URL of the server itself${mayBeDone ? `. ${IN_DOUBT}` : ''}`,
      { details: { status, ...(mayBeDone ? { inDoubt: true } : {}) } },
    );
  }
  return notThisApi(base, status, mayBeDone || (mayWrite && (status < 300 || status >= 500)));
}

const IN_DOUBT = 'It is unknown whether this was written: read the data before you write it again.';

/** What answered is something else, or of another version. */
export function notThisApi(base: string, status: number, inDoubt = false): SalienceError {
  return new SalienceError(
    'server_failed',
    `${base} answered ${status} with something that is not a response of this API; is it a salience server of this version?${inDoubt ? ` ${IN_DOUBT}` : ''}`,
    { details: { status, ...(inDoubt ? { inDoubt } : {}) } },
  );
}

/** Failures before a byte of the request is sent. */
const UNSENT: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** A code such as `EHOSTUNREACH` may be that of an open connection too: then the failed call is another one. */
function isUnsent(failure: unknown): boolean {
  const { cause } = (failure ?? {}) as {
    readonly cause?: { readonly code?: unknown; readonly syscall?: unknown };
  };
  return UNSENT.has(cause?.code) || cause?.syscall === 'connect';
}

function failureOf(
  cause: unknown,
  base: string,
  signal: AbortSignal | undefined,
  inDoubt: boolean,
): SalienceError {
  const details = inDoubt ? { inDoubt } : {};
  if (signal?.aborted) {
    return new SalienceError('aborted', ABORTED, { details, cause: signal.reason });
  }
  return new SalienceError(
    'server_failed',
    `${base} cannot be reached, or ended the connection without an answer; check the URL, and that "salience serve" is running there${inDoubt ? `. ${IN_DOUBT}` : ''}`,
    { details, cause },
  );
}
