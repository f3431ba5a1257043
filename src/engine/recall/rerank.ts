import { messageOf, SalienceError, throwIfAborted } from '../../domain/errors.ts';
import { redactPrivate } from '../../domain/redaction.ts';
import { countOf, NO_USAGE, usageIn } from '../../providers/language-model.ts';
import type { Reranker } from '../../providers/reranker.ts';
import { unlessAborted } from '../../providers/waiting.ts';

/** An order that a reranker gave, and what it cost. */
export interface Reranking<Item> {
  /** All items: those it judged by its score, then those it left out, then those it never saw. */
  readonly items: readonly Item[];
  /** How many from the front it was shown. */
  readonly sent: number;
  /** How many from the front it has put in order; 0 when it failed. */
  readonly examined: number;
  /** A failed reranking costs what its model has spent. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Why the order is unchanged. */
  readonly failure: string | undefined;
}

/** Puts the first `most` items into a reranker's order; ties, and what it leaves out, keep the old one. It is not shown what is private. */
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
 * The scores of passages by their index. The first word on a passage counts; what is no passage or no number says nothing.
 * Throws `model_invalid_output` where nothing of an answer can be read: many libraries name its fields otherwise.
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

/** What a reranker of the caller's own returned may be anything. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
