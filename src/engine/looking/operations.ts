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
  /** Only those before this one, which the last of a page leads on with. Default is all. */
  readonly before?: number | undefined;
  /** Only of this verb, as the log calls it. Default is all. */
  readonly verb?: Verb | undefined;
}

/** One write of a space, as a list of what can be undone shows it. */
export interface Operation {
  /** What `undo` takes. */
  readonly operation: number;
  readonly verb: Verb;
  readonly at: string;
  /** How many memories it wrote; of a link or a setting none. */
  readonly memories: number;
  /** The first ten of them; where it wrote none, those that it linked. */
  readonly ids: readonly string[];
  /** How many links it changed. */
  readonly links: number;
  /** The run of maintenance or curation, or the import, that it was part of: `undo({ run })` takes all of it back. */
  readonly run?: string | undefined;
  /** Of an undo: what it took back. */
  readonly undoes?: number | undefined;
  readonly undoneBy?: number | undefined;
  /** Whether `undo` takes it back as it is now. */
  readonly undoable: boolean;
  /**
   * Why not: it is itself an undo; was undone; forgot a memory, or one that it wrote was forgotten since; or something
   * that it wrote was `changed` by a later operation, which has to be undone first, or a memory that it linked is gone.
   */
  readonly because?: 'undo' | 'undone' | 'forgotten' | 'changed' | undefined;
}

/** So many memories of an operation are named. */
const NAMED = 10;

/** The latest operations of the space, newest first. Throws `invalid_argument`. */
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
