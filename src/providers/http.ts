import { wholeNumber } from '../domain/check.ts';
import { throwIfAborted } from '../domain/errors.ts';
import { isTemporary, retryAfter, stoppable, systemSleep, waitBeforeRetry } from './waiting.ts';

/** How an adapter calls its server. */
export interface HttpOptions {
  /** Milliseconds for one request, including reading its answer. Default is 30,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Retries of a request after 408, 429, 5xx, a timeout or a broken connection. The waits between them are random, up
   * to 0.5 s, 1 s, 2 s and so on to 20 s, or what the server asks for in `Retry-After`. Default is 3.
   */
  readonly retries?: number | undefined;
  /** Most bytes of an answer. Default is 64 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** Default is the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Waits between two attempts. Default is the system's timer. */
  readonly sleep?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined;
  /** Random numbers from 0 (included) to 1 (excluded), for the waits. Default is `Math.random`. */
  readonly random?: (() => number) | undefined;
}

export const HTTP_OPTION_NAMES = [
  'timeoutMs',
  'retries',
  'maxResponseBytes',
  'fetch',
  'sleep',
  'random',
] as const satisfies readonly (keyof HttpOptions)[];

export interface JsonRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface JsonAnswer {
  readonly kind: 'json';
  readonly value: unknown;
}

/** Why there is no answer, as data. The adapter knows what its users can do about it. */
export type HttpFailure =
  | { readonly kind: 'unreachable'; readonly reason: string }
  | { readonly kind: 'timeout'; readonly timeoutMs: number }
  | {
      readonly kind: 'status';
      readonly status: number;
      /** The first 64 KiB of the body. */
      readonly body: string;
      readonly retryAfterMs: number | undefined;
    }
  /** Redirects are not followed, because a key belongs to the host it was given for. `location` has no query. */
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string | undefined }
  | { readonly kind: 'too_large'; readonly maxResponseBytes: number }
  | { readonly kind: 'not_json'; readonly body: string };

export type HttpOutcome = (JsonAnswer | HttpFailure) & { readonly attempts: number };

/** Sends a request and returns its outcome. Throws only `aborted`. */
export type PostJson = (request: JsonRequest) => Promise<HttpOutcome>;

const mebibyte = 1024 * 1024;
const errorBodyBytes = 64 * 1024;

/** Creates the function that sends requests. Throws `invalid_argument` for an option out of its range. */
export function createPostJson(options: HttpOptions): PostJson {
  const settings = {
    timeoutMs: wholeNumber(options.timeoutMs ?? 30_000, 'timeoutMs', 1, 2 ** 31 - 1),
    retries: wholeNumber(options.retries ?? 3, 'retries', 0, 20),
    maxResponseBytes: wholeNumber(
      options.maxResponseBytes ?? 64 * mebibyte,
      'maxResponseBytes',
      1024,
      1024 * mebibyte,
    ),
    fetch: options.fetch ?? globalThis.fetch,
  };
  const { sleep = systemSleep, random = Math.random } = options;
  return async (request) => {
    for (let attempts = 1; ; attempts++) {
      throwIfAborted(request.signal);
      const outcome = await attempt(request, settings);
      const waitMs = attempts <= settings.retries ? retryDelay(outcome, attempts, random) : undefined;
      if (waitMs === undefined) return { ...outcome, attempts };
      await stoppable((signal) => sleep(waitMs, signal), request.signal);
    }
  };
}

interface Settings {
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly fetch: typeof globalThis.fetch;
}

async function attempt(request: JsonRequest, settings: Settings): Promise<JsonAnswer | HttpFailure> {
  const timedOut = { kind: 'timeout', timeoutMs: settings.timeoutMs } as const;
  try {
    return await stoppable((signal) => exchange(request, settings, signal), request.signal, {
      milliseconds: settings.timeoutMs,
      result: timedOut,
    });
  } catch (error) {
    throwIfAborted(request.signal);
    return { kind: 'unreachable', reason: rootMessage(error) };
  }
}

async function exchange(
  { url, headers, body }: JsonRequest,
  { fetch, maxResponseBytes }: Settings,
  signal: AbortSignal,
): Promise<JsonAnswer | HttpFailure> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
    redirect: 'manual',
    signal,
  });
  const { status } = response;
  if ((status >= 300 && status < 400) || response.type === 'opaqueredirect') {
    await response.body?.cancel();
    return { kind: 'redirect', status, location: plainLocation(response.headers.get('location'), url) };
  }
  if (!response.ok) {
    const { text } = await readText(response, errorBodyBytes);
    return { kind: 'status', status, body: text, retryAfterMs: retryAfter(response.headers) };
  }
  const { text, cut } = await readText(response, maxResponseBytes);
  if (cut) return { kind: 'too_large', maxResponseBytes };
  try {
    return { kind: 'json', value: JSON.parse(text) };
  } catch {
    return { kind: 'not_json', body: text.slice(0, errorBodyBytes) };
  }
}

async function readText(response: Response, maxBytes: number): Promise<{ text: string; cut: boolean }> {
  if (response.body === null) return { text: '', cut: false };
  const decoder = new TextDecoder();
  let text = '';
  let room = maxBytes;
  for await (const chunk of response.body) {
    text += decoder.decode(chunk.subarray(0, room), { stream: true });
    room -= chunk.byteLength;
    // Leaving the loop cancels the rest of the body.
    if (room < 0) return { text, cut: true };
  }
  return { text: text + decoder.decode(), cut: false };
}

/** Milliseconds until the next attempt; `undefined` if a retry cannot help. */
function retryDelay(
  outcome: JsonAnswer | HttpFailure,
  attempts: number,
  random: () => number,
): number | undefined {
  const { kind } = outcome;
  if (kind === 'unreachable' || kind === 'timeout') return waitBeforeRetry(attempts, undefined, random);
  if (kind !== 'status' || !isTemporary(outcome.status)) return undefined;
  return waitBeforeRetry(attempts, outcome.retryAfterMs, random);
}

function plainLocation(location: string | null, base: URL): string | undefined {
  if (location === null || !URL.canParse(location, base.href)) return undefined;
  return plainUrl(new URL(location, base));
}

/** Returns a URL that messages may show. A query or user information can contain a key, so both are left out. */
export function plainUrl(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/** Returns the message at the end of the chain of causes. `fetch failed` alone says nothing. */
function rootMessage(error: unknown): string {
  let message = String(error);
  let each: unknown = error;
  for (let depth = 0; depth < 8 && each instanceof Error; depth++) {
    const code = 'code' in each && typeof each.code === 'string' ? each.code : each.name;
    message = each.message || code;
    each = each.cause;
  }
  return message;
}
