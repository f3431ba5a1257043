import type { MemoryRecord } from '../../domain/memory.ts';
import {
  directAssociation,
  propagatedAssociation,
  updateAssociation,
  valueAlone,
} from '../../scoring/association.ts';
import { evaluate } from '../../scoring/evaluate.ts';
import { type Explanation, explainNode } from '../../scoring/explain.ts';
import type { Node } from '../../scoring/operators/index.ts';
import { type Belief, isBelieved } from '../../store/eligibility.ts';
import type { Inspection, SearchRequest } from '../../store/store.ts';
import { type Expansion, expandLinks, type Reached } from './expand.ts';
import type { Around, PipelineAnswer, RankedMemory, RecallPlan } from './pipeline.ts';
import { associateMatches } from './relevance.ts';
import type { AssociationSettings } from './strategy.ts';
import type { Surroundings } from './surroundings.ts';
import { type StageTrace, stage } from './trace.ts';
import { type PossibleUpdate, possibleUpdates } from './updates.ts';

/** A hit whose record may still have to be read. */
export type Unread = Omit<RankedMemory, 'memory'> & {
  readonly id: string;
  readonly ordinal: number;
  readonly memory?: MemoryRecord;
};

/**
 * Scores the memories that links of the direct hits lead to, and the possible updates of these hits. Leaves out what
 * the recall may not see. `floor` is the score that an associate must reach to enter the answer.
 */
export async function associate(
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
  // An entity that the query names propagates its score whether or not the recall returns it.
  const unreturned = (await surroundings.sources(others)).flatMap((each) => each ?? []);
  const sources = new Map([...scores, ...unreturned.map(({ id, score }) => [id, score] as const)]);
  const sourceScore = ({ path }: Reached) => sources.get(path[0] as string) ?? 0;
  const mayEnter = (each: Reached) =>
    floor === 0 || mostPropagated(each, settings, sourceScore(each)) >= floor;
  const expansion = await expandLinks(surroundings, starts, settings, request.now, mayEnter);
  const updates = await possibleUpdates(surroundings, direct, request, settings);
  const expanded = performance.now();
  const near = expansion.first.filter(mayEnter);
  const far = expansion.further.filter(mayEnter);
  const newer = updates.filter((each) => !scores.has(each.newer));
  // Cold memories can be reached, which only links do. Otherwise the conditions of the recall hold here too.
  const ids = [...[...near, ...far].map(({ id }) => id), ...newer.map((each) => each.newer)];
  const inspect = await inspector(surroundings, request, ids);
  const matches = associateMatches(request, settings, [
    ...direct.map(({ memory, signals }) => ({ id: memory.id, signals })),
    ...unreturned,
  ]);
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
  // A score of 0 is never a hit, whatever the minimum.
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

/**
 * Scores memories as the search does. Returns a function from an id to the result; empty for a memory that the recall
 * may not see or that fails a requirement of the strategy.
 */
async function inspector(
  surroundings: Surroundings,
  { profile: { require } }: SearchRequest,
  ids: readonly string[],
): Promise<(id: string) => readonly Inspection[]> {
  const distinct = [...new Set(ids)];
  const inspected = await surroundings.inspect(distinct);
  const found = new Map(distinct.map((id, at) => [id, inspected[at]]));
  return (id) => {
    const each = found.get(id);
    // An index past the last requirement means the floor of relevance. A link or an update may still lift the memory
    // over it.
    return each && (each.failedRequirement ?? require.length) >= require.length ? [each] : [];
  };
}

/** Keeps the best score of each memory; of equal ones the first. */
function bestOfEach(found: readonly Unread[]): readonly Unread[] {
  const best = new Map<string, Unread>();
  for (const each of found) {
    const known = best.get(each.id);
    if (!known || each.score > known.score) best.set(each.id, each);
  }
  return [...best.values()];
}

/**
 * Scores a possible update by the score that it inherits from the older statement. Empty unless it is believed: only
 * then do the two conflict.
 */
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

/** Raises a direct hit to the score that it inherits if it may itself be an update of another one. */
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

/**
 * Returns the highest score that a direct hit can propagate along a path; 0 in mode `direct`, where an associate has
 * only its own score.
 */
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
  // Most associates are dropped again, so the explanation is only built on demand.
  const scoreBy = (node: Node) => (node === profile.root ? own : undefined) ?? evaluate(node, signals, now);
  const { value: score } = tree((node) => valueAlone(scoreBy(node)));
  const explain = () => tree((node) => explainNode(node, signals, now, words));
  return { id, ordinal, signals, bm25, words, score, isAssociative: true, path, explain };
}

/** Propagates scores to direct hits too: a weak hit that is linked to a strong one ranks higher than by its own score. */
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

/** What the score of an associate is computed from, with its own score if that is known. */
type Inspected = Pick<Inspection, 'signals' | 'bm25' | 'ordinal' | 'words'> & { readonly score?: number };

function inspectedOf({ memory, signals, bm25, words }: RankedMemory): Inspected {
  return { signals, bm25, ordinal: memory.ordinal, words };
}
