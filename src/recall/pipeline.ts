import type { MemoryRecord } from '../model/memory.ts';
import type { Reranker } from '../providers/reranker.ts';
import { lentAssociation, ownAssociation, valueAlone } from '../scoring/association.ts';
import { evaluate } from '../scoring/evaluate.ts';
import { type Explanation, explainNode } from '../scoring/explain.ts';
import type { Node } from '../scoring/node.ts';
import { compareRanked } from '../scoring/order.ts';
import type { Signals } from '../scoring/signals.ts';
import type { Inspection, ScoredMemory, SearchAnswer, SearchRequest, SpaceStore } from '../store/store.ts';
import { type EvidenceChain, type Expansion, expandLinks, type Reached } from './expand.ts';
import { rerankItems } from './rerank.ts';
import type { AssociationSettings } from './strategy.ts';
import { type Arm, type StageTrace, stage } from './trace.ts';

/** What one recall asks for, all decided. */
export interface RecallPlan {
  /** With the limit of the answer. */
  readonly request: SearchRequest;
  /** The factors of what is outdated, which lent scores are held down by too. */
  readonly outer: Node;
  readonly association: AssociationSettings | undefined;
  readonly rerank: { readonly reranker: Reranker; readonly most: number; readonly query: string } | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface RankedMemory {
  readonly memory: MemoryRecord;
  readonly signals: Signals;
  readonly bm25: number;
  readonly score: number;
  readonly isAssociative: boolean;
  /** The ids that led to it, from a direct hit on. */
  readonly path: readonly string[] | undefined;
  explain(): Explanation;
}

export interface PipelineAnswer {
  readonly ranked: readonly RankedMemory[];
  readonly chains: readonly EvidenceChain[];
  readonly answer: SearchAnswer;
  readonly stages: readonly StageTrace[];
  readonly arms: readonly Arm[];
}

/** Direct hits with a proof, then what models and links add to them; each step reports itself. */
export async function runPipeline(space: SpaceStore, plan: RecallPlan): Promise<PipelineAnswer> {
  const { request, rerank, association } = plan;
  const answer = await space.search({ ...request, limit: Math.max(request.limit, rerank?.most ?? 0) });
  const stages = searchStages(answer);
  const arms: Arm[] = [];
  let candidates: readonly RankedMemory[] = answer.hits.map((scored) => directHit(scored, request));
  let examined = 0;
  if (rerank) {
    const started = performance.now();
    const reranking = await rerankItems(
      rerank.reranker,
      rerank.query,
      candidates,
      passageOf,
      rerank.most,
      plan.signal,
    );
    candidates = reranking.items;
    examined = reranking.examined;
    const { promptTokens, completionTokens, failure } = reranking;
    stages.push({
      ...stage('rerank', candidates.length, candidates.length, performance.now() - started),
      promptTokens,
      completionTokens,
    });
    arms.push(
      failure === undefined
        ? { name: 'rerank', status: 'ran' }
        : { name: 'rerank', status: 'failed', reason: failure },
    );
  }
  const direct = candidates.slice(0, request.limit);
  if (!association || direct.length === 0) return { ranked: direct, chains: [], answer, stages, arms };

  // Without cold memories, and with a full list, nothing comes in by its own score: the proof of the search says so.
  const full =
    direct.length === request.limit && answer.cold === 0 && request.profile.require.length === 0 && !rerank;
  const floor = full ? Math.min(...direct.map(({ score }) => score)) : 0;
  const { associates, lifted, expansion, rows } = await associate(space, plan, association, direct, floor);
  stages.push(...rows);
  const started = performance.now();
  const ranked = merge(lifted, associates, Math.min(examined, direct.length), request.limit);
  stages.push(stage('merge', direct.length + associates.length, ranked.length, performance.now() - started));
  return { ranked: await withRecords(space, ranked), chains: expansion.chains, answer, stages, arms };
}

type Unread = Omit<RankedMemory, 'memory'> & { readonly id: string; readonly memory?: MemoryRecord };

/** Links as they are seen from these scopes: none that leads to a memory of elsewhere, so that no path passes one. */
function seenFrom(space: SpaceStore, scopes: readonly string[] | undefined): Pick<SpaceStore, 'links'> {
  if (!scopes) return space;
  return {
    async links(ids, minimum) {
      const links = await space.links(ids, minimum);
      const ends = [...new Set(links.flatMap((link) => link.ids))];
      const records = await space.get(ends);
      const seen = new Set(ends.filter((_, at) => scopes.includes(records[at]?.scope ?? '')));
      return links.filter((link) => link.ids.every((id) => seen.has(id)));
    },
  };
}

/** What links lead to from the direct hits, scored; nothing that the recall may not see. */
async function associate(
  space: SpaceStore,
  { request, outer }: RecallPlan,
  settings: AssociationSettings,
  direct: readonly RankedMemory[],
  floor: number,
): Promise<{
  readonly associates: readonly Unread[];
  readonly lifted: readonly RankedMemory[];
  readonly expansion: Expansion;
  readonly rows: readonly StageTrace[];
}> {
  const started = performance.now();
  const expansion = await expandLinks(
    seenFrom(space, request.filter.scopes),
    direct.map(({ memory }) => memory.id),
    settings,
    request.now,
  );
  const expanded = performance.now();
  const scores = new Map(direct.map(({ memory, score }) => [memory.id, score]));
  const lender = ({ path }: Reached) => scores.get(path[0] as string) ?? 0;
  const mayEnter = (each: Reached) => floor === 0 || mostLent(each, settings, lender(each)) >= floor;
  const near = expansion.first.filter(mayEnter);
  const reached = [...near, ...expansion.further.filter(mayEnter)];
  // Cold memories are found in no other way: that apart, the conditions of the recall hold here too.
  const inspected = await space.inspect(
    reached.map(({ id }) => id),
    { ...request, filter: { ...request.filter, cold: true } },
  );
  const score = (each: Reached, at: number): Unread[] => {
    const found = inspected[at];
    if (!found || found.excluded !== undefined) return [];
    const unread = associated(each, found, request, settings, lender(each), outer);
    return unread.score < settings.minimum ? [] : [unread];
  };
  const scored = reached.map(score);
  const first = scored.slice(0, near.length).flat();
  const further = scored.slice(near.length).flat();
  const ended = performance.now();
  return {
    associates: [...first, ...further],
    lifted: direct.map((hit) => lift(hit, expansion, request, settings, scores, outer)),
    expansion,
    rows: [
      stage('expand', expansion.first.length, first.length, expanded - started),
      stage('bridge', expansion.further.length, further.length, ended - expanded),
    ],
  };
}

/** The most that a direct hit can lend along a path: nothing where an associate counts for itself. */
function mostLent({ weight }: Reached, settings: AssociationSettings, score: number): number {
  if (settings.mode === 'own') return 0;
  return lentAssociation(valueAlone(0), {
    share: settings.lentShare,
    pathWeight: weight,
    score,
    outer: valueAlone(1),
  }).value;
}

function associated(
  { id, path, weight }: Reached,
  { signals, bm25 }: Pick<Inspection, 'signals' | 'bm25'>,
  { profile, now }: SearchRequest,
  settings: AssociationSettings,
  directScore: number,
  outer: Node,
): Unread {
  const tree = (show: (node: Node) => Explanation) => {
    const own = show(profile.root);
    if (settings.mode === 'own') return ownAssociation(own, weight);
    const lent = { share: settings.lentShare, pathWeight: weight, score: directScore, outer: show(outer) };
    return lentAssociation(own, lent);
  };
  // Most associates are left out again: their trees are made only when somebody asks.
  const { value: score } = tree((node) => valueAlone(evaluate(node, signals, now)));
  const explain = () => tree((node) => explainNode(node, signals, now));
  return { id, signals, bm25, score, isAssociative: true, path, explain };
}

/** Relevance is lent to direct hits too: a weak one beside a strong one is worth more than it says itself. */
function lift(
  hit: RankedMemory,
  { among }: Expansion,
  request: SearchRequest,
  settings: AssociationSettings,
  scores: ReadonlyMap<string, number>,
  outer: Node,
): RankedMemory {
  const reached = settings.mode === 'lent' ? among.find(({ id }) => id === hit.memory.id) : undefined;
  if (!reached) return hit;
  const lender = scores.get(reached.path[0] as string) ?? 0;
  const { signals, bm25 } = hit;
  const { score, explain } = associated(reached, { signals, bm25 }, request, settings, lender, outer);
  return score > hit.score ? { ...hit, score, explain } : hit;
}

/** Reranked hits keep their places; everything else follows by score. A direct hit is never also an associate. */
function merge(
  direct: readonly RankedMemory[],
  associates: readonly Unread[],
  examined: number,
  limit: number,
): readonly Unread[] {
  const fixed = direct.slice(0, examined).map((hit): Unread => ({ ...hit, id: hit.memory.id }));
  const rest = [
    ...direct.slice(examined).map((hit): Unread => ({ ...hit, id: hit.memory.id })),
    ...associates,
  ];
  rest.sort((a, b) => compareRanked(keyOf(a), keyOf(b)));
  return [...fixed, ...rest].slice(0, limit);
}

function keyOf({ id, score, bm25, signals }: Unread) {
  return { id, score, bm25, similarity: signals.similarity, updatedAt: signals.updatedAt ?? 0 };
}

async function withRecords(space: SpaceStore, ranked: readonly Unread[]): Promise<readonly RankedMemory[]> {
  const missing = ranked.filter(({ memory }) => memory === undefined).map(({ id }) => id);
  const records = new Map((await space.get(missing)).map((record, at) => [missing[at], record]));
  return ranked.flatMap(({ id, memory = records.get(id), ...rest }) => (memory ? [{ ...rest, memory }] : []));
}

function directHit(scored: ScoredMemory, { profile, now }: SearchRequest): RankedMemory {
  return {
    ...scored,
    isAssociative: false,
    path: undefined,
    explain: () => explainNode(profile.root, scored.signals, now),
  };
}

function passageOf({ memory }: RankedMemory): string {
  return memory.title === undefined ? memory.content : `${memory.title}\n${memory.content}`;
}

function searchStages(answer: SearchAnswer): StageTrace[] {
  const { durations } = answer;
  return [
    stage('eligible', answer.total, answer.filtered, durations.eligible),
    stage('validity_filter', answer.filtered, answer.eligible, 0),
    stage('bm25_search', answer.eligible, answer.lexicalMatches, durations.lexical),
    stage('vector_search', answer.eligible, answer.withVector, durations.vector),
    stage('score', answer.candidates, answer.hits.length, durations.score),
  ];
}
