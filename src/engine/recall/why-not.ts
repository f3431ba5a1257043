import type { MemoryRecord } from '../../domain/memory.ts';
import { relationId, type Triple, tripleOf } from '../../domain/relation.ts';
import { formatInstant, type Instant } from '../../domain/time.ts';
import { conditionText } from '../../scoring/condition.ts';
import { evaluate } from '../../scoring/evaluate.ts';
import { type Explanation, explainNode } from '../../scoring/explain.ts';
import { type NeededChange, neededChanges } from '../../scoring/needed.ts';
import type { ResolvedProfile } from '../../scoring/profile.ts';
import { isClockName } from '../../scoring/signals.ts';
import type { Exclusion, Inspection } from '../../store/store.ts';
import { type Dependencies, notFound } from '../dependencies.ts';
import type { RecallOptions } from '../types.ts';
import { type EdgePlan, scoreEdges } from './edges.ts';
import { hitFeatures } from './hit.ts';
import { type MissingWords, missingText, missingWords } from './missing-words.ts';
import { scoreText } from './nothing.ts';
import { asKnown } from './past.ts';
import { type PipelineAnswer, rankIn } from './pipeline.ts';
import { prepareRecall } from './recall.ts';
import { querySignals, takesQuery } from './strategy.ts';
import type { StageName } from './trace.ts';

/** The own score of one memory for a query, whether or not it would be returned. */
export interface MemoryExplanation {
  readonly id: string;
  readonly score: number;
  readonly features: Readonly<Record<string, number>>;
  readonly explanation: Explanation;
}

/** Why a memory is not among the hits of a recall. */
export interface WhyNot {
  readonly id: string;
  readonly outcome: 'returned' | 'excluded' | 'requirement' | 'no-score' | 'outranked';
  /** The stage at which it was dropped; absent if it was returned. */
  readonly stage?: StageName | undefined;
  /** Its rank among the hits, from 1. */
  readonly rank?: number | undefined;
  readonly score?: number | undefined;
  /** The score that it had to exceed: that of the last hit, or 0 if there was room for more; or `minScore` if that is higher. */
  readonly needed?: number | undefined;
  /** Set if `score` comes from a link or a possible update: the ids from a direct hit to it. */
  readonly path?: readonly string[] | undefined;
  /** For a memory that was dropped for its relevance: how well it matches the query, the floor, and the difference. */
  readonly relevance?:
    | { readonly match: number; readonly minRelevance: number; readonly missedBy: number }
    | undefined;
  /**
   * Changes of a single signal, each of which alone would have raised its own score enough. A linked memory may then
   * rise through it and take the place: ask again after the change.
   */
  readonly changes: readonly (Omit<NeededChange, 'from' | 'to'> & {
    readonly from: number | string | undefined;
    readonly to: number | string;
  })[];
  /** The words of the query that it lacks; absent if words are not the reason, or the query has none. */
  readonly missingWords?: MissingWords | undefined;
  /** The answer as a sentence. */
  readonly message: string;
}

/** The options of a recall without a reranker: an explanation asks no model, so it costs nothing. */
export interface ExplainOptions extends Omit<RecallOptions, 'include' | 'rerank' | 'rerankTopK'> {
  /** The query. Only the strategy `ambient` takes none. */
  readonly query?: string | undefined;
}

/** Returns the score of one memory for a query, and the tree of values that it is computed from. Throws `not_found`. */
export async function explainMemory(
  engine: Dependencies,
  id: string,
  { query, ...options }: ExplainOptions = {},
): Promise<MemoryExplanation> {
  return asKnown(engine, options, (engineAsOf, rest) => explainAsOf(engineAsOf, query, id, rest));
}

async function explainAsOf(
  engine: Dependencies,
  query: string | undefined,
  id: string,
  options: RecallOptions,
): Promise<MemoryExplanation> {
  const {
    plan: { request },
    resolved,
  } = await prepareRecall(engine, query, options);
  const [found] = await engine.space.snapshot((snapshot) => snapshot.inspect([id], request));
  if (!found) throw notFound(id, engine.space.name);
  return {
    id,
    score: found.score,
    features: hitFeatures(resolved, found.signals, request.now, found.score),
    explanation: explainNode(resolved.root, found.signals, request.now, found.words),
  };
}

/** Returns at which stage of a recall a memory was dropped, and what would have had to differ. Throws `not_found`. */
export async function whyNot(
  engine: Dependencies,
  id: string,
  { query, ...options }: ExplainOptions = {},
): Promise<WhyNot> {
  return asKnown(engine, options, (engineAsOf, rest) => whyNotAsOf(engineAsOf, query, id, rest));
}

async function whyNotAsOf(
  engine: Dependencies,
  query: string | undefined,
  id: string,
  options: RecallOptions,
): Promise<WhyNot> {
  const { plan, resolved } = await prepareRecall(engine, query, options);
  const triple = tripleOf(id);
  if (triple && (await engine.space.get([id]))[0] === undefined)
    return whyNotEdge(engine, triple, query, options);
  const { request } = plan;
  const { found, memory, ranked, competing, matches } = await engine.space.snapshot(async (snapshot) => {
    const [found] = await snapshot.inspect([id], request);
    const [memory] = await snapshot.get([id]);
    if (!found || !memory) throw notFound(id, engine.space.name);
    return { found, memory, ...(await rankIn(snapshot, { ...plan, everyPath: true })) };
  });
  const rank = ranked.findIndex(({ memory }) => memory.id === id) + 1;
  if (rank > 0) {
    const score = ranked[rank - 1]?.score;
    return { id, outcome: 'returned', rank, score, changes: [], message: `it is returned, at place ${rank}` };
  }
  const last = ranked.length < request.limit ? 0 : (ranked.at(-1)?.score ?? 0);
  const needed = Math.max(last, plan.minScore ?? 0);
  const rival = competing.find((each) => each.id === id);
  if (rival && (found.excluded === 'tier' || rival.score > found.score))
    return outrankedByPath(id, rival, needed, plan.minScore);
  if (found.excluded) {
    const stage =
      found.excluded === 'scope' ||
      found.excluded === 'elsewhere' ||
      found.excluded === 'type' ||
      found.excluded === 'tag' ||
      found.excluded === 'metadata' ||
      found.excluded === 'tier'
        ? 'eligible'
        : 'validity_filter';
    return { id, outcome: 'excluded', stage, changes: [], message: exclusionMessage(found.excluded, memory) };
  }
  const requirement = resolved.require[found.failedRequirement ?? -1];
  const missing = querySignals(resolved).lexical ? missingWords(found.words) : undefined;
  const lacks = missing && missing.memory.length > 0 ? { missingWords: missing } : {};
  if (requirement) {
    const message = `strategy ${resolved.name} requires ${conditionText(requirement)}, and this memory does not meet it${missingText(missing)}`;
    return { id, outcome: 'requirement', stage: 'score', score: found.score, changes: [], ...lacks, message };
  }
  const relevance = irrelevance(resolved, found, matches, request.now);
  if (relevance) {
    return {
      id,
      outcome: 'requirement',
      stage: 'floor',
      score: found.score,
      needed,
      relevance,
      changes: changesTo(resolved, found, request.now, needed),
      message: `its match ${scoreText(relevance.match)} is ${scoreText(relevance.missedBy)} below the floor of relevance, minRelevance ${relevance.minRelevance}`,
    };
  }
  const replacement = ranked.find(({ path }) => path?.[0] === id)?.memory.id;
  const isBelowFloor = found.score > 0 && found.score < (plan.minScore ?? 0);
  // A memory that inherits its score would rise with it.
  const changes = replacement === undefined ? changesTo(resolved, found, request.now, needed) : [];
  const outcome = found.score === 0 ? 'no-score' : 'outranked';
  return {
    id,
    outcome,
    stage: isBelowFloor ? 'floor' : 'score',
    score: found.score,
    needed,
    changes,
    ...lacks,
    message:
      replacement === undefined || isBelowFloor
        ? `${isBelowFloor ? floorMessage(found.score, plan.minScore) : ownMessage(resolved, found, needed)}${missingText(missing)}`
        : replacedMessage(replacement),
  };
}

/** Explains a memory whose score came from a link or a possible update. */
function outrankedByPath(
  id: string,
  { score, path }: PipelineAnswer['competing'][number],
  needed: number,
  minScore = 0,
): WhyNot {
  const isBelowFloor = score < minScore;
  const through = path?.slice(0, -1).map((each) => JSON.stringify(each)) ?? ['links'];
  const from = `, which it has through ${through.join(' and ')},`;
  const message = isBelowFloor ? floorMessage(score, minScore, from) : rankMessage(score, needed, from);
  const stage = isBelowFloor ? 'floor' : 'merge';
  return { id, outcome: 'outranked', stage, score, needed, path, changes: [], message };
}

/** Answers `whyNot` for a relation, which competes with memories. Throws `not_found` if nothing states it. */
async function whyNotEdge(
  engine: Dependencies,
  triple: Triple,
  query: string | undefined,
  options: RecallOptions,
): Promise<WhyNot> {
  const id = relationId(triple);
  const { plan } = await prepareRecall(engine, query, { ...options, include: ['edges'] });
  const { edges, request } = plan;
  return engine.space.snapshot(async (snapshot): Promise<WhyNot> => {
    if ((await snapshot.find('relations', [id])).length === 0) throw notFound(id, engine.space.name);
    const { ranked } = await rankIn(snapshot, plan);
    const place = ranked.findIndex(({ relation }) => relation?.id === id);
    const returned = ranked[place];
    if (returned) {
      const { score } = returned;
      const message = `it is returned, at place ${place + 1}`;
      return { id, outcome: 'returned', rank: place + 1, score, changes: [], message };
    }
    const scores = new Map(
      ranked.flatMap(({ memory, score, relation }) => (relation ? [] : [[memory.id, score] as const])),
    );
    const [edge] = await scoreEdges(snapshot, plan, edges as EdgePlan, [triple], (each) => scores.get(each));
    if (!edge?.best) {
      const message =
        'it is not valid where and when you recall: one of its ends or all of its statements are not visible, it has ended, or another one has replaced it';
      return { id, outcome: 'excluded', stage: 'edges', changes: [], message };
    }
    const { value: score, stating } = edge.best;
    const last = ranked.length < request.limit ? 0 : (ranked.at(-1)?.score ?? 0);
    const needed = Math.max(last, plan.minScore ?? 0);
    const by = JSON.stringify(stating.memory.id);
    if (score === 0) {
      const message = `the best statement of it, ${by}, has no score: call whyNot with that memory to see why`;
      return { id, outcome: 'no-score', stage: 'edges', score, needed, changes: [], message };
    }
    const gap = needed - score;
    const message =
      gap > 0
        ? `its score ${scoreText(score)}, that of ${by} × its weight, is ${scoreText(gap)} below what was needed, ${scoreText(needed)}`
        : `the best statement of it, ${by}, is not among the hits: call whyNot with that memory to see why`;
    return { id, outcome: 'outranked', stage: 'edges', score, needed, changes: [], message };
  });
}

/**
 * Returns by how much a memory misses the floor of relevance; `undefined` if it reaches it, by itself or through links
 * and updates.
 */
function irrelevance(
  { require, floor }: ResolvedProfile,
  { id, signals, failedRequirement }: Inspection,
  matches: PipelineAnswer['matches'],
  now: Instant,
): WhyNot['relevance'] {
  if (!floor || failedRequirement !== require.length) return undefined;
  const match = matches.get(id) ?? evaluate(floor.node, signals, now);
  const missedBy = floor.atLeast - match;
  return missedBy > 0 ? { match, minRelevance: floor.atLeast, missedBy } : undefined;
}

function changesTo(
  resolved: ResolvedProfile,
  { signals }: Inspection,
  now: Instant,
  needed: number,
): WhyNot['changes'] {
  return neededChanges(resolved, signals, now, needed).map(({ signal, from, to }) =>
    isClockName(signal)
      ? { signal, from: from === undefined ? undefined : formatInstant(from), to: formatInstant(to) }
      : { signal, from, to },
  );
}

/** `from` says where the score comes from if it is not the memory's own. */
function floorMessage(score: number, minScore: number | undefined, from = ''): string {
  return `its score ${scoreText(score)}${from} is below minScore ${minScore}`;
}

/** Blames the query for a score of 0 only if no word of it was found: another factor of the formula may be 0 too. */
function ownMessage(resolved: ResolvedProfile, { score, signals }: Inspection, needed: number): string {
  const { lexical, contextLexical, sessionLexical } = signals;
  const hasWords = [lexical, contextLexical, sessionLexical].some((each) => each !== undefined && each > 0);
  return score === 0 && takesQuery(resolved) && !hasWords
    ? 'its score is 0: nothing in it answers the query'
    : rankMessage(score, needed);
}

function rankMessage(score: number, needed: number, from = ''): string {
  if (score === 0)
    return 'its score is 0, and what scores 0 is never returned; explain shows which factor is 0';
  const gap = needed - score;
  return gap > 0
    ? `its score ${scoreText(score)}${from} is ${scoreText(gap)} below that of the last memory returned, ${scoreText(needed)}`
    : `its score ${scoreText(score)}${from} equals that of the last memory returned, which comes first by the order of ties`;
}

function replacedMessage(replacement: string): string {
  return `${JSON.stringify(replacement)} inherits its score and was returned instead: it is a linked memory, or a possible update (conflicts lists it, resolve settles it). Pass association: 'none' to rank every memory by its own score`;
}

function exclusionMessage(exclusion: Exclusion, memory: MemoryRecord): string {
  const at = (instant: number | undefined) => (instant === undefined ? '?' : formatInstant(instant));
  switch (exclusion) {
    case 'scope':
      return `its scope ${memory.scope} is not visible from where you recall: recall from ${memory.scope} or below`;
    case 'elsewhere':
      return `its scope ${memory.scope} is not the one that inScope asks for`;
    case 'type':
      return `its type ${memory.type} is filtered out by types or typesExclude`;
    case 'tag':
      return 'it does not have all the requested tags';
    case 'metadata':
      return 'its metadata does not match the metadata filter';
    case 'tier':
      return `it is in the ${memory.tier} tier, which this recall does not search`;
    case 'consolidated':
      return `it was consolidated into another memory at ${at(memory.consolidatedAt)}, which its links name; recall with deep: true to include it`;
    case 'superseded':
      return 'another memory that is visible here supersedes it; beliefs and history name that one, and deep: true includes this one';
    case 'invalidated':
      return `it was invalidated at ${at(memory.invalidatedAt)}: ${memory.invalidReason ?? 'no reason was given'}; reinstate it if it is true`;
    case 'expired':
      return `it expired at ${at(memory.expiresAt)}`;
    case 'not-yet-valid':
      return `it is valid only from ${at(memory.validFrom)}`;
    case 'no-longer-valid':
      return `it was valid until ${at(memory.validUntil)}`;
  }
}
