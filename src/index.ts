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
export { type DeleteSpaceOptions, deleteSpace } from './delete-space.ts';
export type { ConversationMessage } from './language/messages.ts';
export type { Belief, HistoryEntry } from './memory/belief.ts';
export type { ConfigureOptions, SettingsOptions } from './memory/configure.ts';
export type { ConflictsOptions } from './memory/conflicts.ts';
export type { Context, ContextOptions, StandingOptions } from './memory/context.ts';
export type { CurateOptions, CurationAction, CurationReport } from './memory/curate.ts';
export type {
  ContentRecord,
  MemoryOperation,
  OperationContent,
  OperationResult,
} from './memory/diagnostics.ts';
export type { ForgetFilter, ForgetOptions, ForgetResult, ForgetTarget } from './memory/forget.ts';
export type { FeedbackOptions, FeedbackVote, MarkUsedOptions } from './memory/judgement.ts';
export type { LinkOptions, MemoryLink, UnlinkOptions } from './memory/links.ts';
export type {
  Consolidated,
  JudgedSimilarity,
  JudgementReport,
  MaintainOptions,
  MaintenanceReport,
} from './memory/maintenance-types.ts';
export type { BuiltinStrategyName, MemoryEngine, MemoryPage } from './memory/memory-engine.ts';
export type { Observed, ObserveFailure, ObserveOptions } from './memory/observe.ts';
export type { Hit, Recall } from './memory/recall.ts';
export type { CurrentSessionOptions, SessionOptions, StartedSession, Timeline } from './memory/sessions.ts';
export type {
  AsOf,
  BatchOptions,
  Conflict,
  FilterOptions,
  GetOptions,
  Inactive,
  ListOptions,
  Memory,
  MemoryChanges,
  OperationOptions,
  RecallOptions,
  Remembered,
  RememberInput,
  RememberOptions,
  Resolution,
  StandingConflict,
} from './memory/types.ts';
export type { Undone, UndoOptions } from './memory/undo.ts';
export type { ExplainOptions, MemoryExplanation, WhyNot } from './memory/why-not.ts';
// What everything is made of.
export { SalienceError, type SalienceErrorCode } from './model/errors.ts';
export { MEMORY_TYPES, type MemoryType, type Metadata, type Source } from './model/memory.ts';
export type { MetadataFilter, MetadataTest, Scalar } from './model/metadata-condition.ts';
export {
  type Fading,
  type FadingOff,
  type FadingOption,
  type RetentionFading,
  type SpaceSettings,
  settingText,
} from './model/settings.ts';
export type { Clock, Instant } from './model/time.ts';
export { CURATION_ACTIONS, RESOLUTIONS } from './model/verbs.ts';
// Opening and working with a memory.
export { type OpenOptions, openMemory } from './open.ts';
// Ports, for embedders, language models and stores of your own.
export { type AiSdkLanguageModel, aiSdkModel } from './providers/ai-sdk.ts';
export type { EmbedderChoice } from './providers/choose.ts';
export type { Calibration, Embedder, EmbedOptions, SimilarityThresholds } from './providers/embedder.ts';
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
export type { EvidenceChain } from './recall/expand.ts';
export type { ReinforcementRates } from './recall/reinforce.ts';
export type { AssociationSettings } from './recall/strategy.ts';
export type { Arm, StageName, StageTrace, Trace } from './recall/trace.ts';
// Scores and their explanations; `salience/scoring` has the rest.
export { type AnyScore, compareScores, type Score, type ScoreOf } from './scoring/comparable.ts';
export type { Explanation } from './scoring/explain.ts';
export { formatExplanation } from './scoring/format.ts';
export type { ParameterOverrides, Profile, ProfileDefinition } from './scoring/profile.ts';
export { openSpaces, type Spaces, type SpacesOptions } from './spaces.ts';
export type { PairKind, SpaceInfo, Store } from './store/store.ts';
