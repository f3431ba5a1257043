import type { MemoryRecord } from '../../domain/memory.ts';
import type { Reranker } from '../../providers/reranker.ts';
import { type Explanation, explainNode } from '../../scoring/explain.ts';
import type { Node } from '../../scoring/operators/index.ts';
import { compareRanked } from '../../scoring/order.ts';
import type { Signals } from '../../scoring/signals.ts';
import type { CountedWords } from '../../scoring/word-counts.ts';
import { areAtMost } from '../../store/candidates.ts';
import type { ScoredMemory, SearchAnswer, SearchRequest, Snapshot, SpaceStore } from '../../store/store.ts';
import type { StatedRelation } from '../graph/types.ts';
import { associate, type Unread } from './associate.ts';
import { type EdgePlan, withEdges } from './edges.ts';
import type { EvidenceChain } from './expand.ts';
import { type GraphPlan, withGraph } from './graph.ts';
import { rerankItems } from './rerank.ts';
import type { AssociationSettings } from './strategy.ts';
import { readAhead, type Surroundings, surroundingsIn } from './surroundings.ts';
import { type Arm, type StageTrace, stage } from './trace.ts';

/** A recall with all its options resolved. */
export interface RecallPlan {
  /** Its limit is that of the answer. */
  readonly request: SearchRequest;
  /** The factors for outdated memories. They also limit propagated scores. */
  readonly outer: Node;
  readonly association: AssociationSettings | undefined;
  readonly rerank: { readonly reranker: Reranker; readonly most: number; readonly query: string } | undefined;
  /** No hit scores less, whatever links or a reranker do. `undefined`: no minimum. */
  readonly minScore: number | undefined;
  /** Set if links are also followed from the entities that the query names. */
  readonly graph?: GraphPlan | undefined;
  /** Set if relations compete with memories. Not together with a reranker. */
  readonly edges?: EdgePlan | undefined;
  /** Whether to score linked memories that cannot enter the answer: `whyNot` asks for them. */
  readonly everyPath?: boolean | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface RankedMemory {
  readonly memory: MemoryRecord;
  readonly signals: Signals;
  readonly bm25: number;
  readonly score: number;
  /** The word counts behind its lexical signals. */
  readonly words: CountedWords | undefined;
  readonly isAssociative: boolean;
  /** The ids that led to it, or to the score that it inherits from what it may update, starting at a direct hit. */
  readonly path: readonly string[] | undefined;
  /** Set if this is a relation; `memory` is then its best statement. */
  readonly relation?: StatedRelation | undefined;
  explain(): Explanation;
}

/** A memory that may become a hit. `id` is set if links are followed. */
interface Competing extends Pick<RankedMemory, 'score'> {
  readonly id?: string;
  readonly path?: readonly string[] | undefined;
}

export interface PipelineAnswer {
  readonly ranked: readonly RankedMemory[];
  /** The memories before `minScore` and the limit were applied. */
  readonly competing: readonly Competing[];
  readonly chains: readonly EvidenceChain[];
  readonly answer: SearchAnswer;
  /** The relevance of memories that links and possible updates led to. Only with a floor of relevance. */
  readonly matches: ReadonlyMap<string, number>;
  readonly stages: readonly StageTrace[];
  readonly arms: readonly Arm[];
  /** No relation that was left out scores higher. */
  readonly edgeBound?: number | undefined;
}

/** The direct hits of a search, possibly reranked. */
interface Direct {
  readonly answer: SearchAnswer;
  readonly candidates: readonly RankedMemory[];
  /** How many of the first hits the reranker has ordered. */
  readonly examined: number;
  readonly stages: readonly StageTrace[];
  readonly arms: readonly Arm[];
}

/**
 * Runs a recall: an exact search for direct hits, then reranking, links and relations. Every step adds a row to the
 * trace. All is read within one snapshot.
 */
export async function runPipeline(
  space: Pick<SpaceStore, 'snapshot'>,
  plan: RecallPlan,
): Promise<PipelineAnswer> {
  const { request, rerank, association } = plan;
  if (!rerank) return space.snapshot((snapshot) => rankIn(snapshot, plan));
  const { answer, surroundings } = await space.snapshot(async (snapshot) => {
    const answer = await snapshot.search({ ...request, limit: Math.max(request.limit, rerank.most) });
    const ids = answer.hits.map(({ memory }) => memory.id);
    const { surroundings: present, named } = await around(snapshot, plan);
    const ahead = association && (await readAhead(present, [...new Set([...ids, ...named])], association));
    return { answer, surroundings: ahead && { surroundings: ahead, named } };
  });
  return finish(surroundings, plan, await reranked(plan, rerank, answer));
}

/** Runs a recall without a reranker within an open snapshot. */
export async function rankIn(snapshot: Snapshot, plan: RecallPlan): Promise<PipelineAnswer> {
  const { request } = plan;
  const answer = await snapshot.search(request);
  const candidates = answer.hits.map((scored) => directHit(scored, request));
  const direct = { answer, candidates, examined: 0, stages: searchStages(answer, request), arms: [] };
  const found = await finish(await around(snapshot, plan), plan, direct);
  if (!plan.edges) return found;
  const { ranked, bound, row } = await withEdges(snapshot, plan, plan.edges, found.ranked);
  return { ...found, ranked, edgeBound: bound, stages: [...found.stages, row] };
}

/** What links can reach, and the ids of the entities that the query names. */
export interface Around {
  readonly surroundings: Surroundings;
  readonly named: readonly string[];
}

async function around(snapshot: Snapshot, { request, graph }: RecallPlan): Promise<Around> {
  const surroundings = surroundingsIn(snapshot, request);
  return graph ? withGraph(surroundings, snapshot, request, graph) : { surroundings, named: [] };
}

async function reranked(
  plan: RecallPlan,
  { reranker, query, most }: NonNullable<RecallPlan['rerank']>,
  answer: SearchAnswer,
): Promise<Direct> {
  const started = performance.now();
  // Hits below `minScore` are dropped first: they would only cost the model time.
  const candidates = answer.hits.map((scored) => directHit(scored, plan.request)).filter(isEnoughFor(plan));
  const reranking = await rerankItems(reranker, query, candidates, passageOf, most, plan.signal);
  const { items, examined, sent, promptTokens, completionTokens, failure } = reranking;
  const row = { ...stage('rerank', sent, sent, performance.now() - started), promptTokens, completionTokens };
  const arm: Arm =
    failure === undefined
      ? { name: 'rerank', status: 'ran' }
      : { name: 'rerank', status: 'failed', reason: failure };
  return {
    answer,
    candidates: items,
    examined,
    stages: [...searchStages(answer, plan.request), row],
    arms: [arm],
  };
}

/**
 * Adds what links and possible updates bring to the direct hits. A strategy that does not follow links keeps the hits
 * as they are.
 */
async function finish(
  around: Around | undefined,
  plan: RecallPlan,
  { answer, candidates, examined, arms, ...found }: Direct,
): Promise<PipelineAnswer> {
  const { request, rerank, association } = plan;
  const isEnough = isEnoughFor(plan);
  const stages = [...found.stages];
  const early = answer.hits.length - candidates.length;
  const direct = candidates.slice(0, request.limit);
  if (!association || !around || direct.length + around.named.length === 0) {
    const ranked = direct.filter(isEnough);
    stages.push(...floorRow(plan, early + direct.length, ranked.length));
    return { ranked, competing: direct, chains: [], answer, matches: new Map(), stages, arms };
  }

  // If the list is full and there are no cold memories, no associate can enter by its own score: the search has proven
  // that.
  const { require, floor: relevance } = request.profile;
  const full =
    direct.length === request.limit && answer.cold === 0 && require.length === 0 && !relevance && !rerank;
  const isBounded = full && !plan.everyPath;
  const floor = isBounded ? direct.reduce((least, { score }) => Math.min(least, score), Infinity) : 0;
  const { associates, raised, expansion, matches, rows } = await associate(
    around,
    plan,
    association,
    direct,
    floor,
  );
  stages.push(...rows);
  const started = performance.now();
  const merged = merge(raised, associates, Math.min(examined, direct.length));
  const enough = merged.filter(isEnough);
  const ranked = enough.slice(0, request.limit);
  stages.push(
    ...floorRow(plan, early + merged.length, enough.length),
    stage('merge', enough.length, ranked.length, performance.now() - started),
  );
  const { chains } = expansion;
  const read = await withRecords(around.surroundings, ranked);
  return { ranked: read, competing: merged, chains, answer, matches, stages, arms };
}

function isEnoughFor({ minScore = 0 }: RecallPlan): (each: { readonly score: number }) => boolean {
  return ({ score }) => score >= minScore;
}

/**
 * Merges hits and associates: reranked hits keep their places, and everything else follows by score. A direct hit is
 * never also an associate.
 */
function merge(
  direct: readonly RankedMemory[],
  associates: readonly Unread[],
  examined: number,
): readonly Unread[] {
  const fixed = direct.slice(0, examined).map(unreadOf);
  const rest = [...direct.slice(examined).map(unreadOf), ...associates];
  rest.sort((a, b) => compareRanked(keyOf(a), keyOf(b)));
  return [...fixed, ...rest];
}

function floorRow({ minScore }: RecallPlan, candidates: number, survivors: number): readonly StageTrace[] {
  return minScore === undefined ? [] : [stage('floor', candidates, survivors, 0)];
}

function unreadOf(hit: RankedMemory): Unread {
  const { id, ordinal } = hit.memory;
  return { id, ordinal, ...hit };
}

function keyOf({ ordinal, score, bm25, signals }: Unread) {
  return { ordinal, score, bm25, similarity: signals.similarity, updatedAt: signals.updatedAt ?? 0 };
}

async function withRecords(
  surroundings: Surroundings,
  ranked: readonly Unread[],
): Promise<readonly RankedMemory[]> {
  const missing = ranked.filter(({ memory }) => memory === undefined).map(({ id }) => id);
  const records = new Map((await surroundings.get(missing)).map((record, at) => [missing[at], record]));
  return ranked.flatMap((each) => {
    const memory = each.memory ?? records.get(each.id);
    if (!memory) return [];
    const { signals, bm25, score, words, isAssociative, path, relation, explain } = each;
    return [{ memory, signals, bm25, score, words, isAssociative, path, relation, explain }];
  });
}

function directHit(scored: ScoredMemory, { profile, now }: SearchRequest): RankedMemory {
  const { memory, signals, bm25, score, words } = scored;
  return {
    memory,
    signals,
    bm25,
    score,
    words,
    isAssociative: false,
    path: undefined,
    explain: () => explainNode(profile.root, signals, now, words),
  };
}

function passageOf({ memory }: RankedMemory): string {
  return memory.title === undefined ? memory.content : `${memory.title}\n${memory.content}`;
}

function searchStages(answer: SearchAnswer, { profile }: SearchRequest): StageTrace[] {
  const { durations, candidates, belowFloor } = answer;
  const isBound = areAtMost(answer, profile);
  const bounding = (atMost: NonNullable<StageTrace['atMost']>) => (isBound ? { atMost } : {});
  return [
    stage('eligible', answer.total, answer.filtered, durations.eligible),
    stage('validity_filter', answer.filtered, answer.eligible, 0),
    stage('bm25_search', answer.eligible, answer.lexicalMatches, durations.lexical),
    stage('vector_search', answer.eligible, answer.withVector, durations.vector),
    ...(belowFloor === undefined
      ? []
      : [{ ...stage('floor', candidates + belowFloor, candidates, 0), ...bounding('survivors') }]),
    { ...stage('score', candidates, answer.hits.length, durations.score), ...bounding('candidates') },
  ];
}
