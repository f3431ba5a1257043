/**
 * Evaluation of recalls: datasets with known answers, runs of strategies, metrics, tables and significance tests.
 *
 * @module
 */

export { type BootstrapOptions, bootstrapIntervals, type Interval } from '../fit/bootstrap.ts';
export type { QuestionFeatures } from '../fit/features.ts';
export type { Fitted, HeldOut, TuneState } from '../fit/fit.ts';
export { OBJECTIVES, type Objective } from '../fit/measures.ts';
export {
  aggregate,
  allAtK,
  forbiddenAboveEvidence,
  hitAtK,
  type Metrics,
  measure,
  ndcgAtK,
  recallAtK,
  reciprocalRank,
  updatedAboveStale,
} from '../fit/metrics.ts';
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
  type AskedQuestion,
  type DropReason,
  type PositiveUse,
  type QuestionsFromUse,
  type QuestionsFromUseOptions,
  questionsFromUse,
} from './from-use.ts';
export { type HtmlReportOptions, htmlReport } from './html/page.ts';
export { PLACEBOS, type Placebo } from './placebo.ts';
export {
  type EvaluationReport,
  type EvaluationResult,
  type ForbiddenResult,
  percentile,
  type QueryOutcome,
  type SummariseOptions,
  summarise,
  TYPES_REPORTED_APART,
  type TypeResult,
} from './report.ts';
export {
  type AnswerRow,
  type EvaluationRow,
  type RowsHeader,
  type RowsOptions,
  rowsOf,
  type SummaryRow,
} from './rows.ts';
export {
  DEFAULT_KS,
  type EvaluatedQuery,
  type EvaluateOptions,
  type EvaluationEngine,
  type EvaluationRun,
  type EvaluationSpace,
  evaluate,
  type RankedHit,
  type Ranking,
  type RankOptions,
} from './run.ts';
export { pairedRandomisationTest, type RandomisationOptions } from './significance.ts';
export { type FormatReportOptions, formatReport } from './table.ts';
export { BALANCES, type Balance } from './tune/questions.ts';
export { type TuneOptions, type TuneResult, tune } from './tune/tune.ts';
export { gainText, type TunedProfileOptions, tunedProfile } from './tune/tuned-profile.ts';
export { type RowProblem, type RowsCheck, verifyRows } from './verify.ts';
