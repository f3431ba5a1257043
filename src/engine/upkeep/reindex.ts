import { SalienceError, throwIfAborted } from '../../domain/errors.ts';
import type { Embedder } from '../../providers/embedder.ts';
import { otherAnalyzer } from '../../store/derived.ts';
import type { EmbeddingInfo } from '../../store/store.ts';
import { languageOf } from '../../text/analyze.ts';
import type { Dependencies } from '../dependencies.ts';
import type { BatchOptions } from '../types.ts';
import { deriveTexts, knownTexts } from '../write/derive.ts';

/**
 * Recomputes what is derived from all texts, with the current embedder and analyzer. If only the terms are stale, keeps
 * the vectors: to embed a text may take time and money.
 */
export async function reindex(engine: Dependencies, options: BatchOptions = {}): Promise<void> {
  const { space, analyzer } = engine;
  const { signal, progress } = options;
  const { analyzer: stored, embedding } = await space.derivation();
  const isStale = stored !== undefined && stored !== analyzer.id;
  // Another process has changed the language since. Nobody has asked to change it back.
  if (isStale && !engine.languageNamed && isOtherLanguage(stored, analyzer.id)) {
    throw otherAnalyzer(stored, analyzer.id);
  }
  const embedder = engine.embedder ?? (isStale && embedding ? standIn(embedding) : undefined);
  await space.reindex({
    analyzer: analyzer.id,
    embedding: embedder && { model: embedder.model, dimensions: embedder.dimensions },
    async derive(memories) {
      throwIfAborted(signal);
      const tools = { space, analyzer, embedder };
      if (!isStale) return deriveTexts(memories, tools, { signal });
      return knownTexts(tools, memories, { signal }).catch((error: unknown) => {
        // Damaged vectors are computed again, if there is an embedder.
        if (!engine.embedder || !isDamage(error)) throw error;
        return deriveTexts(memories, tools, { signal });
      });
    },
    ...(progress ? { progress } : {}),
  });
}

/** Whether two analyzers are of two languages, and not of two versions of one. */
function isOtherLanguage(stored: string, own: string): boolean {
  const language = languageOf(stored);
  return language !== undefined && language !== languageOf(own);
}

/** Stands in for an absent embedder where only words are indexed again: it keeps vectors, and computes none. */
function standIn(embedding: EmbeddingInfo): Pick<Embedder, 'model' | 'dimensions' | 'embed'> {
  return { ...embedding, embed: async (texts) => texts.map(() => undefined) };
}

function isDamage(error: unknown): boolean {
  return SalienceError.isInstance(error) && error.code === 'store_corrupt';
}
