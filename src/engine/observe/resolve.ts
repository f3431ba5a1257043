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

/** Known entities that the model is told of with a batch of messages. */
const MOST_KNOWN = 30;

/** What is remembered of entities as such. */
export type EntityInput = RememberInput & { readonly id: string };

/** Which entities names mean. */
export interface Resolved {
  /** By key; a name that means none that may be used is missing. */
  readonly ids: ReadonlyMap<string, string>;
  /** Entities that are new. */
  readonly inputs: readonly EntityInput[];
  /** What known ones are told, and the questions: for the write. */
  readonly changes: readonly Change[];
  readonly questions: readonly NewPair[];
  readonly leftOut: readonly LeftOut[];
}

/** From where names are looked at. */
export interface NamesContext {
  readonly look: GraphLook;
  /** In which scope new ones are remembered. */
  readonly scope: string;
  readonly inputOf: (entity: StatedEntity) => EntityInput;
}

interface Meant {
  readonly entity: StatedEntity;
  readonly id: string;
  readonly known: MemoryRecord | undefined;
  /** Known ones that have its name as well, or nearly. */
  readonly rivals: readonly MemoryRecord[];
}

/**
 * Finds what each name means among the entities that can be seen from a scope: one that has it as its title, else as an
 * alias, else a new one. Where several fit, where only one of another kind does, or where the name may be that of another
 * one, it is a new one as well, and a question waits for each that it may be; nothing is merged here.
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

/** Those that have a name as their title, else as an alias; those of the scope itself before those above it. */
function bestOf(visible: readonly MemoryRecord[], name: string, scope: string): readonly MemoryRecord[] {
  const named = visible.filter((memory) => namesOfEntity(memory).includes(name));
  const here = named.filter((memory) => memory.scope === scope);
  const near = here.length > 0 ? here : named;
  const titled = near.filter(({ title }) => title !== undefined && foldedName(title) === name);
  return titled.length > 0 ? titled : near;
}

/** The one that was made because a name means several, while the questions about it wait: it is meant again. */
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

/** Only what a write makes is asked about, so that its undo takes the question back; only in one scope two can be merged. */
function questionOf(one: Rival, other: Rival): NewPair | undefined {
  if (one.scope !== other.scope || one.id === other.id) return undefined;
  const [older, newer] = one.isNew ? [other, one] : [one, other];
  return newer.isNew ? { older: older.id, newer: newer.id, kind: 'similar', similarity: 1 } : undefined;
}

/** A known entity with more names, and a kind where it had none. */
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

/** The entities that messages may mean: those that share a word with them. */
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
