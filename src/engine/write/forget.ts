import { flag, invalidArgument, oneOf, text, wholeNumber } from '../../domain/check.ts';
import { SalienceError, throwIfAborted } from '../../domain/errors.ts';
import { type MemoryRecord, SOURCES, type Source } from '../../domain/memory.ts';
import { keysOf, onlyKeys } from '../../domain/options.ts';
import { parseScope } from '../../domain/scope.ts';
import type { Instant } from '../../domain/time.ts';
import { filterExclusionOf } from '../../store/eligibility.ts';
import type { Change, MemoryFilter, SpaceReader, Verb } from '../../store/store.ts';
import { type Dependencies, filterOf, momentOf, notFoundAmong } from '../dependencies.ts';
import { optimistically } from '../optimistically.ts';
import type { FilterOptions, OperationOptions } from '../types.ts';
import { deriveTexts } from './derive.ts';
import { changesOf, type Forgetting, planForgetting, textsOf } from './forgetting.ts';
import { derivationOf } from './write.ts';

/** Selects the memories that match every given field. At least one field must be given. */
export interface ForgetFilter extends Omit<FilterOptions, 'scope'> {
  /** With `inScope`: also the scopes below it. Default is false. */
  readonly below?: boolean | undefined;
  /** Only memories whose last material update was in this session. */
  readonly sessionId?: string | undefined;
  readonly source?: Source | undefined;
  readonly topicKey?: string | undefined;
}

/** An id, some ids, or a filter. */
export type ForgetTarget = string | readonly string[] | ForgetFilter;

export interface ForgetOptions extends OperationOptions {
  /** Only report what would be forgotten. Default is false. */
  readonly dryRun?: boolean | undefined;
  /** Most ids that a dry run lists in `forgotten`, 1–10,000. Default is 100. */
  readonly limit?: number | undefined;
}

export interface ForgetResult {
  readonly dryRun: boolean;
  /**
   * How many memories are forgotten: those that were named or matched, memories made from them, and removed memories
   * (by resolving a conflict, an undo or the curator) whose history still had the same text.
   */
  readonly count: number;
  /** Their ids; in a dry run at most `limit`. */
  readonly forgotten: readonly string[];
  /** Ids of consolidations that were rebuilt without them, and without originals that were invalidated or superseded since. */
  readonly rebuilt: readonly string[];
  /**
   * Ids of originals that a forgotten consolidation had replaced, or that a rebuilt one no longer contains. Each is
   * recalled on its own again, unless it was invalidated or superseded.
   */
  readonly reinstated: readonly string[];
  /**
   * Ids of memories that may say the same and are kept: summaries that people wrote, copies, entities that took over a
   * name by a merge, and memories whose history has its text or name because they took it over once.
   */
  readonly mayStillSay: readonly string[];
  /**
   * What is erased now: `bytes` are all bytes in the store's files; `rows` are the rows, whose bytes the database frees
   * later.
   */
  readonly erased: 'bytes' | 'rows';
}

const PAGE = 1000;

/**
 * Forgets memories for good, in one transaction. Afterwards the store, with its history and its log, contains neither
 * their texts nor what was made from them. There is no undo.
 *
 * Throws `not_found` with every id that is not in the space, and `invalid_argument` for a filter without a field.
 * Nothing is forgotten then.
 */
export async function forget(
  engine: Dependencies,
  target: ForgetTarget,
  options: ForgetOptions = {},
): Promise<ForgetResult> {
  const now = momentOf(engine, options);
  const most = wholeNumber(options.limit ?? 100, 'limit', 1, 10_000);
  const named = namedIn(target);
  const selection = named ? undefined : selectionOf(target as ForgetFilter);
  const ids = named ?? (await select(engine, selection as Selection, options));
  const decide = async (reader: SpaceReader): Promise<Forgetting> => {
    if (named) await checkKnown(reader, named, engine.space.name);
    // A memory that was changed since the selection may no longer match the filter.
    const meant = selection ? await stillSelected(reader, ids, selection) : ids;
    return planForgetting(reader, meant, now);
  };
  if (options.dryRun) return resultOf(engine, await decide(engine.space), most);
  try {
    return resultOf(engine, await forgetBy(engine, 'forget', now, options, decide));
  } catch (error) {
    if (named && SalienceError.isInstance(error) && error.code === 'not_found')
      await eraseForgottenBefore(engine, error.details['ids'], now);
    throw error;
  }
}

/**
 * Retries the erasure of memories that are forgotten already: their bytes may not have been erased then, and the caller
 * was told to forget them again.
 */
async function eraseForgottenBefore({ space }: Dependencies, ids: unknown, at: Instant): Promise<void> {
  for (const id of Array.isArray(ids) ? ids : []) {
    const history = await space.history(id);
    if (history.length === 0 || history.some(({ redacted }) => !redacted)) continue;
    await space.write({ verb: 'forget', at }, async () => ({ changes: [], result: undefined }));
    return;
  }
}

/** Writes the plan that `decide` makes, decided again within the write, together with the changes in `also`. */
export async function forgetBy(
  engine: Dependencies,
  verb: Verb,
  at: Instant,
  options: OperationOptions,
  decide: (reader: SpaceReader) => Promise<Forgetting>,
  also: readonly Change[] = [],
): Promise<Forgetting> {
  const { result } = await optimistically(
    engine.space,
    { verb, at },
    {
      async prepare(reader) {
        const plan = await decide(reader);
        return { plan, indexed: await deriveTexts(textsOf(plan), engine, { signal: options.signal }) };
      },
      async decide(reader, { plan, indexed }) {
        const again = await decide(reader);
        if (signatureOf(again) !== signatureOf(plan)) return undefined;
        const changes = [...changesOf(again, indexed), ...also];
        return { changes, result: again, ...derivationOf(engine, indexed) };
      },
    },
    options.signal,
  );
  return result;
}

/** Identifies the texts that were indexed for a plan. */
function signatureOf(plan: Forgetting): string {
  return JSON.stringify(textsOf(plan).map(({ id, title, content, tags }) => [id, title, content, tags]));
}

function resultOf(engine: Dependencies, plan: Forgetting, most?: number): ForgetResult {
  return {
    dryRun: most !== undefined,
    count: plan.forgotten.length,
    forgotten: plan.forgotten.slice(0, most),
    rebuilt: plan.rebuilt.map(({ memory }) => memory.id),
    reinstated: plan.reinstated.map(({ memory }) => memory.id),
    mayStillSay: plan.mayStillSay,
    erased: engine.space.erases,
  };
}

function namedIn(target: ForgetTarget): readonly string[] | undefined {
  if (typeof target === 'string') return [target];
  if (!Array.isArray(target)) return undefined;
  return Array.from(target, (id: unknown, at) => text(id, `ids[${at}]`));
}

async function checkKnown(reader: SpaceReader, ids: readonly string[], space: string): Promise<void> {
  const missing: string[] = [];
  const present = await reader.get(ids);
  for (const [at, id] of ids.entries()) {
    if (!present[at] && (await reader.history(id)).every(({ redacted }) => redacted)) missing.push(id);
  }
  const [first, ...others] = missing;
  if (first !== undefined)
    throw notFoundAmong([first, ...others], ids.length, space, 'nothing was forgotten');
}

interface Selection {
  readonly filter: MemoryFilter;
  readonly matches: (memory: MemoryRecord) => boolean;
}

const FILTER_KEYS = keysOf<ForgetFilter>()({
  inScope: true,
  below: true,
  types: true,
  typesExclude: true,
  tags: true,
  metadata: true,
  sessionId: true,
  source: true,
  topicKey: true,
});

/** Throws `invalid_argument`, `invalid_scope`. */
function selectionOf(given: ForgetFilter): Selection {
  onlyKeys(given, FILTER_KEYS, 'filter');
  const { below = false, sessionId, topicKey, inScope, ...rest } = given;
  const source = given.source === undefined ? undefined : oneOf(given.source, 'source', SOURCES);
  flag(below, 'below');
  if (below && inScope === undefined) throw invalidArgument('below', 'name a scope with inScope');
  checkNarrows(given);
  const scope = below ? parseScope(inScope as string) : undefined;
  const filter = filterOf({ ...rest, ...(below ? {} : { inScope }) });
  return {
    filter,
    matches: (memory) =>
      filterExclusionOf(memory, filter) === undefined &&
      (scope === undefined || isAtOrBelow(memory.scope, scope)) &&
      (sessionId === undefined || memory.sessionId === sessionId) &&
      (source === undefined || memory.source === source) &&
      (topicKey === undefined || memory.topicKey === topicKey),
  };
}

/** Refuses a filter without an effective field: one that a caller built from empty values must not empty the space. */
function checkNarrows({ tags, typesExclude, metadata, below, ...rest }: ForgetFilter): void {
  const lists = [tags ?? [], typesExclude ?? [], Object.keys(metadata ?? {})];
  const narrows =
    Object.values(rest).some((each) => each !== undefined) || lists.some((each) => each.length > 0);
  if (narrows) return;
  throw invalidArgument(
    'filter',
    'an empty filter would forget everything; name at least one field. To forget all memories, give { inScope: "global", below: true }; to delete the space, use deleteSpace',
  );
}

function isAtOrBelow(scope: string, top: string): boolean {
  return top === 'global' || scope === top || scope.startsWith(`${top}/`);
}

/** Returns the ids of the memories that match, also of those that only the history still has. */
async function select(
  engine: Dependencies,
  { filter, matches }: Selection,
  options: OperationOptions,
): Promise<readonly string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    throwIfAborted(options.signal);
    const page = await engine.space.list({ filter, limit: PAGE, cursor });
    ids.push(...page.memories.filter(matches).map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return [...ids, ...(await engine.space.removed()).filter(matches).map(({ id }) => id)];
}

async function stillSelected(
  reader: SpaceReader,
  ids: readonly string[],
  { matches }: Selection,
): Promise<readonly string[]> {
  const present = await reader.get(ids);
  const removed = new Map((await reader.removed()).map((memory) => [memory.id, memory]));
  return ids.filter((id, at) => {
    const memory = present[at] ?? removed.get(id);
    return memory !== undefined && matches(memory);
  });
}
