import { listOf, text } from '../../domain/check.ts';
import { SalienceError } from '../../domain/errors.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { foldedName, relationName } from '../../domain/relation.ts';
import { filterExclusionOf } from '../../store/eligibility.ts';
import type { SpaceReader } from '../../store/store.ts';
import { type Dependencies, filterOf, momentOf } from '../dependencies.ts';
import { validAtOf } from '../recall/past.ts';
import type { GraphOptions } from './types.ts';
import { type GraphLook, visibleAmong } from './view.ts';

/** Reads the point of view of a caller: scope, time and single-valued relations. Throws `invalid_scope`, `invalid_time`. */
export async function lookOf(engine: Dependencies, options: GraphOptions = {}): Promise<GraphLook> {
  return {
    filter: { validAt: validAtOf(options), ...filterOf({ scope: options.scope }) },
    now: momentOf(engine, options),
    singleValued: new Set((await engine.space.settings()).singleValued),
  };
}

/** Checks the names of relations that a caller gives. Throws `invalid_argument`. */
export function relationNames(given: readonly string[] | undefined): ReadonlySet<string> | undefined {
  if (given === undefined) return undefined;
  return new Set(listOf(given, 'relations').map((name, at) => relationName(name, `relations[${at}]`)));
}

/**
 * Returns the memory with an id, or else the one visible entity with a name as its title, else as an alias. Throws
 * `not_found`, and `invalid_argument` if several entities have the name.
 */
export async function meantBy(
  reader: SpaceReader,
  given: unknown,
  field: string,
  look: GraphLook,
  space: string,
): Promise<MemoryRecord> {
  const said = text(given, field, { maxCharacters: 1000 });
  const [itself] = await reader.get([said]);
  // An id names a memory whether or not it is believed.
  if (itself && filterExclusionOf(itself, look.filter) === undefined) return itself;
  const named = await visibleAmong(reader, await reader.find('names', [said]), look);
  const titled = named.filter(({ title }) => title !== undefined && foldedName(title) === foldedName(said));
  const meant = titled.length > 0 ? titled : named;
  if (meant.length === 1) return meant[0] as MemoryRecord;
  const details = { field, space, ids: meant.map(({ id }) => id) };
  if (meant.length === 0) {
    throw new SalienceError(
      'not_found',
      `${field}: no entity that can be seen here is named ${JSON.stringify(said)}, and no memory has this id in space ${JSON.stringify(space)}; remember it with type "entity" and its name as title`,
      { details: { ...details, id: said } },
    );
  }
  const ids = details.ids.map((id) => JSON.stringify(id)).join(', ');
  throw new SalienceError(
    'invalid_argument',
    `${field}: ${JSON.stringify(said)} names ${meant.length} entities; say which by its id: ${ids}`,
    { details },
  );
}
