import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../testing/seeded-random.ts';
import { expectCode, insert, write } from '../../testing/store-contract/harness.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';
import { findLogDamage } from './log-damage.ts';

const WRITES = 12;
const PAGE = 4096;
const FRAME = PAGE + 24;
const SEED = 7;

let directory: string;
let file: Buffer;
let log: Buffer;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-log-damage-'));
  await using store = createSqliteStore({ directory: join(directory, 'made') });
  const space = await store.openSpace('alice');
  for (let each = 0; each < WRITES; each++) await write(space, [insert({ id: `m${each}` })]);
  // As a process leaves them that is killed now.
  file = await readFile(join(directory, 'made', fileNameOf('alice')));
  log = await readFile(join(directory, 'made', `${fileNameOf('alice')}-wal`));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

let count = 0;
/** Opens a space with this log; how many memories it has. */
async function opened(bytes: Buffer): Promise<number> {
  const root = join(directory, `opened-${++count}`);
  const store = createSqliteStore({ directory: root });
  await using _ = store;
  await mkdir(root);
  await writeFile(join(root, fileNameOf('alice')), file);
  await writeFile(join(root, `${fileNameOf('alice')}-wal`), bytes);
  const space = await store.openSpace('alice').catch(async (error) => {
    // Refused untouched.
    expect(bytes.equals(await readFile(join(root, `${fileNameOf('alice')}-wal`)))).toBe(true);
    throw error;
  });
  return (await space.info()).memories;
}

const frames = () => Math.floor((log.length - 32) / FRAME);
/** Frames with which a write ends. */
const ends = () =>
  Array.from({ length: frames() }, (_, at) => at).filter((at) => log.readUInt32BE(32 + at * FRAME + 4));
const flipped = (at: number, bit = 0) => {
  const bytes = Buffer.from(log);
  bytes[at]! ^= 1 << bit;
  return bytes;
};

test('a log that a crash left is whole', async () => {
  expect(await opened(log)).toBe(WRITES);
});

test.each([
  ['the header', 0],
  ['a salt of the header', 17],
  ['the checksum of the header', 27],
  ['the first frame', 132],
  ['a salt of the first frame', 32 + 9],
  ['the stored checksum of a frame', 32 + 5 * FRAME + 18],
])('one bit of %s: refused, with what to do', async (_, at) => {
  const error = await expectCode(opened(flipped(at)), 'store_corrupt');
  expect(error.message).toMatch(
    /-wal is damaged, so that \d+ later writes in it cannot be read; nothing was changed/,
  );
  expect(error.message).toMatch(/move the log away|truncate -s \d+/);
});

test('random wrong bits never lose memories silently', async () => {
  const random = seededRandom(SEED);
  const path = join(directory, 'log');
  for (let round = 0; round < 60; round++) {
    const at = Math.floor(random() * (32 + ends().at(-2)! * FRAME));
    await writeFile(path, flipped(at, Math.floor(random() * 8)));
    expect(await findLogDamage(path, PAGE), `seed ${SEED}, byte ${at}`).toBeDefined();
  }
});

test('cut as the message says, the space opens as it was before the damage', async () => {
  const at = ends()[6] as number;
  const damaged = flipped(32 + at * FRAME + 1000);
  const { message } = await expectCode(opened(damaged), 'store_corrupt');
  const good = Number(/truncate -s (\d+)/.exec(message)?.[1]);
  // Making the space is a write too.
  expect(await opened(damaged.subarray(0, good))).toBe(5);
});

test('what a power cut leaves is taken as SQLite takes it: the end of the log, and blocks that were never written', async () => {
  const end = 32 + (ends()[6]! + 1) * FRAME;
  expect(await opened(log.subarray(0, end + 700))).toBe(6);
  const block = Math.ceil(end / PAGE) * PAGE;
  const hole = Buffer.from(log).fill(0, block, block + PAGE);
  expect(await opened(hole)).toBe(6);
  const older = Buffer.from(log);
  // A frame of an earlier log has other salts.
  for (let byte = 8; byte < 16; byte++) older[32 + (ends()[6]! + 1) * FRAME + byte]! ^= 0x5a;
  expect(await opened(older)).toBe(6);
});

test('a last write of which one bit is wrong cannot be told from one that a crash ended', async () => {
  expect(await opened(flipped(32 + ends().at(-1)! * FRAME + 500))).toBe(WRITES - 1);
});

test('a log without a complete header is ignored', async () => {
  const path = join(directory, 'log');
  await writeFile(path, log);
  for (const bytes of [31, 0]) {
    await truncate(path, bytes);
    expect(await findLogDamage(path, PAGE)).toBeUndefined();
  }
});
