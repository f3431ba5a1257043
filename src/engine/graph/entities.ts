import { text } from '../../domain/check.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import type { Snapshot } from '../../store/store.ts';
import { type Dependencies, limitOf } from '../dependencies.ts';
import { asKnown } from '../recall/past.ts';
import { recall } from '../recall/recall.ts';
import { shownAll } from '../recall/shown.ts';
import type { Memory } from '../types.ts';
import { lookOf } from './resolve.ts';
import type { EntitiesOptions } from './types.ts';
import { type GraphLook, visibleAmong } from './view.ts';

const PAGE = 500;

/**
 * Returns the entities named `query`, then those that a recall finds for it; without a query all entities, newest
 * update first. Throws `invalid_argument`, `invalid_scope`.
 */
export function entities(
  engine: Dependencies,
  query: string | undefined,
  options: EntitiesOptions = {},
): Promise<readonly Memory[]> {
  return asKnown(engine, options, (engineAsOf, rest) => entitiesAsOf(engineAsOf, query, rest));
}

async function entitiesAsOf(
  engine: Dependencies,
  query: string | undefined,
  options: EntitiesOptions,
): Promise<readonly Memory[]> {
  const limit = limitOf(options.limit, 20, 1000);
  const kind = options.kind === undefined ? undefined : text(options.kind, 'kind');
  const look = await lookOf(engine, options);
  const isMeant = (memory: Pick<MemoryRecord, 'type' | 'kind'>) =>
    memory.type === 'entity' && (kind === undefined || memory.kind === kind);
  // Filtering by kind may remove hits, so more are searched.
  const most = kind === undefined ? limit : 1000;
  const ids = query === undefined ? undefined : await foundFor(engine, text(query, 'query'), most, options);
  const { space } = engine;
  return space.snapshot(async (snapshot) => {
    if (query === undefined || ids === undefined) return everyEntity(engine, snapshot, look, isMeant, limit);
    const named = await visibleAmong(snapshot, await snapshot.find('names', [query]), look);
    const found = (await snapshot.get(ids)).filter((memory) => memory !== undefined);
    const all = new Map([...named, ...found].map((memory) => [memory.id, memory]));
    const meant = [...all.values()].filter(isMeant).slice(0, limit);
    return shownAll({ space, reader: snapshot }, meant, look.now, look.filter);
  });
}

async function foundFor(
  engine: Dependencies,
  query: string,
  limit: number,
  { scope, asOf, signal, now }: EntitiesOptions,
): Promise<readonly string[]> {
  const { hits } = await recall(engine, query, {
    types: ['entity'],
    association: 'none',
    track: false,
    limit,
    scope,
    signal,
    now,
    // This engine is already that of `asOf.known`.
    ...(asOf?.valid === undefined ? {} : { asOf: { valid: asOf.valid } }),
  });
  return hits.map(({ memory }) => memory.id);
}

async function everyEntity(
  { space }: Dependencies,
  snapshot: Snapshot,
  look: GraphLook,
  isMeant: (memory: MemoryRecord) => boolean,
  limit: number,
): Promise<readonly Memory[]> {
  const found: MemoryRecord[] = [];
  let cursor: string | undefined;
  do {
    const filter = { ...look.filter, types: ['entity'] };
    const page = await snapshot.list({ filter, limit: PAGE, cursor });
    found.push(...(await visibleAmong(snapshot, page.memories, look)).filter(isMeant));
    cursor = page.nextCursor;
  } while (cursor !== undefined && found.length < limit);
  return shownAll({ space, reader: snapshot }, found.slice(0, limit), look.now, look.filter);
}
