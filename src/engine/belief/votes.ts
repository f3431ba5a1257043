import { invalidArgument, oneOf, text } from '../../domain/check.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { normalisedContent } from '../../domain/statement.ts';
import type { CastVote, SpaceReader, Vote } from '../../store/store.ts';
import { fullContent } from '../../store/tiers.ts';
import type { Memory } from '../types.ts';
import { effectiveEvents } from '../write/undo.ts';

/**
 * The votes on what a memory says: those cast since it was made, and since its text last changed. An undo of the change
 * brings the others back.
 */
export async function votesOnText(reader: SpaceReader, memory: MemoryRecord): Promise<readonly CastVote[]> {
  const votes = await reader.votes(memory.id);
  if (votes.length === 0) return votes;
  const history = await reader.history(memory.id);
  // Archiving takes text away, and says nothing else.
  const said = normalisedContent(memory.tier === 'stub' ? fullContent(memory, history) : memory.content);
  const events = effectiveEvents(history);
  // Another memory may have had the id, and have been removed. An import casts votes in the operation that makes the memory.
  const made = events.findLast(({ before, link, redacted }) => !before && !link && !redacted);
  const changed = events.findLast(
    // A stub has lost text, and says nothing else for that.
    ({ before }) => before && before.tier !== 'stub' && normalisedContent(before.content) !== said,
  );
  return votes.filter(
    ({ operation }) => (!made || operation >= made.operation) && (!changed || operation > changed.operation),
  );
}

/**
 * What votes make of a usefulness that came from these votes: (p+1)/(p+n+2), where it began at 0.5. One that was
 * imported without its votes is where it began, and counts as much as two votes.
 */
export function usefulnessAfter(before: number, counted: readonly Vote[], votes: readonly Vote[]): number {
  const began = ((counted.length + 2) * before - positiveOf(counted)) / 2;
  const rounded = Math.abs(began - 0.5) < 1e-9 ? 0.5 : Math.min(1, Math.max(0, began));
  return (positiveOf(votes) + 2 * rounded) / (votes.length + 2);
}

function positiveOf(votes: readonly Vote[]): number {
  return votes.filter(({ vote }) => vote === 1).length;
}

/** The votes of an exported memory, checked. Throws `invalid_argument`. */
export function importedVotes({ votes = [] }: Pick<Memory, 'votes'>): readonly Vote[] {
  if (!Array.isArray(votes)) throw invalidArgument('votes', 'expected a list');
  return votes.map(
    (each: Partial<Vote> | null, at): Vote => ({
      voter: text(each?.voter, `votes[${at}].voter`, { maxCharacters: 200 }),
      vote: oneOf(each?.vote, `votes[${at}].vote`, [1, -1] as const),
    }),
  );
}
