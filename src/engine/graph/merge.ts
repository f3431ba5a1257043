import { invalidArgument } from '../../domain/check.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import type { SpaceReader } from '../../store/store.ts';
import { withFullText } from '../../store/tiers.ts';
import { checkSupersession } from '../belief/supersession.ts';
import { type Dependencies, momentOf, notFound } from '../dependencies.ts';
import type { OperationOptions } from '../types.ts';
import { changeOne } from '../write/write.ts';
import { lookOf, meantBy } from './resolve.ts';
import { mergedInto } from './restate.ts';
import type { MergeResult } from './types.ts';
import { type GraphLook, visibleAmong } from './view.ts';

/**
 * Merges two entities: `into` takes over the names and relations of `from`, and its kind if it has none, and supersedes
 * it. Throws `not_found`, and `invalid_argument` for a memory that is not an entity, is not visible, or is in another
 * scope.
 */
export async function mergeEntities(
  engine: Dependencies,
  from: string,
  into: string,
  options: OperationOptions = {},
): Promise<MergeResult> {
  const now = momentOf(engine, options);
  const look = await lookOf(engine, { now: options.now });
  const { name } = engine.space;
  const { id: merged } = await meantBy(engine.space, from, 'from', look, name);
  const { id } = await meantBy(engine.space, into, 'into', look, name);
  let statements: readonly string[] = [];
  const entity = await changeOne(
    engine,
    { verb: 'mergeEntities', at: now },
    id,
    options,
    async (kept, reader) => {
      const [other] = await reader.get([merged]);
      if (!other) throw notFound(merged, name);
      await checkEntity(reader, other, 'from', look);
      await checkEntity(reader, kept, 'into', look);
      const whole = await mergedInto(reader, await withFullText(reader, other), kept, now);
      await checkSupersession(reader, [whole.memory], name);
      statements = whole.statements;
      return whole;
    },
  );
  return { entity, merged, statements };
}

/** Throws `invalid_argument` for a memory that is not an entity or is no longer believed. */
export async function checkEntity(
  reader: SpaceReader,
  memory: MemoryRecord,
  field: string,
  look: GraphLook,
): Promise<void> {
  const id = JSON.stringify(memory.id);
  if (memory.type !== 'entity')
    throw invalidArgument(field, `memory ${id} is not an entity but a ${memory.type}`);
  const [visible] = await visibleAmong(reader, [memory], look);
  if (visible) return;
  const [newer] = await reader.find('supersedes', [memory.id]);
  throw invalidArgument(
    field,
    newer
      ? `${id} is part of ${JSON.stringify(newer.id)} already; name that one, or split them`
      : `${id} is not believed any more; reinstate it first`,
  );
}
