import type { MemoryEngine } from '../index.ts';
import type { Grant } from './tokens.ts';

// Apart from the types of the app: whoever mounts a handler needs no types of the framework.

/** What a handler that is mounted beside the verbs is given: who asks, and the space as far as they may see it. */
export interface MountedAccess {
  readonly grant: Grant;
  readonly memory: MemoryEngine;
}

/** Answers every request at and below its path. The door, the token and the limits are behind it. */
export type MountedHandler = (request: Request, access: MountedAccess) => Promise<Response> | Response;
