import { SalienceError } from '../domain/errors.ts';
import type { MemoryRecord } from '../domain/memory.ts';
import { checkVector } from './derived.ts';
import type { IndexedText, ReindexRequest } from './store.ts';

/** How often a reindex tries to catch up with concurrent writes before it fails. */
export const REINDEX_ROUNDS = 50;

/** Derives one page of a reindex. Checks that there is one result for each memory and that vectors fit the new model. */
export async function derivePage(
  request: ReindexRequest,
  memories: readonly MemoryRecord[],
): Promise<readonly IndexedText[]> {
  const derived = await request.derive(memories);
  if (derived.length !== memories.length) {
    throw new SalienceError(
      'invalid_argument',
      `derive: ${memories.length} memories were given and ${derived.length} results returned; return one for each, in order`,
      { details: { field: 'derive' } },
    );
  }
  for (const each of derived) checkVector(each, request.embedding);
  return derived;
}

export function neverQuiet(name: string): SalienceError {
  return new SalienceError(
    'store_busy',
    `space ${JSON.stringify(name)} was written to during each of ${REINDEX_ROUNDS} attempts to reindex it; nothing was changed. Stop the writers, and reindex again`,
  );
}
