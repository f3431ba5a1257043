import { createHash, type Hash } from 'node:crypto';
import { SalienceError, throwIfAborted } from '../domain/errors.ts';
import { startSlices } from '../domain/slices.ts';
import {
  COPY_PARTS,
  type CopyHead,
  type CopyKey,
  type CopyPart,
  type CopyRange,
  type CopyRow,
  type CopySource,
  type CopyTarget,
  copyKeyOf,
  PART_NAMES,
} from './copying.ts';

/** The content of a verified copy of a space. */
export interface CopyReport {
  /** The number of rows of each part. */
  readonly rows: Readonly<Record<CopyPart, number>>;
  /** The SHA-256 of the rows of each part, the same in source and copy. Copying the same space again gives the same values. */
  readonly checksums: Readonly<Record<CopyPart, string>>;
  /** How many rows were written; fewer than `rows` if an interrupted copy was resumed. */
  readonly written: number;
}

export interface CopySpaceOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the rows processed so far and the approximate total. Each row counts twice: it is copied, then verified. */
  progress?(done: number, total: number): void;
}

/** Rows per read. Memories are read in smaller pages because their rows include vectors. */
const PAGE: Partial<Record<CopyPart, number>> = { memory: 500 };
const PAGE_ELSE = 5000;

/** Parts whose changes no log records. They are compared as a whole. */
const UNLOGGED = ['compared', 'similar_pair', 'session', 'tombstone', 'vote', 'recall'] as const;

/** Rounds of catching up with concurrent writes. The last round must find no new writes. */
const MOST_ROUNDS = 50;

/** The first pass copies, the second verifies. More are needed if a memory was forgotten or the space reindexed meanwhile. */
const MOST_PASSES = 5;

/**
 * Copies a space that may be in use. The copy is consistent: it has the content of one moment near the end. Compares and
 * writes page by page in key order, then catches up with concurrent writes from the logs until there are none, then reads
 * everything back and compares it. Keeps no transaction open between two reads. Throws `store_busy` if writers never
 * pause; calling it again resumes the copy.
 */
export async function copySpace(
  source: CopySource,
  target: CopyTarget,
  { signal, progress }: CopySpaceOptions = {},
): Promise<CopyReport> {
  const slices = startSlices();
  let written = 0;
  let done = 0;
  let total = 0;
  for (const part of PART_NAMES) total += 2 * (await source.count(part));

  /** Makes a range of the target equal to the source. Returns the rows of the source, and how many rows differed. */
  const level = async (part: CopyPart, range: CopyRange, limit?: number) => {
    // Copies between two file stores never wait for I/O: without this pause, no signal or request would be processed.
    await slices();
    throwIfAborted(signal);
    const rows = await source.rows(part, limit === undefined ? range : { ...range, limit });
    const last = limit !== undefined && rows.length === limit ? keyOfLast(part, rows) : undefined;
    const bounded = last === undefined ? range : { ...range, upTo: last };
    const there = await target.rows(part, bounded);
    const [wanted, present] = [byKey(part, rows), byKey(part, there)];
    const missing = rows.filter((row) => present.get(textOf(part, row)) !== wanted.get(textOf(part, row)));
    const gone = there.filter((row) => !wanted.has(textOf(part, row)));
    if (missing.length + gone.length > 0) {
      await target.put(part, missing, gone);
      // Rows of a memory that is not copied yet are skipped by `put`; the next pass verifies them.
      if (part !== 'link' && part !== 'compared')
        checkSame(wanted, byKey(part, await target.rows(part, bounded)));
    }
    written += missing.length;
    done += rows.length;
    progress?.(Math.min(done, total), total);
    return { lines: [...wanted.values()], last, differences: missing.length + gone.length };
  };

  const levelAll = async (part: Exclude<CopyPart, 'link'>, from?: CopyKey) => {
    const digest = createHash('sha256');
    const ends: CopyKey[] = [];
    let differences = 0;
    for (let after = from; ; ) {
      const page = await level(part, { after }, PAGE[part] ?? PAGE_ELSE);
      addTo(digest, page.lines);
      differences += page.differences;
      if (page.last === undefined) return { checksum: digest.digest('hex'), differences, ends };
      after = page.last;
      ends.push(after);
    }
  };

  /** Levels links by the same key ranges in which memories were read. */
  const levelLinks = async (ends: readonly CopyKey[]) => {
    const digest = createHash('sha256');
    let differences = 0;
    for (const [at, upTo] of [...ends, undefined].entries()) {
      const page = await level('link', { after: ends[at - 1], upTo });
      addTo(digest, page.lines);
      differences += page.differences;
    }
    return { checksum: digest.digest('hex'), differences };
  };

  const pass = async () => {
    const memories = await levelAll('memory');
    const checksums: Partial<Record<CopyPart, string>> = { memory: memories.checksum };
    let { differences } = memories;
    for (const part of PART_NAMES) {
      if (part === 'memory') continue;
      const leveled = part === 'link' ? await levelLinks(memories.ends) : await levelAll(part);
      checksums[part] = leveled.checksum;
      differences += leveled.differences;
    }
    return { checksums: checksums as Record<CopyPart, string>, differences };
  };

  /** Copies what was written since `begun`; `undefined` if the logs cannot tell. */
  const follow = async (begun: CopyHead): Promise<CopyHead | undefined> => {
    let since = begun;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const now = await source.head();
      if (now.stamp === since.stamp) return now;
      if (now.generation !== since.generation || now.sequence < since.sequence || now.usage < since.usage)
        return undefined;
      const { keys, redacted } = await source.touched(since);
      if (redacted) return undefined;
      for (let start = 0; start < keys.length; start += PAGE_ELSE) {
        const among = keys.slice(start, start + PAGE_ELSE);
        await level('memory', { among });
        await level('link', { among });
      }
      await levelAll('event', [since.sequence]);
      await levelAll('usage', [since.usage]);
      for (const part of UNLOGGED) await levelAll(part);
      since = now;
    }
    throw neverQuiet();
  };

  let ended: CopyHead | undefined;
  for (let passes = 1; passes <= MOST_PASSES; passes++) {
    const begun = await source.head();
    const { checksums, differences } = await pass();
    // Without writes since the last pass, this pass must find no differences.
    const mustBeSame = ended?.stamp === begun.stamp;
    ended = await follow(begun);
    if (mustBeSame && ended?.stamp === begun.stamp && differences > 0) throw notTheSame(differences);
    const isVerified = ended !== undefined && (passes > 1 || differences === 0);
    if (!ended || !isVerified) continue;
    const rows = await counted();
    if (rows === undefined) continue;
    await target.finish(ended);
    return { rows, checksums, written };
  }
  throw neverQuiet();

  /** Counts the rows of each part in both stores; `undefined` if they differ because of a concurrent write. */
  async function counted(): Promise<CopyReport['rows'] | undefined> {
    const rows: Partial<Record<CopyPart, number>> = {};
    let missing = 0;
    for (const part of PART_NAMES) {
      const wanted = await source.count(part);
      rows[part] = await target.count(part);
      missing += Math.abs(wanted - rows[part]);
    }
    if (missing === 0) return rows as CopyReport['rows'];
    if ((await source.head()).stamp !== ended?.stamp) return undefined;
    throw notTheSame(missing);
  }
}

/** Maps the key of each row, as JSON, to the row, as JSON; in the order of the rows. */
function byKey(part: CopyPart, rows: readonly CopyRow[]): ReadonlyMap<string, string> {
  const { columns } = COPY_PARTS[part];
  return new Map(
    rows.map((row) => [textOf(part, row), JSON.stringify(columns.map((column) => row[column] ?? null))]),
  );
}

function textOf(part: CopyPart, row: CopyRow): string {
  return JSON.stringify(copyKeyOf(part, row));
}

function checkSame(wanted: ReadonlyMap<string, string>, present: ReadonlyMap<string, string>): void {
  const wrong = [...wanted].filter(([key, line]) => present.get(key) !== line);
  if (wrong.length > 0) throw notTheSame(wrong.length);
}

function keyOfLast(part: CopyPart, rows: readonly CopyRow[]): CopyKey | undefined {
  const last = rows.at(-1);
  return last && copyKeyOf(part, last);
}

function addTo(digest: Hash, lines: readonly string[]): void {
  for (const line of lines) digest.update(line).update('\n');
}

function notTheSame(rows: number): SalienceError {
  return new SalienceError(
    'store_corrupt',
    `the copy differs from what was copied in ${rows} rows, though nobody wrote to it; check both (salience doctor). The copy was not made a space`,
  );
}

function neverQuiet(): SalienceError {
  return new SalienceError(
    'store_busy',
    'the space kept changing during the copy; pause its writers and copy again: what was copied so far is kept',
  );
}
