import { EventEmitter } from 'node:events';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { openDatabase, sourceOfPool } from '../../src/stores/postgres/connection.ts';
import { sql } from '../../src/stores/postgres/sql.ts';
import { startPglite } from './pglite.ts';

const server = await startPglite();
afterAll(() => server[Symbol.asyncDispose]());

describe('a client that breaks as it passes from one to the next', () => {
  it('does not end the program', async () => {
    const unheard: unknown[] = [];
    const asked: (() => void)[] = [];
    /** A client of a pool of `pg`, which breaks in the moment in which it has answered. */
    class Client extends EventEmitter {
      _queryable = true;
      connect(done: () => void) {
        done();
      }
      query(_query: unknown, _values: unknown, done?: (error: undefined, answer: object) => void) {
        if (!done) return Promise.reject(new Error('Client has encountered a connection error'));
        asked.push(() => {
          done(undefined, { rows: [] });
          this._queryable = false;
          try {
            this.emit('error', new Error('terminating connection'));
          } catch (error) {
            unheard.push(error);
          }
        });
        return undefined;
      }
      end(done: () => void) {
        done();
      }
    }
    const pool = new pg.Pool({ max: 1, Client } as unknown as pg.PoolConfig);
    const database = openDatabase(sourceOfPool(pool), 'none', 1000);
    const running = database.run(sql`SELECT 1`);
    await expect.poll(() => asked.length).toBe(1);
    const waiting = expect(database.transaction('BEGIN', async () => undefined)).rejects.toThrow(
      'connection error',
    );
    await expect.poll(() => pool.waitingCount).toBe(1);
    asked[0]?.();
    expect(await running).toEqual([]);
    await waiting;
    expect(unheard).toEqual([]);
    await pool.end();
  });

  it('a pool is listened to once, however many stores it has', () => {
    const pool = new pg.Pool();
    for (let store = 0; store < 3; store++) sourceOfPool(pool);
    expect(pool.listenerCount('acquire')).toBe(1);
  });
});
