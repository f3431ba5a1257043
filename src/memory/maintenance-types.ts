import type { PairKind } from '../store/store.ts';
import type { OperationOptions } from './types.ts';

export interface MaintainOptions extends OperationOptions {
  /** Only reports what would change. Default is false. */
  readonly dryRun?: boolean | undefined;
  /** Whether memories cool, are archived and expire. Default is true. */
  readonly fade?: boolean | undefined;
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
  /** Memories that were compared with the others; at most 500 a run, fewer in a large space. */
  readonly compared: number;
  /** New in the queue of what is to be judged; `conflicts` lists it. */
  readonly similarPairs: readonly {
    readonly older: string;
    readonly newer: string;
    /** `similar`: they say nearly the same. `update`: the newer one may give a new value for what the older one counts. */
    readonly kind: PairKind;
    /** 0–1: of similar statements the cosine of their vectors, of a possible update how far their words are the same. */
    readonly similarity: number;
  }[];
}
