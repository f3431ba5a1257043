import { describe, expect, it } from 'vitest';
import { type PostgresPool, postgres } from '../../src/stores/postgres/index.ts';

describe('an error of the server', () => {
  const ended =
    /transaction was ended, by transaction_timeout or idle_in_transaction_session_timeout; nothing was changed/;
  it.each([
    ['25P03', { code: 'timed_out', message: ended, details: { unavailable: true } }],
    ['25P04', { code: 'timed_out', message: ended, details: { unavailable: true } }],
    [
      '42704',
      { code: 'store_failed', message: /a setting is missing.*nothing was changed.*ALTER ROLE/, details: {} },
    ],
    ['42501', { code: 'store_read_only', message: /nothing was changed.*row-level security/, details: {} }],
    // Each of these can be set for a user, where the server, the database and the primary are all right.
    [
      '25006',
      {
        code: 'store_read_only',
        message: /nothing was changed.*ALTER ROLE … SET default_transaction_read_only = off/,
        details: {},
      },
    ],
    ['53300', { code: 'store_busy', message: /max_connections.*ALTER ROLE … CONNECTION LIMIT/, details: {} }],
    [undefined, { code: 'closed', message: /the store was closed, or its pool was ended/, details: {} }],
  ])('%s says what happened', async (code, { message, ...rest }) => {
    const driver = 'Cannot use a pool after calling end on the pool';
    const pool: PostgresPool = {
      query: async () => Promise.reject(Object.assign(new Error(driver), code ? { code } : {})),
    };
    await using store = postgres(pool);
    await expect(store.listSpaces()).rejects.toMatchObject({
      ...rest,
      message: expect.stringMatching(message),
    });
  });
});
