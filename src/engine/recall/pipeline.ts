import type { MemoryRecord } from '../../domain/memory.ts';
import type { Reranker } from '../../providers/reranker.ts';
import {
  directAssociation,
  propagatedAssociation,
  updateAssociation,
  valueAlone,
} from '../../scoring/association.ts';
import { evaluate } from '../../scoring/evaluate.ts';
import { type Explanation, explainNode } from '../../scoring/explain.ts';
import type { Node } from '../../scoring/operators/index.ts';
import { compareRanked } from '../../scoring/order.ts';
import type { Signals } from '../../scoring/signals.ts';
import type { CountedWords } from '../../scoring/word-counts.ts';
import { type Belief, isBelieved } from '../../store/eligibility.ts';
import type {
  Inspection,
  ScoredMemory,
  SearchAnswer,
  SearchRequest,
  Snapshot,
  SpaceStore,
} from '../../store/store.ts';
import type { StatedRelation } from '../graph/types.ts';
import { type EdgePlan, withEdges } from './edges.ts';
import { type EvidenceChain, type Expansion, expandLinks, type Reached } from './expand.ts';
import { type GraphPlan, withGraph } from './graph.ts';
import { associateMatches } from './relevance.ts';
import { rerankItems } from './rerank.ts';
import type { AssociationSettings } from './strategy.ts';
import { readAhead, type Surroundings, surroundingsIn } from './surroundings.ts';
import { type Arm, type StageTrace, stage } from './trace.ts';
import { type PossibleUpdate, possibleUpdates } from './updates.ts';

/** What one recall asks for, all decided. */
export interface RecallPlan {
  /** With the limit of the answer. */
  readonly request: SearchRequest;
  /** The factors of what is outdated, which limit propagated scores too. */
  readonly outer: Node;
  readonly association: AssociationSettings | undefined;
  readonly rerank: { readonly reranker: Reranker; readonly most: number; readonly query: string } | undefined;
  /** No hit scores less, whatever links or a reranker make of it. `undefined`: no such floor. */
  readonly minScore: number | undefined;
  /** Entities that the query names are starts for what links lead to. */
  readonly graph?: GraphPlan | undefined;
  /** Relations compete with memories. Not together with a reranker. */
  readonly edges?: EdgePlan | undefined;
  /** Scores what links lead to even where it is known not to enter the answer: for the question why it did not. */
  readonly everyPath?: boolean | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface RankedMemory {
  readonly memory: MemoryRecord;
  readonly signals: Signals;
  readonly bm25: number;
  readonly score: number;
  /** What its signals of words were made from. */
  readonly words: CountedWords | undefined;
  readonly isAssociative: boolean;
  /** The ids that led to it, or to the score that it inherits from what it may be an update of: from a direct hit on. */
  readonly path: readonly string[] | undefined;
  /** Set where this is a relation, and the memory what states it. */
  readonly relation?: StatedRelation | undefined;
  explain(): Explanation;
}

/** What may be among the hits; `id` is there where links are followed. */
interface Competing extends Pick<RankedMemory, 'score'> {
  readonly id?: string;
  readonly path?: readonly string[] | undefined;
}

export interface PipelineAnswer {
  readonly ranked: readonly RankedMemory[];
  /** The memories from which `minScore` and the limit chose them. */
  readonly competing: readonly Competing[];
  readonly chains: readonly EvidenceChain[];
  readonly answer: SearchAnswer;
  /** How relevant the memories are that links and possible updates led to, with a floor of relevance. */
  readonly matches: ReadonlyMap<string, number>;
  readonly stages: readonly StageTrace[];
  readonly arms: readonly Arm[];
  /** No relation that competed and is left out scores above it. */
  readonly edgeBound?: number | undefined;
}

/** The hits of a search, and in what order they go on. */
interface Direct {
  readonly answer: SearchAnswer;
  readonly candidates: readonly RankedMemory[];
  /** How many of the first a model has put in order. */
  readonly examined: number;
  readonly stages: readonly StageTrace[];
  readonly arms: readonly Arm[];
}

/** Direct hits with a proof, then what models and links add to them; each step reports itself. All is read at one moment. */
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

/** A recall without a model, within a snapshot that is open. */
export async function rankIn(snapshot: Snapshot, plan: RecallPlan): Promise<PipelineAnswer> {
  const { request } = plan;
  const answer = await snapshot.search(request);
  const candidates = answer.hits.map((scored) => directHit(scored, request));
  const direct = { answer, candidates, examined: 0, stages: searchStages(answer), arms: [] };
  const found = await finish(await around(snapshot, plan), plan, direct);
  if (!plan.edges) return found;
  const { ranked, bound, row } = await withEdges(snapshot, plan, plan.edges, found.ranked);
  return { ...found, ranked, edgeBound: bound, stages: [...found.stages, row] };
}

/** Where links lead, and the entities that the query names, where they are followed. */
interface Around {
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
  // What would be left out anyway is not worth a model's time.
  const candidates = answer.hits.map((scored) => directHit(scored, plan.request)).filter(isEnoughFor(plan));
  const reranking = await rerankItems(reranker, query, candidates, passageOf, most, plan.signal);
  const { items, examined, sent, promptTokens, completionTokens, failure } = reranking;
  const row = { ...stage('rerank', sent, sent, performance.now() - started), promptTokens, completionTokens };
  const arm: Arm =
    failure === undefined
      ? { name: 'rerank', status: 'ran' }
      : { name: 'rerank', status: 'failed', reason: failure };
  return { answer, candidates: items, examined, stages: [...searchStages(answer), row], arms: [arm] };
}

/** What links and possible updates make of direct hits; without a strategy that follows them, the hits. */
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

  // Without cold memories, and with a full list, nothing comes in by its own score: the proof of the search says so.
  const { require, floor: relevance } = request.profile;
  const full =
    direct.length === request.limit && answer.cold === 0 && require.length === 0 && !relevance && !rerank;
  const isBounded = full && !plan.everyPath;
  const floor = isBounded ? Math.min(...direct.map(({ score }) => score)) : 0;
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

type Unread = Omit<RankedMemory, 'memory'> & {
  readonly id: string;
  readonly ordinal: number;
  readonly memory?: MemoryRecord;
};

/** What links lead to from the direct hits, and what may be an update of them, scored; nothing that the recall may not see. */
async function associate(
  { surroundings, named }: Around,
  { request, outer }: RecallPlan,
  settings: AssociationSettings,
  direct: readonly RankedMemory[],
  floor: number,
): Promise<{
  readonly associates: readonly Unread[];
  readonly raised: readonly RankedMemory[];
  readonly expansion: Expansion;
  readonly matches: PipelineAnswer['matches'];
  readonly rows: readonly StageTrace[];
}> {
  const started = performance.now();
  const scores = new Map(direct.map(({ memory, score }) => [memory.id, score]));
  const others = named.filter((id) => !scores.has(id));
  const starts = [...scores.keys(), ...others];
  const startScores = await surroundings.scores(others);
  const sources = new Map([...scores, ...others.map((id, at) => [id, startScores[at] ?? 0] as const)]);
  const sourceScore = ({ path }: Reached) => sources.get(path[0] as string) ?? 0;
  const mayEnter = (each: Reached) =>
    floor === 0 || mostPropagated(each, settings, sourceScore(each)) >= floor;
  const expansion = await expandLinks(surroundings, starts, settings, request.now, mayEnter);
  const updates = await possibleUpdates(surroundings, direct, request, settings);
  const expanded = performance.now();
  const near = expansion.first.filter(mayEnter);
  const far = expansion.further.filter(mayEnter);
  const newer = updates.filter((each) => !scores.has(each.newer));
  // Cold memories are found in no other way: that apart, the conditions of the recall hold here too.
  const inspect = await inspector(surroundings, [
    ...[...near, ...far].map(({ id }) => id),
    ...newer.map((each) => each.newer),
  ]);
  const matches = associateMatches(request, settings, direct);
  const linked = (each: Reached): Unread[] =>
    inspect(each.id).map((found) => {
      matches?.linked(each, found.signals);
      return associated(each, found, request, settings, sourceScore(each), outer);
    });
  const updating = (update: PossibleUpdate): Unread[] =>
    inspect(update.newer).flatMap((found) => {
      matches?.updating(update, found.signals);
      return updated(update, found, request, settings);
    });
  const [nearby, remote] = [[...near.flatMap(linked), ...newer.flatMap(updating)], far.flatMap(linked)];
  // A score of 0 is no hit, whatever the minimum.
  const isEnough = ({ id, score }: Unread) =>
    score > 0 && score >= settings.minimum && (matches?.suffices(id) ?? true);
  const first = bestOfEach(nearby.filter(isEnough));
  const beyond = remote.filter(isEnough);
  const ended = performance.now();
  return {
    associates: bestOfEach([...first, ...beyond]),
    raised: direct.map((hit) =>
      withUpdate(
        withPropagated(hit, expansion, request, settings, sources, outer),
        updates,
        request,
        settings,
      ),
    ),
    expansion,
    matches: matches?.of ?? new Map(),
    rows: [
      stage('expand', expansion.first.length + newer.length, first.length, expanded - started),
      stage('bridge', expansion.further.length, beyond.length, ended - expanded),
    ],
  };
}

/** Reads what a search makes of memories; what the recall may not see is not there. */
async function inspector(
  surroundings: Surroundings,
  ids: readonly string[],
): Promise<(id: string) => readonly Inspection[]> {
  const distinct = [...new Set(ids)];
  const inspected = await surroundings.inspect(distinct);
  const found = new Map(distinct.map((id, at) => [id, inspected[at]]));
  return (id) => {
    const each = found.get(id);
    return each ? [each] : [];
  };
}

/** Each memory once, by the best of its scores; of equal ones the first. */
function bestOfEach(found: readonly Unread[]): readonly Unread[] {
  const best = new Map<string, Unread>();
  for (const each of found) {
    const known = best.get(each.id);
    if (!known || each.score > known.score) best.set(each.id, each);
  }
  return [...best.values()];
}

/** A newer statement with the score that it inherits from the older one, if it is believed: the conflict is between these two. */
function updated(
  { newer, older, similarity, score: sourceScore }: PossibleUpdate,
  { signals, bm25, ordinal, words }: Inspected,
  { profile, filter, now }: SearchRequest,
  { updateRise }: AssociationSettings,
): Unread[] {
  if (signals.superseded || !isBelieved(signals as Belief, filter, now)) return [];
  const tree = (own: Explanation) =>
    updateAssociation(own, { older: sourceScore, rise: updateRise, similarity });
  const { value: score } = tree(valueAlone(evaluate(profile.root, signals, now)));
  const explain = () => tree(explainNode(profile.root, signals, now, words));
  const path = [older, newer];
  return [{ id: newer, ordinal, signals, bm25, words, score, isAssociative: true, path, explain }];
}

/** A direct hit may itself be an update of another one. */
function withUpdate(
  hit: RankedMemory,
  updates: readonly PossibleUpdate[],
  request: SearchRequest,
  settings: AssociationSettings,
): RankedMemory {
  const own = updates.filter(({ newer }) => newer === hit.memory.id);
  const [best] = bestOfEach(own.flatMap((update) => updated(update, inspectedOf(hit), request, settings)));
  if (!best || best.score <= hit.score) return hit;
  const { score, path, explain } = best;
  return { ...hit, score, path, explain };
}

/** The highest score that a direct hit can propagate along a path: 0 where an associate counts by its own. */
function mostPropagated({ weight }: Reached, settings: AssociationSettings, score: number): number {
  if (settings.mode === 'direct') return 0;
  return propagatedAssociation(valueAlone(0), {
    propagation: settings.propagation,
    pathWeight: weight,
    score,
    outer: valueAlone(1),
  }).value;
}

function associated(
  { id, path, weight }: Reached,
  { signals, bm25, ordinal, words, score: own }: Inspected,
  { profile, now }: SearchRequest,
  settings: AssociationSettings,
  directScore: number,
  outer: Node,
): Unread {
  const tree = (show: (node: Node) => Explanation) => {
    const own = show(profile.root);
    if (settings.mode === 'direct') return directAssociation(own, weight);
    const { propagation } = settings;
    return propagatedAssociation(own, {
      propagation,
      pathWeight: weight,
      score: directScore,
      outer: show(outer),
    });
  };
  // Most associates are left out again: their trees are made only when somebody asks.
  const scoreBy = (node: Node) => (node === profile.root ? own : undefined) ?? evaluate(node, signals, now);
  const { value: score } = tree((node) => valueAlone(scoreBy(node)));
  const explain = () => tree((node) => explainNode(node, signals, now, words));
  return { id, ordinal, signals, bm25, words, score, isAssociative: true, path, explain };
}

/** Scores propagate to direct hits too: a weak hit that is linked to a strong one ranks higher than by its own score. */
function withPropagated(
  hit: RankedMemory,
  { among }: Expansion,
  request: SearchRequest,
  settings: AssociationSettings,
  scores: ReadonlyMap<string, number>,
  outer: Node,
): RankedMemory {
  const reached = settings.mode === 'propagated' ? among.find(({ id }) => id === hit.memory.id) : undefined;
  if (!reached) return hit;
  const sourceScore = scores.get(reached.path[0] as string) ?? 0;
  const { score, explain } = associated(reached, inspectedOf(hit), request, settings, sourceScore, outer);
  return score > hit.score ? { ...hit, score, explain } : hit;
}

/** Reranked hits keep their places; everything else follows by score. A direct hit is never also an associate. */
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

/** What of a memory its score as an associate is made from; its own score where it is known. */
type Inspected = Pick<Inspection, 'signals' | 'bm25' | 'ordinal' | 'words'> & { readonly score?: number };

function inspectedOf({ memory, signals, bm25, words }: RankedMemory): Inspected {
  return { signals, bm25, ordinal: memory.ordinal, words };
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

function searchStages(answer: SearchAnswer): StageTrace[] {
  const { durations, candidates, belowFloor } = answer;
  return [
    stage('eligible', answer.total, answer.filtered, durations.eligible),
    stage('validity_filter', answer.filtered, answer.eligible, 0),
    stage('bm25_search', answer.eligible, answer.lexicalMatches, durations.lexical),
    stage('vector_search', answer.eligible, answer.withVector, durations.vector),
    ...(belowFloor === undefined ? [] : [stage('floor', candidates + belowFloor, candidates, 0)]),
    stage('score', candidates, answer.hits.length, durations.score),
  ];
}
