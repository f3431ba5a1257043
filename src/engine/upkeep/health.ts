import { messageOf } from '../../domain/errors.ts';
import { NOT_ERASED_YET } from '../../store/damage.ts';
import type { EmbeddingInfo, SpaceInfo } from '../../store/store.ts';
import type { Dependencies } from '../dependencies.ts';
import type { OperationOptions } from '../types.ts';

/** The state of a space. */
export interface Health {
  /** The embedder; absent if recalls use words alone. */
  readonly embedder?: EmbeddingInfo | undefined;
  /** Worth knowing, each with what to do about it. */
  readonly warnings: readonly string[];
  /** What does not work, each with what to do about it. */
  readonly problems: readonly string[];
}

/** If fewer memories have a vector, some were left out. A memory without a known word has none, but such memories are rare. */
const USUAL_SHARE = 0.9;

/** Checks a space and its embedder. Returns what does not work and what is worth knowing. */
export async function health(
  { space, embedder }: Dependencies,
  { signal }: Pick<OperationOptions, 'signal'> = {},
): Promise<Health> {
  const found = await space.check();
  const problems = found.filter((finding) => finding !== NOT_ERASED_YET);
  const warnings = found.filter((finding) => finding === NOT_ERASED_YET);
  if (!embedder) warnings.push(NO_EMBEDDER);
  else {
    try {
      // An embedding server may be down.
      await embedder.embed(['the quick brown fox'], { signal });
    } catch (error) {
      if (signal?.aborted) throw error;
      problems.push(`the embedder: ${messageOf(error)}`);
    }
    warnings.push(...vectorWarnings(await space.info(), embedder.model));
  }
  return {
    ...(embedder ? { embedder: { model: embedder.model, dimensions: embedder.dimensions } } : {}),
    warnings,
    problems,
  };
}

/** The warning if there is no embedder. */
export const NO_EMBEDDER = 'no embedder: recalls go by words alone';

/** Returns warnings about the vectors of a space for an embedder of this model. */
export function vectorWarnings(
  {
    name,
    memories,
    vectors,
    embedding,
    byTier,
  }: Pick<SpaceInfo, 'name' | 'memories' | 'vectors' | 'embedding' | 'byTier'>,
  model: string,
): readonly string[] {
  const reindex = `salience reindex --space ${JSON.stringify(name)}`;
  if (memories === 0) return [];
  if (embedding && embedding.model !== model) {
    return [
      `space ${name} holds vectors of ${embedding.model}, and the embedder is ${model}: use the former, or run ${reindex}`,
    ];
  }
  // No recall finds a stub, so maintenance removes its vector, and reindexing gives it none.
  const searched = memories - (byTier['stub'] ?? 0);
  if (vectors >= searched * USUAL_SHARE) return [];
  return [
    `space ${name} has vectors for ${vectors} of ${searched} memories: run ${reindex}. A memory that still has none afterwards has no word that the embedder knows`,
  ];
}
