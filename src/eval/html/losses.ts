import { measure } from '../../fit/metrics.ts';
import { countedOutcomes } from '../report.ts';
import type { EvaluatedQuery, EvaluationRun } from '../run.ts';

/** A question on which a strategy is worse than the baseline. */
export interface Loss {
  readonly outcome: EvaluatedQuery;
  /** How much lower the metric is; above 0. */
  readonly loss: number;
  /** The rank of the first evidence, from 1; absent if none was ranked. */
  readonly rank: number | undefined;
  readonly rankBefore: number | undefined;
}

/**
 * Returns the largest losses of a run against the baseline, worst first, ties in the order of the dataset. Questions
 * that the headline leaves out are never losses: finding less evidence for something that was never said is no fault.
 */
export function worstLosses(
  run: EvaluationRun,
  baseline: EvaluationRun,
  metric: string,
  most: number,
): readonly Loss[] {
  const measureOf = ({ ranking, relevant }: EvaluatedQuery, { ks }: EvaluationRun): number =>
    measure(ranking, new Set(relevant), ks)[metric] ?? 0;
  const counted = new Set(countedOutcomes(run.outcomes, run.result.reportedApart ?? []));
  return run.outcomes
    .flatMap((outcome, at) => {
      const before = baseline.outcomes[at];
      if (!before || !counted.has(outcome)) return [];
      const loss = measureOf(before, baseline) - measureOf(outcome, run);
      return loss > 0
        ? [{ outcome, loss, rank: firstEvidence(outcome), rankBefore: firstEvidence(before) }]
        : [];
    })
    .sort((left, right) => right.loss - left.loss)
    .slice(0, most);
}

/** Returns the rank of the first evidence, from 1; `undefined` if none is ranked. */
export function firstEvidence({
  ranking,
  relevant,
}: Pick<EvaluatedQuery, 'ranking' | 'relevant'>): number | undefined {
  const at = ranking.findIndex((id) => relevant.includes(id));
  return at < 0 ? undefined : at + 1;
}

const BUCKETS = [1, 2, 3, 5, 10, 20, 50, Number.POSITIVE_INFINITY];

/** Counts questions by ranges of the rank of their first evidence. */
export function rankDistribution(
  outcomes: readonly Pick<EvaluatedQuery, 'ranking' | 'relevant'>[],
): readonly { readonly label: string; readonly count: number }[] {
  const ranks = outcomes.map(firstEvidence);
  const buckets = BUCKETS.map((to, at) => {
    const from = (BUCKETS[at - 1] ?? 0) + 1;
    const label = to === Number.POSITIVE_INFINITY ? `${from}+` : from === to ? String(to) : `${from}–${to}`;
    return { label, count: ranks.filter((rank) => rank !== undefined && rank >= from && rank <= to).length };
  });
  return [...buckets, { label: 'none', count: ranks.filter((rank) => rank === undefined).length }];
}
