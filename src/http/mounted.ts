import type { MemoryEngine } from '../index.ts';
import type { Grant } from './tokens.ts';

// In a file of its own, so that users of `MountedHandler` do not need the types of Hono.

/** What a mounted handler receives: the grant of the token, and the memory restricted to it. */
export interface MountedAccess {
  readonly grant: Grant;
  readonly memory: MemoryEngine;
}

/** Answers every request at its path and below. Host check, authentication and rate limit have passed before. */
export type MountedHandler = (request: Request, access: MountedAccess) => Promise<Response> | Response;
