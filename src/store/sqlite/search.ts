import { coldCount, eligibleRows } from '../../index/eligible.ts';
import { type LexicalScores, lexicalScores, noLexicalScores, substringScores } from '../../index/lexical.ts';
import type { ResidentIndex } from '../../index/resident-index.ts';
import { searchIndex, type VectorSource } from '../../index/search.ts';
import { applyStandings } from '../../index/standing.ts';
import { checkQueryVector } from '../derived.ts';
import { containsText } from '../naive-search.ts';
import type { PreparedQuery, ScoredMemory, SearchAnswer, SearchRequest } from '../store.ts';
import { rowsWithMetadata } from './attributes.ts';
import type { Connection } from './connection.ts';
import { damagedRow, isTextList, storedJson } from './damage.ts';
import type { Resident } from './resident.ts';
import { type BytesRow, fromRow, fromVectorRow, type MemoryRow, ROW_COLUMN_LIST } from './rows.ts';

/** Exact top k over the resident index. To be called inside a read transaction. */
export function searchResident(
  connection: Connection,
  resident: Resident,
  request: SearchRequest,
): SearchAnswer {
  const started = performance.now();
  const { index, relations, sequence } = resident.refresh(connection);
  checkVector(index, request.query);
  const undo = applyStandings(index, relations, request.filter, request.now);
  try {
    return searchStanding(connection, index, sequence, request, started);
  } finally {
    undo();
  }
}

function searchStanding(
  connection: Connection,
  index: ResidentIndex,
  sequence: number,
  request: SearchRequest,
  started: number,
): SearchAnswer {
  const within = rowsWithMetadata(connection, request.filter.metadata);
  const { rows, filtered } = eligibleRows(index, request.filter, request.now, within);
  const afterEligible = performance.now();
  const lexical = lexicalOf(connection, index, request.query);
  const afterLexical = performance.now();
  const { profile, now, limit, query } = request;
  const answer = searchIndex(
    index,
    { profile, rows, lexical, vector: query.vector, now, limit },
    sourceOf(connection, index.dimensions),
  );
  const hits = answer.hits.map(({ key, signals, bm25, score }): ScoredMemory => {
    return { memory: recordOf(connection, key), signals, bm25, score };
  });
  const ended = performance.now();
  return {
    hits,
    completeness: 'exact',
    bound: answer.bound,
    total: index.size - index.dead,
    filtered,
    cold: coldCount(index),
    eligible: rows.length,
    lexicalMatches: answer.lexicalMatches,
    withVector: answer.withVector,
    candidates: answer.candidates,
    scored: answer.scored,
    sequence,
    durations: {
      eligible: afterEligible - started,
      lexical: afterLexical - afterEligible,
      vector: answer.scanMs,
      score: ended - afterLexical - answer.scanMs,
    },
  };
}

/** The lexical scores of a query: of all rows, or at least of the memories in `rows`. */
export function lexicalOf(
  connection: Connection,
  index: ResidentIndex,
  query: PreparedQuery,
  rows?: readonly number[],
): LexicalScores {
  if (query.terms.length > 0) {
    return lexicalScores(index, query.terms, (term) => {
      const found = connection.get('SELECT id FROM term WHERE text = ?', term) as { id: number } | undefined;
      return found?.id;
    });
  }
  if (query.substring === undefined) return noLexicalScores(index);
  return substringScores(index, keysContaining(connection, query.substring, rows));
}

/** Rare enough to read every text: a query of which no term is left. */
function* keysContaining(
  connection: Connection,
  text: string,
  rows: readonly number[] | undefined,
): Generator<number> {
  const all = 'SELECT row, title, content, tags FROM memory';
  const found = rows
    ? connection.each(`${all} WHERE row IN (SELECT value FROM json_each(?))`, JSON.stringify(rows))
    : connection.each(all);
  for (const row of found) {
    const {
      row: key,
      title,
      content,
      tags,
    } = row as { row: number; title: string | null; content: string; tags: string };
    if (
      containsText(
        {
          title: title ?? undefined,
          content,
          tags: storedJson<string[]>(tags, isTextList, { table: 'memory', row: key }, 'tags'),
        },
        text,
      )
    )
      yield key;
  }
}

function sourceOf(connection: Connection, dimensions: number): VectorSource {
  return {
    vectors: (keys) =>
      keys.map((key) => {
        const found = connection.get('SELECT row, bytes, checksum FROM vector WHERE row = ?', key);
        return found === undefined ? undefined : fromVectorRow(found as BytesRow, dimensions);
      }),
  };
}

/** The vectors of these memories, in order. */
export function readVectors(
  connection: Connection,
  ids: readonly string[],
): readonly (Float32Array | undefined)[] {
  const one = connection.statement(
    'SELECT row, bytes, vector.checksum FROM vector JOIN memory USING (row) WHERE id = ?',
  );
  return ids.map((id) => {
    const found = one.get(id) as unknown as BytesRow | undefined;
    return found && fromVectorRow({ ...found, bytes: found.bytes.slice() });
  });
}

function recordOf(connection: Connection, key: number) {
  return fromRow(existing<MemoryRow>(connection, `SELECT ${ROW_COLUMN_LIST} FROM memory WHERE row = ?`, key));
}

/** The row of a memory that the index knows. Throws `store_corrupt`. */
function existing<Row>(connection: Connection, sql: string, key: number): Row {
  const found = connection.get(sql, key) as Row | undefined;
  if (found === undefined) throw damagedRow({ table: 'memory', row: key }, 'it is missing');
  return found;
}

/** Throws `embedder_mismatch` for a query's vector that the space's cannot be compared with. */
export function checkVector(index: ResidentIndex, query: PreparedQuery): void {
  if (query.vector && index.dimensions > 0) checkQueryVector(query.vector, index.dimensions);
}
