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

/** What a copy of a space has, and how that was verified. */
export interface CopyReport {
  /** How many rows of each part. */
  readonly rows: Readonly<Record<CopyPart, number>>;
  /** The SHA-256 of the rows of each part, read back from both: the same there, and when the same space is copied again. */
  readonly checksums: Readonly<Record<CopyPart, string>>;
  /** How many rows were written; fewer than there are where an interrupted copy was gone on with. */
  readonly written: number;
}

export interface CopySpaceOptions {
  readonly signal?: AbortSignal | undefined;
  /** How many rows were looked at, of about how many: every row is copied, then verified. */
  progress?(done: number, total: number): void;
}

/** Rows of one read. Those of memories bring their vectors along. */
const PAGE: Partial<Record<CopyPart, number>> = { memory: 500 };
const PAGE_ELSE = 5000;

/** Parts of which no log says what changed; they are compared as a whole. */
const UNLOGGED = ['compared', 'similar_pair', 'session', 'tombstone', 'vote', 'recall'] as const;

/** Rounds after what others write meanwhile, of which the last one must find that nothing was. */
const MOST_ROUNDS = 50;

/** The first pass copies, the second one verifies; others where something was forgotten or indexed anew meanwhile. */
const MOST_PASSES = 5;

/**
 * Copies a space that may be in use, as it is at one moment near the end. It compares and writes page by page in the order of
 * keys, then what the logs say was written meanwhile, until nothing was; then all is read back and compared. No transaction
 * is open between two reads. Throws `store_busy` when writers leave no such moment: called again, it goes on.
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

  /** Makes a range of the target what it is in the source; returns the rows there, and how many differed. */
  const level = async (part: CopyPart, range: CopyRange, limit?: number) => {
    // Between two stores of files nothing else waits, so that no signal, and nobody's request, would get its turn.
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
      // What hangs on a memory that is still to come is not there yet: the next pass tells whether it came.
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

  /** Links by the ranges of keys that memories were read in. */
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

  /** Takes in what was written since; `undefined` where the logs cannot tell. */
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
    // Only what was written since the last pass may differ from what that one read back.
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

  /** How many rows both have of each part; `undefined` where writers came between. */
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

/** Each row as one text, by its key as another; in the order of the rows. */
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
