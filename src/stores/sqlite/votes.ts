import type { KeptVote } from '../../store/state.ts';
import type { CastVote, Vote } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { text } from './rows.ts';

/** Reads the latest vote of each voter on a memory: see `SpaceReader.votes`. */
export function readVotes(connection: Connection, id: string): readonly CastVote[] {
  // With `max`, SQLite takes the other columns of a group from the row with the maximum.
  const rows = connection.all(
    'SELECT voter, vote, max(operation) AS operation FROM vote WHERE memory_id = ? GROUP BY voter ORDER BY voter',
    id,
  ) as CastVote[];
  return rows.map(({ voter, vote, operation }) => ({ voter, vote, operation }));
}

export function readAllVotes(connection: Connection): readonly KeptVote[] {
  return connection.all(
    'SELECT memory_id AS memoryId, voter, vote, operation FROM vote ORDER BY operation',
  ) as KeptVote[];
}

export function castVote(connection: Connection, id: string, { voter, vote }: Vote, operation: number): void {
  connection.run(
    'INSERT OR REPLACE INTO vote (memory_id, voter, operation, vote) VALUES (?, ?, ?, ?)',
    id,
    text(voter, 'voter'),
    operation,
    vote,
  );
}

export function withdrawVotes(connection: Connection, operation: number): void {
  connection.run('DELETE FROM vote WHERE operation = ?', operation);
}

export function eraseVotes(connection: Connection, id: string): void {
  connection.run('DELETE FROM vote WHERE memory_id = ?', id);
}
