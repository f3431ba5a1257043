/**
 * How good recalls are: datasets with known answers, runs of strategies over them, metrics, tables and significance.
 *
 * @module
 */

export { type CompareOptions, compareRuns, type Difference } from './compare.ts';
export {
  type Dataset,
  type DatasetMemory,
  type DatasetQuery,
  type DatasetSpace,
  readDataset,
} from './dataset.ts';
export { createEvaluationEngine, type EvaluationEngineOptions } from './engine.ts';
export {
  aggregate,
  hitAtK,
  type Metrics,
  measure,
  ndcgAtK,
  recallAtK,
  reciprocalRank,
  updatedAboveStale,
} from './metrics.ts';
export {
  type EvaluationReport,
  type EvaluationResult,
  percentile,
  type QueryOutcome,
  type SummariseOptions,
  summarise,
  TYPES_REPORTED_APART,
  type TypeResult,
} from './report.ts';
export {
  DEFAULT_KS,
  type EvaluateOptions,
  type EvaluationEngine,
  type EvaluationRun,
  type EvaluationSpace,
  evaluate,
  type RankOptions,
} from './run.ts';
export { pairedRandomisationTest, type RandomisationOptions } from './significance.ts';
export { type FormatReportOptions, formatReport } from './table.ts';
