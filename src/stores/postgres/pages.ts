import { startSlices } from '../../domain/slices.ts';
import type { PlaceOfPart, Position, SavedPages } from '../../store/rows.ts';
import { newStamp } from './commit.ts';
import { translated } from './connection.ts';
import { type Moment, type SpacePlace, stampOf, startMoment } from './moment.ts';
import { raw, type Sql, sql } from './sql.ts';
import type { Terms } from './terms.ts';

/** Bytes of one row. Decoding it blocks the event loop for a millisecond or two. */
const PIECE = 512 * 1024;

/** Rows of one statement: the index of ten thousand memories is in the first. */
const PIECES_AT_ONCE = 16;

/** How often publishing a saved index is retried when others write meanwhile. */
const ATTEMPTS = 5;

/** Words of one piece of JSON. */
const WORDS = 1024;

type PartLengths = readonly (readonly [name: string, length: number])[];

/** Returns the last saved index, if it reflects this log and nothing was forgotten since. */
export async function readPages(moment: Moment, terms: Terms): Promise<SavedPages | undefined> {
  const { database, id } = moment.place;
  const here = sql`space_id = ${id}::uuid`;
  const [row] = await moment.rows<Position & { saved: string; parts: string } & Reflected>(
    sql`SELECT saved, sequence, usage, stamp, parts, ${reflected(moment.place, sql`index.sequence`, sql`index.usage`)}
      FROM ${database.tables.saved_index} AS index WHERE ${here}`,
  );
  if (!row || !isOfLog(row, row, (await moment.head()).generation)) return undefined;
  const { sequence, usage, stamp } = row;
  const lengths = JSON.parse(row.parts) as PartLengths;
  return {
    position: { sequence, usage, stamp },
    bytes: lengths.reduce((sum, [, length]) => sum + length, 0),
    async load(pause, place, decode) {
      const saved = await readParts(moment.place, row.saved, lengths, pause, place);
      const parts = saved && (await withNumbers(saved, terms, pause));
      return parts && decode(parts);
    },
  };
}

/** The rows of the log at a position. */
interface Reflected {
  readonly event_stamp: string | null;
  readonly use_stamp: string | null;
  readonly forgotten: boolean;
}

/** The columns of {@link Reflected}. */
function reflected({ database, id }: SpacePlace, sequence: Sql, usage: Sql): Sql {
  const { event, usage: uses } = database.tables;
  const here = (table: string) => sql`${raw(table)}.space_id = ${id}::uuid`;
  return sql`(SELECT event.stamp FROM ${event} AS event WHERE ${here('event')} AND event.sequence = ${sequence}) AS event_stamp,
    (SELECT use.stamp FROM ${uses} AS use WHERE ${here('use')} AND use.sequence = ${usage}) AS use_stamp,
    EXISTS (SELECT 1 FROM ${event} AS event WHERE ${here('event')} AND event.sequence > ${sequence} AND event.redacted) AS forgotten`;
}

/** Whether the log continues from a position, and nothing was forgotten after it. */
function isOfLog(found: Reflected, { stamp }: Position, generation: number): boolean {
  return !found.forgotten && stampOf(generation, found.event_stamp ?? '', found.use_stamp ?? '') === stamp;
}

async function isOfThisLog(moment: Moment, position: Position): Promise<boolean> {
  const { sequence, usage } = position;
  const [found] = await moment.rows<Reflected>(
    sql`SELECT ${reflected(moment.place, sql`${sequence}::bigint`, sql`${usage}::bigint`)}`,
  );
  return found !== undefined && isOfLog(found, position, (await moment.head()).generation);
}

/** Reads the parts; `undefined` if pieces are missing, because another index was saved or something was forgotten meanwhile. */
async function readParts(
  { database, id }: SpacePlace,
  saved: string,
  lengths: PartLengths,
  pause: () => unknown,
  place: PlaceOfPart,
): Promise<Map<string, Uint8Array> | undefined> {
  const parts = new Map<string, Uint8Array>();
  const places = placed(lengths, place, parts);
  let part = places.next().value;
  let filled = 0;
  const take = (bytes: Uint8Array) => {
    for (let at = 0; part && at < bytes.length; ) {
      const piece = bytes.subarray(at, at + part.length - filled);
      part.set(piece, filled);
      at += piece.length;
      filled += piece.length;
      for (; part && filled === part.length; filled = 0) part = places.next().value;
    }
  };
  for (let from = 0; part; from += PIECES_AT_ONCE) {
    let taken = 0;
    await translated(database, () =>
      database.readBytes(
        sql`SELECT bytes FROM ${database.tables.page} WHERE space_id = ${id}::uuid AND saved = ${saved}::text
          AND number >= ${from}::bigint AND number < ${from + PIECES_AT_ONCE}::bigint ORDER BY number`,
        (bytes) => {
          taken += bytes.length;
          take(bytes);
        },
      ),
    );
    if (taken === 0) return undefined;
    await pause();
  }
  return parts;
}

/** Yields the buffers of parts, each created when the previous one is full. */
function* placed(
  lengths: PartLengths,
  place: PlaceOfPart,
  parts: Map<string, Uint8Array>,
): Generator<Uint8Array, undefined> {
  for (const [name, length] of lengths) {
    const room = place(name, length);
    parts.set(name, room);
    yield room;
  }
}

/** Replaces saved terms by the numbers that they have in this process. */
async function withNumbers(
  parts: Map<string, Uint8Array>,
  terms: Terms,
  pause: () => unknown,
): Promise<Map<string, Uint8Array> | undefined> {
  const words = new TextDecoder().decode(parts.get('words'));
  const pairs = pairsOf(parts);
  let at = 0;
  for (let start = 0; start < words.length; ) {
    const end = words.indexOf('\n', start);
    for (const word of JSON.parse(words.slice(start, end)) as readonly string[]) {
      pairs[at] = terms.numberOf(word);
      at += 2;
    }
    start = end + 1;
    await pause();
  }
  return at === pairs.length ? parts : undefined;
}

async function withWords(
  parts: ReadonlyMap<string, Uint8Array>,
  terms: Terms,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const pairs = pairsOf(parts);
  const lines: string[] = [];
  const pause = startSlices();
  for (let at = 0; 2 * at < pairs.length; at += WORDS) {
    const numbers = pairs.subarray(2 * at, 2 * (at + WORDS)).filter((_, each) => each % 2 === 0);
    lines.push(`${JSON.stringify(Array.from(numbers, (number) => terms.textOf(number) ?? ''))}\n`);
    await pause();
  }
  return new Map([...parts, ['words', new TextEncoder().encode(lines.join(''))]]);
}

/** For each term, its number and its number of postings. */
function pairsOf(parts: ReadonlyMap<string, Uint8Array>): Float64Array {
  const { buffer, byteOffset, byteLength } = parts.get('terms') ?? new Uint8Array(0);
  return new Float64Array(buffer, byteOffset, Math.floor(byteLength / 8));
}

/**
 * Saves an index in place of the previous one. Writes its pieces under a new id that nobody reads yet; then one statement makes
 * it current, if it reflects this log and nothing was forgotten since. A write that forgets removes all saved indexes in its
 * own statement.
 */
export async function savePages(
  place: SpacePlace,
  terms: Terms,
  parts: ReadonlyMap<string, Uint8Array>,
  position: Position,
): Promise<void> {
  const { database, id } = place;
  const { page, event, space } = database.tables;
  const here = sql`space_id = ${id}::uuid`;
  const saved = newStamp();
  const all = await withWords(parts, terms);
  const run = (statement: ReturnType<typeof sql>) => translated(database, () => database.run(statement));
  let number = 0;
  for (const piece of piecesOf(all)) {
    await run(
      // Writes nothing if the space is being deleted.
      sql`INSERT INTO ${page} (space_id, saved, number, bytes)
        SELECT space_id, ${saved}::text, ${number++}::bigint, decode(${piece}::text, 'base64') FROM ${space} AS space
        WHERE ${here} AND NOT EXISTS (
          SELECT 1 FROM ${event} AS event WHERE event.${here} AND sequence > ${position.sequence}::bigint AND redacted)
        FOR KEY SHARE`,
    );
  }
  const lengths: PartLengths = [...all].map(([name, bytes]) => [name, bytes.length]);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const moment = startMoment(place);
    if (!(await isOfThisLog(moment, position))) break;
    const { stamp } = await moment.head();
    if (await publish(place, stamp, saved, position, JSON.stringify(lengths))) return;
  }
  await run(sql`DELETE FROM ${page} WHERE ${here} AND saved = ${saved}::text`);
}

/** Makes a saved index current; `false` if the space has changed since `stamp`. Removes unfinished ones older than an hour. */
async function publish(
  { database, id }: SpacePlace,
  stamp: string,
  saved: string,
  { sequence, usage, stamp: reflected }: Position,
  lengths: string,
): Promise<boolean> {
  const { page, space, saved_index } = database.tables;
  const here = sql`space_id = ${id}::uuid`;
  const [row] = await translated(database, () =>
    database.run(
      sql`WITH head AS MATERIALIZED (
          SELECT space_id FROM ${space} WHERE ${here} AND stamp = ${stamp}::text FOR UPDATE)
        , put AS (
          INSERT INTO ${saved_index} AS known (space_id, saved, sequence, usage, stamp, parts)
          SELECT space_id, ${saved}::text, ${sequence}::bigint, ${usage}::bigint, ${reflected}::text, ${lengths}::text FROM head
          ON CONFLICT (space_id) DO UPDATE SET replaced = known.saved, saved = excluded.saved, sequence = excluded.sequence,
            usage = excluded.usage, stamp = excluded.stamp, parts = excluded.parts
          RETURNING replaced)
        , gone AS (
          DELETE FROM ${page} AS page USING put WHERE page.${here} AND page.saved <> ${saved}::text
            AND (page.saved = put.replaced OR page.at < now() - interval '1 hour'))
        SELECT count(*)::text FROM put`,
    ),
  );
  return row?.[0] === '1';
}

/** Yields all parts, concatenated, in pieces of equal length, in base64. */
function* piecesOf(parts: ReadonlyMap<string, Uint8Array>): Generator<string> {
  const piece = Buffer.alloc(PIECE);
  let filled = 0;
  for (const bytes of parts.values()) {
    for (let at = 0; at < bytes.length; ) {
      const some = bytes.subarray(at, at + PIECE - filled);
      piece.set(some, filled);
      at += some.length;
      filled += some.length;
      if (filled < PIECE) continue;
      yield piece.toString('base64');
      filled = 0;
    }
  }
  if (filled > 0) yield piece.toString('base64', 0, filled);
}
