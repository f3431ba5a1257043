import type { Omission } from '../../context/omission.ts';
import { searchesOf, unsearched } from '../../domain/unsearched.ts';
import type { FilterOptions } from '../types.ts';
import type { Trace } from './trace.ts';

/** Why an answer is empty. */
export interface Nothing {
  /**
   * `no-memories`: there were none, or none passed the filters. `unsearched`: a search failed or none could run, so
   * there may be hits. `irrelevant`: all were below the floor of relevance. `no-match`: there were some, but none could
   * be a hit.
   */
  readonly reason: 'no-memories' | 'unsearched' | 'irrelevant' | 'no-match';
  /** The reason as a sentence. */
  readonly message: string;
}

/** What is known about a recall without hits. */
interface Best {
  /** The highest score before `minScore` was applied, 0 if there was none. */
  readonly best: number;
  readonly minScore: number | undefined;
  readonly filters: FilterOptions;
}

/** Explains why a recall has no hits. */
export function nothingIn(trace: Trace, best: Best): Nothing {
  const found = nothingOfSearched(trace, best);
  const missing = unsearched(searchesOf(trace.arms));
  if (found.reason === 'no-memories' || missing.length === 0) return found;
  const message = `${found.message}. Not everything was searched: ${missing.join('; ')}`;
  return { reason: 'unsearched', message };
}

/** Explains why the searches that ran have no hits. */
function nothingOfSearched(trace: Trace, { best, minScore, filters }: Best): Nothing {
  const { stages, minRelevance } = trace;
  const eligible = stages.find(({ name }) => name === 'validity_filter')?.survivors ?? 0;
  if (eligible === 0) {
    return { reason: 'no-memories', message: `nothing found: ${emptiness(trace, filters)}` };
  }
  if (best > 0) return nothingAbove(best, minScore);
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

function emptiness({ stages, asOf }: Trace, filters: FilterOptions): string {
  const { scope, inScope, types, typesExclude, tags, metadata } = filters;
  const given = Object.entries({
    scope: scope ?? inScope,
    type: types ?? typesExclude,
    tags: tags?.length ? tags : undefined,
    metadata: Object.keys(metadata ?? {}).length > 0 ? metadata : undefined,
    time: asOf,
  }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const total = stages.find(({ name }) => name === 'eligible')?.candidates ?? 0;
  // With a scope, the caller may not be allowed to know whether there are memories in other scopes.
  const isEmpty = total === 0 && scope === undefined;
  if (given.length === 0 || isEmpty) return 'there are no memories to search here';
  return `no memory here passes the filter by ${listed(given)}`;
}

function listed(names: readonly string[]): string {
  return names.length === 1 ? `${names[0]}` : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** Explains an empty context whose only hits belong to the session of `exceptSession`. */
export function nothingBut(sessionId: string): Nothing {
  return {
    reason: 'no-match',
    message: `nothing found outside the session ${JSON.stringify(sessionId)}, which exceptSession leaves out`,
  };
}

/** Explains why a context is empty although there were hits; `undefined` if they just did not fit. */
export function nothingAmong(omitted: readonly Omission[]): Nothing | undefined {
  const below = omitted.filter((each) => each.reason === 'below-minimum-score');
  const placeless = omitted.filter(({ reason }) => reason === 'no-section').length;
  if (below.length + placeless < omitted.length) return undefined;
  if (placeless > 0) {
    // Types are stored texts, which must not be quoted outside of the fence.
    const found =
      placeless === 1 ? '1 memory was found, of a type' : `${placeless} memories were found, of types`;
    return {
      reason: 'no-match',
      message: `nothing found for these sections: ${found} that none of them takes`,
    };
  }
  const best = below.reduce((most, { score }) => Math.max(most, score), 0);
  return best > 0 ? nothingAbove(best, below[0]?.minScore) : undefined;
}

function nothingAbove(best: number, minScore: number | undefined): Nothing {
  const message = `nothing found: the best score is ${scoreText(best)}, below minScore ${minScore}`;
  return { reason: 'no-match', message };
}

/** Formats a score with four decimals, or in exponential form if they would all be 0. */
export function scoreText(value: number): string {
  return value > 0 && value < 0.00005 ? value.toExponential(1) : value.toFixed(4);
}
