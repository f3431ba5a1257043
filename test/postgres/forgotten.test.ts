import { spawnSync } from 'node:child_process';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { findBinaries, startServer } from '../../scripts/postgres-server.mjs';
import { openMemory } from '../../src/index.ts';
import { postgres } from '../../src/stores/postgres/index.ts';
import { TABLES } from '../../src/stores/postgres/tables.ts';
import { SERVER, WITHOUT_SERVER } from './server.ts';

const SECRET = 'quokkamanifesto';

const binaries = findBinaries();
const has = (program: string) => spawnSync(program, ['--version']).status === 0;

/** The tables of a server in which any row, as text or bytes, holds a text. */
async function tablesWith(client: pg.Client, text: string): Promise<readonly string[]> {
  const names = ['space', 'shared', 'meta', ...Object.keys(TABLES)];
  const found: string[] = [];
  for (const name of names) {
    const asText = name === 'page' ? `encode(bytes, 'escape')` : 'row::text';
    const { rows } = await client.query(
      `SELECT 1 FROM salience.${name} AS row WHERE ${asText} ILIKE '%' || $1 || '%' LIMIT 1`,
      [text],
    );
    if (rows.length > 0) found.push(name);
  }
  // What the planner keeps of columns.
  const { rows } = await client.query(
    `SELECT 1 FROM pg_stats WHERE schemaname = 'salience' AND pg_stats::text ILIKE '%' || $1 || '%'`,
    [text],
  );
  return rows.length > 0 ? [...found, 'pg_stats'] : found;
}

describe.skipIf(SERVER === undefined || binaries === undefined || !has('pg_basebackup'))(
  `what was forgotten (${WITHOUT_SERVER}, and pg_basebackup)`,
  () => {
    it('is returned by no statement, index, saved page, cache or standby that has replayed it', async () => {
      const primary = await startServer(binaries ?? '');
      const standby = await startServer(binaries ?? '', {}, { standbyOf: primary.url });
      const [writing, reading] = [new pg.Client(primary.url), new pg.Client(standby.url)];
      await writing.connect();
      await reading.connect();
      const replayed = async () => {
        const { rows } = await writing.query('SELECT pg_current_wal_lsn() AS lsn');
        for (;;) {
          const { rows: at } = await reading.query('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS yes', [
            rows[0].lsn,
          ]);
          if (at[0].yes) return;
        }
      };
      const open = (url: string, readOnly = false) =>
        openMemory({
          store: postgres(url),
          space: 'alice',
          readOnly,
          recordRecalls: { days: 30, texts: true },
        });
      try {
        const first = await open(primary.url);
        await first.rememberMany(
          Array.from({ length: 300 }, (_, at) => ({ content: `Anna drinks coffee, case ${at}` })),
        );
        await first.remember(`The code is ${SECRET}`, {
          id: 'secret',
          title: SECRET,
          tags: [SECRET],
          metadata: { code: SECRET },
        });
        await first.update('secret', { content: `The code was ${SECRET}` });
        // What was asked goes along wherever the memory was returned.
        for (const strategy of ['bm25', 'five-factor'] as const) {
          const { hits } = await first.recall(`what is ${SECRET}?`, { strategy });
          expect(hits.map((hit) => hit.memory.id)).toContain('secret');
        }
        // Saves its index, in which the word is.
        await first.close();
        await writing.query('ANALYZE');
        await replayed();
        const before = await tablesWith(reading, SECRET);
        expect(before).toEqual(
          expect.arrayContaining(['memory', 'event', 'derived', 'recall', 'attribute', 'page']),
        );
        expect(before).not.toContain('pg_stats');

        const warm = await open(primary.url);
        const replica = await open(standby.url, true);
        const ask = { strategy: 'bm25', track: false } as const;
        for (const memory of [warm, replica])
          expect((await memory.recall(SECRET, ask)).hits.map((hit) => hit.memory.id)).toEqual(['secret']);

        const other = await open(primary.url);
        expect((await other.forget('secret')).erased).toBe('rows');
        await replayed();
        expect(await tablesWith(writing, SECRET)).toEqual([]);
        expect(await tablesWith(reading, SECRET)).toEqual([]);
        for (const memory of [warm, replica, other]) {
          for (const strategy of ['bm25', 'hybrid', 'vector'] as const) {
            const { hits } = await memory.recall(SECRET, { ...ask, strategy });
            expect(JSON.stringify(hits)).not.toContain(SECRET);
          }
          expect(JSON.stringify(await memory.history('secret'))).not.toContain(SECRET);
          expect(JSON.stringify(await memory.recalls({ limit: 10 }))).not.toContain(SECRET);
          await expect(memory.recall('coffee', { ...ask, limit: 2 })).resolves.toMatchObject({
            hits: { length: 2 },
          });
        }
        for (const memory of [warm, replica, other]) await memory.close();
        expect(await tablesWith(writing, SECRET)).toEqual([]);
      } finally {
        await writing.end();
        await reading.end();
        await standby.stop();
        await primary.stop();
      }
    });
  },
);
