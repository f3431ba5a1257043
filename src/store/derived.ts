import { SalienceError } from '../domain/errors.ts';
import type { Decision, EmbeddingInfo, IndexedText, PreparedQuery } from './store.ts';

/** The embedding model and analyzer that the derived data of a space was made with. */
export interface Derivation {
  readonly embedding: EmbeddingInfo | undefined;
  readonly analyzer: string | undefined;
}

/**
 * Returns the derivation of a space after a decision. Throws `embedder_mismatch` if a vector or the decision belongs to
 * another model or analyzer, `invalid_argument` for a vector that is not of unit length.
 */
export function deriveWith(current: Derivation, decision: Decision<unknown>): Derivation {
  const embedding = current.embedding ?? decision.embedding;
  if (decision.embedding && !sameEmbedding(embedding, decision.embedding)) {
    throw mismatch(`${describe(embedding)}, this write ${describe(decision.embedding)}`);
  }
  const analyzer = current.analyzer ?? decision.analyzer;
  if (decision.analyzer !== undefined && decision.analyzer !== analyzer) {
    throw otherAnalyzer(analyzer, decision.analyzer);
  }
  for (const change of decision.changes) {
    if ((change.kind === 'insert' || change.kind === 'replace') && change.indexed) {
      checkVector(change.indexed, embedding);
    }
  }
  return { embedding, analyzer };
}

/** Throws `embedder_mismatch` or `invalid_argument` when a text's vector does not fit `embedding`. */
export function checkVector(indexed: IndexedText, embedding: EmbeddingInfo | undefined): void {
  const { vector } = indexed;
  if (!vector) return;
  if (!embedding) throw mismatch('no model yet, and this write brings a vector without naming its own');
  if (vector.length !== embedding.dimensions) {
    throw mismatch(`${describe(embedding)}, this write a vector of ${vector.length}`);
  }
  let squares = 0;
  for (let at = 0; at < vector.length; at++) squares += vector[at]! * vector[at]!;
  if (Math.abs(squares - 1) < 1e-3) return;
  throw new SalienceError(
    'invalid_argument',
    `vector: its length is ${Math.sqrt(squares)}, not 1; configure the embedder to return normalised vectors`,
    { details: { field: 'vector' } },
  );
}

/** Throws `embedder_mismatch` when a query's vector cannot be compared with vectors of `dimensions`. */
export function checkQueryVector(query: Float32Array, dimensions: number): void {
  if (query.length !== dimensions) {
    throw mismatch(`vectors of ${dimensions}, the query one of ${query.length}`);
  }
}

/**
 * Throws `embedder_mismatch` if a query was made with another model or analyzer than the space now has, because the space
 * was reindexed after it was opened.
 */
export function checkMadeWith({ vector, model, analyzer }: PreparedQuery, space: Derivation): void {
  if (vector && model !== undefined && space.embedding && space.embedding.model !== model) {
    throw mismatch(`${describe(space.embedding)}, this query ${model}`);
  }
  if (analyzer === undefined || space.analyzer === undefined || analyzer === space.analyzer) return;
  throw otherAnalyzer(space.analyzer, analyzer);
}

/** The error when a space was reindexed with another analyzer after it was opened. */
export function otherAnalyzer(stored: string | undefined, given: string): SalienceError {
  return new SalienceError(
    'embedder_mismatch',
    `the texts of this space are indexed with the analyzer ${stored}, and it was opened with ${given}. Open it again without a language of its own, or reindex it in the language it is to have`,
    { details: { field: 'analyzer', stored, given } },
  );
}

/** Whether an error is that of {@link otherAnalyzer}. */
export function isOtherAnalyzer(error: unknown): boolean {
  return (
    SalienceError.isInstance(error) &&
    error.code === 'embedder_mismatch' &&
    error.details['field'] === 'analyzer'
  );
}

function sameEmbedding(a: EmbeddingInfo | undefined, b: EmbeddingInfo): boolean {
  return a?.model === b.model && a.dimensions === b.dimensions;
}

function describe(embedding: EmbeddingInfo | undefined): string {
  return embedding ? `${embedding.model} (${embedding.dimensions} dimensions)` : 'no model';
}

function mismatch(found: string): SalienceError {
  return new SalienceError(
    'embedder_mismatch',
    `the vectors of two models cannot be mixed: the space has ${found}. Open it with the embedder it was written with, or reindex it with the new one`,
  );
}
