import type { Fading } from '../../domain/settings.ts';
import type { Verdict } from '../../language/verdicts.ts';
import type { ModelUsage } from '../../providers/language-model.ts';
import type { PairKind } from '../../store/store.ts';
import type { OperationOptions } from '../types.ts';

export interface MaintainOptions extends OperationOptions {
  /** Only report what would change. Default is false. */
  readonly dryRun?: boolean | undefined;
  /** Whether memories cool, are archived and expire. Default is true; cooling and archiving also need a space that fades. */
  readonly fade?: boolean | undefined;
  /**
   * Whether to consolidate similar memories of one type and scope, five into one; fewer than five stay as they are.
   * `true`: those that have faded, in a space that fades. A list of ids: these, whatever their age. A group whose texts together exceed `maxContentBytes` is left out; for a
   * list of ids it throws `content_too_large`. Default is false.
   */
  readonly consolidate?: boolean | readonly string[] | undefined;
  /**
   * The id of an interrupted run to continue, so that one undo reverts all of it: the error of the interrupted run has it as
   * `details.run`. Default is a new one.
   */
  readonly run?: string | undefined;
  /** Whether the language model, if there is one, judges similar pairs and writes consolidations. Default is true. */
  readonly useModel?: boolean | undefined;
  /** Most similar pairs that are judged, longest waiting first, 1–1,000. Default is 50. */
  readonly maxPairs?: number | undefined;
  /** Called as memories are examined. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** What a run of maintenance did, or would do in a dry run. Ids are in the order in which memories were examined. */
export interface MaintenanceReport extends JudgementReport {
  /** What `undo({ run })` takes; absent in a dry run. */
  readonly run?: string | undefined;
  readonly dryRun: boolean;
  /** How the space fades. With `off`, nothing cools, is archived or consolidated because of its age. */
  readonly fading: Fading['mode'];
  readonly examined: number;
  /** Now cold, because they had faded to their floor for `daysAtFloor` days of the settings, by default 7. */
  readonly cooled: readonly string[];
  /** Now stubs, because they had been cold for `daysCold` days of the settings, by default 180. Their text is in the history. */
  readonly archived: readonly string[];
  /** Past their `expiresAt`: forgotten for good, with what was made from them. */
  readonly expired: readonly string[];
  /** Consolidations, each with the ids of its originals. */
  readonly consolidated: readonly Consolidated[];
  /** How many memories were compared with the others; at most 500 per run, fewer in a large space. */
  readonly compared: number;
  /** New pairs in the queue to be judged. `conflicts` lists them. */
  readonly similarPairs: readonly {
    readonly older: string;
    readonly newer: string;
    /** `similar`: they say nearly the same. `update`: the newer one may give a new value for a quantity in the older one. */
    readonly kind: PairKind;
    /** For `similar`, the cosine of their vectors; for `update`, how similar their words are. 0–1. */
    readonly similarity: number;
  }[];
}

/** What a language model was asked, and the results. */
export interface JudgementReport {
  /** The model that was asked; absent when none was. */
  readonly judgedBy?: string | undefined;
  /** The pairs that were judged and left the queue. */
  readonly judged: readonly JudgedSimilarity[];
  /** In a dry run: the pairs that the model would be asked about. */
  readonly toJudge?: readonly { readonly older: string; readonly newer: string }[] | undefined;
  /**
   * Errors of requests without a usable answer. Their pairs stay in the queue; their memories are consolidated without
   * the model.
   */
  readonly failures: readonly string[];
  /** The tokens and calls that the model used. */
  readonly usage: ModelUsage;
}

export interface JudgedSimilarity {
  readonly older: string;
  readonly newer: string;
  /** After CONTRADICTION and UPDATE the newer memory supersedes the older one. */
  readonly verdict: Verdict;
  /** The reason that the model gave. */
  readonly reason: string;
}

export interface Consolidated {
  /** The new memory; absent in a dry run. */
  readonly id?: string | undefined;
  readonly from: readonly string[];
  /** Who wrote it: the language model, or rules that list the texts one per line. Absent in a dry run. */
  readonly by?: 'model' | 'rules' | undefined;
}
