import { finiteNumbers, idSet, invalidArgument, list } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';

/**
 * Metrics of a ranking with binary relevance, as trec_eval computes them
 * (https://github.com/usnistgov/trec_eval: m_recall.c, m_success.c, m_ndcg_cut.c, m_recip_rank.c).
 * A ranking holds distinct ids, best first. Every metric is in [0,1], and 0 if nothing is relevant. All throw
 * `invalid_argument` for arguments that are not a list, a set or a cutoff, and for an id that is ranked twice within the
 * cutoff: they would give a plausible wrong number.
 */

/**
 * Returns the share of all relevant ids that are among the first `k`. trec_eval's `recall_k`.
 *
 * @example
 * ```ts
 * const ranking = ['m3', 'm1', 'm2'];
 * const relevant = new Set(['m1', 'm9']);
 * recallAtK(ranking, relevant, 2); // 0.5: one of two
 * ```
 */
export function recallAtK(ranking: readonly string[], relevant: ReadonlySet<string>, k: number): number {
  check(ranking, { relevant }, k);
  if (relevant.size === 0) return 0;
  let found = 0;
  for (const id of ranking.slice(0, k)) if (relevant.has(id)) found++;
  return found / relevant.size;
}

/**
 * Returns 1 if a relevant id is among the first `k`, else 0. trec_eval's `success_k`.
 *
 * @example
 * ```ts
 * const ranking = ['m3', 'm1', 'm2'];
 * const relevant = new Set(['m1', 'm9']);
 * hitAtK(ranking, relevant, 1); // 0
 * hitAtK(ranking, relevant, 2); // 1
 * ```
 */
export function hitAtK(ranking: readonly string[], relevant: ReadonlySet<string>, k: number): 0 | 1 {
  check(ranking, { relevant }, k);
  return ranking.slice(0, k).some((id) => relevant.has(id)) ? 1 : 0;
}

/**
 * Returns 1 if all relevant ids are among the first `k`, else 0: whether a question that needs all of them can be
 * answered.
 *
 * @example
 * ```ts
 * const ranking = ['m3', 'm1', 'm2'];
 * const relevant = new Set(['m1', 'm2']);
 * allAtK(ranking, relevant, 2); // 0: m2 is third
 * allAtK(ranking, relevant, 3); // 1
 * ```
 */
export function allAtK(ranking: readonly string[], relevant: ReadonlySet<string>, k: number): 0 | 1 {
  return recallAtK(ranking, relevant, k) === 1 ? 1 : 0;
}

/**
 * Returns the discounted gain of the first `k` divided by that of the best possible order. A relevant id at rank r
 * gains 1/log2(r + 1). trec_eval's `ndcg_cut_k`. Source: Järvelin and Kekäläinen, 2002, doi:10.1145/582415.582418.
 *
 * @example
 * ```ts
 * const ranking = ['m3', 'm1', 'm2'];
 * const relevant = new Set(['m1', 'm9']);
 * ndcgAtK(ranking, relevant, 10); // 0.387
 * ```
 */
export function ndcgAtK(ranking: readonly string[], relevant: ReadonlySet<string>, k: number): number {
  check(ranking, { relevant }, k);
  let gain = 0;
  ranking.slice(0, k).forEach((id, index) => {
    if (relevant.has(id)) gain += discount(index);
  });
  let ideal = 0;
  for (let index = 0; index < Math.min(k, relevant.size); index++) ideal += discount(index);
  return ideal === 0 ? 0 : gain / ideal;
}

/**
 * Returns 1/rank of the first relevant id, or 0 if none is among the first `k`. Default is no cutoff: trec_eval's
 * `recip_rank`.
 *
 * @example
 * ```ts
 * const ranking = ['m3', 'm1', 'm2'];
 * const relevant = new Set(['m1', 'm9']);
 * reciprocalRank(ranking, relevant); // 0.5: second place
 * ```
 */
export function reciprocalRank(
  ranking: readonly string[],
  relevant: ReadonlySet<string>,
  k = Number.POSITIVE_INFINITY,
): number {
  check(ranking, { relevant }, k);
  const index = ranking.findIndex((id) => relevant.has(id));
  return index >= 0 && index < k ? 1 / (index + 1) : 0;
}

/**
 * Whether the best relevant id is ranked, and above the best stale one. A stale id that is not ranked counts as
 * below. `ranking` must be the full one.
 *
 * @example
 * ```ts
 * const ranking = ['new-address', 'old-address'];
 * updatedAboveStale(ranking, new Set(['new-address']), new Set(['old-address'])); // true
 * ```
 */
export function updatedAboveStale(
  ranking: readonly string[],
  relevant: ReadonlySet<string>,
  stale: ReadonlySet<string>,
): boolean {
  check(ranking, { relevant, stale });
  const first = ranking.find((id) => relevant.has(id) || stale.has(id));
  return first !== undefined && relevant.has(first) && !stale.has(first);
}

/**
 * Whether a forbidden id is ranked above every relevant one. `ranking` is the answer as it was returned. If it holds no
 * relevant id, any forbidden id in it counts as above.
 *
 * @example
 * ```ts
 * forbiddenAboveEvidence(['old', 'new'], new Set(['new']), new Set(['old'])); // true
 * forbiddenAboveEvidence(['new', 'old'], new Set(['new']), new Set(['old'])); // false
 * ```
 */
export function forbiddenAboveEvidence(
  ranking: readonly string[],
  relevant: ReadonlySet<string>,
  forbidden: ReadonlySet<string>,
): boolean {
  check(ranking, { relevant, forbidden });
  const first = ranking.find((id) => relevant.has(id) || forbidden.has(id));
  return first !== undefined && forbidden.has(first);
}

/** Measures by name, such as `recall@10`. */
export type Metrics = Readonly<Record<string, number>>;

/**
 * Returns the metrics of one query: `recall@k`, `hit@k`, `all@k`, `ndcg@k` and `mrr@k` for every k, and the uncut
 * `mrr`. Throws `invalid_argument` for a ranking that holds an id twice.
 *
 * @example
 * ```ts
 * const ranking = ['m3', 'm1', 'm2'];
 * const relevant = new Set(['m1', 'm9']);
 * const { 'recall@5': recall, mrr } = measure(ranking, relevant, [1, 5]);
 * ```
 */
export function measure(
  ranking: readonly string[],
  relevant: ReadonlySet<string>,
  ks: readonly number[],
): Metrics {
  list(ks, 'ks');
  const each = (name: string, compute: (k: number) => number): readonly (readonly [string, number])[] =>
    ks.map((k) => [`${name}@${k}`, compute(k)]);
  return Object.fromEntries([
    ...each('recall', (k) => recallAtK(ranking, relevant, k)),
    ...each('hit', (k) => hitAtK(ranking, relevant, k)),
    ...each('all', (k) => allAtK(ranking, relevant, k)),
    ...each('ndcg', (k) => ndcgAtK(ranking, relevant, k)),
    ...each('mrr', (k) => reciprocalRank(ranking, relevant, k)),
    ['mrr', reciprocalRank(ranking, relevant)],
  ]);
}

/**
 * Returns the mean of each metric over queries, which must all have the same metrics; empty without queries. `weights`
 * are the weights of the queries; default is 1 for all. Throws `invalid_argument` unless there is one weight per query,
 * none is below 0 and not all are 0.
 *
 * @example
 * ```ts
 * aggregate([{ mrr: 1 }, { mrr: 0.5 }]); // { mrr: 0.75 }
 * ```
 */
export function aggregate(measured: readonly Metrics[], weights?: readonly number[]): Metrics {
  list(measured, 'measured');
  if (weights !== undefined) checkWeights(weights, measured.length);
  const weightOf = (index: number): number => weights?.[index] ?? 1;
  const total = measured.reduce((sum, _, index) => sum + weightOf(index), 0);
  return Object.fromEntries(
    Object.keys(measured[0] ?? {}).map((name) => [
      name,
      measured.reduce((sum, metrics, index) => sum + weightOf(index) * (metrics[name] ?? 0), 0) / total,
    ]),
  );
}

/** Checks the arguments, but not every item of a list, because a fit calls the metrics for every question. */
function check(
  ranking: readonly string[],
  sets: Readonly<Record<string, ReadonlySet<string>>>,
  k = Number.POSITIVE_INFINITY,
): void {
  list(ranking, 'ranking');
  for (const name in sets) idSet(sets[name] as ReadonlySet<string>, name);
  if (k !== Number.POSITIVE_INFINITY && !(Number.isInteger(k) && k >= 1)) {
    throw invalidArgument('k', `${describe(k)} must be a whole number from 1 up`);
  }
  checkDistinct(ranking.length > k ? ranking.slice(0, k) : ranking);
}

function checkDistinct(ids: readonly string[]): void {
  if (new Set(ids).size === ids.length) return;
  const at = ids.findIndex((id, place) => ids.indexOf(id) < place);
  throw invalidArgument(
    `ranking[${at}]`,
    `${describe(ids[at])} is ranked twice; keep only the best rank of each id`,
  );
}

function checkWeights(weights: readonly number[], count: number): void {
  const wrong = finiteNumbers(weights, 'weights').findIndex((weight) => weight < 0);
  if (wrong >= 0) throw invalidArgument(`weights[${wrong}]`, `${weights[wrong]} must not be below 0`);
  if (weights.length !== count) {
    throw invalidArgument(
      'weights',
      `${weights.length} weights are given for ${count} queries; give one each`,
    );
  }
  if (count > 0 && weights.every((weight) => weight === 0)) {
    throw invalidArgument('weights', 'all are 0, of which there is no mean');
  }
}

function discount(index: number): number {
  return 1 / Math.log2(index + 2);
}
