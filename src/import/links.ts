import { setImmediate } from 'node:timers/promises';
import { SalienceError, throwIfAborted } from '../domain/errors.ts';
import { addTo } from '../domain/lists.ts';
import type { MemoryEngine } from '../index.ts';
import type { ImportItem } from './item.ts';
import type { Usable } from './known.ts';
import { aliasesWith, type Named, nameKeysOf, readNamesakes } from './namesakes.ts';
import { isRefusal } from './refusal.ts';

type Link = Extract<ImportItem, { kind: 'link' }>;
type Entity = Extract<ImportItem, { kind: 'entity' }>;
type Stated = Extract<ImportItem, { kind: 'relation' }>;

/** Counts the entities by outcome, and in `linked` the pairs that were not linked before. */
export interface LinkCounts {
  readonly imported: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly linked: number;
}

export interface LinkProgress {
  readonly counts: LinkCounts;
  /** How many entities, relations and links have been processed. */
  readonly done: number;
  /** The processed share of all of them, 0–1. */
  readonly share: number;
}

interface Writing {
  readonly signal?: AbortSignal | undefined;
  readonly onLeftOut?: ((what: string) => void) | undefined;
  /** Called after each group of writes, when everything counted is durable. */
  readonly onProgress?: ((progress: LinkProgress) => void) | undefined;
}

/** How many writes run concurrently, so that they share one wait for the disk. */
const AT_ONCE = 64;

/**
 * Collects the links and relations of sources. They are written last, when both ends exist in whatever order they came.
 */
export interface ImportLinks {
  add(item: Link | Entity | Stated): void;
  /** Records the id of the memory that holds an item. */
  name(item: Usable, id: string): void;
  /**
   * Writes the links that do not exist yet, and remembers the entities that relations join. Links with a missing end,
   * and entities and relations that the engine refuses, are reported to `onLeftOut`; the others are written.
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
      // If several items have the same name, it means the first.
      else for (const name of item.names) if (!entities.has(name)) entities.set(name, item);
    },
    name(item, id) {
      if (item.kind !== 'statement') return;
      for (const name of item.names ?? []) {
        // If several items have the same name, it means the first.
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
          // Signals such as SIGINT are handled only between turns of the event loop.
          await setImmediate();
          throwIfAborted(options.signal);
          // If one job fails, the others must end before this throws.
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

/** The relations that each statement states, by the id of the statement. */
type Statements = Map<string, Triple[]>;

/** Runs jobs in groups, one group after the other. Each job resolves with the number of things it has processed. */
type Each = <Job>(jobs: readonly Job[], run: (job: Job) => Promise<number>) => Promise<void>;

function sum(statements: Statements): number {
  return [...statements.values()].reduce((count, triples) => count + triples.length, 0);
}

/** Returns the relations between two different entities whose stating memory is known, with the id of that memory. */
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

/** Remembers entities and counts the outcomes. Resolves with their ids, without the refused ones. */
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
  const namesakes = wanted.length > 0 ? await readNamesakes(await open(), signal) : undefined;
  for (const group of withoutNamesakes(wanted)) {
    const there: (readonly [Entity, string])[] = [];
    await each(group, async (entity) => {
      const memory = await open();
      const isThere = (await memory.get(entity.input.id)) !== undefined;
      const id = isThere ? entity.input.id : namesakes?.find(entity.input);
      if (id === undefined) return attempt(entity, () => rememberNew(memory, entity, signal));
      there.push([entity, id]);
      return 0;
    });
    // Several entities may match one memory. They run one by one, so that each adds its names to the ones before.
    for (const one of there)
      await each([one], async ([entity, id]) =>
        attempt(entity, async () => tellMore(await open(), entity, id, signal)),
      );
    for (const entity of group) {
      const id = present.get(entity);
      if (id !== undefined) namesakes?.add(id, namesAt(entity, id));
    }
  }
  return present;
}

/**
 * Splits entities into groups in which no two share a name. An entity that shares a name with an earlier one must find
 * it already written.
 */
function withoutNamesakes(entities: readonly Entity[]): readonly (readonly Entity[])[] {
  const groups: Entity[][] = [];
  let taken = new Set<string>();
  for (const entity of entities) {
    const names = nameKeysOf(entity.input);
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

interface Remembered {
  readonly id: string;
  readonly outcome: Outcome;
}

/** Returns the names that an entity gives to the memory with `id`: all are aliases if it is not its own memory. */
function namesAt({ input }: Entity, id: string): Named {
  const { title, aliases = [] } = input;
  if (id === input.id || title === undefined) return input;
  return { ...input, title: undefined, aliases: [title, ...aliases] };
}

async function rememberNew(
  memory: MemoryEngine,
  { input }: Entity,
  signal: AbortSignal | undefined,
): Promise<Remembered> {
  const [said] = await memory.rememberMany([input], { signal });
  return { id: said?.id ?? input.id, outcome: said?.outcome === 'deduplicated' ? 'unchanged' : 'imported' };
}

/** Adds names to an existing entity and changes nothing else. */
async function tellMore(
  memory: MemoryEngine,
  entity: Entity,
  id: string,
  signal: AbortSignal | undefined,
): Promise<Remembered> {
  const known = await memory.get(id);
  // It was forgotten meanwhile.
  if (!known) return rememberNew(memory, entity, signal);
  const { title, aliases: more } = entity.input;
  const aliases = aliasesWith(known, { title: id === entity.input.id ? undefined : title, aliases: more });
  if (aliases === undefined) return { id, outcome: 'unchanged' };
  await memory.update(id, { aliases }, { signal });
  return { id, outcome: 'updated' };
}

/** Writes the relations of a statement that do not exist yet. Those over its limit are refused and reported. */
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
      // `not_found`: a memory was forgotten meanwhile, which needs no report.
      if (error.code !== 'not_found') onLeftOut?.('relations');
    }
  }
}

/**
 * Links `a` and `b`. Resolves with false if they were linked before or one was forgotten. `known` caches the links of
 * `a`.
 */
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
