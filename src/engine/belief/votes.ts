import { invalidArgument, oneOf, text } from '../../domain/check.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { normalisedContent } from '../../domain/statement.ts';
import type { CastVote, SpaceReader, Vote } from '../../store/store.ts';
import { fullContent } from '../../store/tiers.ts';
import type { Memory } from '../types.ts';
import { effectiveEvents } from '../write/undo.ts';

/**
 * Returns the votes that count: those cast since the memory was made and since its content last changed. If the change
 * is undone, earlier votes count again.
 */
export async function votesOnText(reader: SpaceReader, memory: MemoryRecord): Promise<readonly CastVote[]> {
  const votes = await reader.votes(memory.id);
  if (votes.length === 0) return votes;
  const history = await reader.history(memory.id);
  // Archiving shortens the text but does not change what the memory says.
  const said = normalisedContent(memory.tier === 'stub' ? fullContent(memory, history) : memory.content);
  const events = effectiveEvents(history);
  // A removed memory may have had the same id before. An import casts votes in the operation that makes the memory.
  const made = events.findLast(({ before, link, redacted }) => !before && !link && !redacted);
  const changed = events.findLast(
    // A stub has a shortened text, not a different one.
    ({ before }) => before && before.tier !== 'stub' && normalisedContent(before.content) !== said,
  );
  return votes.filter(
    ({ operation }) => (!made || operation >= made.operation) && (!changed || operation > changed.operation),
  );
}

/**
 * Returns the usefulness after votes: (p+1)/(p+n+2) if it began at 0.5. The beginning is computed from `before` and the
 * votes `counted` in it; it weighs as much as two votes. A usefulness that was imported without its votes is taken as
 * the beginning.
 */
export function usefulnessAfter(before: number, counted: readonly Vote[], votes: readonly Vote[]): number {
  const began = ((counted.length + 2) * before - positiveOf(counted)) / 2;
  const rounded = Math.abs(began - 0.5) < 1e-9 ? 0.5 : Math.min(1, Math.max(0, began));
  return (positiveOf(votes) + 2 * rounded) / (votes.length + 2);
}

function positiveOf(votes: readonly Vote[]): number {
  return votes.filter(({ vote }) => vote === 1).length;
}

/** Checks and returns the votes of an exported memory. Throws `invalid_argument`. */
export function importedVotes({ votes = [] }: Pick<Memory, 'votes'>): readonly Vote[] {
  if (!Array.isArray(votes)) throw invalidArgument('votes', 'expected a list');
  return votes.map(
    (each: Partial<Vote> | null, at): Vote => ({
      voter: text(each?.voter, `votes[${at}].voter`, { maxCharacters: 200 }),
      vote: oneOf(each?.vote, `votes[${at}].vote`, [1, -1] as const),
    }),
  );
}
