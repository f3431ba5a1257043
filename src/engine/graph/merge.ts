import { atMost, invalidArgument } from '../../domain/check.ts';
import { FIELDS } from '../../domain/fields.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { MOST_RELATIONS, withAliases } from '../../domain/relation.ts';
import type { Instant } from '../../domain/time.ts';
import type { Change, SpaceReader } from '../../store/store.ts';
import { withFullText } from '../../store/tiers.ts';
import { checkSupersession, superseding } from '../belief/supersession.ts';
import { type Dependencies, momentOf, notFound } from '../dependencies.ts';
import type { OperationOptions } from '../types.ts';
import { revised } from '../write/record.ts';
import { changeOne } from '../write/write.ts';
import { lookOf, meantBy } from './resolve.ts';
import { joined, movedStatements, renamed } from './restate.ts';
import type { MergeResult } from './types.ts';
import { withJoinedValues } from './values.ts';
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
      // It may name memories that an import did not bring along.
      await checkSupersession(reader, [whole.memory], name, { lenient: true });
      statements = whole.statements;
      return whole;
    },
  );
  return { entity, merged, statements };
}

/** Merges the entity `from` into `into`. Returns the merged entity, the changes of other memories, and which of them stated relations of `from`. */
export async function mergedInto(
  reader: SpaceReader,
  from: MemoryRecord,
  into: MemoryRecord,
  now: Instant,
): Promise<{
  readonly memory: MemoryRecord;
  readonly changes: readonly Change[];
  readonly statements: readonly string[];
}> {
  if (from.id === into.id) throw invalidArgument('into', 'an entity cannot be merged with itself');
  if (from.scope !== into.scope) {
    throw invalidArgument(
      'into',
      `the two lie in different scopes, ${JSON.stringify(from.scope)} and ${JSON.stringify(into.scope)}: names must not cross them; move one with update first`,
    );
  }
  const names = withAliases(into, [from.title ?? [], from.aliases ?? []].flat());
  const aliases = atMost(names, FIELDS.aliases.maxItems, 'into', 'other names');
  const rewritten = await movedStatements(reader, [from.id, into.id], from.id, into.id, now);
  const changed = await withJoinedValues(reader, rewritten, into.id, now);
  const memory = revised(into, {
    ...superseding(into, from),
    aliases,
    kind: into.kind ?? from.kind,
    relations: atMost(
      joined(
        renamed(into.relations ?? [], from.id, into.id),
        renamed(from.relations ?? [], from.id, into.id),
      ),
      MOST_RELATIONS,
      'into',
      'relations',
    ),
    updatedAt: Math.max(into.updatedAt, now),
  });
  return {
    memory,
    changes: changed.map((each): Change => ({ kind: 'replace', memory: each })),
    statements: rewritten.map(({ id }) => id),
  };
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
