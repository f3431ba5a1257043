import { eligibleRows } from '../../index/eligible.ts';
import { type LexicalScores, lexicalScores, noLexicalScores, substringScores } from '../../index/lexical.ts';
import type { ResidentIndex } from '../../index/resident-index.ts';
import { signalsOfRow } from '../../index/resident-index.ts';
import { searchIndex, type VectorSource } from '../../index/search.ts';
import { cosine } from '../../index/similarity.ts';
import { evaluate } from '../../scoring/evaluate.ts';
import { failedRequirement } from '../../scoring/score.ts';
import type { Signals } from '../../scoring/signals.ts';
import { checkQueryVector } from '../derived.ts';
import { exclusionOf } from '../eligibility.ts';
import { containsText } from '../naive-search.ts';
import type { Inspection, PreparedQuery, ScoredMemory, SearchAnswer, SearchRequest } from '../store.ts';
import type { Connection } from './connection.ts';
import { findMemory } from './events.ts';
import type { Resident } from './resident.ts';
import { fromRow, fromVectorBytes, type MemoryRow, RECORD_COLUMN_LIST } from './rows.ts';

/** Exact top k over the resident index. To be called inside a read transaction. */
export function searchResident(
  connection: Connection,
  resident: Resident,
  request: SearchRequest,
): SearchAnswer {
  const started = performance.now();
  const { index, sequence } = resident.refresh(connection);
  checkVector(index, request.query);
  const { rows, filtered } = eligibleRows(index, request.filter, request.now);
  const afterEligible = performance.now();
  const lexical = lexicalOf(connection, index, request.query);
  const afterLexical = performance.now();
  const { profile, now, limit, query } = request;
  const answer = searchIndex(
    index,
    { profile, rows, lexical, vector: query.vector, now, limit },
    sourceOf(connection),
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

/** What a search makes of one memory. To be called inside a read transaction. */
export function inspectResident(
  connection: Connection,
  resident: Resident,
  id: string,
  request: Omit<SearchRequest, 'limit'>,
): Inspection | undefined {
  const { index } = resident.refresh(connection);
  checkVector(index, request.query);
  const found = findMemory(connection, id);
  const row = found && index.rowOfKey.get(found.row);
  if (!found || row === undefined) return undefined;
  const { query, profile, filter, now } = request;
  const lexical = lexicalOf(connection, index, query);
  const relevance = lexical.relevance[row]!;
  const [stored] = query.vector ? sourceOf(connection).vectors([found.row]) : [];
  const signals: Signals = {
    ...signalsOfRow(index, row),
    similarity: query.vector && stored ? cosine(query.vector, stored) : undefined,
    lexical: Number.isNaN(relevance) ? undefined : relevance,
  };
  return {
    memory: found.memory,
    signals,
    bm25: lexical.bm25[row]!,
    score: evaluate(profile.root, signals, now),
    excluded: exclusionOf(found.memory, filter, now),
    failedRequirement: failedRequirement(profile, signals),
  };
}

function lexicalOf(connection: Connection, index: ResidentIndex, query: PreparedQuery): LexicalScores {
  if (query.terms.length > 0) {
    return lexicalScores(index, query.terms, (term) => {
      const found = connection.get('SELECT id FROM term WHERE text = ?', term) as { id: number } | undefined;
      return found?.id;
    });
  }
  if (query.substring === undefined) return noLexicalScores(index);
  return substringScores(index, keysContaining(connection, query.substring));
}

/** Rare enough to read every text: a query of which no term is left. */
function* keysContaining(connection: Connection, text: string): Generator<number> {
  for (const row of connection.statement('SELECT row, title, content, tags FROM memory').iterate()) {
    const {
      row: key,
      title,
      content,
      tags,
    } = row as { row: number; title: string | null; content: string; tags: string };
    if (containsText({ title: title ?? undefined, content, tags: JSON.parse(tags) as string[] }, text))
      yield key;
  }
}

function sourceOf(connection: Connection): VectorSource {
  return {
    vectors: (keys) =>
      keys.map((key) => {
        const found = connection.get('SELECT bytes FROM vector WHERE row = ?', key) as
          | { bytes: Uint8Array }
          | undefined;
        return found && fromVectorBytes(found.bytes);
      }),
    id: (key) => (connection.get('SELECT id FROM memory WHERE row = ?', key) as { id: string }).id,
  };
}

function recordOf(connection: Connection, key: number) {
  return fromRow(
    connection.get(`SELECT row, ${RECORD_COLUMN_LIST} FROM memory WHERE row = ?`, key) as MemoryRow,
  );
}

function checkVector(index: ResidentIndex, query: PreparedQuery): void {
  if (query.vector && index.dimensions > 0) checkQueryVector(query.vector, index.dimensions);
}
