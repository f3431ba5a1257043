import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { invalidArgument } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { unknown } from '../domain/options.ts';
import type { Clock } from '../domain/time.ts';
import type { Spaces } from '../index.ts';
import type { BodyLimits } from './body.ts';
import type { IdempotencyKeys } from './idempotency.ts';
import type { Grant } from './tokens.ts';

/** What Hono carries with each request. */
export interface AppTypes {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    /**
     * The pattern of the route, with parameter names instead of values: logs and metrics must not hold what was asked
     * for.
     */
    route: string;
    grant: Grant;
    /**
     * Authenticates the token again, for long-running requests. Throws `unauthorized` if it was revoked, its session has
     * expired, or it opens something else than when the request began.
     */
    admitAgain: () => Promise<void>;
    /** An unexpected error, for the log. */
    failure: unknown;
    /** Whether the response is streamed. Its outcome is then known only when it ends. */
    lasts: boolean;
  };
}

export type AppContext = Context<AppTypes>;

/**
 * Returns a header as it was sent. Hono's own accessor would first copy all headers into an object, on every request.
 */
export function headerOf(context: AppContext, name: string): string | undefined {
  const value = context.env.incoming.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Returns the bearer token of a request. */
export function bearerOf(context: AppContext): string | undefined {
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(headerOf(context, 'authorization') ?? '')?.[1];
}

/** Throws `invalid_argument` for headers that only other routes read, so that they are not silently ignored. */
export function refuseHeaders(context: AppContext, ...names: readonly string[]): void {
  const name = names.find((each) => headerOf(context, each) !== undefined);
  if (name === undefined) return;
  throw new SalienceError('invalid_argument', `${name}: this route does not take it; leave the header out`, {
    details: { field: name },
  });
}

/** Returns the query. Throws `invalid_argument` for an argument that is not in `names`, or is given twice. */
export function queryWith(context: AppContext, ...names: readonly string[]): URLSearchParams {
  const query = queryOf(context);
  for (const name of query.keys()) {
    if (!names.includes(name)) throw invalidArgument(name, unknown('argument', name, names));
    if (query.getAll(name).length > 1) throw invalidArgument(name, 'must be given once');
  }
  return query;
}

/** Returns the query of a request. */
export function queryOf({ env }: AppContext): URLSearchParams {
  const [, query = ''] = /\?(.*)$/s.exec(env.incoming.url ?? '') ?? [];
  return new URLSearchParams(query);
}

/**
 * Returns a signal that aborts when the client disconnects, or when `until` aborts. Call `done` when the work has ended.
 */
export function signalOf(
  { env: { outgoing } }: AppContext,
  until?: AbortSignal,
): { readonly signal: AbortSignal; done(): void } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  outgoing.on('close', abort);
  // A client that disconnected earlier, during authentication or while the space was opened, emits no further `close`.
  if (outgoing.destroyed || until?.aborted) abort();
  until?.addEventListener('abort', abort);
  return {
    signal: controller.signal,
    done() {
      outgoing.off('close', abort);
      until?.removeEventListener('abort', abort);
    },
  };
}

/** What the routes depend on. */
export interface Desk {
  readonly spaces: Pick<Spaces, 'get' | 'delete' | 'size' | 'residentBytes'> & Partial<Pick<Spaces, 'list'>>;
  readonly idempotency: IdempotencyKeys;
  readonly body: BodyLimits;
  readonly clock: Clock;
  /** Whether requests may set the time of their operation with `Salience-Now`. */
  readonly acceptNow: boolean;
  /** How long a verb may run, in milliseconds. */
  readonly workTimeout: number;
  /** Aborted when the server shuts down. Ends requests that are only waiting. */
  readonly shutdown: AbortSignal;
  /**
   * Takes a place for a request that waits for activity. Returns the function that gives it back; throws
   * `rate_limited`.
   */
  readonly placeToWait: (grant: Grant) => () => void;
}
