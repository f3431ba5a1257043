// Shared by the quality benchmarks: the datasets, the measurement, and the reduction of results to what is shown.
import { join } from 'node:path';
import { compareRuns, evaluate, readDataset } from '../dist/eval/index.js';

const KS = [1, 5, 10, 20];

/** The depth of rankings: no metric that is shown depends on deeper ranks. */
export const DEPTH = 20;

/** The metrics that differences are reported in. */
const COMPARED = ['recall@10', 'ndcg@10'];

/**
 * `apart`: kinds of questions that the headline leaves out. Adversarial questions of LoCoMo ask for what was never said; of
 * BEAM the headline has the kinds that are answered by looking something up.
 */
export const SETS = {
  'locomo-dev': { apart: ['adversarial'] },
  'beam-dev': { apart: ['abstention', 'event_ordering', 'instruction_following', 'summarization'] },
  cranfield: { apart: [] },
};

/**
 * Returns the results of strategies on a dataset, and the differences of the others from the first, by paired
 * bootstrap.
 */
export async function measureSet(name, { directory, strategies, engine, log }) {
  const dataset = await readDataset(join(directory, `${name}.jsonl.gz`));
  const excludeTypes = SETS[name].apart;
  const runs = await evaluate(
    { datasets: [dataset], strategies, embedder: 'builtin', ks: KS, excludeTypes },
    endingAtDepth(engine),
  );
  // Only the compared metrics: intervals of all of them would take longer than the questions.
  const atTen = runs.map((run) => ({ ...run, ks: [10] }));
  const differences = compareRuns(atTen, { excludeTypes, rounds: 1 }).filter(({ metric }) =>
    COMPARED.includes(metric),
  );
  for (const { result } of runs) {
    log(`${name} ${result.strategy}`, { n: result.n, ...rounded(pick(result.metrics, COMPARED)) });
  }
  return {
    results: runs.map(({ result }) => small(result)),
    differences: differences.map(({ dataset, baseline, p, ...rest }) => rounded({ dataset: name, ...rest })),
  };
}

/** Wraps an engine to end rankings at `DEPTH`: without evidence, an evaluation would ask for the whole space. */
export function endingAtDepth(engine) {
  return {
    ...engine,
    async open(name) {
      const space = await engine.open(name);
      return {
        load: (memories) => space.load(memories),
        rank: (query, options) => space.rank(query, { ...options, limit: Math.min(options.limit, DEPTH) }),
        close: () => space.close(),
      };
    },
  };
}

function small({ dataset, strategy, n, metrics, byType, updatedAboveStale, latencyMs, abstention }) {
  const metricsOf = (all) =>
    pick(
      all,
      Object.keys(all).filter((metric) => /^(?:recall|ndcg|hit)@|^mrr@10$/.test(metric)),
    );
  return rounded({
    ...{ dataset, strategy, n, metrics: metricsOf(metrics) },
    byType: Object.fromEntries(
      Object.entries(byType).map(([type, { n, ...rest }]) => [type, { n, ...pick(rest, COMPARED) }]),
    ),
    ...(updatedAboveStale.of > 0 && { updatedAboveStale }),
    ...(abstention && { abstention }),
    latencyMs,
  });
}

function pick(values, names) {
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

/** Four digits are more than an interval leaves. */
function rounded(value) {
  return JSON.parse(
    JSON.stringify(value, (_, each) =>
      typeof each === 'number' && !Number.isInteger(each) ? Number(each.toFixed(4)) : each,
    ),
  );
}
