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

/** What a request carries through the server. */
export interface AppTypes {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    /** The path with its parameters unnamed, for logs and metrics: never what was asked for. */
    route: string;
    grant: Grant;
    /** Looks at the token again, for what lasts long. Throws `unauthorized`: it was revoked since, or its session is over. */
    admitAgain: () => Promise<unknown>;
    /** What an unexpected failure was, for the log. */
    failure: unknown;
    /** Whether the answer goes on after it has begun: what became of it is known at its end. */
    lasts: boolean;
  };
}

export type AppContext = Context<AppTypes>;

/** A header as it was sent. Hono would make an object of all of them first, on the way of every request. */
export function headerOf(context: AppContext, name: string): string | undefined {
  const value = context.env.incoming.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** The token that a request shows. */
export function bearerOf(context: AppContext): string | undefined {
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(headerOf(context, 'authorization') ?? '')?.[1];
}

/** A header that only some routes read must not be ignored by the others. */
export function refuseHeaders(context: AppContext, ...names: readonly string[]): void {
  const name = names.find((each) => headerOf(context, each) !== undefined);
  if (name === undefined) return;
  throw new SalienceError('invalid_argument', `${name}: this route does not take it; leave the header out`, {
    details: { field: name },
  });
}

/** A query of which every argument is known and given once. Throws `invalid_argument`. */
export function queryWith(context: AppContext, ...names: readonly string[]): URLSearchParams {
  const query = queryOf(context);
  for (const name of query.keys()) {
    if (!names.includes(name)) throw invalidArgument(name, unknown('argument', name, names));
    if (query.getAll(name).length > 1) throw invalidArgument(name, 'must be given once');
  }
  return query;
}

/** The query of a request. */
export function queryOf({ env }: AppContext): URLSearchParams {
  const [, query = ''] = /\?(.*)$/s.exec(env.incoming.url ?? '') ?? [];
  return new URLSearchParams(query);
}

/** Aborts when whoever asked is gone, after so many milliseconds, and with another signal. Call `done` when the work is. */
export function signalOf(
  { env: { outgoing } }: AppContext,
  timeout?: number,
  until?: AbortSignal,
): { readonly signal: AbortSignal; done(): void } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = timeout === undefined ? undefined : setTimeout(abort, timeout);
  outgoing.on('close', abort);
  // Whoever left while the token was looked up, or the space was opened, is not heard of again.
  if (outgoing.destroyed || until?.aborted) abort();
  until?.addEventListener('abort', abort);
  return {
    signal: controller.signal,
    done() {
      clearTimeout(timer);
      outgoing.off('close', abort);
      until?.removeEventListener('abort', abort);
    },
  };
}

/** What the routes work with. */
export interface Desk {
  readonly spaces: Pick<Spaces, 'get' | 'delete' | 'size' | 'residentBytes'> & Partial<Pick<Spaces, 'list'>>;
  readonly idempotency: IdempotencyKeys;
  readonly body: BodyLimits;
  readonly clock: Clock;
  /** Whether whoever asks may say at which moment it happens. */
  readonly acceptNow: boolean;
  /** Milliseconds for which a verb may work. */
  readonly workTimeout: number;
  /** Aborted when the server shuts down: what only waits ends then. */
  readonly shutdown: AbortSignal;
  /** Places of requests that wait for something to happen. Returns what gives one back; throws `rate_limited`. */
  readonly placeToWait: (grant: Grant) => () => void;
}
