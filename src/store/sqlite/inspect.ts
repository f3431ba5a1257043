import { type ResidentIndex, signalsOfRow } from '../../index/resident-index.ts';
import type { Tier } from '../../model/memory.ts';
import { evaluate } from '../../scoring/evaluate.ts';
import { failedRequirement } from '../../scoring/score.ts';
import type { Signals } from '../../scoring/signals.ts';
import { cosine } from '../../scoring/similarity.ts';
import { type Eligibility, exclusionOf } from '../eligibility.ts';
import type { Inspection, SearchRequest } from '../store.ts';
import type { Connection } from './connection.ts';
import type { Resident } from './resident.ts';
import { fromVectorBytes } from './rows.ts';
import { checkVector, lexicalOf } from './search.ts';

interface InspectedRow {
  readonly id: string;
  readonly row: number;
  readonly vector: Uint8Array | null;
}

const among = 'WHERE id IN (SELECT value FROM json_each(?))';
const withVectors = `SELECT id, row, bytes AS vector FROM memory LEFT JOIN vector USING (row) ${among}`;
const withoutVectors = `SELECT id, row, NULL AS vector FROM memory ${among}`;

/**
 * What a search makes of these memories. Of the file only their vectors are read; everything else is resident.
 * To be called inside a read transaction.
 */
export function inspectResident(
  connection: Connection,
  resident: Resident,
  ids: readonly string[],
  request: Omit<SearchRequest, 'limit'>,
): readonly (Inspection | undefined)[] {
  const { index } = resident.refresh(connection);
  const { query, profile, filter, now } = request;
  checkVector(index, query);
  const found = connection.all(
    query.vector ? withVectors : withoutVectors,
    JSON.stringify(ids),
  ) as InspectedRow[];
  const lexical = lexicalOf(
    connection,
    index,
    query,
    found.map(({ row }) => row),
  );
  const inspections = new Map<string, Inspection>();
  for (const { id, row: key, vector } of found) {
    const row = index.rowOfKey.get(key)!;
    const relevance = lexical.relevance[row]!;
    // A copy of an object of so many properties costs more than everything else here.
    const signals: { -readonly [Name in keyof Signals]: Signals[Name] } = signalsOfRow(index, row);
    signals.similarity = query.vector && vector ? cosine(query.vector, fromVectorBytes(vector)) : undefined;
    signals.lexical = Number.isNaN(relevance) ? undefined : relevance;
    inspections.set(id, {
      id,
      signals,
      bm25: lexical.bm25[row]!,
      score: evaluate(profile.root, signals, now),
      excluded: exclusionOf(eligibilityOf(index, row, signals), filter, now),
      failedRequirement: failedRequirement(profile, signals, now),
    });
  }
  return ids.map((id) => inspections.get(id));
}

/** What of a row the conditions of eligibility look at; its signals are complete. */
function eligibilityOf(index: ResidentIndex, row: number, signals: Signals): Eligibility {
  return {
    scope: signals.scope!,
    type: signals.type!,
    tags: index.tagsOfRow.get(row) ?? [],
    tier: signals.tier as Tier,
    core: signals.core!,
    invalidatedAt: signals.invalidatedAt,
    consolidatedAt: signals.consolidatedAt,
    expiresAt: signals.expiresAt,
    validFrom: signals.validFrom,
    validUntil: signals.validUntil,
  };
}
