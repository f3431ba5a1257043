import { invalidArgument } from '../domain/check.ts';
import { type Instant, MILLISECONDS_PER_DAY } from '../domain/time.ts';
import type { LifeScript, ScriptedMemory, ScriptedRecall } from './script.ts';

export type Action =
  | { readonly kind: 'remember'; readonly memory: ScriptedMemory }
  | { readonly kind: 'recall'; readonly recall: ScriptedRecall; readonly session: string | undefined }
  | { readonly kind: 'maintain' };

/** All actions at one moment, in order: memories, then recalls, then maintenance. */
export interface Moment {
  readonly at: Instant;
  /** Since the start of the script. */
  readonly day: number;
  readonly actions: readonly Action[];
}

const MOST_RECALLS = 100_000;

/** Returns the moments of a script in order: those with actions, and the beginning of every day. */
export function scheduleOf(script: LifeScript): readonly Moment[] {
  const byInstant = new Map<Instant, Action[]>();
  const add = (day: number, action?: Action) => {
    const at = script.start + Math.round(day * MILLISECONDS_PER_DAY);
    const actions = byInstant.get(at) ?? [];
    if (action) actions.push(action);
    byInstant.set(at, actions);
  };
  for (let day = 0; day <= script.days; day++) add(day);
  for (const memory of script.memories) add(memory.day, { kind: 'remember', memory });
  let recalls = 0;
  for (const recall of script.recalls) {
    const times =
      recall.every === undefined ? 1 : Math.floor((recall.until - recall.day) / recall.every + 1e-9) + 1;
    recalls += times;
    if (recalls > MOST_RECALLS) {
      throw invalidArgument(
        `${recall.where}.every`,
        `more than ${MOST_RECALLS} recalls in all are too many to play`,
      );
    }
    for (let repetition = 0; repetition < times; repetition++) {
      const session = recall.session?.replaceAll('{n}', String(repetition + 1));
      add(recall.day + repetition * (recall.every ?? 0), { kind: 'recall', recall, session });
    }
  }
  if (script.maintainEvery > 0) {
    const runs = Math.floor(script.days / script.maintainEvery + 1e-9);
    for (let run = 1; run <= runs; run++) add(run * script.maintainEvery, { kind: 'maintain' });
  }
  return [...byInstant]
    .sort(([a], [b]) => a - b)
    .map(([at, actions]) => ({ at, day: (at - script.start) / MILLISECONDS_PER_DAY, actions }));
}
