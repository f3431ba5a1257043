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
 * One memory of an answer; without a strategy, of the answer to any. Because it has a function, `structuredClone` and `postMessage`
 * refuse it: send `JSON.parse(JSON.stringify(hit))`, whose score is the number, and `hit.explain()` beside it where it is needed.
 */
export interface Hit<StrategyName extends string = string, Scored extends AnyScore = ScoreOf<StrategyName>> {
  readonly memory: Memory;
  readonly score: Scored;
  /** `relevance`, `retention`, `combined` (the score) and the named parts of the profile, worked out when they are first read. */
  readonly features: Readonly<Record<string, number>>;
  /**
   * What its formula reads of the memory for this query; clocks in milliseconds since 1970. By `score` of
   * `salience/scoring`, with the parameters and the moment of the recall, they give the score of a direct hit again.
   */
  readonly signals: Signals;
  /** Found through links of direct hits. */
  readonly isAssociative: boolean;
  /** Of an associate, and of a possible update that inherits a score: the ids that led to it, from a direct hit on. */
  readonly path?: readonly string[] | undefined;
  /** Found only because the recall was deep. */
  readonly viaDeepRecall: boolean;
  /** Set where the hit is a relation; its memory is then what states it best. Only with `include: ['edges']`. */
  readonly relation?: StatedRelation | undefined;
  /**
   * The words around the matches, found when they are first read; for a query without a word that is searched, such as "?", the
   * beginning of a text that has it in it. Absent when nothing matched.
   */
  readonly snippet?: string | undefined;
  /** The tree of values that the score is made of. */
  explain(): Explanation;
}

/** What memories were ranked by. */
interface Ranked {
  readonly strategy: Strategy;
  readonly resolved: ResolvedProfile;
  readonly plan: RecallPlan;
}

/** `terms` are those that the words of a snippet stand around. */
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

/** The features of a hit: those that every strategy has, then the parts of its own formula. */
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
