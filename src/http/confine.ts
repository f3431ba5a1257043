import { text } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { GLOBAL_SCOPE, parseScope, visibleScopes } from '../domain/scope.ts';
import { optionsAt, VERB_NAMES, type VerbEntry, type VerbName, verbEntry } from '../domain/verbs.ts';
import type {
  Activity,
  ConflictsOptions,
  ContextOptions,
  ForgetTarget,
  GetOptions,
  HistoryEntry,
  Hit,
  Memory,
  MemoryEngine,
  OperationOptions,
  PendingConflict,
  Recall,
  RecallOptions,
  RememberOptions,
  Score,
  Trace,
} from '../index.ts';
import { forCaller } from '../index.ts';
import type { Grant } from './tokens.ts';

/**
 * Restricts a memory to what a token may do. With scopes, reads see only these scopes and their ancestors, writes go
 * only to these scopes, and verbs that concern the whole space are refused. With the right `read`, nothing is written
 * at all: recalls do not reinforce either.
 */
export function confine(memory: MemoryEngine, grant: Grant): MemoryEngine {
  const whole = grant.scopes ? confineToScopes(memory, grant.scopes) : memory;
  return grant.rights === 'read' ? readOnly(whole) : named(voting(whole, grant), grant);
}

/** Records recalls under the name of the token. */
function named(memory: MemoryEngine, { name }: Grant): MemoryEngine {
  return eachVerb(memory, (_, entry, run) =>
    entry.access === 'learn' ? (...given) => forCaller(name, () => run(...given)) : run,
  );
}

/**
 * Stores votes under a voter that belongs to the token, so that no token can vote in the name of another one. Only an
 * administrator of the whole space imports votes under the voters that cast them.
 */
function voting(memory: MemoryEngine, { id, rights, scopes }: Grant): MemoryEngine {
  const own = `token:${id}`;
  const importedVoter = (voter: string) =>
    voter === own || voter.startsWith(`${own}/`) ? voter : `${own}/${voter}`;
  return {
    ...memory,
    feedback: async (memoryId, vote, options) => {
      const { voter } = options ?? {};
      return memory.feedback(memoryId, vote, {
        ...options,
        voter: voter === undefined ? own : `${own}/${text(voter, 'voter')}`,
      });
    },
    importMemories: async (memories, options) =>
      memory.importMemories(
        rights === 'admin' && !scopes ? memories : memories.map((each) => withVoters(each, importedVoter)),
        options,
      ),
  };
}

type Votes = NonNullable<Memory['votes']>;

/** Renames the voters of an exported memory. What is not a vote is left for the import to refuse. */
function withVoters(memory: Memory, renamed: (voter: string) => string): Memory {
  if (!Array.isArray(memory?.votes)) return memory;
  const votes: Votes = memory.votes;
  const isNamed = (voter: unknown) => typeof voter === 'string' && voter.trim() !== '';
  return {
    ...memory,
    votes: votes.map((each) => (isNamed(each?.voter) ? { ...each, voter: renamed(each.voter) } : each)),
  };
}

/** Whether a token may write in a scope. */
export function mayWrite({ scopes, rights }: Grant, scope: string): boolean {
  return rights !== 'read' && (scopes?.includes(scope) ?? true);
}

/**
 * Restricts each call of a verb to this many milliseconds. Steps that cannot be interrupted finish first. Throws
 * `aborted`.
 */
export function withinTime(memory: MemoryEngine, milliseconds: number): MemoryEngine {
  return eachVerb(memory, (_, entry, run) => async (...given) => {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), milliseconds);
    const limited = (options?: Pick<OperationOptions, 'signal'>) => ({
      ...options,
      signal: options?.signal ? AbortSignal.any([options.signal, late.signal]) : late.signal,
    });
    try {
      return await run(...withOptions(given, entry, limited));
    } catch (error) {
      if (!late.signal.aborted || !SalienceError.isInstance(error) || error.code !== 'aborted') throw error;
      // Otherwise the message would say that the caller has aborted it.
      throw new SalienceError(
        'aborted',
        `this took longer than the ${milliseconds} ms that the server allows; ask for less at a time`,
        { details: error.details, cause: error },
      );
    } finally {
      clearTimeout(timer);
    }
  });
}

type Run = (...given: readonly unknown[]) => Promise<unknown>;

/** Wraps each verb of a memory with `made`. `close` does nothing, because other tokens may use the same space. */
function eachVerb(
  memory: MemoryEngine,
  made: (name: VerbName, entry: VerbEntry, run: Run) => Run,
): MemoryEngine {
  const close = async () => {};
  const verbs = VERB_NAMES.filter((name) => verbEntry(name).method === undefined).map((name) => {
    const entry = verbEntry(name);
    return [name, made(name, entry, (memory as unknown as Readonly<Record<string, Run>>)[name] as Run)];
  });
  const { space } = memory;
  return { space, close, [Symbol.asyncDispose]: close, ...Object.fromEntries(verbs) } as MemoryEngine;
}

/** Returns the arguments of a call with its options replaced by what `change` returns. */
function withOptions(
  given: readonly unknown[],
  entry: VerbEntry,
  change: (options: object | undefined) => object,
): readonly unknown[] {
  const at = optionsAt(entry);
  return [...Array.from({ length: at }, (_, place) => given[place]), change(given[at] as object | undefined)];
}

/** The error for a write with a token that may only read. */
export function writeRefused(what: string): SalienceError {
  return forbidden(`${what}: this token may only read, or the server runs read-only; nothing was written`);
}

function readOnly(memory: MemoryEngine): MemoryEngine {
  return eachVerb(memory, (name, entry, run) => {
    if (entry.access === 'read') return run;
    if (entry.access === 'learn') {
      return (...given) => run(...withOptions(given, entry, (options) => ({ ...options, track: false })));
    }
    return async () => {
      throw writeRefused(name);
    };
  });
}

/** Most neighbours on each side in `timeline`. */
const NEIGHBOURS = 5;

/** Verbs that write and return the memory, and have no entry in `special`. */
const GIVES_MEMORY: ReadonlySet<VerbName> = new Set(['setImportance', 'feedback', 'invalidate', 'reinstate']);

function confineToScopes(memory: MemoryEngine, scopes: readonly string[]): MemoryEngine {
  const visible: ReadonlySet<string> = new Set(scopes.flatMap(visibleScopes));
  const names = scopes.map((scope) => JSON.stringify(scope)).join(', ');
  const refuse = async (): Promise<never> => {
    throw forbidden(
      `this token is limited to ${scopes.length === 1 ? 'scope' : 'scopes'} ${names}, and this concerns the whole space; ask with a token of the whole space`,
    );
  };
  /** Returns the only scope of the token, for calls that name none. Throws `invalid_argument` if it has several. */
  const only = (): string => {
    if (scopes.length === 1) return scopes[0] as string;
    throw new SalienceError(
      'invalid_argument',
      `scope: this token opens several scopes; name one of ${names}`,
      { details: { field: 'scope' } },
    );
  };
  const seen = <Options extends { readonly scope?: string | undefined }>(options?: Options) => {
    const scope = options?.scope === undefined ? only() : parseScope(options.scope);
    if (visible.has(scope)) return { ...options, scope } as Options & { readonly scope: string };
    throw forbidden(`scope ${JSON.stringify(scope)} is not visible to this token; it opens ${names}`);
  };
  const written = (scope: string | undefined): string => {
    const chosen = scope === undefined ? only() : parseScope(scope);
    if (scopes.includes(chosen)) return chosen;
    throw forbidden(`this token may not write in scope ${JSON.stringify(chosen)}; it may in ${names}`);
  };
  const isVisible = ({ scope }: Pick<Memory, 'scope'>): boolean => visible.has(scope);
  /** Returns the scope from which the token sees a memory: the first of its scopes that can see it. */
  const viewOf = ({ scope }: Pick<Memory, 'scope'>): string =>
    scopes.find((each) => visibleScopes(each).includes(scope)) ?? (scopes[0] as string);
  const get = async (id: string, options?: GetOptions): Promise<Memory | undefined> => {
    // `effectiveWeight` depends on the scope that looks. A scope that sees more than this token must not influence it.
    const scope = options?.scope === undefined ? (scopes[0] as string) : seen(options).scope;
    try {
      const found = await memory.get(id, { ...options, scope });
      if (!found || !isVisible(found)) return undefined;
      const view = viewOf(found);
      if (options?.scope !== undefined || view === scope) return found;
      return await memory.get(id, { ...options, scope: view });
    } catch (error) {
      // `redacted` would reveal that a memory with this id existed, and nobody knows any more in which scope.
      if (SalienceError.isInstance(error) && error.code === 'redacted') return undefined;
      throw error;
    }
  };
  /** Replaces an `effectiveWeight` that was computed for the whole space by the one that the token sees. */
  const weighed = async (shown: Memory): Promise<Memory> => {
    const { effectiveWeight } = (await get(shown.id)) ?? { effectiveWeight: shown.weight };
    return { ...shown, effectiveWeight };
  };
  /** Like {@link weighed}, for an earlier version of a memory. Only whether it is superseded is taken from today. */
  const weighedThen = async (before: Memory): Promise<Memory> => {
    const now = await get(before.id);
    if (!now) return before;
    const superseded = now.effectiveWeight < now.weight;
    const effectiveWeight = superseded ? Math.min(before.weight, now.effectiveWeight) : before.weight;
    return { ...before, effectiveWeight };
  };
  const seenAmong = async (ids: readonly string[]): Promise<readonly string[]> => {
    const found = await Promise.all(ids.map((id) => get(id)));
    return ids.filter((_, index) => found[index] !== undefined);
  };
  const sees: Sees = async (ids) => (await seenAmong(ids)).length === ids.length;
  /** Throws `not_found` for a memory that the token does not see, with `asOf` for one that it did not see at that time. */
  const find = async (id: string, options?: Looking): Promise<Memory> => {
    const found = await get(id, { asOf: options?.asOf, signal: options?.signal });
    if (found) return found;
    throw new SalienceError(
      'not_found',
      `memory ${JSON.stringify(id)} does not exist in space ${JSON.stringify(memory.space)}`,
      { details: { id, space: memory.space } },
    );
  };
  const findWritable = async (id: string): Promise<void> => void written((await find(id)).scope);
  /** Checks what a token wants to forget: memories in its scopes, or a filter within one of them. */
  const forgettable = async (target: ForgetTarget): Promise<ForgetTarget> => {
    if (typeof target === 'string') await findWritable(target);
    else if (isList(target)) await allOf(target.map(findWritable));
    else {
      if (target.below) throw forbidden(`below: this token opens ${names} alone, and nothing below`);
      return { ...target, inScope: written(target.inScope) };
    }
    return target;
  };
  /**
   * Puts a statement into a scope of the token. Throws if it would supersede a memory that the token does not see. It
   * may supersede one that is written with it, which has an id of `among`.
   */
  const placed = async <Input extends RememberOptions>(
    input: Input,
    among: ReadonlySet<string | undefined> = new Set(),
  ): Promise<Input> => {
    const { supersedes = [] } = input;
    const check = async (id: string) => {
      // An id of the batch may belong to a memory that the token does not see.
      if (!among.has(id) || (await memory.get(id))) await find(id);
    };
    await allOf([supersedes].flat().map(check));
    return { ...input, scope: written(input.scope) };
  };
  /** Removes the id of a successor from an error if the token does not see that memory. */
  const withoutSuccessor = async (error: unknown): Promise<unknown> => {
    const by = SalienceError.isInstance(error) ? error.details['supersededBy'] : undefined;
    if (typeof by !== 'string' || (await get(by))) return error;
    return new SalienceError(
      'invalid_argument',
      'resolution: the older memory is superseded where this token does not see; use supersede or keep-both',
      { details: { field: 'resolution' } },
    );
  };
  /** Returns the open conflicts that the token sees, at most `limit`. */
  const pending = async (limit: number, options: Omit<ConflictsOptions, 'limit'> = {}) => {
    const found: PendingConflict[] = [];
    for (let { after } = options; ; ) {
      const page = await memory.conflicts({ ...options, after, limit: 1000 });
      found.push(...page.filter(({ older, newer }) => isVisible(older) && isVisible(newer)));
      after = page.at(-1)?.conflictId;
      if (found.length >= limit || after === undefined) return found.slice(0, limit);
    }
  };

  const history: MemoryEngine['history'] = async (id, options) => {
    const entries = await memory.history(id, options);
    const ids = [...new Set([id, ...entries.map(({ memoryId }) => memoryId)])];
    const present = new Map(
      await Promise.all(ids.map(async (each) => [each, await memory.get(each)] as const)),
    );
    // A memory that no longer exists was visible if any of its earlier versions is.
    const shown = (each: string) => {
      const now = present.get(each);
      if (now) return isVisible(now);
      return entries.some(({ memoryId, before }) => memoryId === each && before && isVisible(before));
    };
    if (!shown(id)) return [];
    const seenNow = [...present.values()].flatMap((each) => (each && isVisible(each) ? [each] : []));
    const chain = chainOf(id, seenNow);
    const kept: HistoryEntry[] = [];
    for (const entry of entries) {
      const { memoryId, before, link, redacted } = entry;
      // A forgotten memory may have been in another scope. Links to it, and earlier memories with its id, are left out.
      const belongs = !redacted && chain.has(memoryId) && shown(memoryId) && (!before || isVisible(before));
      if (belongs && (!link || (await sees(link.link.ids)))) {
        kept.push(before ? { ...entry, before: await weighedThen(before) } : entry);
      }
    }
    return kept;
  };
  /** Returns the part of an activity entry that concerns memories which the token saw at that time. */
  const seenOf = async (
    entry: Activity['entries'][number],
  ): Promise<readonly Activity['entries'][number][]> => {
    const shown = new Set<string>();
    if (entry.kind === 'use') for (const id of await seenAmong(entry.ids)) shown.add(id);
    else {
      for (const id of entry.ids) {
        for (const { operation, memoryId, link } of await history(id)) {
          if (operation === entry.operation && memoryId === id)
            for (const each of link?.link.ids ?? [id]) shown.add(each);
        }
      }
    }
    const ids = entry.ids.filter((id) => shown.has(id));
    if (ids.length === 0) return [];
    if (entry.kind === 'write') return [{ ...entry, ids }];
    // The session may belong to a scope that the token does not see.
    const { sessionId: _, ...rest } = entry;
    return [{ ...rest, ids }];
  };
  const activity: MemoryEngine['activity'] = async (after, { wait = 0, ...options } = {}) => {
    const until = performance.now() + wait;
    let from = after;
    for (let left = wait; ; left = Math.floor(until - performance.now())) {
      const { entries, position } = await memory.activity(from, { ...options, wait: Math.max(0, left) });
      const shown: Activity['entries'][number][] = [];
      for (const each of entries) shown.push(...(await seenOf(each)));
      // Activity that the token does not see must not end the wait.
      if (shown.length > 0 || entries.length === 0 || left <= 0) return { entries: shown, position };
      from = position;
    }
  };

  const special: Partial<Record<VerbName, unknown>> = {
    get,
    remember: async (content, options = {}) => memory.remember(content, await placed(options)),
    async rememberMany(inputs, options) {
      const among = new Set(inputs.map(({ id }) => id));
      return memory.rememberMany(await allOf(inputs.map((each) => placed(each, among))), options);
    },
    async importMemories(memories, options) {
      const among = new Set(memories.map(({ id }) => id));
      for (const { scope, supersedes = [], derivedFrom = [] } of memories) {
        written(scope ?? GLOBAL_SCOPE);
        // Forgetting a part rebuilds a consolidation of the same text: that would tell what an invisible part says.
        const others = [supersedes, derivedFrom].flat();
        await allOf(others.map(async (id) => among.has(id) || find(id)));
      }
      return memory.importMemories(memories, options);
    },
    // `observe` merges and supersedes only within one scope.
    observe: async (messages, options) =>
      memory.observe(messages, { ...options, scope: written(options?.scope) }),
    recall: async (query: string | undefined, options?: RecallOptions) =>
      withoutStrangers(withoutTotal(await memory.recall(query, seen(options))), sees),
    async context(query: string | undefined, options: ContextOptions) {
      await allOf((options?.mustInclude ?? []).map((id) => find(id, options)));
      return withoutTotal(await memory.context(query, seen(options)));
    },
    bootstrap: async (options) => withoutTotal(await memory.bootstrap(seen(options))),
    pinned: async (options) => withoutTotal(await memory.pinned(seen(options))),
    async update(id, changes, options) {
      await findWritable(id);
      if (changes.scope !== undefined) written(changes.scope);
      return weighed(await memory.update(id, changes, options));
    },
    markUsed: async (ids, options) => memory.markUsed(await seenAmong(ids), options),
    async forget(target, options) {
      const meant = await forgettable(target);
      // Memories derived from these may be in scopes that the token does not see. They are forgotten too, but not
      // named.
      const plan = await memory.forget(meant, { ...options, dryRun: true, limit: 10_000 });
      const lists = [plan.forgotten, plan.rebuilt, plan.reinstated, plan.mayStillSay];
      const shown = new Set(await seenAmong([...new Set(lists.flat())]));
      const result = await memory.forget(meant, options);
      const named = (ids: readonly string[]) => ids.filter((id) => shown.has(id));
      return {
        ...result,
        count: result.count - plan.forgotten.filter((id) => !shown.has(id)).length,
        forgotten: named(result.forgotten),
        rebuilt: named(result.rebuilt),
        reinstated: named(result.reinstated),
        mayStillSay: named(result.mayStillSay),
      };
    },
    async list(options) {
      const { redacted: _, ...page } = await memory.list(seen(options));
      return page;
    },
    history,
    activity,
    async links(id, options) {
      await find(id);
      const links = await memory.links(id, options);
      const there = await Promise.all(links.map((each) => get(each.id)));
      return links.filter((_, index) => there[index] !== undefined);
    },
    conflicts: async ({ limit = 20, ...options } = {}) =>
      Promise.all(
        (await pending(limit, options)).map(async (conflict) => ({
          ...conflict,
          older: await weighed(conflict.older),
          newer: await weighed(conflict.newer),
        })),
      ),
    async resolve(conflictId, resolution, options) {
      const conflict = (await pending(Infinity)).find((each) => each.conflictId === conflictId);
      if (!conflict) {
        throw new SalienceError('not_found', `conflict ${JSON.stringify(conflictId)} is not open`, {
          details: { conflictId },
        });
      }
      for (const { scope } of [conflict.older, conflict.newer]) written(scope);
      const resolved = await memory.resolve(conflictId, resolution, options).catch(async (error: unknown) => {
        throw await withoutSuccessor(error);
      });
      return { ...resolved, memory: await weighed(resolved.memory) };
    },
    // The engine looks for both ends in this scope only. One in another scope is reported as unknown.
    async relate(from, name, to, options = {}) {
      await allOf((options.statedBy ?? []).map(findWritable));
      return memory.relate(from, name, to, { ...options, scope: written(options.scope) });
    },
    unrelate: async (from, name, to, options = {}) =>
      memory.unrelate(from, name, to, { ...options, scope: written(options.scope) }),
    async beliefs(topicKey, options) {
      const beliefs = await memory.beliefs(topicKey, seen(options));
      return Promise.all(
        beliefs.map(async (belief) => ({ ...belief, supersededBy: await seenAmong(belief.supersededBy) })),
      );
    },
    async timeline(id, options) {
      const found = await find(id);
      // The page is filtered by scope, so that invisible neighbours do not take the places of visible ones.
      const page = await memory.list({
        ...options,
        scope: viewOf(found),
        around: id,
        sort: 'created',
        direction: 'asc',
        limit: 2 * NEIGHBOURS + 1,
        count: false,
      });
      const memories = page.memories.map(({ votes: _, ...each }): Memory => each);
      const at = memories.findIndex((each) => each.id === id);
      return {
        before: memories.slice(Math.max(0, at - NEIGHBOURS), at),
        memory: memories[at] ?? found,
        after: memories.slice(at + 1, at + 1 + NEIGHBOURS),
      };
    },
    // Any recall may name a strategy, so all of them may be listed.
    strategies: memory.strategies,
    // A space has one open session at a time, and it may belong to any scope.
    currentSession: async () => undefined,
  } satisfies Partial<Verbs>;
  return eachVerb(memory, (name, entry, run) => {
    if (special[name]) return special[name] as Run;
    const { takes = [], arguments: all = {} } = entry;
    const ids = takes.flatMap((each, at) => (all[each]?.isId ? [at] : []));
    const looks = Object.hasOwn(all, 'scope') && entry.access !== 'write';
    // A verb with neither an id nor a scope concerns the whole space, unless `special` handles it.
    if (entry.wholeSpace || (ids.length === 0 && !looks)) return refuse;
    return async (...given) => {
      const options = given[optionsAt(entry)] as Looking | undefined;
      // A memory may have said something else, in another scope, at the time that is looked back to.
      const check = (id: string): Promise<unknown> =>
        entry.access === 'write' ? findWritable(id) : find(id, options);
      await allOf(ids.map((at) => check(String(given[at]))));
      const answer = await run(...(looks ? withOptions(given, entry, seen) : given));
      return GIVES_MEMORY.has(name) ? weighed(answer as Memory) : answer;
    };
  });
}

/** The engine with `recall` and `context` as single signatures, without overloads. */
interface Verbs extends Omit<MemoryEngine, 'recall' | 'context'> {
  recall(query: string | undefined, options?: RecallOptions): Promise<Recall>;
  context(query: string | undefined, options: ContextOptions): Promise<unknown>;
}

type Sees = (ids: readonly string[]) => Promise<boolean>;

type Looking = Pick<GetOptions, 'asOf' | 'signal'>;

/**
 * Removes counts that would reveal memories in other scopes: the trace begins with the visible candidates, and the
 * number of redacted memories is 0, because nobody knows in which scopes those were.
 */
function withoutTotal<Answer extends { readonly trace: Trace }>({ trace, ...answer }: Answer): Answer {
  const stages = trace.stages.map((stage) =>
    stage.name === 'eligible' ? { ...stage, candidates: stage.survivors } : stage,
  );
  const { asOf } = trace;
  const seen = { ...trace, stages, ...(asOf ? { asOf: { ...asOf, redacted: 0 } } : {}) };
  return { ...answer, trace: seen } as unknown as Answer;
}

/** Removes evidence chains and paths that lead over memories which the token does not see. */
async function withoutStrangers<Strategy extends string>(
  recall: Recall<Strategy>,
  sees: Sees,
): Promise<Recall<Strategy>> {
  const shown = await Promise.all(recall.evidenceChains.map(({ ids }) => sees(ids)));
  const hits = recall.hits.map(async (hit): Promise<Hit<Strategy, Score<Strategy>>> => {
    if (!hit.path || (await sees(hit.path))) return hit;
    const { path, ...rest } = hit;
    return rest;
  });
  return {
    ...recall,
    hits: await Promise.all(hits),
    evidenceChains: recall.evidenceChains.filter((_, index) => shown[index]),
  };
}

/**
 * Returns the ids of a memory, of everything that superseded it, and of everything that those superseded, as far as
 * `seen` tells.
 */
function chainOf(id: string, seen: readonly Memory[]): ReadonlySet<string> {
  const chain = new Set([id]);
  // Iterating a `Set` also visits the elements that are added meanwhile.
  for (const each of chain) {
    for (const { id: above, supersedes } of seen) if (supersedes.includes(each)) chain.add(above);
  }
  const byId = new Map(seen.map((each) => [each.id, each]));
  for (const each of chain) for (const below of byId.get(each)?.supersedes ?? []) chain.add(below);
  return chain;
}

/**
 * Like `Promise.all`, but of several errors it throws the first in the order of the list. Otherwise the answer would depend
 * on which read of the store ends first, and that may depend on whether a memory exists that the token does not see.
 */
async function allOf<Value>(promises: readonly Promise<Value>[]): Promise<readonly Value[]> {
  const failed = (await Promise.allSettled(promises)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  return Promise.all(promises);
}

function isList(target: ForgetTarget): target is readonly string[] {
  return Array.isArray(target);
}

function forbidden(message: string): SalienceError {
  return new SalienceError('forbidden', message);
}
