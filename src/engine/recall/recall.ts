import { createHash } from 'node:crypto';
import { flag, invalidArgument, number, oneOf, text, texts, wholeNumber } from '../../domain/check.ts';
import { SalienceError, throwIfAborted } from '../../domain/errors.ts';
import { onlyKeys, unknownStrategy } from '../../domain/options.ts';
import { redactPrivate } from '../../domain/redaction.ts';
import type { SpaceSettings } from '../../domain/settings.ts';
import { formatInstant, type Instant, parseInstant } from '../../domain/time.ts';
import type { Score } from '../../scoring/comparable.ts';
import type { ResolvedProfile } from '../../scoring/profile.ts';
import type { NewUsage, PastSpace, Spelling } from '../../store/store.ts';
import type { DateRange } from '../../text/dates/dates.ts';
import { weightOf } from '../../text/spelling.ts';
import { type Dependencies, filterOf, limitOf, momentOf } from '../dependencies.ts';
import type { Memory, RecallOptions } from '../types.ts';
import type { EvidenceChain } from './expand.ts';
import { type Hit, hitOf } from './hit.ts';
import { type Nothing, nothingIn } from './nothing.ts';
import { DEEP_PENALTY, withOuterFactors } from './outer.ts';
import { asKnown, validAtOf } from './past.ts';
import { type PipelineAnswer, type RecallPlan, runPipeline } from './pipeline.ts';
import { type Preparation, prepareQuery, type QueryTools } from './prepare.ts';
import { recorded } from './recording.ts';
import { decideUse } from './reinforce.ts';
import { withRelevance } from './relevance.ts';
import {
  ASSOCIATION,
  type AssociationSettings,
  resolveStrategy,
  type Strategy,
  strategyOf,
} from './strategy.ts';
import { type SpelledWord, type StageTrace, stage, type Trace } from './trace.ts';

/** The answer to a recall: the best memories first, and a trace of how they were found. */
export interface Recall<StrategyName extends string = string> {
  readonly hits: readonly Hit<StrategyName, Score<StrategyName>>[];
  /** Paths of links between the first direct hits. */
  readonly evidenceChains: readonly EvidenceChain[];
  /** Why there are no hits; absent if there are some. */
  readonly nothing?: Nothing | undefined;
  readonly trace: Trace;
}

/** A checked and analysed recall: the plan for the store, and what the answer needs. */
export interface PreparedRecall {
  readonly strategy: Strategy;
  readonly resolved: ResolvedProfile;
  readonly preparation: Preparation;
  readonly plan: RecallPlan;
  readonly analyzeMs: number;
}

/**
 * Returns the exact top memories by the score of the strategy, with what links add, all explained. If the strategy
 * learns from use, that is written after the answer is fixed, and only for returned memories.
 */
export async function recall<StrategyName extends string = 'hybrid'>(
  engine: Dependencies,
  query: string | undefined,
  options: RecallOptions<StrategyName> = {},
): Promise<Recall<StrategyName>> {
  return recorded<Recall<StrategyName>>(
    engine,
    options,
    {
      verb: 'recall',
      query,
      // Relations are not recorded, because they name the memories that they connect.
      hitsOf: ({ hits }) =>
        memoriesAmong(hits).map(({ memory, score }) => ({ id: memory.id, score: score.value })),
    },
    (reading) =>
      asKnown(reading, options, (engineAsOf, rest, past) => recallAsOf(engineAsOf, query, rest, past)),
  );
}

async function recallAsOf<StrategyName extends string>(
  engine: Dependencies,
  query: string | undefined,
  options: RecallOptions<StrategyName>,
  past: PastSpace | undefined,
): Promise<Recall<StrategyName>> {
  const prepared = await prepareRecall(engine, query, options);
  return recallPrepared(engine, query, prepared, options, past);
}

/** Runs a prepared recall. `options` must be those that it was prepared with. */
export async function recallPrepared<StrategyName extends string>(
  engine: Dependencies,
  query: string | undefined,
  prepared: PreparedRecall,
  options: RecallOptions<StrategyName>,
  past?: PastSpace | undefined,
): Promise<Recall<StrategyName>> {
  const started = performance.now();
  throwIfAborted(options.signal);
  const answer = withinSize(await runPipeline(engine.space, prepared.plan));
  throwIfAborted(options.signal);
  const ranked = performance.now();
  const terms = termsLookedFor(prepared, answer);
  const hits = answer.ranked.map((each) => hitOf<StrategyName>(engine, prepared, each, terms, options));
  const hydrateMs = answer.answer.durations.hydrate + performance.now() - ranked;
  const effects = await applyEffects(engine, prepared.strategy, memoriesAmong(hits), query, options);
  const totalMs = prepared.analyzeMs + performance.now() - started;
  const durations = { hydrateMs, totalMs };
  const trace = traceOf(prepared, answer, effects, durations, lookBack(options, past));
  const { chains: evidenceChains } = answer;
  if (hits.length > 0) return { hits, evidenceChains, trace };
  const { minScore } = prepared.plan;
  const nothing = nothingIn(trace, { best: bestOf(answer), minScore, filters: options });
  return { hits, evidenceChains, nothing, trace };
}

/** Drops the relations: the memories that state them are hits before them. */
export function memoriesAmong<Each extends { readonly relation?: unknown }>(
  hits: readonly Each[],
): readonly Each[] {
  return hits.filter(({ relation }) => relation === undefined);
}

/** Checks and analyses the query and options of a recall. Throws what `recall` throws. */
export async function prepareRecall(
  engine: Dependencies,
  query: string | undefined,
  options: RecallOptions,
): Promise<PreparedRecall> {
  const started = performance.now();
  const name = options.strategy ?? 'hybrid';
  const profile = engine.profiles.get(name)?.();
  if (!profile) throw unknownStrategy(name, [...engine.profiles.keys()]);
  const strategy = strategyOf(profile);
  const now = momentOf(engine, options);
  const validAt = validAtOf(options);
  const deep = {
    deep: options.deep === true,
    includeExpired: options.includeExpired === true,
    penalty:
      options.deepRecallPenalty === undefined
        ? DEEP_PENALTY
        : number(options.deepRecallPenalty, 'deepRecallPenalty', 0, 1),
    since: now - (validAt ?? now),
  };
  const calibration = engine.embedder?.calibration;
  const { resolved: formula, outer } = withOuterFactors(profile, deep, (each) =>
    resolveStrategy(each, options.parameters, calibration),
  );
  const resolved = withRelevance(strategy, formula, options.minRelevance, calibration);
  const filter = {
    deep: deep.deep,
    includeExpired: deep.includeExpired,
    validAt,
    cold: false,
    ...filterOf(options),
  };
  const limit = limitOf(options.limit, strategy.limit, 10_000_000);
  if (options.sessionId !== undefined) text(options.sessionId, 'sessionId', { maxCharacters: 200 });
  const preparation = await prepareQuery(query, resolved, queryTools(engine, now), options.signal);
  const association = withoutNewerInThePast(associationOf(strategy, options.association), preparation);
  const singleValued = async () => new Set((await engine.space.settings()).singleValued);
  const plan: RecallPlan = {
    request: { profile: resolved, query: preparation.query, filter, now, limit },
    outer,
    association,
    graph:
      association && association.graph > 0 && query !== undefined
        ? {
            space: engine.space,
            text: query,
            analyzer: engine.analyzer,
            singleValued: await singleValued(),
            weight: association.graph,
          }
        : undefined,
    rerank: rerankOf(engine, query, options),
    minScore: options.minScore === undefined ? undefined : number(options.minScore, 'minScore', 0, 1),
    edges: await edgesOf(options, deep.penalty, singleValued),
    signal: options.signal,
  };
  return { strategy, resolved, preparation, plan, analyzeMs: performance.now() - started };
}

async function edgesOf(
  { include, rerank }: RecallOptions,
  penalty: number,
  singleValued: () => Promise<ReadonlySet<string>>,
): Promise<RecallPlan['edges']> {
  if (include === undefined) return undefined;
  const wanted = texts(include, 'include', 20, 20).map((each) => oneOf(each, 'include', ['edges'] as const));
  if (wanted.length === 0) return undefined;
  if (rerank) {
    throw invalidArgument('include', 'a reranker orders memories alone: leave out rerank, or "edges"');
  }
  return { singleValued: await singleValued(), penalty };
}

function queryTools({ analyzer, embedder, dateReader, space }: Dependencies, now: Instant): QueryTools {
  return {
    analyzer,
    embedder,
    dates:
      dateReader &&
      (async (text) =>
        dateReader.mayName?.(text) === false
          ? []
          : dateReader(text, { now, timeZone: (await space.settings()).timeZone })),
  };
}

function rerankOf(
  engine: Dependencies,
  query: string | undefined,
  options: RecallOptions,
): RecallPlan['rerank'] {
  if (!options.rerank) return undefined;
  if (!engine.reranker) {
    throw invalidArgument(
      'rerank',
      'no reranker is configured: open the memory with openMemory({ languageModel }) or openMemory({ reranker })',
    );
  }
  const most = options.rerankTopK === undefined ? 10 : wholeNumber(options.rerankTopK, 'rerankTopK', 1, 100);
  return query === undefined ? undefined : { reranker: engine.reranker, most, query };
}

function associationOf(
  strategy: Strategy,
  option: RecallOptions['association'],
): AssociationSettings | undefined {
  if (option === undefined) return strategy.association;
  if (option === 'none') return undefined;
  const base = strategy.association ?? ASSOCIATION;
  if (option === 'direct' || option === 'propagated') return { ...base, mode: option };
  onlyKeys(option, Object.keys(ASSOCIATION), 'association');
  const settings = { ...base, ...option };
  oneOf(settings.mode, 'association.mode', ['direct', 'propagated']);
  number(settings.propagation, 'association.propagation', 0, 10);
  number(settings.updateRise, 'association.updateRise', 0, 10);
  number(settings.minimum, 'association.minimum', 0, 1);
  number(settings.linkThreshold, 'association.linkThreshold', 0.01, 1);
  number(settings.pathThreshold, 'association.pathThreshold', 0.01, 1);
  number(settings.graph, 'association.graph', 0, 1);
  flag(settings.secondHop, 'association.secondHop');
  flag(settings.sequence, 'association.sequence');
  return settings;
}

/** Turns off inheritance by newer statements for a question about the past: it is answered by what was said then. */
function withoutNewerInThePast(
  settings: AssociationSettings | undefined,
  { past }: Preparation,
): AssociationSettings | undefined {
  return settings && past ? { ...settings, updateRise: 0 } : settings;
}

/**
 * Writes what the strategy learns from its answer. Returns the row for the trace, or `undefined` if there is nothing to
 * write.
 */
export async function applyEffects(
  engine: Dependencies,
  { name, effect: learned }: { readonly name: string; readonly effect: NewUsage['effect'] | 'none' },
  used: readonly Pick<Hit, 'memory' | 'isAssociative'>[],
  query: string | undefined,
  options: RecallOptions,
): Promise<StageTrace | undefined> {
  if (options.track === false || options.asOf !== undefined || used.length === 0) return undefined;
  const effect = learned === 'none' ? effectOfSeeing(await engine.space.settings()) : learned;
  if (effect === undefined) return undefined;
  const nothing = (reason: string) => ({ ...stage('effects', used.length, 0, 0), reason });
  if (engine.readOnly) return nothing('the space is open for reading only');
  const started = performance.now();
  const usage: NewUsage = {
    at: momentOf(engine, options),
    strategy: name,
    effect,
    queryHash: createHash('sha256')
      // Private parts are removed: a short secret can be guessed from its hash.
      .update(redactPrivate(query ?? ''))
      .digest('hex')
      .slice(0, 16),
    sessionId: options.sessionId,
    used: used.map(({ memory, isAssociative }) => ({ id: memory.id, direct: !isAssociative })),
  };
  try {
    await engine.space.use(usage, (reader) => decideUse(reader, usage, engine.reinforcement));
  } catch (error) {
    // The answer is correct without them.
    if (SalienceError.isInstance(error) && error.code === 'store_read_only')
      return nothing('the space cannot be written to');
    throw error;
  }
  return stage('effects', used.length, used.length, performance.now() - started);
}

/** Records that memories were shown which no query had found: they must not cool either. */
export function noteShown(
  engine: Dependencies,
  strategy: string,
  memories: readonly Memory[],
  options: Pick<RecallOptions, 'now' | 'track' | 'asOf'>,
  query?: string | undefined,
): Promise<StageTrace | undefined> {
  const used = memories.map((memory) => ({ memory, isAssociative: false }));
  return applyEffects(engine, { name: strategy, effect: 'none' }, used, query, options);
}

/** Returns the effect of showing memories if the strategy has none: in a space that fades, shown memories must not cool. */
function effectOfSeeing({ fading }: SpaceSettings): 'see' | undefined {
  return fading.mode === 'off' ? undefined : 'see';
}

/** Returns the terms of the query, and those that stand in for misspelt ones. */
export function termsLookedFor({ plan }: PreparedRecall, { answer }: PipelineAnswer): ReadonlySet<string> {
  const standIns = answer.spelling.flatMap((each) => each.standIns.map(({ term }) => term));
  return new Set([...plan.request.query.terms, ...standIns]);
}

/** Most characters of content and metadata in one answer. With the default limits, a recall of some 300 hits may reach it. */
export const MOST_CHARACTERS_ANSWERED = 16 * 2 ** 20;

/** Ends an answer before the hit that makes it too large to pass on. Keeps at least one hit. */
export function withinSize(answer: PipelineAnswer, most = MOST_CHARACTERS_ANSWERED): PipelineAnswer {
  let characters = 0;
  const end = answer.ranked.findIndex(({ memory }, index) => {
    characters += memory.content.length + JSON.stringify(memory.metadata).length;
    return index > 0 && characters > most;
  });
  return end < 0 ? answer : { ...answer, ranked: answer.ranked.slice(0, end) };
}

/**
 * Returns the highest score of all candidates. With a reranker, hits below `minScore` are not in `competing`, so the
 * hits of the search count too.
 */
function bestOf({ answer, competing }: PipelineAnswer): number {
  return [...answer.hits, ...competing].reduce((best, { score }) => Math.max(best, score), 0);
}

/**
 * Returns the upper bound of the scores outside the answer. Direct hits that an associate, a reranker or the size of
 * the answer has displaced are outside and count.
 */
function boundOf({ answer, ranked, edgeBound = 0 }: PipelineAnswer): number {
  const returned = new Set(ranked.map(({ memory }) => memory.id));
  const displaced = answer.hits.filter(({ memory }) => !returned.has(memory.id));
  return Math.max(answer.upperBound, edgeBound, ...displaced.map(({ score }) => score));
}

function lookBack({ asOf }: RecallOptions, past: PastSpace | undefined): Trace['asOf'] {
  if (asOf === undefined) return undefined;
  const time = (value: string | Date | undefined) =>
    value === undefined ? undefined : formatInstant(parseInstant(value));
  return { known: time(asOf.known), valid: time(asOf.valid), redacted: past?.redacted ?? 0 };
}

function traceOf(
  prepared: PreparedRecall,
  found: PipelineAnswer,
  effects: StageTrace | undefined,
  { hydrateMs, totalMs }: { readonly hydrateMs: number; readonly totalMs: number },
  asOf: Trace['asOf'],
): Trace {
  const { answer, stages, arms } = found;
  const { dates = [], written } = prepared.preparation.query;
  const shown = ({ term, standIns }: Spelling): SpelledWord => ({
    word: written?.get(term) ?? term,
    standIns: standIns.map((each) => ({ term: each.term, weight: weightOf(each) })),
  });
  const { length } = found.ranked;
  const rows = [
    stage('analyze', 1, 1, prepared.analyzeMs),
    ...stages,
    stage('hydrate', length, length, hydrateMs),
  ];
  const named = [...rows, ...(effects ? [effects] : [])].reduce((sum, each) => sum + each.durationMs, 0);
  rows.push(stage('other', length, length, Math.max(0, totalMs - named)), ...(effects ? [effects] : []));
  const { floor, hash } = prepared.resolved;
  const trace: { -readonly [Name in keyof Trace]: Trace[Name] } = {
    strategy: prepared.strategy.name,
    profileHash: hash,
    stages: rows,
    totalMs,
    totalTokens: rows.reduce((sum, each) => sum + each.promptTokens + each.completionTokens, 0),
    completeness: answer.completeness,
    upperBound: boundOf(found),
    arms: [...prepared.preparation.arms, ...arms],
    sequence: answer.sequence,
  };
  if (floor) trace.minRelevance = floor.atLeast;
  if (dates.length > 0) trace.dates = dates.map(shownRange);
  if (answer.spelling.length > 0) trace.spelling = answer.spelling.map(shown);
  if (answer.indexRebuilt) trace.indexRebuilt = true;
  if (asOf) trace.asOf = asOf;
  return trace;
}

function shownRange({ text, start, end }: DateRange): NonNullable<Trace['dates']>[number] {
  return { text, from: formatInstant(start), to: formatInstant(end) };
}
