import type { Explanation, Hit, Recall, StrategyDescription } from '../../../src/index.ts';
import { resolveProfile } from '../../../src/scoring/profile.ts';
import { rescore } from '../../../src/scoring/rescore.ts';
import type { Asking } from './request.ts';

/** Hits in the order shown, with the parts of their scores. */
export interface Ranking {
  readonly rows: readonly { readonly hit: Hit; readonly explanation: Explanation }[];
  /**
   * Whether these are the hits of an earlier answer, scored with the new parameters while the new answer is pending.
   */
  readonly isPreview: boolean;
}

/** Returns the answer, or its hits ranked with the current parameters if nothing else of the request has changed. */
export function rankingOf(
  { asking: was, recall }: { readonly asking: Asking; readonly recall: Recall },
  asking: Asking,
  { profile, parameters }: StrategyDescription,
): Ranking {
  if (
    withoutParameters(was) === withoutParameters(asking) &&
    JSON.stringify(was) !== JSON.stringify(asking)
  ) {
    const usual = Object.fromEntries(parameters.map((each) => [each.name, each.default]));
    try {
      const resolved = resolveProfile(profile, { ...usual, ...asking.options.parameters });
      return { rows: rescore(recall.hits, resolved, Date.now()), isPreview: true };
    } catch {
      // The server reports values that are invalid for the formula.
    }
  }
  return { rows: recall.hits.map((hit) => ({ hit, explanation: hit.explain() })), isPreview: false };
}

function withoutParameters({ query, options: { parameters, ...options } }: Asking): string {
  return JSON.stringify([query, options]);
}
