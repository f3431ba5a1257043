import { createHash } from 'node:crypto';
import { oneOf } from '../../domain/check.ts';
import { SORT_NAMES } from '../../domain/fields.ts';
import { notOfList } from '../../store/cursor.ts';
import type { PastSpace, SpaceReader } from '../../store/store.ts';
import { votesOnText } from '../belief/votes.ts';
import { type Dependencies, fieldConditionsOf, filterOf, limitOf, momentOf } from '../dependencies.ts';
import type { MemoryPage } from '../memory-engine.ts';
import type { GetOptions, ListOptions, Memory } from '../types.ts';
import { asKnown, redactedError, validAtOf } from './past.ts';
import { shown, shownAll } from './shown.ts';

/** Returns a memory, or `undefined`. Throws `redacted` for one that was known at `asOf.known` and has been forgotten since. */
export function get(engine: Dependencies, id: string, options: GetOptions = {}): Promise<Memory | undefined> {
  return asKnown(engine, options, (engineAsOf, rest, past) => getAsOf(engineAsOf, id, rest, past));
}

async function getAsOf(
  engine: Dependencies,
  id: string,
  options: GetOptions,
  past: PastSpace | undefined,
): Promise<Memory | undefined> {
  const { space } = engine;
  const filter = { validAt: validAtOf(options), ...filterOf({ scope: options.scope }) };
  const now = momentOf(engine, options);
  const found = await space.snapshot(async (snapshot) => {
    const [record] = await snapshot.get([id]);
    return record && shown({ space, reader: snapshot }, record, now, filter);
  });
  if (found) return found;
  if (
    past &&
    options.asOf?.known !== undefined &&
    (await space.history(id)).some(({ redacted }) => redacted)
  ) {
    throw redactedError(id, options.asOf.known);
  }
  return undefined;
}

/** Most characters of a page as JSON: a page of large memories ends before its limit, with a cursor. */
const MOST_CHARACTERS_LISTED = 4 * 2 ** 20;

/**
 * Returns one page of memories. Throws `invalid_argument` for the cursor of another list, and `not_found` if `around`
 * is not in the list.
 */
export function list(engine: Dependencies, options: ListOptions = {}): Promise<MemoryPage> {
  return asKnown(engine, options, listAsOf);
}

/**
 * Returns a mark that tells the space from one of the same name that was made after it was deleted. It is made from the
 * first event, which is never removed.
 */
async function markOf(reader: SpaceReader): Promise<string> {
  const { place } = await reader.activity({ sequence: 0, usage: 0 }, 1);
  return createHash('sha256').update(place.stamp).digest('hex').slice(0, 8);
}

async function listAsOf(
  engine: Dependencies,
  options: ListOptions,
  past: PastSpace | undefined,
): Promise<MemoryPage> {
  const { space } = engine;
  const filter = filterOf(options);
  const request = {
    filter,
    limit: limitOf(options.limit, 20, 1000),
    maxCharacters: MOST_CHARACTERS_LISTED,
    where: fieldConditionsOf(options),
    sort: oneOf(options.sort ?? 'updated', 'sort', SORT_NAMES),
    ...(options.direction === undefined
      ? {}
      : { direction: oneOf(options.direction, 'direction', ['asc', 'desc'] as const) }),
    offset: options.offset,
    around: options.around,
    count: options.count ?? true,
  };
  const visible = { scopes: filter.scopes, validAt: validAtOf(options) };
  const now = momentOf(engine, options);
  const [place, marked] = options.cursor === undefined ? [] : String(options.cursor).split('.');
  return space.snapshot(async (snapshot) => {
    const { memories, nextCursor, total, position } = await snapshot.list({ ...request, cursor: place });
    const mark = place === undefined && !nextCursor ? undefined : await markOf(snapshot);
    if (place !== undefined && marked !== mark) throw notOfList();
    const all = await shownAll({ space, reader: snapshot }, memories, now, visible);
    const listed: Memory[] = [];
    for (const [at, each] of memories.entries()) {
      const votes = await votesOnText(snapshot, each);
      const memory = all[at] as Memory;
      listed.push(
        votes.length === 0 ? memory : { ...memory, votes: votes.map(({ voter, vote }) => ({ voter, vote })) },
      );
    }
    return {
      memories: listed,
      ...(nextCursor ? { nextCursor: `${nextCursor}.${mark}` } : {}),
      ...(total === undefined ? {} : { total, position }),
      ...(past ? { redacted: past.redacted } : {}),
    };
  });
}
