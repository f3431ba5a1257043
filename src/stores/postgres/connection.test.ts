import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { openDatabase, type PostgresConnection, sourceOfPool } from './connection.ts';
import { sql } from './sql.ts';

/** A connection that notes what it is asked, and whether it was still busy with something else. */
function watched() {
  const asked: string[] = [];
  let busy = false;
  let overlaps = 0;
  const connection: PostgresConnection = {
    async query({ text }) {
      if (busy) overlaps++;
      busy = true;
      asked.push(text);
      await Promise.resolve();
      await Promise.resolve();
      busy = false;
      return { rows: [[text]] };
    },
    release() {},
  };
  return { connection, asked, overlaps: () => overlaps };
}

test('what a transaction is asked at once goes over its connection one after the other', async () => {
  const { connection, asked, overlaps } = watched();
  const pool = { query: connection.query, connect: async () => connection };
  const database = openDatabase(sourceOfPool(pool), 'salience', 1000);
  const answers = await database.transaction('BEGIN', async (transaction) => {
    const [one, , two] = await Promise.all([
      transaction!.run(sql`SELECT 1`, { reads: true }),
      transaction!.readBytes(sql`SELECT bytes`, () => undefined),
      transaction!.run(sql`SELECT 2`),
    ]);
    return [one, two];
  });
  expect(answers).toEqual([[[expect.stringContaining('SELECT 1')]], [[expect.stringContaining('SELECT 2')]]]);
  expect(asked[0]).toBe('BEGIN');
  expect(asked.at(-1)).toBe('COMMIT');
  expect(asked).toHaveLength(5);
  expect(overlaps()).toBe(0);
});

test('a connection of any pool may break while it is in use', async () => {
  const client = new EventEmitter();
  const { connection } = watched();
  const broken = Object.assign(client, connection);
  const pool = { query: connection.query, connect: async () => broken };
  const database = openDatabase(sourceOfPool(pool), 'salience', 1000);
  await database.transaction('BEGIN', async () => {
    expect(client.emit('error', new Error('terminated'))).toBe(true);
  });
});
