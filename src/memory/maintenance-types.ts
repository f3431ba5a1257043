import type { OperationOptions } from './types.ts';

export interface MaintainOptions extends OperationOptions {
  /** Only reports what would change. Default is false. */
  readonly dryRun?: boolean | undefined;
  /** Also joins old, faded, similar memories of one type into one. Default is false. */
  readonly consolidate?: boolean | undefined;
  /** Called as memories are looked at. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** What a run of maintenance did, or in a dry run would do. Ids, in the order in which they were looked at. */
export interface MaintenanceReport {
  readonly dryRun: boolean;
  readonly examined: number;
  /** Faded to their floor for a week: cold now. */
  readonly cooled: readonly string[];
  /** Cold for half a year: only a stub is left, the text is in the history. */
  readonly archived: readonly string[];
  /** Past their `expiresAt`: forgotten for good. */
  readonly expired: readonly string[];
  /** Joined: the new memory (absent in a dry run) and what it was made of. */
  readonly consolidated: readonly { readonly id?: string | undefined; readonly from: readonly string[] }[];
  /** Memories that were compared with the others; at most 500 a run, fewer in a large space, none without an embedder. */
  readonly compared: number;
  /** New in the queue of what is to be judged; `conflicts` lists it. */
  readonly similarPairs: readonly {
    readonly older: string;
    readonly newer: string;
    /** The cosine of their vectors. */
    readonly similarity: number;
  }[];
}
