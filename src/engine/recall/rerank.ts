import { messageOf, SalienceError, throwIfAborted } from '../../domain/errors.ts';
import { redactPrivate } from '../../domain/redaction.ts';
import { countOf, NO_USAGE, usageIn } from '../../providers/language-model.ts';
import type { Reranker } from '../../providers/reranker.ts';
import { unlessAborted } from '../../providers/waiting.ts';

/** The order that a reranker gave, and its cost. */
export interface Reranking<Item> {
  /** All items: those that it scored, best first, then those that it left out, then those that it was not shown. */
  readonly items: readonly Item[];
  /** How many of the first items it was shown. */
  readonly sent: number;
  /** How many of the first items it has ordered; 0 if it failed. */
  readonly examined: number;
  /** Also set if it failed: the tokens were spent. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Why the order is unchanged. */
  readonly failure: string | undefined;
}

/**
 * Orders the first `most` items by a reranker. Ties, and items that it leaves out, keep their order. Private parts of
 * the query are not shown to it.
 */
export async function rerankItems<Item>(
  reranker: Reranker,
  query: string,
  items: readonly Item[],
  passageOf: (item: Item) => string,
  most: number,
  signal: AbortSignal | undefined,
): Promise<Reranking<Item>> {
  const examined = items.slice(0, most);
  try {
    const passages = examined.map(passageOf);
    const ask = () => reranker.rerank(redactPrivate(query), passages, { signal });
    const answer = await unlessAborted(ask, signal);
    const scores = scoresIn(answer, examined.length, reranker.model);
    const judged = examined.map((_, index) => index).filter((index) => scores.has(index));
    judged.sort((a, b) => scores.get(b)! - scores.get(a)! || a - b);
    const left = examined.map((_, index) => index).filter((index) => !scores.has(index));
    return {
      items: [...[...judged, ...left].map((index) => examined[index]!), ...items.slice(most)],
      sent: examined.length,
      examined: examined.length,
      promptTokens: countOf(answer.promptTokens),
      completionTokens: countOf(answer.completionTokens),
      failure: undefined,
    };
  } catch (cause) {
    throwIfAborted(signal);
    const { promptTokens, completionTokens } = SalienceError.isInstance(cause) ? usageIn(cause) : NO_USAGE;
    return {
      items,
      sent: examined.length,
      examined: 0,
      promptTokens,
      completionTokens,
      failure: messageOf(cause),
    };
  }
}

/**
 * Reads the scores of an answer by the index of the passage. The first score of a passage counts; entries without a
 * valid index or number are ignored. Throws `model_invalid_output` if nothing can be read, because many libraries name
 * the fields differently.
 */
function scoresIn(answer: unknown, passages: number, model: string): ReadonlyMap<number, number> {
  const { results, promptTokens, completionTokens } = fieldsOf(answer);
  const scores = new Map<number, number>();
  if (Array.isArray(results)) {
    for (const { index, score } of results.map(fieldsOf)) {
      if (typeof index !== 'number' || typeof score !== 'number') continue;
      const isPassage = Number.isInteger(index) && index >= 0 && index < passages;
      if (isPassage && Number.isFinite(score) && !scores.has(index)) scores.set(index, score);
    }
    if (results.length === 0 || scores.size > 0) return scores;
  }
  throw new SalienceError(
    'model_invalid_output',
    `the reranker ${model} returned no score of a passage: "rerank" must return { results: [{ index, score }] }, ` +
      'both numbers, where the index of the first passage is 0',
    {
      details: { promptTokens: countOf(promptTokens), completionTokens: countOf(completionTokens) },
    },
  );
}

/** Reads the fields of a value: a custom reranker may return anything. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
