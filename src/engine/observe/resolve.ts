import { FIELDS } from '../../domain/fields.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { foldedName, namesOfEntity, withAliases } from '../../domain/relation.ts';
import type { KnownName } from '../../language/extracted-graph.ts';
import type { Turn } from '../../language/messages.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import type { Change, NewPair, SpaceReader } from '../../store/store.ts';
import type { Dependencies } from '../dependencies.ts';
import { type GraphLook, visibleAmong } from '../graph/view.ts';
import type { RememberInput } from '../types.ts';
import { draftOf, planWrites } from '../write/plan.ts';
import { newRecord, revised } from '../write/record.ts';
import type { LeftOut, StatedEntity } from './stated.ts';

/** Most known entities that the model is shown with a batch of messages. */
const MOST_KNOWN = 30;

/** The input that remembers a new entity. */
export type EntityInput = RememberInput & { readonly id: string };

/** The entities that the names of a conversation refer to. */
export interface Resolved {
  /** The ids of the entities by key. A name without a usable entity is missing. */
  readonly ids: ReadonlyMap<string, string>;
  /** Inputs for new entities. */
  readonly inputs: readonly EntityInput[];
  /** Changes for the write: new names of known entities, and the questions. */
  readonly changes: readonly Change[];
  readonly questions: readonly NewPair[];
  readonly leftOut: readonly LeftOut[];
}

/** Where names are looked up, and how new entities are made. */
export interface NamesContext {
  readonly look: GraphLook;
  /** The scope of new entities. */
  readonly scope: string;
  readonly inputOf: (entity: StatedEntity) => EntityInput;
}

interface Meant {
  readonly entity: StatedEntity;
  readonly id: string;
  readonly known: MemoryRecord | undefined;
  /** Known entities that may be the same one, because they fit its name. */
  readonly rivals: readonly MemoryRecord[];
}

/**
 * Resolves each name among the entities that are visible from a scope: the one with this title, else the one with this
 * alias, else a new entity. If several fit, or only one of another kind, or the name may be that of another entity, a
 * new entity is made and a question is queued for each entity that it may be. Nothing is merged here.
 */
export async function resolveNames(
  engine: Dependencies,
  reader: SpaceReader,
  entities: readonly StatedEntity[],
  { look, scope, inputOf }: NamesContext,
): Promise<Resolved> {
  const sought = entities.flatMap(({ name, aliases, mayBe }) => [name, ...aliases, ...mayBe]);
  const named = sought.length === 0 ? [] : await reader.find('names', sought.map(foldedName));
  const visible = await visibleAmong(reader, named, look);
  const fitting = (name: string) => bestOf(visible, foldedName(name), scope);
  const meant: Meant[] = [];
  const leftOut: LeftOut[] = [];
  const inputs: EntityInput[] = [];
  for (const entity of entities) {
    const fit = fitting(entity.name);
    const same = fit.filter(({ kind }) => kind === undefined || [undefined, kind].includes(entity.kind));
    const known = same.length === 1 ? same[0] : await doubtedAmong(reader, same);
    if (known) {
      meant.push({ entity, id: known.id, known, rivals: [] });
      continue;
    }
    const input = inputOf(entity);
    const record = newRecord(input, { now: look.now, newId: () => input.id, limits: engine.limits });
    const [plan] = await planWrites(reader, [draftOf(input, record)], look.now);
    if (plan?.kind === 'insert' && !plan.inactive) {
      inputs.push(input);
      meant.push({ entity, id: input.id, known: undefined, rivals: same.length > 0 ? same : fit });
    } else leftOut.push({ kind: 'entity', name: entity.name, reason: 'inactive' });
  }
  const others = (name: string, { id }: Meant): readonly Rival[] =>
    [...fitting(name), ...meant.filter(({ entity, known }) => !known && entity.key === foldedName(name))]
      .map((each) => ('entity' in each ? { id: each.id, scope, isNew: true } : each))
      .filter((each) => each.id !== id);
  const questions = new Map<string, NewPair>();
  const changes: Change[] = [];
  const given: EntityInput[] = [];
  for (const each of meant) {
    const { entity, id, known } = each;
    const taken = (alias: string) => others(alias, each).length > 0;
    const aliases = entity.aliases.filter((alias) => !taken(alias));
    const rivals = [
      ...each.rivals,
      ...[...entity.mayBe, ...entity.aliases].flatMap((name) => others(name, each)),
    ];
    for (const rival of rivals) {
      const pair = questionOf({ id, scope: known?.scope ?? scope, isNew: !known }, rival);
      if (pair) questions.set([pair.older, pair.newer].sort().join(' '), pair);
    }
    if (!known) {
      const input = inputs.find((one) => one.id === id);
      if (input) given.push({ ...input, aliases: withAliases({ title: entity.name }, aliases) });
    } else if (known.scope === scope) changes.push(...told(known, entity, aliases, look.now));
  }
  return {
    ids: new Map(meant.map(({ entity, id }) => [entity.key, id])),
    inputs: given,
    changes: [...changes, ...[...questions.values()].map((pair): Change => ({ kind: 'queue-pair', pair }))],
    questions: [...questions.values()],
    leftOut,
  };
}

interface Rival {
  readonly id: string;
  readonly scope: string;
  readonly isNew?: boolean;
}

/**
 * Returns the entities that have a name, those of `scope` itself before those of its ancestors, and of these those with
 * it as title before those with it as alias.
 */
function bestOf(visible: readonly MemoryRecord[], name: string, scope: string): readonly MemoryRecord[] {
  const named = visible.filter((memory) => namesOfEntity(memory).includes(name));
  const here = named.filter((memory) => memory.scope === scope);
  const near = here.length > 0 ? here : named;
  const titled = near.filter(({ title }) => title !== undefined && foldedName(title) === name);
  return titled.length > 0 ? titled : near;
}

/**
 * Finds the entity that was made because a name was ambiguous, while the questions about it are open. The same name
 * then means it again.
 */
async function doubtedAmong(
  reader: SpaceReader,
  same: readonly MemoryRecord[],
): Promise<MemoryRecord | undefined> {
  if (same.length < 3) return undefined;
  const pairs = (await reader.knownPairs(same.map(({ id }) => id))).filter(
    ({ resolution }) => resolution === undefined,
  );
  return same.find(({ id }) =>
    same.every(
      (other) => other.id === id || pairs.some(({ older, newer }) => newer === id && older === other.id),
    ),
  );
}

/**
 * Returns the question whether two entities are the same. At least one must be new, so that undoing the write removes
 * the question; both must be in one scope, because only then they can be merged.
 */
function questionOf(one: Rival, other: Rival): NewPair | undefined {
  if (one.scope !== other.scope || one.id === other.id) return undefined;
  const [older, newer] = one.isNew ? [other, one] : [one, other];
  return newer.isNew ? { older: older.id, newer: newer.id, kind: 'similar', similarity: 1 } : undefined;
}

/** Returns the change that adds names to a known entity, and a kind if it had none. */
function told(
  known: MemoryRecord,
  { name, kind }: StatedEntity,
  more: readonly string[],
  now: number,
): readonly Change[] {
  const aliases = withAliases(known, [name, ...more]);
  const same = aliases?.length === known.aliases?.length && (known.kind !== undefined || kind === undefined);
  if (same || (aliases?.length ?? 0) > FIELDS.aliases.maxItems) return [];
  const memory = revised(known, { ...known, aliases, kind: known.kind ?? kind, updatedAt: now });
  return [{ kind: 'replace', memory }];
}

/** Finds the entities that messages may refer to: those that share a word with them. */
export async function knownTo(
  { space, analyzer }: Dependencies,
  batch: readonly Turn[],
  look: GraphLook,
): Promise<readonly KnownName[]> {
  const words = batch.flatMap(({ content, name = '' }) => analyzer.analyze(`${name} ${content}`));
  if (words.length === 0) return [];
  const { hits } = await space.snapshot((snapshot) =>
    snapshot.search({
      profile: resolveProfile(builtinProfile('bm25')),
      query: { terms: [...new Set(words)].sort() },
      filter: { ...look.filter, types: ['entity'] },
      now: look.now,
      limit: MOST_KNOWN,
    }),
  );
  return hits
    .filter(({ signals }) => (signals.lexical ?? 0) > 0)
    .flatMap(({ memory: { title, kind } }) => (title === undefined ? [] : [{ name: title, kind }]));
}
