import { oneOf, wholeNumber } from '../../domain/check.ts';
import { formatInstant } from '../../domain/time.ts';
import { WRITES } from '../../domain/verbs.ts';
import type { MemoryEvent, OperationSummary, SpaceReader, Verb } from '../../store/store.ts';
import { type Dependencies, limitOf } from '../dependencies.ts';
import type { OperationOptions } from '../types.ts';
import { whyNotUndoable } from '../write/undo.ts';

export interface OperationsOptions extends Pick<OperationOptions, 'signal'> {
  /** 1–1,000. Default is 20. */
  readonly limit?: number | undefined;
  /** Only operations before this one: pass the last `operation` of the previous page. Default is all. */
  readonly before?: number | undefined;
  /** Only operations of this verb. Default is all. */
  readonly verb?: Verb | undefined;
}

/** One write of a space, and whether it can be undone. */
export interface Operation {
  /** The number of the operation, for `undo`. */
  readonly operation: number;
  readonly verb: Verb;
  readonly at: string;
  /** How many memories it wrote; 0 for a link or a setting. */
  readonly memories: number;
  /** The ids of the first ten of them; if it wrote none, of those that it linked. */
  readonly ids: readonly string[];
  /** How many links it changed. */
  readonly links: number;
  /** The run of maintenance or curation, or the import, that it was part of: `undo({ run })` reverts all of it. */
  readonly run?: string | undefined;
  /** For an undo: the operation that it reverted. */
  readonly undoes?: number | undefined;
  readonly undoneBy?: number | undefined;
  /** Whether `undo` can revert it now. */
  readonly undoable: boolean;
  /**
   * Why it cannot be undone. `undo`: it is an undo itself. `undone`: it was undone. `forgotten`: it forgot a memory, or
   * one that it wrote was forgotten since. `changed`: a later operation, which must be undone first, changed something
   * that it wrote, or a memory that it linked is gone.
   */
  readonly because?: 'undo' | 'undone' | 'forgotten' | 'changed' | undefined;
}

/** Most ids per operation. */
const NAMED = 10;

/** Lists the latest operations of the space, newest first. Throws `invalid_argument`. */
export async function operations(
  { space }: Dependencies,
  { limit, before, verb }: OperationsOptions = {},
): Promise<readonly Operation[]> {
  const request = {
    limit: limitOf(limit, 20, 1000),
    before: before === undefined ? undefined : wholeNumber(before, 'before', 1, Number.MAX_SAFE_INTEGER),
    verb: verb === undefined ? undefined : oneOf(verb, 'verb', WRITES),
    ids: NAMED,
  };
  return space.snapshot(async (snapshot) => {
    const shown: Operation[] = [];
    for (const each of await snapshot.operations(request)) shown.push(await operationOf(snapshot, each));
    return shown;
  });
}

async function operationOf(reader: SpaceReader, summary: OperationSummary): Promise<Operation> {
  const { operation, verb, at, memories, ids, links, run, undoes, undoneBy } = summary;
  const problem = await whyNotUndoable(reader, summary);
  const because = problem === 'redacted' ? 'forgotten' : problem;
  return {
    operation,
    verb,
    at: formatInstant(at),
    memories,
    ids: memories === 0 && links > 0 ? linkedBy(await reader.operation(operation)) : ids,
    links,
    ...(run === undefined ? {} : { run }),
    ...(undoes === undefined ? {} : { undoes }),
    ...(undoneBy === undefined ? {} : { undoneBy }),
    undoable: because === undefined,
    ...(because === undefined ? {} : { because }),
  };
}

function linkedBy(events: readonly MemoryEvent[]): readonly string[] {
  return [...new Set(events.flatMap(({ link }) => link?.link.ids ?? []))].slice(0, NAMED);
}
