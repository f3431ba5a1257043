import { number, oneOf, text, texts } from '../../domain/check.ts';
import type { Vote } from '../../store/store.ts';
import { type Dependencies, momentOf } from '../dependencies.ts';
import { decideUse } from '../recall/reinforce.ts';
import type { Memory, OperationOptions } from '../types.ts';
import { changeOne } from '../write/write.ts';
import { usefulnessAfter, votesOnText } from './votes.ts';

/**
 * Sets the importance of a memory, 0–1, as a person's judgement: no model and no rule changes it again. Changes neither
 * the revision count nor `updatedAt`. Throws `not_found`, `invalid_argument`.
 */
export async function setImportance(
  engine: Dependencies,
  id: string,
  importance: number,
  options: OperationOptions = {},
): Promise<Memory> {
  number(importance, 'importance', 0, 1);
  const entry = { verb: 'update', at: momentOf(engine, options) } as const;
  return changeOne(engine, entry, id, options, async (memory) => ({
    memory: { ...memory, importance, importanceSource: 'person' },
  }));
}

export interface FeedbackOptions extends OperationOptions {
  /** Who votes, at most 200 characters. Default is `user`. */
  readonly voter?: string | undefined;
}

/** `up` or 1: the memory helped. `down` or -1: it did not. */
export type FeedbackVote = 1 | -1 | 'up' | 'down';

/**
 * Records whether a memory helped. A voter has one vote per memory; the latest counts. With p votes for a memory and n
 * against, its usefulness is (p+1)/(p+n+2). Votes are about the content: once it is replaced they no longer count.
 * Throws `not_found`, `invalid_argument`.
 */
export async function feedback(
  engine: Dependencies,
  id: string,
  vote: FeedbackVote,
  options: FeedbackOptions = {},
): Promise<Memory> {
  const voter = text(options.voter ?? 'user', 'voter', { maxCharacters: 200 });
  const given = oneOf(vote, 'vote', [1, -1, 'up', 'down'] as const);
  const cast: Vote = { voter, vote: given === 1 || given === 'up' ? 1 : -1 };
  const entry = { verb: 'feedback', at: momentOf(engine, options) } as const;
  return changeOne(engine, entry, id, options, async (memory, reader) => {
    const counted = await votesOnText(reader, memory);
    const votes = [...counted.filter((each) => each.voter !== voter), cast];
    return {
      memory: { ...memory, usefulness: usefulnessAfter(memory.usefulness, counted, votes) },
      changes: [{ kind: 'vote', id, vote: cast }],
    };
  });
}

export interface MarkUsedOptions extends OperationOptions {
  /** The session in which they were used. */
  readonly sessionId?: string | undefined;
  /**
   * What is recorded for the memories: `touch` (default) sets when they were last used; `count` adds one use;
   * `reinforce` does both, and what the strategy `retention` does for its own hits. This adds to what a recall has
   * written itself: use `track: false` there to learn only from actual use.
   */
  readonly effect?: 'touch' | 'count' | 'reinforce' | undefined;
}

/**
 * Records which memories an answer actually used, as one row in the usage log. Returns the ids of those that exist in
 * the space. Throws `invalid_argument`, `store_read_only`.
 */
export async function markUsed(
  engine: Dependencies,
  ids: readonly string[],
  options: MarkUsedOptions = {},
): Promise<readonly string[]> {
  const effect = oneOf(options.effect ?? 'touch', 'effect', ['touch', 'count', 'reinforce'] as const);
  const named = texts(ids, 'ids', 1000, 128);
  const { sessionId } = options;
  if (sessionId !== undefined) text(sessionId, 'sessionId', { maxCharacters: 200 });
  const known = await engine.space.get(named);
  const used = known.flatMap((memory) => (memory ? [{ id: memory.id, direct: true }] : []));
  if (used.length === 0) return [];
  const usage = { at: momentOf(engine, options), strategy: 'used', effect, queryHash: '', sessionId, used };
  await engine.space.use(usage, (reader) => decideUse(reader, usage, engine.reinforcement));
  return used.map(({ id }) => id);
}
