import type { KeptVote } from '../../store/state.ts';
import type { CastVote } from '../../store/store.ts';
import type { Found, Moment } from './moment.ts';
import { checkedText } from './rows.ts';
import { sql, wanted } from './sql.ts';

export const VOTE_COLUMNS = sql`memory_id, voter, operation, vote`;

/** See `SpaceReader.votes`. */
export async function readVotes(moment: Moment, id: string): Promise<readonly CastVote[]> {
  const { database, id: space } = moment.place;
  const rows = await moment.rows(
    sql`SELECT DISTINCT ON (voter) ${VOTE_COLUMNS} FROM ${database.tables.vote}
      WHERE space_id = ${space}::uuid AND memory_id = ${wanted(id)} ORDER BY voter, operation DESC`,
  );
  return rows.map(voteOf).map(({ voter, vote, operation }) => ({ voter, vote, operation }));
}

export function voteOf(row: Found): KeptVote {
  const { memory_id, voter, operation, vote } = row as {
    memory_id: string;
    voter: string;
    operation: number;
    vote: 1 | -1;
  };
  return { memoryId: memory_id, voter, operation, vote };
}

export function toVoteRow({ memoryId, voter, operation, vote }: KeptVote): Found {
  return { memory_id: checkedText(memoryId, 'id'), voter: checkedText(voter, 'voter'), operation, vote };
}
