import { SalienceError, throwIfAborted } from '../domain/errors.ts';
import { FIELDS } from '../domain/fields.ts';
import { foldedName, namesOfEntity, withAliases } from '../domain/relation.ts';
import { GLOBAL_SCOPE } from '../domain/scope.ts';
import type { MemoryEngine } from '../index.ts';
import type { ImportItem } from './item.ts';
import type { Usable } from './known.ts';
import { isRefusal } from './refusal.ts';

type Link = Extract<ImportItem, { kind: 'link' }>;
type Entity = Extract<ImportItem, { kind: 'entity' }>;
type Stated = Extract<ImportItem, { kind: 'relation' }>;

/** What was written: entities as memories, and pairs that were not linked before. */
export interface LinkCounts {
  readonly imported: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly linked: number;
}

interface Writing {
  readonly signal?: AbortSignal | undefined;
  readonly onLeftOut?: ((what: string) => void) | undefined;
}

/** The links and relations that sources state. They are written last, when both ends are there, whatever their order. */
export interface ImportLinks {
  add(item: Link | Entity | Stated): void;
  /** Notes as which memory an item is there now. */
  name(item: Usable, id: string): void;
  /**
   * States the links that are not there yet, and remembers the entities that they join. Reports the links of which an end
   * is missing, and the entities and relations that are refused: the others are written.
   */
  write(open: () => Promise<MemoryEngine>, options: Writing): Promise<LinkCounts>;
}

export function createImportLinks(): ImportLinks {
  const links: Link[] = [];
  const entities = new Map<string, Entity>();
  const relations: Stated[] = [];
  const idOf = new Map<string, string>();
  const namedBy = new Map<string, string>();
  const find = (names: readonly string[]) =>
    names.map((name) => idOf.get(name)).find((id) => id !== undefined);
  return {
    add(item) {
      if (item.kind === 'link') links.push(item);
      else if (item.kind === 'relation') relations.push(item);
      // Of several with one name the first is meant.
      else for (const name of item.names) if (!entities.has(name)) entities.set(name, item);
    },
    name(item, id) {
      if (item.kind !== 'statement') return;
      for (const name of item.names ?? []) {
        // Of several with one name the first is meant.
        if ((namedBy.get(name) ?? item.input.id) !== item.input.id) continue;
        namedBy.set(name, item.input.id);
        idOf.set(name, id);
      }
    },
    async write(open, options) {
      const { signal, onLeftOut } = options;
      const done = new Set<string>();
      let linked = 0;
      for (const { from, to, relation } of links) {
        const [a, b] = [find(from), find(to)];
        if (a === undefined || b === undefined) {
          onLeftOut?.('links to what is not in the import');
          continue;
        }
        const statement = relation && find(relation.statedBy);
        if (statement !== undefined && a !== b) {
          throwIfAborted(signal);
          await relate(await open(), [a, relation?.name ?? '', b], statement, options);
        }
        const pair = JSON.stringify([a, b].sort());
        if (a === b || done.has(pair)) continue;
        done.add(pair);
        throwIfAborted(signal);
        if (await state(await open(), a, b, signal)) linked++;
      }
      return { ...(await relateEntities(open, { entities, relations, idOf }, options)), linked };
    },
  };
}

/** Remembers the entities that a relation joins with another one, and the relations. */
async function relateEntities(
  open: () => Promise<MemoryEngine>,
  {
    entities,
    relations,
    idOf,
  }: {
    readonly entities: ReadonlyMap<string, Entity>;
    readonly relations: readonly Stated[];
    readonly idOf: ReadonlyMap<string, string>;
  },
  options: Writing,
): Promise<Omit<LinkCounts, 'linked'>> {
  const { signal, onLeftOut } = options;
  const counts = { imported: 0, updated: 0, unchanged: 0 };
  const meant = (names: readonly string[]) =>
    names.map((name) => entities.get(name)).find((each) => each !== undefined);
  const joined = relations.flatMap(({ from, to, name, statedBy }) => {
    const [a, b, statement] = [meant(from), meant(to), idOf.get(statedBy)];
    return a && b && a !== b && statement !== undefined ? [{ a, b, name, statement }] : [];
  });
  const wanted = new Set(joined.flatMap(({ a, b }) => [a, b]));
  const present = new Map<Entity, string>();
  for (const entity of wanted) {
    throwIfAborted(signal);
    try {
      const { id, outcome } = await remembered(await open(), entity, signal);
      present.set(entity, id);
      counts[outcome]++;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      onLeftOut?.('entities');
    }
  }
  for (const { a, b, name, statement } of joined) {
    throwIfAborted(signal);
    const [from, to] = [present.get(a), present.get(b)];
    if (from !== undefined && to !== undefined && from !== to)
      await relate(await open(), [from, name, to], statement, options);
  }
  return counts;
}

/** The id of an entity, and what became of it. One that is there, by its id or its name, is left as it is but for its names: more may be said of it. */
async function remembered(
  memory: MemoryEngine,
  { input }: Entity,
  signal: AbortSignal | undefined,
): Promise<{ readonly id: string; readonly outcome: keyof Omit<LinkCounts, 'linked'> }> {
  const { id, title = '', scope = GLOBAL_SCOPE } = input;
  const itself = await memory.get(id);
  const named = (await memory.entities(title, { scope, signal })).filter(
    (each) => each.scope === scope && namesOfEntity({ ...each }).includes(foldedName(title)),
  );
  const known = itself ?? (named.length === 1 ? named[0] : undefined);
  if (!known) {
    const [said] = await memory.rememberMany([input], { signal });
    return { id: said?.id ?? id, outcome: said?.outcome === 'deduplicated' ? 'unchanged' : 'imported' };
  }
  const aliases = withAliases(
    { title: known.title, aliases: known.aliases },
    known === itself ? (input.aliases ?? []) : [title, ...(input.aliases ?? [])],
  )?.slice(0, FIELDS.aliases.maxItems);
  if (JSON.stringify(aliases) === JSON.stringify(known.aliases))
    return { id: known.id, outcome: 'unchanged' };
  await memory.update(known.id, { aliases }, { signal });
  return { id: known.id, outcome: 'updated' };
}

/** Notes a relation with the statement that says so, if it is not there yet. One states so many of them, and no more. */
async function relate(
  memory: MemoryEngine,
  [from, name, to]: readonly [string, string, string],
  statement: string,
  { signal, onLeftOut }: Writing,
): Promise<void> {
  const known = (await memory.get(statement))?.relations ?? [];
  if (known.some((each) => each.from === from && each.name === name && each.to === to)) return;
  try {
    await memory.relate(from, name, to, { statedBy: [statement], signal });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // What somebody forgot meanwhile has none.
    if (error.code !== 'not_found') onLeftOut?.('relations');
  }
}

/** Whether the link is new; a memory that somebody forgot meanwhile has none. */
async function state(
  memory: MemoryEngine,
  a: string,
  b: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    const known = await memory.links(a, { signal });
    if (known.some(({ id, kind }) => id === b && kind === 'stated')) return false;
    await memory.link(a, b, { signal });
    return true;
  } catch (error) {
    if (SalienceError.isInstance(error) && error.code === 'not_found') return false;
    throw error;
  }
}
