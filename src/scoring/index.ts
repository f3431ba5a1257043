/**
 * Scoring for use alone: formulas as data, their values and their explanations. Nothing here reads a clock or a store.
 *
 * @module
 */

export { compareScores, type Score } from './comparable.ts';
export { type Comparison, type ComparisonTerm, compareExplanations, formatComparison } from './compare.ts';
export type { Condition } from './condition.ts';
export type { Explanation } from './explain.ts';
export { type ExplanationFormat, formatExplanation } from './format.ts';
export { formulaText } from './formula.ts';
export {
  type CompositeScoreInput,
  cappedLinear,
  computeCompositeScore,
  exponentialDecay,
  type FiveFactorBreakdown,
  fiveFactorScore,
  recencyScore,
  retention,
  revisionScore,
  scopedScore,
  typePriority,
  usefulness,
} from './helpers.ts';
export type { DecayExpression } from './operators/decay.ts';
export type { ExplanationDetail, Expression, Scalar, WeightedTerm } from './operators/index.ts';
export type {
  ParameterDefinition,
  ParameterOverrides,
  ParameterValue,
  Profile,
  ProfileDefinition,
} from './profile.ts';
export {
  BUILTIN_PROFILE_NAMES,
  type BuiltinProfileName,
  builtinDefinition,
  builtinProfile,
} from './profiles/index.ts';
export {
  defineProfile,
  explain,
  features,
  type ProfileReference,
  parseProfile,
  type ScoreOptions,
  type SignalInput,
  score,
} from './score.ts';
export type { AttributeName, SignalName, Signals } from './signals.ts';
export { summariseExplanation } from './summary.ts';
export type { NeighbourCounts, TermCounts, UnknownTerm, WordCounts } from './word-counts.ts';
