import type { Instant } from '../../domain/time.ts';
import { type AnyScore, makeScore, type Score, type ScoreOf } from '../../scoring/comparable.ts';
import { signalsRead } from '../../scoring/evaluate.ts';
import type { Explanation } from '../../scoring/explain.ts';
import { retentionAt } from '../../scoring/fading.ts';
import type { ResolvedProfile } from '../../scoring/profile.ts';
import { featuresOf } from '../../scoring/score.ts';
import type { Signals } from '../../scoring/signals.ts';
import { snippet } from '../../text/snippet.ts';
import type { Dependencies } from '../dependencies.ts';
import type { StatedRelation } from '../graph/types.ts';
import type { Memory, RecallOptions } from '../types.ts';
import { toMemory } from '../write/record.ts';
import { laterProperties, withLater } from './later.ts';
import type { RankedMemory, RecallPlan } from './pipeline.ts';
import type { Strategy } from './strategy.ts';

/**
 * One memory of an answer. Without a type argument, of any strategy. It has a function, so `structuredClone` and
 * `postMessage` refuse it: send `JSON.parse(JSON.stringify(hit))`, in which the score is a number, and add
 * `hit.explain()` if needed.
 */
export interface Hit<StrategyName extends string = string, Scored extends AnyScore = ScoreOf<StrategyName>> {
  readonly memory: Memory;
  readonly score: Scored;
  /** `relevance`, `retention`, `combined` (the score) and the named parts of the profile. Computed on first access. */
  readonly features: Readonly<Record<string, number>>;
  /**
   * The values that the formula reads for this memory and query; clocks in milliseconds since 1970. Passed to `score`
   * of `salience/scoring`, with the parameters and the time of the recall, they give the score of a direct hit again.
   */
  readonly signals: Signals;
  /** Whether it was found through links of direct hits. */
  readonly isAssociative: boolean;
  /** For an associate, or a possible update that inherits a score: the ids that led to it, starting at a direct hit. */
  readonly path?: readonly string[] | undefined;
  /** Whether only a deep recall finds it. */
  readonly viaDeepRecall: boolean;
  /** Set if the hit is a relation; `memory` is then its best statement. Only with `include: ['edges']`. */
  readonly relation?: StatedRelation | undefined;
  /**
   * The words around the matches, computed on first access. For a query without searchable words, such as "?", the
   * beginning of a text that contains it. Absent if nothing matched.
   */
  readonly snippet?: string | undefined;
  /** Returns the tree of values that the score is computed from. */
  explain(): Explanation;
}

/** What the memories were ranked by. */
interface Ranked {
  readonly strategy: Strategy;
  readonly resolved: ResolvedProfile;
  readonly plan: RecallPlan;
}

/** Makes a hit of a ranked memory. `terms` are the terms to find for the snippet. */
export function hitOf<StrategyName extends string>(
  engine: Dependencies,
  { resolved, plan, strategy }: Ranked,
  ranked: RankedMemory,
  terms: ReadonlySet<string>,
  options: RecallOptions,
): Hit<StrategyName, Score<StrategyName>> {
  const { now, filter } = plan.request;
  const { signals, memory, path } = ranked;
  const matched = (signals.lexical ?? 0) > 0;
  const hit: { -readonly [Name in keyof Hit]?: Hit[Name] } = {
    memory: toMemory(memory, engine.space.name, signals.superseded === true),
    score: makeScore(strategy.name as StrategyName, resolved.hash, ranked.score),
    isAssociative: ranked.isAssociative,
    viaDeepRecall: options.deep === true && isDeep(ranked, now, filter.validAt ?? now),
    explain: ranked.explain,
  };
  if (path) hit.path = path;
  if (ranked.relation) hit.relation = ranked.relation;
  return withLater(
    hit,
    {
      features: () => hitFeatures(resolved, signals, now, ranked.score),
      signals: () => signalsOfFormula(resolved, signals),
      snippet: () => snippet(memory.content, terms, engine.analyzer),
    },
    matched ? WITH_SNIPPET : WITHOUT_SNIPPET,
  ) as Hit<StrategyName, Score<StrategyName>>;
}

function isDeep({ memory, signals }: RankedMemory, now: Instant, validAt: Instant): boolean {
  const { tier, validUntil, consolidatedAt } = memory;
  return (
    tier === 'cold' ||
    signals.superseded === true ||
    (consolidatedAt !== undefined && consolidatedAt <= now) ||
    (validUntil !== undefined && validUntil < validAt)
  );
}

const WITHOUT_SNIPPET = laterProperties(['features', 'signals']);
const WITH_SNIPPET = laterProperties(['features', 'signals', 'snippet']);

function signalsOfFormula(resolved: ResolvedProfile, signals: Signals): Signals {
  const read = signalsRead(resolved);
  const found: Record<string, unknown> = {};
  for (const name of Object.keys(signals) as (keyof Signals)[]) {
    if (read.has(name) && signals[name] !== undefined) found[name] = signals[name];
  }
  return found as Signals;
}

/** Returns the features of a hit: those that every strategy has, and the parts of its own formula. */
export function hitFeatures(
  resolved: ResolvedProfile,
  signals: Signals,
  now: Instant,
  score: number,
): Readonly<Record<string, number>> {
  const parts = featuresOf(resolved, signals, now);
  return {
    ...parts,
    relevance: parts['relevance'] ?? signals.similarity ?? signals.lexical ?? 0,
    retention: parts['retention'] ?? retentionAt(signals, now),
    combined: score,
  };
}
