import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { MemoryEngine } from '../index.ts';
import type { Clock } from '../model/time.ts';
import type { BodyLimits } from './body.ts';
import type { IdempotencyKeys } from './idempotency.ts';
import type { Spaces } from './spaces.ts';
import type { Grant } from './tokens.ts';

/** What a request carries through the server. */
export interface AppTypes {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    /** The path with its parameters unnamed, for logs and metrics: never what was asked for. */
    route: string;
    grant: Grant;
    /** What an unexpected failure was, for the log. */
    failure: unknown;
  };
}

export type AppContext = Context<AppTypes>;

/** What the routes work with. */
export interface Desk {
  readonly spaces: Spaces;
  readonly idempotency: IdempotencyKeys;
  readonly body: BodyLimits;
  readonly clock: Clock;
  /** Milliseconds for which a verb may work. */
  readonly workTimeout: number;
}

/** What a handler that is mounted beside the verbs is given: who asks, and the space as far as they may see it. */
export interface MountedAccess {
  readonly grant: Grant;
  readonly memory: MemoryEngine;
}

/** Answers every request at and below its path. The door, the token and the limits are behind it. */
export type MountedHandler = (request: Request, access: MountedAccess) => Promise<Response> | Response;
