import { searchesOf, unsearched } from '../../domain/unsearched.ts';
import type { Trace } from './trace.ts';

/** Why an answer is empty. */
export interface Nothing {
  /**
   * `no-memories`: there was none to look at; `unsearched`: a search failed, or none could run, so that there may be hits;
   * `irrelevant`: there were some, all below the floor of relevance; `no-match`: there were some, and none that could be a
   * hit.
   */
  readonly reason: 'no-memories' | 'unsearched' | 'irrelevant' | 'no-match';
  /** The same as a sentence. */
  readonly message: string;
}

/** What could be had where a recall has no hits. */
interface Best {
  /** The highest score that there was before `minScore`, 0 if there was none. */
  readonly best: number;
  readonly minScore: number | undefined;
}

/** Why a recall without hits has none. */
export function nothingIn(trace: Trace, best: Best): Nothing {
  const found = nothingOfSearched(trace, best);
  const missing = unsearched(searchesOf(trace.arms));
  if (found.reason === 'no-memories' || missing.length === 0) return found;
  const message = `${found.message}. Not everything was searched: ${missing.join('; ')}`;
  return { reason: 'unsearched', message };
}

/** Why what was searched has no hits. */
function nothingOfSearched({ stages, minRelevance }: Trace, { best, minScore }: Best): Nothing {
  const eligible = stages.find(({ name }) => name === 'validity_filter')?.survivors ?? 0;
  if (eligible === 0) {
    return { reason: 'no-memories', message: 'nothing found: there are no memories to search here' };
  }
  if (best > 0) {
    const message = `nothing found: the best score is ${scoreText(best)}, below minScore ${minScore}`;
    return { reason: 'no-match', message };
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

/** Four digits after the point, more where they would say 0. */
export function scoreText(value: number): string {
  return value > 0 && value < 0.00005 ? value.toExponential(1) : value.toFixed(4);
}
