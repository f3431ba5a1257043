import { setImmediate } from 'node:timers/promises';
import { SalienceError, throwIfAborted } from '../domain/errors.ts';
import { FIELDS } from '../domain/fields.ts';
import { addTo } from '../domain/lists.ts';
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

interface LinkProgress {
  readonly counts: LinkCounts;
  /** How many entities, relations and links have been looked at. */
  readonly done: number;
  /** Which share of all that is, 0–1. */
  readonly share: number;
}

interface Writing {
  readonly signal?: AbortSignal | undefined;
  readonly onLeftOut?: ((what: string) => void) | undefined;
  /** Called after each group of writes, when what it counts is durable. */
  readonly onProgress?: ((progress: LinkProgress) => void) | undefined;
}

/** So many are written at once: writes that wait for the disk at one time wait for it together. */
const AT_ONCE = 64;

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
      const { onLeftOut, onProgress } = options;
      const pairs = new Map<string, readonly [string, string]>();
      const stated: Statements = new Map();
      for (const { from, to, relation } of links) {
        const [a, b] = [find(from), find(to)];
        if (a === undefined || b === undefined) {
          onLeftOut?.('links to what is not in the import');
          continue;
        }
        if (a === b) continue;
        const statement = relation && find(relation.statedBy);
        if (statement !== undefined) addTo(stated, statement, [a, relation?.name ?? '', b]);
        pairs.set(JSON.stringify([a, b].sort()), [a, b]);
      }
      const joined = joinedEntities(entities, relations, idOf);
      const wanted = new Set(joined.flatMap(({ a, b }) => [a, b]));
      const counts = { imported: 0, updated: 0, unchanged: 0, linked: 0 };
      let done = 0;
      const all = pairs.size + wanted.size + joined.length + sum(stated);
      const each: Each = async (jobs, run) => {
        for (let start = 0; start < jobs.length; start += AT_ONCE) {
          const group = jobs.slice(start, start + AT_ONCE);
          // Signals of the system are heard only between turns of the event loop.
          await setImmediate();
          throwIfAborted(options.signal);
          // None goes on behind the back of the caller when another one fails.
          const ended = await Promise.allSettled(group.map(run));
          for (const one of ended) if (one.status === 'rejected') throw one.reason;
          for (const one of ended) done += one.status === 'fulfilled' ? one.value : 0;
          onProgress?.({ counts: { ...counts }, done, share: done / all });
        }
      };
      const relateAll = (statements: Statements) =>
        each([...statements], async ([statement, triples]) => {
          await relate(await open(), triples, statement, options);
          return triples.length;
        });
      await relateAll(stated);
      const known = new Map<string, Promise<ReadonlySet<string>>>();
      await each([...pairs.values()], async ([a, b]) => {
        if (await state(await open(), a, b, known, options.signal)) counts.linked++;
        return 1;
      });
      const present = await rememberEntities(open, [...wanted], counts, each, options);
      const between: Statements = new Map();
      for (const { a, b, name, statement } of joined) {
        const [from, to] = [present.get(a), present.get(b)];
        if (from !== undefined && to !== undefined && from !== to)
          addTo(between, statement, [from, name, to]);
      }
      await relateAll(between);
      return counts;
    },
  };
}

type Triple = readonly [from: string, name: string, to: string];

/** What each statement says of relations, by its id. */
type Statements = Map<string, Triple[]>;

/** Runs jobs, some at once, the others when these have ended. Each resolves with how many things it has done. */
type Each = <Job>(jobs: readonly Job[], run: (job: Job) => Promise<number>) => Promise<void>;

function sum(statements: Statements): number {
  return [...statements.values()].reduce((count, triples) => count + triples.length, 0);
}

/** The relations that join an entity with another one, and the memory that says so. */
function joinedEntities(
  entities: ReadonlyMap<string, Entity>,
  relations: readonly Stated[],
  idOf: ReadonlyMap<string, string>,
): readonly { readonly a: Entity; readonly b: Entity; readonly name: string; readonly statement: string }[] {
  const meant = (names: readonly string[]) =>
    names.map((name) => entities.get(name)).find((each) => each !== undefined);
  return relations.flatMap(({ from, to, name, statedBy }) => {
    const [a, b, statement] = [meant(from), meant(to), idOf.get(statedBy)];
    return a && b && a !== b && statement !== undefined ? [{ a, b, name, statement }] : [];
  });
}

/** Remembers entities, and counts what became of them. Resolves with their ids; those that are refused have none. */
async function rememberEntities(
  open: () => Promise<MemoryEngine>,
  wanted: readonly Entity[],
  counts: Record<Outcome, number>,
  each: Each,
  { signal, onLeftOut }: Writing,
): Promise<ReadonlyMap<Entity, string>> {
  const present = new Map<Entity, string>();
  const attempt = async (entity: Entity, work: () => Promise<Remembered>) => {
    try {
      const { id, outcome } = await work();
      present.set(entity, id);
      counts[outcome]++;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      onLeftOut?.('entities');
    }
    return 1;
  };
  const names = wanted.length > 0 ? await namesIn(await open(), signal) : undefined;
  for (const group of withoutNamesakes(wanted)) {
    const there: (readonly [Entity, string])[] = [];
    await each(group, async (entity) => {
      const memory = await open();
      const id = await idOfEntity(memory, entity, names, signal);
      if (id === undefined) return attempt(entity, () => rememberNew(memory, entity, signal));
      there.push([entity, id]);
      return 0;
    });
    // Several may be known as one memory: each adds its names to those that it has by then.
    for (const one of there)
      await each([one], async ([entity, id]) =>
        attempt(entity, async () => tellMore(await open(), entity, id, signal)),
      );
    for (const { input } of group)
      for (const name of namesOfEntity({ ...input, type: 'entity', title: input.title })) names?.add(name);
  }
  return present;
}

/**
 * Entities in groups of which none can be known by a name of another one of its group: the later one must find the earlier one
 * written.
 */
function withoutNamesakes(entities: readonly Entity[]): readonly (readonly Entity[])[] {
  const groups: Entity[][] = [];
  let taken = new Set<string>();
  for (const entity of entities) {
    const names = namesOfEntity({ ...entity.input, type: 'entity', title: entity.input.title });
    if (groups.length === 0 || names.some((name) => taken.has(name))) {
      groups.push([]);
      taken = new Set();
    }
    groups.at(-1)?.push(entity);
    for (const name of names) taken.add(name);
  }
  return groups;
}

type Outcome = keyof Omit<LinkCounts, 'linked'>;

/** The id of an entity, and what became of it. */
interface Remembered {
  readonly id: string;
  readonly outcome: Outcome;
}

/** The names of all entities of a space that has few: the others need not be looked for. `undefined` for one that has many. */
async function namesIn(
  memory: MemoryEngine,
  signal: AbortSignal | undefined,
): Promise<Set<string> | undefined> {
  const { memories, nextCursor } = await memory.list({
    types: ['entity'],
    limit: 1000,
    count: false,
    signal,
  });
  return nextCursor ? undefined : new Set(memories.flatMap((each) => namesOfEntity({ ...each })));
}

/** The memory that an entity is there already, by its id or its name. */
async function idOfEntity(
  memory: MemoryEngine,
  { input: { id, title = '', scope = GLOBAL_SCOPE } }: Entity,
  names: ReadonlySet<string> | undefined,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  if (await memory.get(id)) return id;
  if (names && !names.has(foldedName(title))) return undefined;
  const found = await memory.entities(title, { scope, signal });
  const named = found.filter(
    (each) => each.scope === scope && namesOfEntity({ ...each }).includes(foldedName(title)),
  );
  return named.length === 1 ? named[0]?.id : undefined;
}

async function rememberNew(
  memory: MemoryEngine,
  { input }: Entity,
  signal: AbortSignal | undefined,
): Promise<Remembered> {
  const [said] = await memory.rememberMany([input], { signal });
  return { id: said?.id ?? input.id, outcome: said?.outcome === 'deduplicated' ? 'unchanged' : 'imported' };
}

/** One that is there is left as it is but for its names: more may be said of it. */
async function tellMore(
  memory: MemoryEngine,
  entity: Entity,
  id: string,
  signal: AbortSignal | undefined,
): Promise<Remembered> {
  const known = await memory.get(id);
  // Somebody forgot it meanwhile.
  if (!known) return rememberNew(memory, entity, signal);
  const { title = '', aliases: more = [] } = entity.input;
  const { aliases: before } = known;
  const aliases = withAliases(
    { title: known.title, aliases: before },
    id === entity.input.id ? more : [title, ...more],
  )?.slice(0, FIELDS.aliases.maxItems);
  if (JSON.stringify(aliases) === JSON.stringify(before)) return { id, outcome: 'unchanged' };
  await memory.update(id, { aliases }, { signal });
  return { id, outcome: 'updated' };
}

/** Notes relations with the statement that says so, those that are not there yet. One states so many of them, and no more. */
async function relate(
  memory: MemoryEngine,
  triples: readonly Triple[],
  statement: string,
  { signal, onLeftOut }: Writing,
): Promise<void> {
  const known = (await memory.get(statement))?.relations ?? [];
  const there = new Set(known.map(({ from, name, to }) => JSON.stringify([from, name, to])));
  for (const triple of triples) {
    const key = JSON.stringify(triple);
    if (there.has(key)) continue;
    throwIfAborted(signal);
    const [from, name, to] = triple;
    try {
      await memory.relate(from, name, to, { statedBy: [statement], signal });
      there.add(key);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // What somebody forgot meanwhile has none.
      if (error.code !== 'not_found') onLeftOut?.('relations');
    }
  }
}

/** Whether the link is new; a memory that somebody forgot meanwhile has none. What is linked with what is kept in `known`. */
async function state(
  memory: MemoryEngine,
  a: string,
  b: string,
  known: Map<string, Promise<ReadonlySet<string>>>,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    const linked = known.get(a) ?? statedFrom(memory, a, signal);
    known.set(a, linked);
    if ((await linked).has(b)) return false;
    await memory.link(a, b, { signal });
    return true;
  } catch (error) {
    if (SalienceError.isInstance(error) && error.code === 'not_found') return false;
    throw error;
  }
}

async function statedFrom(
  memory: MemoryEngine,
  id: string,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> {
  const links = await memory.links(id, { signal });
  return new Set(links.flatMap((link) => (link.kind === 'stated' ? [link.id] : [])));
}
