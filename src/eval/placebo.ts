import { randomWords, seedOf, shuffled } from '../fit/random.ts';
import type { DatasetMemory } from './dataset.ts';
import type { RankedHit } from './run.ts';

/**
 * Strategies that ignore the query, to show what chance achieves: all memories in random order, the answer of the first
 * strategy in random order, and the newest memories first.
 */
export const PLACEBOS = ['placebo:random', 'placebo:shuffled', 'placebo:recent'] as const;

export type Placebo = (typeof PLACEBOS)[number];

export function isPlacebo(strategy: string): strategy is Placebo {
  return (PLACEBOS as readonly string[]).includes(strategy);
}

/** The input of a placebo for one question. */
export interface PlaceboInput {
  /** The memories that the engine stored, in the order of the dataset. */
  readonly memories: readonly DatasetMemory[];
  /** The answer of the first strategy. */
  readonly answer: readonly RankedHit[];
  /** Distinguishes the question from all others. */
  readonly key: readonly string[];
  readonly seed: number;
}

/** Returns the whole ranking, best first, with scores that decrease with the rank. */
export function rankPlacebo(placebo: Placebo, input: PlaceboInput): readonly RankedHit[] {
  const { memories, answer, key } = input;
  const seed = seedOf(input.seed, placebo, ...key);
  switch (placebo) {
    case 'placebo:random': {
      const random = randomWords(seed);
      const scores = memories.map(() => random() / 2 ** 32).sort((left, right) => right - left);
      const order = shuffled(memories, seed);
      return order.map(({ id }, at) => ({ id, score: scores[at] ?? 0 }));
    }
    case 'placebo:shuffled': {
      const order = shuffled(answer, seed);
      return order.map(({ id }, at) => ({ id, score: answer[at]?.score ?? 0 }));
    }
    case 'placebo:recent': {
      // Of two memories with the same time, the later one in the file is newer.
      const order = memories
        .map(({ id, createdAt }, at) => ({ id, createdAt, at }))
        .sort((left, right) => right.createdAt - left.createdAt || right.at - left.at);
      return order.map(({ id }, at) => ({ id, score: (order.length - at) / order.length }));
    }
  }
}
