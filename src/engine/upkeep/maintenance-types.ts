import type { Fading } from '../../domain/settings.ts';
import type { Verdict } from '../../language/verdicts.ts';
import type { ModelUsage } from '../../providers/language-model.ts';
import type { PairKind } from '../../store/store.ts';
import type { OperationOptions } from '../types.ts';

export interface MaintainOptions extends OperationOptions {
  /** Only reports what would change. Default is false. */
  readonly dryRun?: boolean | undefined;
  /** Whether memories cool, are archived and expire. Default is true; cooling and archiving also need a space that fades. */
  readonly fade?: boolean | undefined;
  /**
   * Also consolidates similar memories of one type into one: `true` those that have faded, in a space that fades; or
   * the ids of those to consider, whatever their age. A group whose texts together are longer than `maxContentBytes` is
   * left out; among ids it is refused with `content_too_large`. Default is false.
   */
  readonly consolidate?: boolean | readonly string[] | undefined;
  /** The id of a run that was interrupted, to go on with: one undo takes all of it back. Default is a new one. */
  readonly run?: string | undefined;
  /** Whether the language model, if there is one, judges similar pairs and writes consolidations. Default is true. */
  readonly useModel?: boolean | undefined;
  /** Most similar pairs that are judged, 1–1,000; those that wait longest first. Default is 50. */
  readonly maxPairs?: number | undefined;
  /** Called as memories are looked at. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** What a run of maintenance did, or in a dry run would do. Ids, in the order in which they were looked at. */
export interface MaintenanceReport extends JudgementReport {
  /** What `undo({ run })` takes; absent in a dry run. */
  readonly run?: string | undefined;
  readonly dryRun: boolean;
  /** How the space fades; with `off` nothing cools, is archived or consolidated by its age. */
  readonly fading: Fading['mode'];
  readonly examined: number;
  /** Faded to their floor for a week: cold now. */
  readonly cooled: readonly string[];
  /** Cold for half a year: only a stub is left, the text is in the history. */
  readonly archived: readonly string[];
  /** Past their `expiresAt`: forgotten for good, with what was made of them. */
  readonly expired: readonly string[];
  /** Consolidated: the new memory (absent in a dry run) and what it was made of. */
  readonly consolidated: readonly Consolidated[];
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

/** What a language model was asked, and what followed from it. */
export interface JudgementReport {
  /** The model that was asked; absent when none was. */
  readonly judgedBy?: string | undefined;
  /** Pairs that are judged now, and have left the queue. */
  readonly judged: readonly JudgedSimilarity[];
  /** In a dry run: the pairs that the model would be asked about. */
  readonly toJudge?: readonly { readonly older: string; readonly newer: string }[] | undefined;
  /** Questions that got no usable answer: the pairs stay in the queue, the memories are consolidated without it. */
  readonly failures: readonly string[];
  /** What the model cost. */
  readonly usage: ModelUsage;
}

export interface JudgedSimilarity {
  readonly older: string;
  readonly newer: string;
  /** By CONTRADICTION and UPDATE the newer memory has taken the place of the older one. */
  readonly verdict: Verdict;
  /** The model's words. */
  readonly reason: string;
}

export interface Consolidated {
  /** The new memory; absent in a dry run. */
  readonly id?: string | undefined;
  readonly from: readonly string[];
  /** Who wrote it: the language model, or nobody, by putting the texts one below the other. Absent in a dry run. */
  readonly by?: 'model' | 'rules' | undefined;
}
