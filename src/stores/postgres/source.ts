import type { MemoryRecord } from '../../domain/memory.ts';
import { damagedRow, isTextList, storedJson } from '../../store/damage.ts';
import type { KeyedRows } from '../../store/rows.ts';
import { containsText } from '../../store/substring.ts';
import { keysWithMetadata } from './attributes.ts';
import { embeddingOf, type Moment } from './moment.ts';
import { fromRow, RECORD_COLUMNS, vectorFromText } from './rows.ts';
import { sql, wantedNumbers, wantedTexts } from './sql.ts';
import type { Terms } from './terms.ts';

/** Vectors that are read before they are asked for: one statement more costs more than some of them in vain. */
const MOST_READ_AHEAD = 240;

/** Of so many memories at most the records are read along with the vectors: the best of them are returned. */
const MOST_READ_ALONG = 64;

/** The rows of a space by their keys, of one moment. */
export function rowSource(moment: Moment, terms: Terms): KeyedRows {
  const { database, id } = moment.place;
  const { memory, derived } = database.tables;
  const known = new Map<number, MemoryRecord>();
  const vectors = new Map<number, string | undefined>();
  const here = sql`memory.space_id = ${id}::uuid`;
  const recordsQuery = (keys: readonly number[]) =>
    sql`SELECT ${RECORD_COLUMNS} FROM ${memory} AS memory WHERE ${here} AND memory.key IN ${wantedNumbers(keys)}`;
  return {
    async vectors(keys, soon) {
      const missing = keys.filter((key) => !vectors.has(key));
      if (missing.length > 0) {
        const asked = [...missing, ...(soon?.(MOST_READ_AHEAD) ?? [])];
        const [found = [], records = []] = await moment.read(
          sql`SELECT key, encode(vector, 'base64') AS vector FROM ${derived}
            WHERE space_id = ${id}::uuid AND generation = space.generation AND key IN ${wantedNumbers(asked)} AND vector IS NOT NULL`,
          recordsQuery(asked.slice(0, MOST_READ_ALONG)),
        );
        for (const row of records) known.set(Number(row['key']), fromRow(row));
        for (const key of asked) vectors.set(key, undefined);
        for (const row of found) vectors.set(Number(row['key']), String(row['vector']));
      }
      const dimensions = embeddingOf(await moment.head())?.dimensions;
      return keys.map((key) => {
        const text = vectors.get(key);
        return text === undefined ? undefined : vectorFromText(text, key, dimensions);
      });
    },
    async records(keys) {
      const missing = keys.filter((key) => !known.has(key));
      if (missing.length > 0) {
        for (const row of await moment.rows(recordsQuery(missing)))
          known.set(Number(row['key']), fromRow(row));
      }
      return keys.map((key) => {
        const record = known.get(key);
        if (!record) throw damagedRow({ table: 'memory', row: key }, 'it is missing');
        return record;
      });
    },
    async keysOf(ids) {
      if (ids.length === 0) return [];
      const rows = await moment.rows<{ id: string; key: number }>(
        sql`SELECT id, key FROM ${memory} AS memory WHERE ${here} AND id IN ${wantedTexts(ids)}`,
      );
      const found = new Map(rows.map((row) => [row.id, row.key]));
      return ids.map((each) => found.get(each));
    },
    async idsOf(keys) {
      if (keys.length === 0) return [];
      const rows = await moment.rows<{ id: string; key: number }>(
        sql`SELECT id, key FROM ${memory} AS memory WHERE ${here} AND key IN ${wantedNumbers(keys)}`,
      );
      const found = new Map(rows.map((row) => [row.key, row.id]));
      return keys.map((key) => found.get(key));
    },
    termIds: (texts) => texts.map((text) => terms.known(text)),
    termsOf: (ids) => ids.map((number) => terms.textOf(number)),
    keysWithMetadata: async (conditions) => (await keysWithMetadata(moment, conditions)) ?? new Set(),
    async keysContaining(text, among) {
      // Rare enough to read every text: a query of which no term is left.
      const rows = await moment.rows<{ key: number; title: string | null; content: string; tags: string }>(
        sql`SELECT key, title, content, tags FROM ${memory} AS memory
          WHERE ${here} ${among ? sql`AND key IN ${wantedNumbers(among)}` : sql``}`,
      );
      return rows
        .filter(({ key, title, content, tags }) =>
          containsText(
            {
              title: title ?? undefined,
              content,
              tags: storedJson<string[]>(tags, isTextList, { table: 'memory', row: key }, 'tags'),
            },
            text,
          ),
        )
        .map(({ key }) => key);
    },
  };
}
