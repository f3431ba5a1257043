import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { atOnce } from '../../domain/slices.ts';
import { decoding, encodePages, placesOfParts } from '../../search/pages.ts';
import { createResidentIndex, putMemory } from '../../search/resident-index.ts';
import { gate } from '../../testing/gate.ts';
import { indexed } from '../../testing/index-oracle.ts';
import { sampleMemory, unitVector } from '../../testing/sample-memory.ts';
import { type FillAside, fillAside } from './aside.ts';
import type { Connection } from './connection.ts';
import { readMeta } from './meta.ts';
import { dropPages, loadPages, savePages } from './pages.ts';
import { createObservedSqliteStore } from './store.ts';
import type { Rows } from './thread.ts';

let directory: string;
let connection: Connection;
let close: () => Promise<void>;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-pages-'));
  const connections: Connection[] = [];
  const store = createObservedSqliteStore({ directory }, (each) => connections.push(each));
  await store.openSpace('alice');
  connection = connections[0]!;
  close = () => store.close();
});
afterEach(async () => {
  await close();
  await rm(directory, { recursive: true, force: true });
});

type Parts = ReadonlyMap<string, Uint8Array>;
const parts: Parts = new Map([
  ['header', new Uint8Array(3).fill(1)],
  ['asks', new Uint8Array(200_000).fill(7)],
  ['codes', Uint8Array.from({ length: 300_000 }, (_, at) => at % 251)],
]);
const save = () => atOnce(savePages(connection, parts, { sequence: 1, usage: 0 }));

/** What is read, and in which order places were asked for; the codes go where another thread can write them. */
async function load(fill: FillAside, hasShared = true, decode = (parts: Parts) => parts) {
  const places: string[] = [];
  const read = await loadPages(connection, { fill, mostBytesHere: 250_000 })?.load(
    () => {},
    (name, length, isShared) => {
      places.push(`${name}${isShared ? ', shared' : ''}`);
      return new Uint8Array(isShared && hasShared ? new SharedArrayBuffer(length) : new ArrayBuffer(length));
    },
    decode,
  );
  return { read, places };
}

/** Byte by byte: a matcher would take a second. */
const isSame = (read: ReadonlyMap<string, Uint8Array> | undefined, saved: typeof read = parts) =>
  read?.size === saved.size &&
  [...saved].every(([name, bytes]) => Buffer.from(read.get(name)!).equals(bytes));

/** Another thread, which gets so many pieces before this one takes any, and how many it has read. */
function observed({ pieces = 5, change = (rows: Rows | undefined) => rows } = {}) {
  const filled: (number | undefined)[] = [];
  const fill: FillAside = async (path, { bytes, left }, ...query) => {
    Atomics.sub(left, 0, pieces);
    const own = new Int32Array(new SharedArrayBuffer(4)).fill(pieces);
    const rows = await fillAside(path, { bytes, left: own }, ...query);
    filled.push(rows?.length);
    return change(rows);
  };
  return { fill, filled };
}

describe('a long part', () => {
  test('is read by another thread, and is what was saved', async () => {
    save();
    const { fill, filled } = observed();
    const { read, places } = await load(fill);
    expect(places).toEqual(['header', 'codes, shared', 'asks']);
    expect(filled).toEqual([5]);
    expect(isSame(read)).toBe(true);
  });

  test.each([0, 1, 4])('is read by another thread up to piece %i, and here from its end', async (pieces) => {
    save();
    const { fill, filled } = observed({ pieces });
    expect(isSame((await load(fill)).read)).toBe(true);
    expect(filled).toEqual([pieces]);
    // Of the pieces that it read, one is not what was saved.
    const wrong: FillAside = async (path, into, ...query) => {
      const rows = await fill(path, into, ...query);
      into.bytes.fill(0);
      return rows?.map(([crc, ...others], at) => [at === 0 ? 1 : crc!, ...others]);
    };
    if (pieces > 0) expect(isSame((await load(wrong)).read)).toBe(true);
  });

  test('is read by whichever thread is first', async () => {
    save();
    expect(isSame((await load(fillAside)).read)).toBe(true);
  });

  test('is still being read while the other parts are decoded', async () => {
    save();
    const read: string[] = [];
    const { open, opened: decoded } = gate();
    const fill: FillAside = async (path, { bytes, left }, ...query) => {
      await decoded;
      read.push('codes');
      return fillAside(path, { bytes, left }, ...query);
    };
    const decode = (found: Parts) => {
      read.push(...found.keys(), 'decoded');
      open();
      return found;
    };
    expect(isSame((await load(fill, true, decode)).read)).toBe(true);
    expect(read).toEqual(['header', 'codes', 'asks', 'decoded', 'codes']);
  });

  test('that turns out to be damaged drops what was decoded meanwhile', async () => {
    save();
    connection.run("UPDATE page SET checksum = 5 WHERE part LIKE '% codes' AND number = 2");
    let decoded = 0;
    const decode = (found: Parts) => {
      decoded++;
      return found;
    };
    for (const pieces of [0, 5])
      expect((await load(observed({ pieces }).fill, true, decode)).read).toBeUndefined();
    expect(decoded).toBe(2);
  });

  test('is read here where there is no room for threads, and when no thread can be had', async () => {
    save();
    const { fill, filled } = observed();
    expect(isSame((await load(fill, false)).read)).toBe(true);
    expect(filled).toEqual([]);
    expect(isSame((await load(async () => undefined)).read)).toBe(true);
  });

  test('is read here when another thread finds other pages than this connection', async () => {
    save();
    for (const at of [0, 1, 2]) {
      // Its checksum, number, and the checksum that was saved with it.
      const { fill, filled } = observed({
        change: (rows) =>
          rows?.map((row, number) =>
            number === 2 ? row.map((value, column) => (column === at ? 1e9 : value)) : row,
          ),
      });
      const wrong: FillAside = async (path, into, ...query) => {
        const rows = await fill(path, into, ...query);
        into.bytes.fill(0);
        return rows;
      };
      expect(isSame((await load(wrong)).read)).toBe(true);
      expect(filled).toEqual([5]);
    }
    const { fill } = observed();
    const fewer: FillAside = async (path, into, ...query) => {
      const rows = await fill(path, into, ...query);
      into.bytes.fill(0, -1000);
      return rows?.slice(0, 4);
    };
    expect(isSame((await load(fewer)).read)).toBe(true);
  });

  test('that was saved anew in between is read as this connection sees it', async () => {
    save();
    connection.database.exec('BEGIN');
    const others = new Map([...parts, ['codes', new Uint8Array(300_000).fill(9)]] as const);
    atOnce(savePages(connection, others, { sequence: 1, usage: 0 }));
    const { fill, filled } = observed();
    expect(isSame((await load(fill)).read, others)).toBe(true);
    expect(filled).toEqual([0]);
    connection.database.exec('COMMIT');
  });

  test('that is damaged is no part', async () => {
    save();
    connection.run(
      "UPDATE page SET bytes = zeroblob(length(bytes)), checksum = 5 WHERE part LIKE '% codes' AND number = 1",
    );
    expect((await load(observed().fill)).read).toBeUndefined();
    save();
    connection.run("UPDATE page SET checksum = 5 WHERE part LIKE '% asks' AND number = 1");
    const { fill, filled } = observed();
    expect((await load(fill)).read).toBeUndefined();
    // Nobody reads the file any more once that is known.
    expect(filled).toEqual([5]);
  });
});

test('what the driver copied is given back at once, whichever end is read', async () => {
  save();
  const { get } = connection;
  const copied: Uint8Array[] = [];
  const observing: Connection = {
    ...connection,
    get(sql, ...values) {
      const row = get(sql, ...values);
      if (sql.startsWith('SELECT bytes')) copied.push((row as { bytes: Uint8Array }).bytes);
      return row;
    },
  };
  const read = await loadPages(observing, { fill: async () => undefined, mostBytesHere: 250_000 })?.load(
    () => {},
    (_, length, isShared) =>
      new Uint8Array(isShared ? new SharedArrayBuffer(length) : new ArrayBuffer(length)),
    (read) => read,
  );
  expect(isSame(read)).toBe(true);
  expect(copied.map(({ length }) => length)).toEqual(Array(1 + 4 + 5).fill(0));
});

test('once a part is known to be damaged, nothing is left for another thread', async () => {
  save();
  connection.run("UPDATE page SET checksum = 5 WHERE part LIKE '% asks' AND number = 1");
  const counts: Int32Array[] = [];
  const fill: FillAside = async (_, { left }) => {
    counts.push(left);
    return undefined;
  };
  expect((await load(fill)).read).toBeUndefined();
  expect(counts.map(([left]) => left)).toEqual([0]);
});

test('dropping pages removes their id', () => {
  save();
  expect(readMeta(connection, 'snapshot_id')).toMatch(/^[0-9a-f]{32}$/);
  atOnce(dropPages(connection));
  expect(readMeta(connection, 'snapshot_id')).toBeUndefined();
});

describe('pieces that are of another index', () => {
  /** The same pieces under other names, with checksums that fit. */
  const renamed = (name: string) =>
    connection.database.exec(
      `UPDATE page SET part = ${name}, checksum = salience_checksum(${name}, number, bytes)`,
    );

  test('of a version that did not tell indexes apart are not read', async () => {
    save();
    renamed("substr(part, instr(part, ' ') + 1)");
    expect((await load(observed().fill)).read?.size).toBe(0);
    connection.run("DELETE FROM meta WHERE key = 'snapshot_id'");
    expect((await load(observed().fill)).read).toBeUndefined();
  });

  test('put into the file with their checksums, they are no part of what this store saved', async () => {
    save();
    const others = connection.all("SELECT * FROM page WHERE part LIKE '% codes'") as {
      part: string;
      number: number;
      bytes: Uint8Array;
      checksum: number;
    }[];
    save();
    connection.run("DELETE FROM page WHERE part LIKE '% codes'");
    for (const { part, number, bytes, checksum } of others) {
      connection.run(
        'INSERT INTO page (part, number, bytes, checksum) VALUES (?, ?, ?, ?)',
        ...[part, number, bytes, checksum],
      );
    }
    expect([...((await load(observed().fill)).read?.keys() ?? [])]).toEqual(['header', 'asks']);
  });
});

test('no room is taken for what is longer than its pieces can be', async () => {
  save();
  const setHeader = connection.statement("UPDATE page SET bytes = zeroblob(?) WHERE part LIKE '% header'");
  // The header is one piece. A piece has at most 64 KiB.
  setHeader.run(64 * 1024);
  expect(await load(observed().fill)).toEqual({ read: undefined, places: ['header'] });
  setHeader.run(64 * 1024 + 1);
  expect(await load(observed().fill)).toEqual({ read: undefined, places: [] });
});

test('an index that is saved replaces the one before: the file does not grow with each', async () => {
  const pages = () => connection.get('SELECT count(*) AS count, sum(length(bytes)) AS bytes FROM page');
  save();
  const first = pages();
  save();
  expect(pages()).toEqual(first);
  expect(isSame((await load(observed().fill)).read)).toBe(true);
});

test('codes go to a memory that threads share, where the kernel reads them', async () => {
  const index = createResidentIndex();
  for (let key = 1; key <= 300; key++) {
    const vector = unitVector([key, 1, 2, 300 - key]);
    putMemory(index, indexed(key, sampleMemory({ id: `m${key}` }), { terms: new Map(), vector }));
  }
  const encoded = encodePages(index);
  atOnce(savePages(connection, encoded, { sequence: 1, usage: 0 }));
  const { fill, filled } = observed({ pieces: 1 });
  const places = placesOfParts();
  const found = (await loadPages(connection, { fill, mostBytesHere: 1000 })?.load(
    () => {},
    places.place,
    (read) => atOnce(decoding(read, places)),
  ))!;
  expect(filled).toEqual([1]);
  expect(found.codes!.view(0, 300).buffer).toBeInstanceOf(SharedArrayBuffer);
  const query = Int16Array.of(7, -5, 3, 1);
  expect(found.codes!.products(query, 0, 300).slice(0, 300)).toEqual(
    index.codes!.products(query, 0, 300).slice(0, 300),
  );
  expect(isSame(encodePages(found), encoded)).toBe(true);
});
