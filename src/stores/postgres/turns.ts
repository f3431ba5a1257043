import { randomInt } from 'node:crypto';
import { SalienceError } from '../../domain/errors.ts';
import { newStamp, patienceOf, pause } from './commit.ts';
import { translated } from './connection.ts';
import type { SpacePlace } from './moment.ts';
import { sql } from './sql.ts';

/** The length of the first turn in milliseconds. If a turn was too short, the next one is twice as long. */
const TURN = 1000;

/** The longest pause, in milliseconds, between two attempts to take a turn. */
const LOOK_EVERY = 20;

/**
 * Waits for a turn, and returns its id. During a turn, writes of others are refused, and they wait for their own turn. A turn is a
 * value in the row of the space and not a lock: nothing is locked while its owner decides, and an owner that hangs blocks others only
 * until the turn expires. Throws `store_busy` if no turn was free before `deadline`, a time of `performance.now()`.
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

/** Ends a turn in which nothing was written. A write ends its own turn. */
export async function passTurn({ database, id }: SpacePlace, turn: string): Promise<void> {
  try {
    await database.run(
      sql`UPDATE ${database.tables.space} SET turn = NULL WHERE space_id = ${id}::uuid AND turn = ${turn}::text`,
    );
  } catch {
    // The turn expires by itself.
  }
}

export function neverFirst(space: string, busyTimeout: number): SalienceError {
  return new SalienceError(
    'store_busy',
    `space ${JSON.stringify(space)} was written to by others each time that this write was ready, for ${busyTimeout} ms; nothing was changed. Try again, or raise busyTimeout, an option of postgres`,
    { details: { space } },
  );
}
