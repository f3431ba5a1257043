import { ABORTED, SalienceError, type SalienceErrorCode } from '../domain/errors.ts';
import { formatInstant, parseInstant } from '../domain/time.ts';
import { type VerbName, verbEntry } from '../domain/verbs.ts';
import type { OperationOptions } from '../index.ts';
import { type Fields, requestOf, type VerbRequest } from './routes.ts';
import { createTurns } from './turns.ts';

export interface TransportOptions {
  /** The URL of the server, such as `http://127.0.0.1:7411`. */
  readonly url: string;
  readonly token: string;
  /** Default is the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

export interface AskOptions extends OperationOptions {
  /** The write is done only if the memory still has this tag. Otherwise the server answers `precondition_failed`. */
  readonly ifMatch?: string | undefined;
  /** Called with the tag of the memory in the answer. */
  readonly tagged?: ((etag: string) => void) | undefined;
}

/** Sends requests to a server. */
export interface Transport {
  ask<Answer>(verb: VerbName, fields: Fields, options?: AskOptions): Promise<Answer>;
  /** Requests a path that is not a verb. */
  askPath<Answer>(path: string, options?: Pick<OperationOptions, 'signal'>): Promise<Answer>;
}

/**
 * Most requests in progress at once. Each takes a connection of the server, and a server closes connections when it has
 * too many: by default it accepts 200 from one address.
 */
const MOST_AT_ONCE = 32;

/** Most bytes of an answer, uncompressed. No answer of a server with the default limits is nearly as large. */
const MOST_BYTES = 256 * 2 ** 20;

/**
 * Sends requests with `fetch`, at most 32 at once; further ones wait. If the connection ends before an answer, the
 * request is sent once more. Writes carry an idempotency key, so that the server does them only once.
 */
export function createTransport({ url, token, fetch: given }: TransportOptions): Transport {
  const base = url.replace(/\/+$/, '');
  const inTurn = createTurns(MOST_AT_ONCE);
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
        // Following a redirect would send the token to another address.
        redirect: 'manual',
        ...(request.body === undefined ? {} : { body: request.body }),
        ...(signal ? { signal } : {}),
      });
      return { response, text: await readText(response, MOST_BYTES) };
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
    if (text === undefined) throw tooLarge(base, mayWrite);
    const answer = parse(text);
    if (response.ok && answer !== undefined) {
      const etag = response.headers.get('etag');
      if (etag !== null) tagged?.(etag);
      return answer as Answer;
    }
    throw errorOf(response, answer, base, mayWrite, mayBeDone);
  };
  return {
    async ask<Answer>(verb: VerbName, fields: Fields, options?: AskOptions) {
      const request = requestOf(verb, fields);
      const mayWrite = verbEntry(verb).access === 'write' && fields['dryRun'] !== true;
      const sent = () => send<Answer>(request, options, mayWrite);
      // A request that only waits for activity must not hold up others. The server limits how many of them wait.
      return Number(fields['wait']) > 0 ? sent() : inTurn(sent, options?.signal);
    },
    askPath: (path, options) => send({ method: 'GET', path, body: undefined }, options),
  };
}

/** Not `randomUUID`: browsers have it only on pages from HTTPS or localhost. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns the text of an answer. If it has more than `most` bytes, stops reading and returns `undefined`. */
async function readText(response: Response, most: number): Promise<string | undefined> {
  // Some implementations of `fetch`, such as that of React Native, have no streams.
  if (!response.body) return response.text();
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > most) {
      // It does not matter whether the rest can be cancelled.
      reader.cancel().catch(() => {});
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Parses an answer. Returns `undefined` if it is not a JSON object, as all answers of this API are. */
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
 * Whether a server may have sent this status before it looked up the idempotency key. Any other refusal of a key whose
 * request was done says so.
 */
function isBeforeKey(status: number): boolean {
  return status === 401 || status === 408 || status === 429 || status >= 500;
}

/**
 * Returns the error in an answer, as the engine would have thrown it. `mayBeDone`: the request was sent twice, and the
 * first one may have been done.
 */
function errorOf(
  { status, type, headers }: Response,
  answer: Fields | undefined,
  base: string,
  mayWrite: boolean,
  mayBeDone: boolean,
): SalienceError {
  const problem = answer ?? {};
  // Servers limit the size of the path and headers. The problem in such an answer is written for raw HTTP requests.
  if (status === 414 || status === 431) {
    return new SalienceError(
      'invalid_argument',
      'the arguments are too long: reading sends them in the path; give fewer or shorter ones, or ask in several calls',
      { details: { status } },
    );
  }
  if (typeof problem['code'] === 'string' && typeof problem['detail'] === 'string') {
    const { code, detail } = problem as { readonly code: SalienceErrorCode; readonly detail: string };
    const details: Fields = { ...retryAfterOf(headers), ...asFields(problem['details']) };
    const isKnown = details['inDoubt'] !== undefined || details['written'] !== undefined;
    return mayBeDone && !isKnown && isBeforeKey(status)
      ? new SalienceError(code, `${detail}. ${IN_DOUBT}`, { details: { ...details, inDoubt: true } })
      : new SalienceError(code, detail, { details });
  }
  // Browsers hide the target of a redirect.
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const location = headers.get('location');
    const where = location === null ? 'another address' : location;
    return new SalienceError(
      'server_failed',
      `${base} redirects to ${where}, and the token is sent nowhere else; give the URL of the server itself${mayBeDone ? `. ${IN_DOUBT}` : ''}`,
      { details: { status, ...(mayBeDone ? { inDoubt: true } : {}) } },
    );
  }
  const inDoubt = mayBeDone || (mayWrite && (status < 300 || status >= 500));
  return notThisApi(base, status, inDoubt, retryAfterOf(headers));
}

/** Returns the seconds in `Retry-After`, as a field of `details`. Servers may also send a date, which is left out. */
function retryAfterOf(headers: Headers): { readonly retryAfter?: number } {
  const value = headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(value) ? { retryAfter: Number(value) } : {};
}

function tooLarge(base: string, inDoubt: boolean): SalienceError {
  return new SalienceError(
    'server_failed',
    `${base} sent an answer of more than ${MOST_BYTES / 2 ** 20} MiB, which was not read to its end; ask for less at once${inDoubt ? `. ${IN_DOUBT}` : ''}`,
    { details: { limit: MOST_BYTES, ...(inDoubt ? { inDoubt } : {}) } },
  );
}

const IN_DOUBT = 'It is unknown whether this was written: read the data before you write it again.';

/** The error for an answer that does not come from this API, or comes from another version of it. */
export function notThisApi(
  base: string,
  status: number,
  inDoubt = false,
  more: { readonly retryAfter?: number } = {},
): SalienceError {
  return new SalienceError(
    'server_failed',
    `${base} answered ${status} with something that is not a response of this API; is it a salience server of this version, or did a proxy in front of it answer?${inDoubt ? ` ${IN_DOUBT}` : ''}`,
    { details: { status, ...more, ...(inDoubt ? { inDoubt } : {}) } },
  );
}

/** Codes of failures that happen before any byte of the request is sent. */
const UNSENT: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * Whether the request was certainly not sent. A code such as `EHOSTUNREACH` can also occur on an open connection, so
 * for those the failed system call decides.
 */
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
