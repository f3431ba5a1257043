/**
 * Salience: a memory engine for AI agents. It stores what an agent learned, and recalls what matters now, exactly
 * ranked and fully explained.
 *
 * @example
 * ```ts
 * await using memory = await openMemory({ path: './memory', space: 'alice' });
 * await memory.remember('Prefers dark roast', { type: 'preference' });
 * const { hits, trace } = await memory.recall('what coffee does she like?');
 * ```
 *
 * @module
 */

export type { ContextFormat, ContextMessage } from './context/render.ts';
export type { Section, SectionName } from './context/sections.ts';
export { loadTokenCounter, type TokenCounter } from './context/tokens.ts';
export { type CopySpacesOptions, copySpaces, type SpaceCopy } from './copy-spaces.ts';
export { type DeleteSpaceOptions, deleteSpace } from './delete-space.ts';
// Basic types.
export { SalienceError, type SalienceErrorCode } from './domain/errors.ts';
export type { SortDirection, SortName } from './domain/fields.ts';
export { MEMORY_TYPES, type MemoryType, type Metadata, type Source, type Tier } from './domain/memory.ts';
export type { MetadataFilter, MetadataScalar, MetadataTest } from './domain/metadata-condition.ts';
export type { Relation, RelationInput } from './domain/relation.ts';
export {
  type Fading,
  type FadingOff,
  type FadingOption,
  type RecallRecording,
  type RecallRecordingOption,
  type RetentionFading,
  type SpaceSettings,
  settingText,
} from './domain/settings.ts';
export type { Clock, Instant } from './domain/time.ts';
export { CURATION_ACTIONS, RESOLUTIONS } from './domain/verbs.ts';
export type { Belief, HistoryEntry } from './engine/belief/belief.ts';
export type { ConflictsOptions } from './engine/belief/conflicts.ts';
export type { FeedbackOptions, FeedbackVote, MarkUsedOptions } from './engine/belief/judgement.ts';
export { forCaller } from './engine/caller.ts';
export type {
  ContentRecord,
  MemoryOperation,
  OperationContent,
  OperationResult,
} from './engine/diagnostics.ts';
export type {
  EntitiesOptions,
  GraphOptions,
  GraphPath,
  MergeResult,
  Neighbour,
  Neighbourhood,
  NeighbourLink,
  NeighboursOptions,
  PathsOptions,
  RelateOptions,
  RelateResult,
  SplitOptions,
  SplitResult,
  StatedRelation,
  UnrelateOptions,
  UnrelateResult,
} from './engine/graph/types.ts';
export type { Activity, ActivityOptions, UseActivity, WriteActivity } from './engine/looking/activity.ts';
export type { Operation, OperationsOptions } from './engine/looking/operations.ts';
export type { StrategyDescription, StrategyParameter } from './engine/looking/strategies.ts';
export type { BuiltinStrategyName, MemoryEngine, MemoryPage } from './engine/memory-engine.ts';
export type { ObservedGraph } from './engine/observe/graph.ts';
export type { ObserveFailure, ObserveOptions, ObserveResult } from './engine/observe/observe.ts';
export type { LeftOut } from './engine/observe/stated.ts';
export type { RankAgreement } from './engine/recall/agreement.ts';
export type {
  CompareOptions,
  Comparison,
  RankedHit,
  StrategyAgreement,
  StrategyRanking,
} from './engine/recall/compare.ts';
export type { Context, ContextOptions, SessionContextOptions } from './engine/recall/context.ts';
export type { EvidenceChain } from './engine/recall/expand.ts';
export type { Hit } from './engine/recall/hit.ts';
export type { MissingWords } from './engine/recall/missing-words.ts';
export type { Nothing } from './engine/recall/nothing.ts';
export type { Recall } from './engine/recall/recall.ts';
export type { ReinforcementRates } from './engine/recall/reinforce.ts';
export type { RecallsOptions, RecordedRecall, Replay, ReplayReason } from './engine/recall/replay.ts';
export type { AssociationSettings } from './engine/recall/strategy.ts';
export type { Arm, SpelledWord, StageName, StageTrace, Trace } from './engine/recall/trace.ts';
export type { ExplainOptions, MemoryExplanation, WhyNot } from './engine/recall/why-not.ts';
export type {
  CurrentSessionOptions,
  SessionOptions,
  StartedSession,
  Timeline,
} from './engine/sessions/sessions.ts';
export type {
  AsOf,
  BatchOptions,
  Conflict,
  FieldFilterOptions,
  FilterOptions,
  GetOptions,
  Inactive,
  ListOptions,
  Memory,
  MemoryChanges,
  OperationOptions,
  PendingConflict,
  RecallOptions,
  RememberInput,
  RememberOptions,
  RememberResult,
  Resolution,
} from './engine/types.ts';
export type { ConfigureOptions, SettingsOptions } from './engine/upkeep/configure.ts';
export type { CurateOptions, CurationAction, CurationReport } from './engine/upkeep/curate.ts';
export type { CurveOptions, FadingCurve } from './engine/upkeep/curve.ts';
export type { FitOptions, FitResult, LabelledQuestion } from './engine/upkeep/fit.ts';
export type { Health } from './engine/upkeep/health.ts';
export type {
  Consolidated,
  JudgedSimilarity,
  JudgementReport,
  MaintainOptions,
  MaintenanceReport,
} from './engine/upkeep/maintenance-types.ts';
export type { ForgetFilter, ForgetOptions, ForgetResult, ForgetTarget } from './engine/write/forget.ts';
export type { LinkOptions, MemoryLink, UnlinkOptions } from './engine/write/links.ts';
export type { UndoOptions, UndoResult } from './engine/write/undo.ts';
export type { ConversationMessage } from './language/messages.ts';
export type { MaintainSpacesOptions, SpacesMaintenance } from './maintain-spaces.ts';
// Opening and working with a memory.
export { type OpenOptions, openMemory } from './open.ts';
// Ports for custom embedders, language models and stores.
export { type AiSdkLanguageModel, aiSdkModel } from './providers/ai-sdk.ts';
export type { EmbedderChoice } from './providers/choose.ts';
export type {
  Calibration,
  Embedder,
  EmbedderInput,
  EmbedOptions,
  SimilarityThresholds,
} from './providers/embedder.ts';
export type {
  Generated,
  GenerateRequest,
  JsonOutput,
  LanguageModel,
  ModelUsage,
  OutputSchema,
} from './providers/language-model.ts';
export { type OpenAiCompatibleOptions, openAiCompatibleEmbedder } from './providers/openai-compatible.ts';
export {
  type OpenAiCompatibleModelOptions,
  openAiCompatibleModel,
} from './providers/openai-compatible-chat.ts';
export type { Reranker } from './providers/reranker.ts';
export type { LanguageModelOptions, ModelBudget } from './providers/structured.ts';
export { type RestoredSpace, type RestoreSpaceOptions, restoreSpace } from './restore-space.ts';
// Scores and their explanations; `salience/scoring` has the rest.
export { type AnyScore, compareScores, type Score, type ScoreOf } from './scoring/comparable.ts';
export type { Explanation } from './scoring/explain.ts';
export { formatExplanation } from './scoring/format.ts';
export type { ParameterOverrides, Profile, ProfileDefinition } from './scoring/profile.ts';
export type { NeighbourCounts, TermCounts, UnknownTerm, WordCounts } from './scoring/word-counts.ts';
export type { IndexProgress } from './search/index-progress.ts';
export { openSpaces, type Spaces, type SpacesOptions } from './spaces.ts';
export type { PairKind, SpaceInfo, Store } from './store/store.ts';
export { type DateContext, type DateRange, type DateReader, readEnglishDates } from './text/dates/dates.ts';
