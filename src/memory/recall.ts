import { throwIfAborted } from '../model/errors.ts';
import type { Instant } from '../model/time.ts';
import { type Preparation, prepareQuery } from '../recall/prepare.ts';
import { bindStrategy, type Strategy, strategyOf, unknownStrategy } from '../recall/strategy.ts';
import { stage, type Trace } from '../recall/trace.ts';
import { makeScore, type Score } from '../scoring/comparable.ts';
import { type Explanation, explainNode } from '../scoring/explain.ts';
import type { BoundProfile } from '../scoring/profile.ts';
import { featuresOf, partValue } from '../scoring/score.ts';
import type { Signals } from '../scoring/signals.ts';
import type { ScoredMemory, SearchAnswer, SearchRequest } from '../store/store.ts';
import { snippet } from '../text/snippet.ts';
import { type Engine, filterOf, limitOf, momentOf } from './engine.ts';
import { toMemory } from './record.ts';
import type { Memory, RecallOptions } from './types.ts';

/** One memory of an answer. */
export interface Hit<StrategyName extends string = string> {
  readonly memory: Memory;
  readonly score: Score<StrategyName>;
  /** `relevance`, `retention`, `combined` (the score) and the named parts of the profile. */
  readonly features: Readonly<Record<string, number>>;
  readonly isAssociative: boolean;
  readonly viaDeepRecall: boolean;
  /** The words around the matches; absent when no word matched. */
  readonly snippet?: string | undefined;
  /** The tree of values that the score is made of. */
  explain(): Explanation;
}

/** The answer to a recall: the best memories first, and how they were found. */
export interface Recall<StrategyName extends string = string> {
  readonly hits: readonly Hit<StrategyName>[];
  readonly trace: Trace;
}

/** A recall made ready: what the store is asked, and what the answer will need. */
export interface PreparedRecall {
  readonly strategy: Strategy;
  readonly bound: BoundProfile;
  readonly preparation: Preparation;
  readonly request: SearchRequest;
  readonly analyzeMs: number;
}

/** Finds what matters now: the exact top of the strategy's whole score, explained. */
export async function recall<StrategyName extends string = 'hybrid'>(
  engine: Engine,
  query: string | undefined,
  options: RecallOptions<StrategyName> = {},
): Promise<Recall<StrategyName>> {
  const started = performance.now();
  const prepared = await prepareRecall(engine, query, options);
  throwIfAborted(options.signal);
  const answer = await engine.space.search(prepared.request);
  const hits = answer.hits.map((scored) => hitOf<StrategyName>(engine, prepared, scored));
  return { hits, trace: traceOf(prepared, answer, performance.now() - started) };
}

export async function prepareRecall(
  engine: Engine,
  query: string | undefined,
  options: RecallOptions,
): Promise<PreparedRecall> {
  const started = performance.now();
  const name = options.strategy ?? 'hybrid';
  const profile = engine.profiles.get(name);
  if (!profile) throw unknownStrategy(name, [...engine.profiles.keys()]);
  const strategy = strategyOf(profile);
  const bound = bindStrategy(strategy, options.parameters, engine.embedder?.calibration);
  const filter = filterOf(options);
  const limit = limitOf(options.limit, strategy.limit, 10_000_000);
  const now = momentOf(engine, options);
  const preparation = await prepareQuery(query, bound, engine, options.signal);
  const request = { profile: bound, query: preparation.query, filter, now, limit };
  return { strategy, bound, preparation, request, analyzeMs: performance.now() - started };
}

function hitOf<StrategyName extends string>(
  engine: Engine,
  prepared: PreparedRecall,
  scored: ScoredMemory,
): Hit<StrategyName> {
  const { bound, request } = prepared;
  const { signals, memory } = scored;
  const matched = (signals.lexical ?? 0) > 0 && request.query.terms.length > 0;
  return {
    memory: toMemory(memory, engine.space.name),
    score: makeScore(prepared.strategy.name as StrategyName, bound.hash, scored.score),
    features: hitFeatures(bound, signals, request.now, scored.score),
    isAssociative: false,
    viaDeepRecall: false,
    ...(matched ? { snippet: snippet(memory.content, new Set(request.query.terms), engine.analyzer) } : {}),
    explain: () => explainNode(bound.root, signals, request.now),
  };
}

/** The features of a hit: those that every strategy has, then the parts of its own formula. */
export function hitFeatures(
  bound: BoundProfile,
  signals: Signals,
  now: Instant,
  score: number,
): Readonly<Record<string, number>> {
  const parts = featuresOf(bound, signals, now);
  return {
    ...parts,
    relevance: parts['relevance'] ?? signals.similarity ?? signals.lexical ?? 0,
    retention: parts['retention'] ?? partValue('retention', 'retention', signals, { now }),
    combined: score,
  };
}

function traceOf(prepared: PreparedRecall, answer: SearchAnswer, totalMs: number): Trace {
  const { durations } = answer;
  return {
    strategy: prepared.strategy.name,
    profileHash: prepared.bound.hash,
    stages: [
      stage('analyze', 1, 1, prepared.analyzeMs),
      stage('eligible', answer.total, answer.filtered, durations.eligible),
      stage('validity_filter', answer.filtered, answer.eligible, 0),
      stage('bm25_search', answer.eligible, answer.lexicalMatches, durations.lexical),
      stage('vector_search', answer.eligible, answer.withVector, durations.vector),
      stage('score', answer.candidates, answer.hits.length, durations.score),
    ],
    totalMs,
    totalTokens: 0,
    completeness: answer.completeness,
    bound: answer.bound,
    arms: prepared.preparation.arms,
    sequence: answer.sequence,
  };
}
