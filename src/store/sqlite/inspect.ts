import { type ResidentIndex, signalsOfRow } from '../../index/resident-index.ts';
import { applyStandings } from '../../index/standing.ts';
import type { Tier } from '../../model/memory.ts';
import { evaluate } from '../../scoring/evaluate.ts';
import { failedRequirement } from '../../scoring/score.ts';
import type { CompleteSignals, Signals } from '../../scoring/signals.ts';
import { cosine } from '../../scoring/similarity.ts';
import { type Eligibility, exclusionOf } from '../eligibility.ts';
import type { Exclusion, Inspection, SearchRequest } from '../store.ts';
import { rowsWithMetadata } from './attributes.ts';
import type { Connection } from './connection.ts';
import { damagedRow } from './damage.ts';
import type { Resident } from './resident.ts';
import { fromVectorRow } from './rows.ts';
import { checkVector, lexicalOf } from './search.ts';

interface InspectedRow {
  readonly id: string;
  readonly row: number;
  readonly vector: Uint8Array | null;
  readonly checksum: number | null;
}

const among = 'WHERE id IN (SELECT value FROM json_each(?))';
const withVectors = `SELECT id, row, bytes AS vector, vector.checksum FROM memory LEFT JOIN vector USING (row) ${among}`;
const withoutVectors = `SELECT id, row, NULL AS vector, NULL AS checksum FROM memory ${among}`;

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
  const { index, relations } = resident.refresh(connection);
  checkVector(index, request.query);
  const undo = applyStandings(index, relations, request.filter, request.now);
  try {
    return inspectStanding(connection, index, ids, request);
  } finally {
    undo();
  }
}

function inspectStanding(
  connection: Connection,
  index: ResidentIndex,
  ids: readonly string[],
  request: Omit<SearchRequest, 'limit'>,
): readonly (Inspection | undefined)[] {
  const { query, profile, filter, now } = request;
  const within = rowsWithMetadata(connection, filter.metadata);
  const found = connection.all(
    query.vector ? withVectors : withoutVectors,
    JSON.stringify(ids),
  ) as InspectedRow[];
  // Without words there is nothing to compute for every row of the index.
  const lexical =
    query.terms.length === 0 && query.substring === undefined
      ? undefined
      : lexicalOf(
          connection,
          index,
          query,
          found.map(({ row }) => row),
        );
  const inspections = new Map<string, Inspection>();
  for (const { id, row: key, vector, checksum } of found) {
    const row = index.rowOfKey.get(key);
    if (row === undefined) throw damagedRow({ table: 'memory', row: key }, 'the log does not know it');
    const relevance = lexical ? lexical.relevance[row]! : Number.NaN;
    // A copy of an object of so many properties costs more than everything else here.
    const signals: CompleteSignals = Object.assign(signalsOfRow(index, row), {
      similarity:
        query.vector && vector
          ? cosine(query.vector, fromVectorRow({ row: key, bytes: vector, checksum }, index.dimensions))
          : undefined,
      lexical: Number.isNaN(relevance) ? undefined : relevance,
    });
    inspections.set(id, {
      id,
      ordinal: index.ordinals[row]!,
      signals,
      bm25: lexical ? lexical.bm25[row]! : 0,
      score: evaluate(profile.root, signals, now),
      excluded: withMetadata(exclusionOf(eligibilityOf(index, row, signals), filter, now), within, key),
      failedRequirement: failedRequirement(profile, signals, now),
    });
  }
  return ids.map((id) => inspections.get(id));
}

/** Metadata is no column: whoever it keeps out is known by its row, and comes before all but the rest of the filter. */
function withMetadata(
  excluded: Exclusion | undefined,
  within: ReadonlySet<number> | undefined,
  key: number,
): Exclusion | undefined {
  if (within === undefined || within.has(key)) return excluded;
  const before: readonly (Exclusion | undefined)[] = ['scope', 'elsewhere', 'type', 'tag'];
  return before.includes(excluded) ? excluded : 'metadata';
}

/** What of a row the conditions of eligibility look at; its signals are complete. */
function eligibilityOf(index: ResidentIndex, row: number, signals: Signals): Eligibility {
  return {
    scope: signals.scope!,
    type: signals.type!,
    tags: index.tagsOfRow.get(row) ?? [],
    tier: signals.tier as Tier,
    core: signals.core!,
    superseded: signals.superseded!,
    invalidatedAt: signals.invalidatedAt,
    consolidatedAt: signals.consolidatedAt,
    expiresAt: signals.expiresAt,
    validFrom: signals.validFrom,
    validUntil: signals.validUntil,
  };
}
