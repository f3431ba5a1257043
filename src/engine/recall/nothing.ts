import type { Trace } from './trace.ts';

/** Why an answer is empty. */
export interface Nothing {
  /**
   * `no-memories`: there was none to look at; `irrelevant`: there were some, all below the floor of relevance;
   * `no-match`: there were some, and none that could be a hit.
   */
  readonly reason: 'no-memories' | 'irrelevant' | 'no-match';
  /** The same as a sentence. */
  readonly message: string;
}

/** Why a recall that found nothing did so; `undefined` for one that found something. */
export function nothingIn({ stages, minRelevance }: Trace, hits: number): Nothing | undefined {
  if (hits > 0) return undefined;
  const eligible = stages.find(({ name }) => name === 'validity_filter')?.survivors ?? 0;
  if (eligible === 0) {
    return { reason: 'no-memories', message: 'nothing found: there are no memories to search here' };
  }
  const floor = stages.find(({ name }) => name === 'floor');
  if (minRelevance === undefined || !floor || floor.candidates === floor.survivors) {
    return { reason: 'no-match', message: 'nothing found' };
  }
  const memories = floor.candidates === 1 ? '1 memory was' : `${floor.candidates} memories were`;
  return {
    reason: 'irrelevant',
    message: `nothing relevant is known: ${memories} looked at, and none matches the query by ${minRelevance} or more`,
  };
}

/** Why a context is empty where all that was found is of the session that stays out of it. */
export function nothingBut(sessionId: string): Nothing {
  return {
    reason: 'no-match',
    message: `nothing found outside the session ${JSON.stringify(sessionId)}, which exceptSession leaves out`,
  };
}
