import { randomInt } from 'node:crypto';
import { SalienceError } from '../../domain/errors.ts';
import { newStamp, patienceOf, pause } from './commit.ts';
import { translated } from './connection.ts';
import type { SpacePlace } from './moment.ts';
import { sql } from './sql.ts';

/** Milliseconds that a turn lasts at first; each that was too short is followed by one that is twice as long. */
const TURN = 1000;

/** Milliseconds between two looks, at most. */
const LOOK_EVERY = 20;

/**
 * Waits for a turn: until it is over, writes of others are refused, and they wait for theirs. It is a note in the row of the
 * space and no lock, so that nothing is locked while its owner decides, and one that hangs holds nobody up for long. Throws
 * `store_busy` when there was none until the deadline, of `performance.now()`.
 */
export async function takeTurn(place: SpacePlace, round: number, deadline: number): Promise<string> {
  const { database, id, name } = place;
  const turn = newStamp();
  const length = Math.min(TURN * 2 ** round, database.busyTimeout);
  for (;;) {
    const rows = await translated(database, () =>
      database.run(
        sql`WITH ${patienceOf(database)}
          UPDATE ${database.tables.space} AS space
          SET turn = ${turn}::text, turn_until = clock_timestamp() + ${length}::bigint * interval '1 millisecond'
          FROM patience WHERE space_id = ${id}::uuid AND NOT copying AND patience.milliseconds IS NOT NULL
            AND (turn IS NULL OR turn_until < clock_timestamp()) RETURNING turn`,
      ),
    );
    if (rows.length > 0) return turn;
    if (performance.now() > deadline) throw neverFirst(name, database.busyTimeout);
    await pause(randomInt(1, LOOK_EVERY));
  }
}

/** Ends a turn in which nothing was written; a write ends its own. */
export async function passTurn({ database, id }: SpacePlace, turn: string): Promise<void> {
  try {
    await database.run(
      sql`UPDATE ${database.tables.space} SET turn = NULL WHERE space_id = ${id}::uuid AND turn = ${turn}::text`,
    );
  } catch {
    // It ends by itself.
  }
}

export function neverFirst(space: string, busyTimeout: number): SalienceError {
  return new SalienceError(
    'store_busy',
    `space ${JSON.stringify(space)} was written to by others each time that this write was ready, for ${busyTimeout} ms; nothing was changed. Try again, or raise busyTimeout, an option of postgres`,
    { details: { space } },
  );
}
