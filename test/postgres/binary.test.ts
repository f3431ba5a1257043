import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MemoryEngine, openMemory } from '../../src/index.ts';
import { copyBytes, copyReader } from '../../src/stores/postgres/binary.ts';
import { type PostgresPool, postgres } from '../../src/stores/postgres/index.ts';
import { sql, withoutParameters } from '../../src/stores/postgres/sql.ts';
import { HAS_POOLER, startPooler } from './pooler.ts';
import { type FreshSchema, freshSchema, SERVER, WITHOUT_SERVER } from './server.ts';

/** What COPY sends of these rows. */
function copied(rows: readonly Uint8Array[]): Buffer {
  const row = (bytes: Uint8Array) => {
    const header = Buffer.alloc(6);
    header.writeInt16BE(1);
    header.writeInt32BE(bytes.length, 2);
    return Buffer.concat([header, bytes]);
  };
  const signature = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
  return Buffer.concat([signature, Buffer.alloc(8), ...rows.map(row), Buffer.from([255, 255])]);
}

describe('copyReader', () => {
  it('hands on the bytes of all rows, in whatever pieces they come', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 })),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
        (rows, lengths) => {
          const taken: Uint8Array[] = [];
          // What is lent is only good until the next piece.
          const read = copyReader((bytes) => taken.push(Uint8Array.from(bytes)));
          const all = copied(rows);
          for (let at = 0, piece = 0; at < all.length; piece++) {
            const end = at + lengths[piece % lengths.length]!;
            read(all.subarray(at, end));
            at = end;
          }
          expect(Buffer.concat(taken)).toEqual(Buffer.concat(rows));
        },
      ),
    );
  });
});

describe('copyBytes', () => {
  it('ends the limit of time that a client has set, and lets others go on after 256 KiB', async () => {
    const calls: string[] = [];
    const protocol = {
      query: (text: string) => calls.push(text),
      stream: { pause: () => calls.push('pause'), resume: () => calls.push('resume') },
    };
    const connection = {
      async query(given: unknown): Promise<{ rows: [] }> {
        const copying = given as {
          callback?: () => void;
          submit(protocol: unknown): void;
          handleCopyData(message: { chunk: Buffer }): void;
          handleReadyForQuery(): void;
        };
        copying.callback = () => calls.push('ended');
        copying.submit(protocol);
        const all = copied([new Uint8Array(128 * 1024), new Uint8Array(128 * 1024), new Uint8Array(1)]);
        for (let at = 0; at < all.length; at += 64 * 1024)
          copying.handleCopyData({ chunk: all.subarray(at, at + 64 * 1024) });
        await new Promise((resolve) => setImmediate(resolve));
        copying.handleReadyForQuery();
        return { rows: [] };
      },
      release: () => {},
    };
    let taken = 0;
    await copyBytes(connection, 'COPY …', (bytes) => {
      taken += bytes.length;
    });
    expect(taken).toBe(256 * 1024 + 1);
    expect(calls).toEqual(['COPY …', 'pause', 'resume', 'ended']);
  });
});

describe('withoutParameters', () => {
  it('takes letters and digits', () => {
    expect(withoutParameters(sql`a = ${'0af'}::uuid AND b = ${7}::bigint`)).toBe(
      "a = '0af'::uuid AND b = '7'::bigint",
    );
  });

  it.each(["x'y", 'x\\', 'a b', '"', '\n'])('refuses all else: %j', (value) => {
    expect(() => withoutParameters(sql`a = ${value}::text`)).toThrow(/letters and digits/);
  });
});

describe.skipIf(SERVER === undefined)(`a saved index (${WITHOUT_SERVER})`, () => {
  let fresh: FreshSchema;
  let expected: string;
  const clock = () => Date.UTC(2026, 0, 1);

  async function answers(memory: MemoryEngine): Promise<string> {
    const { hits } = await memory.recall('coffee in the morning, case 12', { limit: 20, track: false });
    return JSON.stringify(hits.map((hit) => [hit.memory.id, hit.score]));
  }

  /** A pool that tells of each of its statements before it is sent. */
  function watched(pool: PostgresPool, tell: (text: string) => Promise<void> | void): PostgresPool {
    // What is copied is no query of the driver, but an object that sends one.
    const textOf = (query: unknown) => (query as { readonly text?: string }).text ?? 'COPY';
    return {
      async query(query) {
        await tell(textOf(query));
        return pool.query(query);
      },
      ...(pool.connect && {
        async connect() {
          const connection = await pool.connect!();
          return new Proxy(connection, {
            get(target, name) {
              const value: unknown = Reflect.get(target, name);
              if (typeof value !== 'function') return value;
              return (...args: unknown[]) => {
                if (name === 'query') void tell(textOf(args[0]));
                return Reflect.apply(value, target, args) as unknown;
              };
            },
          });
        },
      }),
    };
  }

  const isOfIndex = (text: string) => text === 'COPY' || /encode\(bytes|memory\.key >/.test(text);

  /** The statements by which a process with this pool reads an index: its answers are those of the one that has saved it. */
  async function asked(pool: PostgresPool) {
    const texts: string[] = [];
    const watching = watched(pool, (text) => void texts.push(text));
    await using store = postgres(watching, { schema: fresh.schema });
    const memory = await openMemory({ store, space: 'alice', readOnly: true, clock });
    const said = await answers(memory);
    await memory.close();
    expect(said).toBe(expected);
    return texts.filter(isOfIndex);
  }

  beforeAll(async () => {
    fresh = freshSchema();
    const memory = await openMemory({ store: fresh.open(), space: 'alice', clock });
    for (let batch = 0; batch < 4; batch++) {
      await memory.rememberMany(
        Array.from({ length: 500 }, (_, at) => ({
          content: `Anna drinks ${at % 2 ? 'coffee' : 'tea'} in the morning, case ${batch}x${at}`,
          sessionId: `s${at % 70}`,
        })),
      );
    }
    expected = await answers(memory);
    await memory.close();
    const { rows } = await fresh.script(`SELECT count(*)::int AS pieces FROM ${fresh.schema}.page`);
    expect(rows[0]?.pieces).toBeGreaterThan(1);
  });
  afterAll(() => fresh?.[Symbol.asyncDispose]());

  it('is copied in binary by pg', async () => {
    const pool = new pg.Pool({ connectionString: fresh.url });
    expect(await asked(pool as unknown as PostgresPool)).toEqual(['COPY']);
    await pool.end();
  });

  it.skipIf(!HAS_POOLER)('and behind a pooler', async () => {
    const pooler = await startPooler();
    const pool = new pg.Pool({ connectionString: pooler?.url });
    expect(await asked(pool as unknown as PostgresPool)).toEqual(['COPY']);
    await pool.end();
    await pooler?.stop();
  });

  it('comes as text where a driver or pool gives nothing else', async () => {
    const pool = new pg.Pool({ connectionString: fresh.url, pipeline: true } as pg.PoolConfig);
    expect(await asked(pool as unknown as PostgresPool)).toEqual([expect.stringContaining('encode(bytes')]);
    expect(await asked({ query: async (query) => pool.query(query) })).toEqual([
      expect.stringContaining('encode(bytes'),
    ]);
    await pool.end();
  });

  it('that cannot be copied to the end is an error, and the pool goes on', async () => {
    const pool = new pg.Pool({ connectionString: fresh.url, max: 2 });
    const breaking: PostgresPool = {
      query: (query) => pool.query(query),
      async connect() {
        const connection = await pool.connect();
        const { stream } = (connection as unknown as { connection: { stream: { destroy(): void } } })
          .connection;
        // The first bytes of the answer are the last.
        setImmediate(() => stream.destroy());
        return connection;
      },
    };
    await using store = postgres(breaking, { schema: fresh.schema });
    const memory = await openMemory({ store, space: 'alice', readOnly: true, clock });
    await expect(answers(memory)).rejects.toMatchObject({ code: 'store_failed' });
    await expect(answers(memory)).rejects.toMatchObject({ code: 'store_failed' });
    delete (breaking as { connect?: unknown }).connect;
    expect(await answers(memory)).toBe(expected);
    await memory.close();
    await pool.end();
  });

  it.each([
    ['saved', /^COPY$/],
    ['made of the rows', /memory\.key >/],
  ])('is read by a pool of one connection, whatever others write meanwhile: %s', async (how, statement) => {
    if (how !== 'saved') await fresh.script(`DELETE FROM ${fresh.schema}.saved_index`);
    const pool = new pg.Pool({ connectionString: fresh.url, max: 1, connectionTimeoutMillis: 2000 });
    let statements = 0;
    const texts: string[] = [];
    const overtaken = watched(pool as unknown as PostgresPool, async (text) => {
      texts.push(text);
      // What was read until then is of the past, twice: the third attempt is a transaction.
      if (text.includes('saved_index') && ++statements <= 2)
        await fresh.script(`UPDATE ${fresh.schema}.space SET stamp = 'stamp ${statements}'`);
    });
    await using store = postgres(overtaken, { schema: fresh.schema });
    const memory = await openMemory({ store, space: 'alice', readOnly: true, clock });
    expect(await answers(memory)).toBe(expected);
    const transaction = texts.slice(texts.findIndex((text) => text.startsWith('BEGIN')));
    expect(transaction.filter(isOfIndex)).toEqual(expect.arrayContaining([expect.stringMatching(statement)]));
    await memory.close();
    await pool.end();
  });
});
