import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { erasePostgres, migratePostgres, postgres } from './index.ts';

const url = 'postgresql://nobody@127.0.0.1:1/none';

describe('options are checked before anything is connected', () => {
  test.each<[name: string, call: () => unknown, field: string]>([
    ['erasePostgres', () => erasePostgres(url, null as never), 'erasePostgres'],
    ['erasePostgres', () => erasePostgres(url, { shema: 'x' } as never), 'erasePostgres.shema'],
    ['erasePostgres', () => erasePostgres(url, { progress: 'bar' } as never), 'progress'],
    ['erasePostgres', () => erasePostgres(undefined as never), 'store'],
    [
      'migratePostgres',
      () => migratePostgres(url, { progress: () => {} } as never),
      'migratePostgres.progress',
    ],
    ['postgres', () => postgres(url, { schema: null } as never), 'schema'],
    ['postgres', () => postgres(url, { schema: 'a-b' }), 'schema'],
    ['postgres', () => postgres(url, { schema: 'pg_memories' }), 'schema'],
    ['postgres', () => postgres(new pg.Client(url) as never), 'store'],
    ['postgres', () => postgres(url, { maxConnections: 0 }), 'maxConnections'],
    ['postgres', () => postgres(url, { connectTimeout: 0.5 }), 'connectTimeout'],
    ['postgres', () => postgres(url, { busyTimeout: Number.NaN }), 'busyTimeout'],
  ])('%s, case %#', async (_, call, field) => {
    await expect((async () => call())()).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { field },
    });
  });
});

test('a URL whose password is not encoded is refused, and no part of it is told', () => {
  for (const password of ['/secret', '83/secret', '?secret', '#secret', 'a/secret', 'a?secret']) {
    let refusal: unknown;
    try {
      postgres(`postgresql://somebody:${password}@127.0.0.1:1/none`);
    } catch (error) {
      refusal = error;
    }
    expect(refusal, password).toMatchObject({ code: 'invalid_argument', details: { field: 'store' } });
    expect(String(refusal)).not.toMatch(/secret|somebody/);
  }
  for (const more of ['none?user=a@b', 'no%40ne', '?host=/var/run&password=p@ss']) {
    expect(() => postgres(`postgresql://somebody:%2Fsecret@127.0.0.1:1/${more}`)).not.toThrow();
  }
});
