import type { MemoryRecord } from '../../domain/memory.ts';
import { endsOf, isSameTriple, type RelationRecord, relationId, type Triple } from '../../domain/relation.ts';
import { combined, type Explanation } from '../../scoring/explain.ts';
import type { Inspection, MemoryFilter, Snapshot } from '../../store/store.ts';
import {
  type Edge,
  type GraphLook,
  latestOf,
  type Stating,
  shownRelation,
  subjectOf,
  visibleAmong,
} from '../graph/view.ts';
import type { RankedMemory, RecallPlan } from './pipeline.ts';
import { type StageTrace, stage } from './trace.ts';

/** What a recall needs to rank relations. */
export interface EdgePlan {
  readonly singleValued: ReadonlySet<string>;
  /** The factor for relations that have ended or were replaced, in a deep recall. */
  readonly penalty: number;
}

/** The best statement of a relation, and the score that the relation gets from it. */
interface Scored {
  readonly stating: Stating;
  /** 1 if the relation holds; in a deep recall, less if it has ended or another value replaced it. */
  readonly validity: number;
  readonly value: number;
}

interface ScoredEdge {
  readonly edge: Edge;
  readonly best: Scored | undefined;
}

/**
 * Merges relations into the ranked memories. A relation scores its best statement times factors of at most 1, and
 * follows it if they tie. So the best k of both are stated by the best k memories. `bound`: no relation that is left
 * out scores higher.
 */
export async function withEdges(
  snapshot: Snapshot,
  plan: RecallPlan,
  edges: EdgePlan,
  ranked: readonly RankedMemory[],
): Promise<{ readonly ranked: readonly RankedMemory[]; readonly bound: number; readonly row: StageTrace }> {
  const started = performance.now();
  const { request, minScore = 0 } = plan;
  const byId = new Map(ranked.map((hit) => [hit.memory.id, hit]));
  const triples = ranked.flatMap(({ memory }) => memory.relations ?? []);
  const scored = await scoreEdges(snapshot, plan, edges, triples, (id) => byId.get(id)?.score);
  const found = scored.flatMap(({ edge, best }): RankedMemory[] => {
    const hit = best && byId.get(best.stating.memory.id);
    return hit && best.value > 0 && best.value >= minScore ? [edgeHit(hit, edge, best)] : [];
  });
  const all = inOrder(ranked, found);
  const kept = all.slice(0, request.limit);
  const cut = all.slice(request.limit).filter(({ relation }) => relation !== undefined);
  const survivors = kept.filter(({ relation }) => relation !== undefined).length;
  return {
    ranked: kept,
    bound: Math.max(0, ...cut.map(({ score }) => score)),
    row: stage('edges', scored.length, survivors, performance.now() - started),
  };
}

/** Inserts each relation into the ranked memories where its score belongs, after equal scores. */
function inOrder(ranked: readonly RankedMemory[], found: readonly RankedMemory[]): readonly RankedMemory[] {
  const place = new Map(ranked.map(({ memory }, at) => [memory.id, at]));
  const placeOf = ({ memory }: RankedMemory) => place.get(memory.id) as number;
  const edges = found.toSorted(
    (a, b) =>
      b.score - a.score ||
      placeOf(a) - placeOf(b) ||
      ((a.relation?.id ?? '') < (b.relation?.id ?? '') ? -1 : 1),
  );
  const merged: RankedMemory[] = [];
  let next = 0;
  for (const [at, hit] of ranked.entries()) {
    merged.push(hit);
    // Memories that a reranker or a link has moved may be out of order by score: a relation still never precedes its
    // statement.
    const following = ranked[at + 1];
    while (next < edges.length) {
      const edge = edges[next] as RankedMemory;
      if (following && (following.score >= edge.score || placeOf(edge) > at)) break;
      merged.push(edge);
      next++;
    }
  }
  return merged;
}

/**
 * Scores the relations among `triples` that the recall may see, each by its best statement. Ordered by id. `ranked`
 * returns the score of a memory that is ranked already.
 */
export async function scoreEdges(
  snapshot: Snapshot,
  { request }: Pick<RecallPlan, 'request'>,
  { singleValued, penalty }: EdgePlan,
  triples: readonly Triple[],
  ranked: (id: string) => number | undefined,
): Promise<readonly ScoredEdge[]> {
  if (triples.length === 0) return [];
  const { scopes, validAt, deep = false, includeExpired } = request.filter;
  const filter: MemoryFilter = { scopes, validAt, deep, includeExpired };
  const look: GraphLook = { filter, now: request.now, singleValued };
  const ids = new Map(triples.map((triple) => [relationId(triple), triple]));
  const statings = await snapshot.find('relations', [...ids.keys()]);
  const inspected = await inspectAll(snapshot, request, filter, statings);
  // A cold memory counts if a link has brought it in.
  const visible = statings.filter(
    ({ id }) => ranked(id) !== undefined || inspected.get(id)?.excluded === undefined,
  );
  // A statement that is not believed replaces no value.
  const believed = { ...look, filter: { ...filter, deep: false } };
  const latest = await latestOf(snapshot, [...ids.values()], believed);
  const ends = (await snapshot.standing(endsOf([...ids.values()]))).filter((each) => each !== undefined);
  const seen = new Set((await visibleAmong(snapshot, ends, look)).map(({ id }) => id));
  return [...ids]
    .filter(([, { from, to }]) => seen.has(from) && seen.has(to))
    .map(([id, { from, name, to }]): ScoredEdge => {
      const stated = visible.flatMap((memory) => statedBy(memory, { from, name, to }));
      const winner = latest.get(subjectOf({ from, name }));
      const factor = winner === undefined || winner === to ? 1 : deep ? penalty : 0;
      const all = stated.flatMap((stating): Scored[] => {
        const validity = factor * validityOf(stating.relation, validAt ?? request.now, deep ? penalty : 0);
        const found = inspected.get(stating.memory.id);
        // A memory that fails a requirement of the strategy is no candidate, and neither is its relation.
        const score =
          ranked(stating.memory.id) ?? (found?.failedRequirement === undefined ? found?.score : 0);
        const value = (score ?? 0) * stating.relation.weight * validity;
        return validity > 0 ? [{ stating, validity, value }] : [];
      });
      const best = all.reduce<Scored | undefined>(
        (most, each) => (most === undefined || each.value > most.value ? each : most),
        undefined,
      );
      return { edge: { id, from, name, to, stated: all.map(({ stating }) => stating) }, best };
    })
    .sort((a, b) => (a.edge.id < b.edge.id ? -1 : 1));
}

async function inspectAll(
  snapshot: Snapshot,
  request: RecallPlan['request'],
  filter: MemoryFilter,
  memories: readonly MemoryRecord[],
): Promise<ReadonlyMap<string, Inspection>> {
  const found = await snapshot.inspect(
    memories.map(({ id }) => id),
    { ...request, filter },
  );
  return new Map(found.flatMap((each) => (each ? [[each.id, each]] : [])));
}

function statedBy(memory: MemoryRecord, triple: Triple): readonly Stating[] {
  return (memory.relations ?? [])
    .filter((relation) => isSameTriple(relation, triple))
    .map((relation) => ({ memory, relation }));
}

function validityOf({ validFrom, validUntil }: RelationRecord, at: number, ended: number): number {
  if (validFrom !== undefined && validFrom > at) return 0;
  return validUntil !== undefined && validUntil < at ? ended : 1;
}

function edgeHit(hit: RankedMemory, edge: Edge, { stating, validity, value }: Scored): RankedMemory {
  return {
    ...hit,
    score: value,
    relation: shownRelation(edge),
    explain: () => edgeExplanation(hit.explain(), stating.relation.weight, validity),
  };
}

function edgeExplanation(statement: Explanation, weight: number, validity: number): Explanation {
  const constant = (name: string, value: number): Explanation => ({
    op: 'constant',
    value,
    inputs: [],
    detail: { name },
  });
  return combined('product', [
    statement,
    constant('weight of the relation', weight),
    constant('validity of the relation', validity),
  ]);
}
