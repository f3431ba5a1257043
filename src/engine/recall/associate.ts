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

/** What links lead to from the direct hits, and what may be an update of them, scored; nothing that the recall may not see. */
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
  // An entity that the query names passes on what it has, whether or not the recall returns it.
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
  // Cold memories are found in no other way: that apart, the conditions of the recall hold here too.
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

/** Reads what a search makes of memories; what the recall may not see, or its strategy not score, is not there. */
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
    // One past the last is the floor of relevance, which links and updates may lift a memory over.
    return each && (each.failedRequirement ?? require.length) >= require.length ? [each] : [];
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

/** What of a memory its score as an associate is made from; its own score where it is known. */
type Inspected = Pick<Inspection, 'signals' | 'bm25' | 'ordinal' | 'words'> & { readonly score?: number };

function inspectedOf({ memory, signals, bm25, words }: RankedMemory): Inspected {
  return { signals, bm25, ordinal: memory.ordinal, words };
}
