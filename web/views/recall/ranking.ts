import type { Explanation, Hit, Recall, StrategyDescription } from '../../../src/index.ts';
import { resolveProfile } from '../../../src/scoring/profile.ts';
import { rescore } from '../../../src/scoring/rescore.ts';
import type { Asking } from './request.ts';

/** Hits in the order in which they are shown, with what their scores are made of. */
export interface Ranking {
  readonly rows: readonly { readonly hit: Hit; readonly explanation: Explanation }[];
  /** Hits of an earlier answer, scored again with other parameters: the answer is on its way. */
  readonly isPreview: boolean;
}

/** An answer as it is, or, if only parameters differ from what is asked now, its hits ranked by these. */
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
      // What the formula cannot take, the server says.
    }
  }
  return { rows: recall.hits.map((hit) => ({ hit, explanation: hit.explain() })), isPreview: false };
}

function withoutParameters({ query, options: { parameters, ...options } }: Asking): string {
  return JSON.stringify([query, options]);
}
