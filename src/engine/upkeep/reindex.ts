import { SalienceError, throwIfAborted } from '../../domain/errors.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { otherAnalyzer } from '../../store/derived.ts';
import type { IndexedText } from '../../store/store.ts';
import { languageOf } from '../../text/analyze.ts';
import type { Dependencies } from '../dependencies.ts';
import type { BatchOptions } from '../types.ts';
import { deriveTexts, knownTexts } from '../write/derive.ts';

/**
 * Recomputes what is derived from all texts, with the current embedder and analyzer. If only the terms are stale, keeps
 * the vectors: to embed a text may take time and money.
 */
export async function reindex(engine: Dependencies, options: BatchOptions = {}): Promise<void> {
  const { space, analyzer, embedder } = engine;
  const { signal, progress } = options;
  const stored = (await space.derivation()).analyzer;
  const isStale = stored !== undefined && stored !== analyzer.id;
  // Another process has changed the language since. Nobody has asked to change it back.
  if (isStale && !engine.languageNamed && isOtherLanguage(stored, analyzer.id)) {
    throw otherAnalyzer(stored, analyzer.id);
  }
  const derive = isStale ? keepVectors : deriveTexts;
  await space.reindex({
    analyzer: analyzer.id,
    embedding: embedder && { model: embedder.model, dimensions: embedder.dimensions },
    derive(memories) {
      throwIfAborted(signal);
      return derive(memories, engine, { signal });
    },
    ...(progress ? { progress } : {}),
  });
}

/** Whether two analyzers are of two languages, and not of two versions of one. */
function isOtherLanguage(stored: string, own: string): boolean {
  const language = languageOf(stored);
  return language !== undefined && language !== languageOf(own);
}

/** Vectors that cannot be read are computed again. */
async function keepVectors(
  memories: readonly MemoryRecord[],
  engine: Dependencies,
  options: Pick<BatchOptions, 'signal'>,
): Promise<readonly IndexedText[]> {
  try {
    return await knownTexts(engine, memories, options);
  } catch (error) {
    if (!SalienceError.isInstance(error) || error.code !== 'store_corrupt') throw error;
    return deriveTexts(memories, engine, options);
  }
}
