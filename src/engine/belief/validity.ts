import { text } from '../../domain/check.ts';
import { redactPrivate } from '../../domain/redaction.ts';
import { withFullText } from '../../store/tiers.ts';
import { readAfterWrite } from '../after-write.ts';
import { type Dependencies, momentOf, notFound } from '../dependencies.ts';
import { shown } from '../recall/shown.ts';
import type { Memory, OperationOptions } from '../types.ts';
import { changeOne } from '../write/write.ts';

/**
 * Marks a memory as no longer true, with a reason. It is kept but not recalled. The same statement, if remembered
 * again, stays inactive until it is reinstated, even after this memory was forgotten. Throws `not_found`,
 * `invalid_argument`.
 */
export async function invalidate(
  engine: Dependencies,
  id: string,
  reason: string,
  options: OperationOptions = {},
): Promise<Memory> {
  const at = momentOf(engine, options);
  const why = redactPrivate(text(reason, 'reason', { maxCharacters: 1000 }));
  const memory = await engine.space.write({ verb: 'invalidate', at }, async (reader) => {
    const [before] = await reader.get([id]);
    if (!before) throw notFound(id, engine.space.name);
    const after = { ...before, invalidatedAt: at, invalidReason: why };
    return {
      changes: [
        { kind: 'replace', memory: after },
        {
          kind: 'add-tombstone',
          statement: await withFullText(reader, before),
          tombstone: { at, reason: why },
        },
      ],
      result: after,
    };
  });
  return readAfterWrite(() => shown(engine, memory, at));
}

/**
 * Reinstates an invalidated memory. Writes nothing if neither the memory nor its statement is invalidated. Throws
 * `not_found`.
 */
export async function reinstate(
  engine: Dependencies,
  id: string,
  options: OperationOptions = {},
): Promise<Memory> {
  const entry = { verb: 'reinstate', at: momentOf(engine, options) } as const;
  return changeOne(engine, entry, id, options, async (before, reader) => {
    const statement = await withFullText(reader, before);
    const [tombstone] = await reader.tombstones([statement]);
    if (before.invalidatedAt === undefined && !tombstone) return { memory: before };
    return {
      memory: { ...before, invalidatedAt: undefined, invalidReason: undefined },
      changes: [{ kind: 'remove-tombstone', statement }],
    };
  });
}
