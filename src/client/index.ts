/**
 * A memory that a server keeps, with the interface of one that is opened in this process.
 *
 * @example
 * ```ts
 * const token = process.env['SALIENCE_TOKEN'] ?? '';
 * await using memory = await connectMemory({ url: 'http://127.0.0.1:7411', token });
 * const { hits } = await memory.recall('what coffee does she like?');
 * ```
 *
 * @module
 */

import type {
  Belief,
  Context,
  Explanation,
  HistoryEntry,
  Hit,
  Memory,
  MemoryEngine,
  MemoryLink,
  OperationOptions,
  Recall,
  Remembered,
  Score,
  SpaceInfo,
  StandingConflict,
  StartedSession,
  Trace,
} from '../index.ts';
import { withKnownOptions } from '../memory/verb-options.ts';
import { text } from '../model/check.ts';
import { SalienceError } from '../model/errors.ts';
import { keysOf, onlyKeys } from '../model/options.ts';
import { makeScore } from '../scoring/comparable.ts';
import type { Fields, RemoteVerb } from './routes.ts';
import { createTransport, type TransportOptions } from './transport.ts';

export interface ConnectOptions extends TransportOptions {
  /**
   * Whether hits come with their features and explanations, as they do in this process; what an answer weighs is
   * mostly these. With `false`, asking a hit for them throws `unsupported`. Default is true.
   */
  readonly explain?: boolean | undefined;
}

const connectKeys = keysOf<ConnectOptions>()({ url: true, token: true, fetch: true, explain: true });

/**
 * Connects to a server; the token decides the space. What the engine promises holds here too, but for `backup`, which
 * throws `unsupported`, and for `progress`, which nobody calls.
 *
 * @throws `invalid_argument`: an option is unknown or missing. What the server answers, such as `unauthorized`;
 * `server_failed`: it does not answer.
 * @example
 * ```ts
 * import { connectMemory } from 'salience/client';
 * const token = process.env['SALIENCE_TOKEN'] ?? '';
 * await using memory = await connectMemory({ url: 'http://127.0.0.1:7411', token });
 * const { hits } = await memory.recall('what coffee does she like?');
 * ```
 */
export async function connectMemory(options: ConnectOptions): Promise<MemoryEngine> {
  onlyKeys(options, connectKeys, 'connectMemory');
  text(options.url, 'url');
  text(options.token, 'token');
  const transport = createTransport(options);
  const { space } = await transport.askPath<{ readonly space: string }>('/v1/token');
  let closed = false;
  const ask = async <Answer>(
    verb: RemoteVerb,
    fields: Fields = {},
    operation: OperationOptions = {},
  ): Promise<Answer> => {
    if (closed) throw new SalienceError('closed', 'the memory was closed; connect again');
    return transport.ask<Answer>(verb, fields, operation);
  };
  const close = async () => {
    closed = true;
  };
  return withKnownOptions({
    space,
    remember: (content, given) => ask('remember', { content, ...statement(fieldsOf(given)) }, given),
    rememberMany: async (memories, given) =>
      (
        await ask<{ memories: readonly Remembered[] }>(
          'remember_many',
          { memories: memories.map((each) => statement({ ...each })) },
          given,
        )
      ).memories,
    async recall<Strategy extends string>(query: string | undefined, given?: OperationOptions) {
      const explain = options.explain !== false;
      const fields = { query, ...fieldsOf(given), explain, trace: true };
      return toRecall<Strategy>(await ask('recall', fields, given));
    },
    async get(id, given) {
      try {
        return await ask<Memory>('get', { id, ...fieldsOf(given) }, given);
      } catch (error) {
        if (SalienceError.isInstance(error) && error.code === 'not_found') return undefined;
        throw error;
      }
    },
    list: (given) => ask('list', fieldsOf(given), given),
    update: (id, changes, given) => ask('update', { ...changes, id }, given),
    forget(target, given = {}) {
      // A path cannot name every id.
      const fields = typeof target === 'string' || Array.isArray(target) ? { ids: [target].flat() } : target;
      return ask('forget_many', { ...fields, ...fieldsOf(given) }, given);
    },
    undo: (target, given) =>
      ask('undo', typeof target === 'object' ? { run: target.run } : { operation: target }, given),
    history: async (id, given) =>
      (await ask<{ events: readonly HistoryEntry[] }>('history', { id }, given)).events,
    links: async (id, given) => (await ask<{ links: readonly MemoryLink[] }>('links', { id }, given)).links,
    link: async (id, to, given) => void (await ask('link', { id, to, ...fieldsOf(given) }, given)),
    unlink: async (id, to, given) => void (await ask('unlink', { id, to, ...fieldsOf(given) }, given)),
    configure: (given) => ask('configure', fieldsOf(given), given),
    maintain: (given) => ask('maintain', fieldsOf(given), given),
    stats: async (given) => ({
      ...(await ask<Omit<SpaceInfo, 'path'>>('stats', {}, given)),
      path: undefined,
    }),
    explain: (query, id, given) => ask('explain', { id, query, ...fieldsOf(given) }, given),
    whyNot: (query, id, given) => ask('why_not', { id, query, ...fieldsOf(given) }, given),
    restore: async (memories, given) =>
      (await ask<{ memories: readonly Remembered[] }>('restore', { memories }, given)).memories,
    reindex: async (given) => void (await ask('reindex', {}, given)),
    invalidate: (id, reason, given) => ask('invalidate', { id, reason }, given),
    revive: (id, given) => ask('revive', { id }, given),
    conflicts: async (limit, given) =>
      (await ask<{ conflicts: readonly StandingConflict[] }>('conflicts', { limit }, given)).conflicts,
    resolve: (conflictId, resolution, given) => ask('resolve', { conflictId, resolution }, given),
    beliefs: async (topicKey, given) =>
      (await ask<{ beliefs: readonly Belief[] }>('beliefs', { topicKey, ...fieldsOf(given) }, given)).beliefs,
    async startSession(given) {
      const explain = options.explain !== false;
      const { profileHash, memories, ...started } = await ask<RemoteSession>(
        'start_session',
        { ...fieldsOf(given), explain },
        given,
      );
      return { ...started, memories: memories.map((hit) => toHit(hit, 'ambient', profileHash)) };
    },
    async currentSession(given) {
      if (given?.renew) {
        throw new SalienceError('unsupported', 'renew: a client cannot; call startSession');
      }
      return (await ask<{ sessionId?: string }>('current_session', {}, given)).sessionId;
    },
    endSession: (summary, given) => ask('end_session', { summary }, given),
    saveSummary: (summary, given) => ask('save_summary', { summary, ...fieldsOf(given) }, given),
    timeline: (id, given) => ask('timeline', { id }, given),
    async context<Strategy extends string>(query: string | undefined, given: OperationOptions) {
      const fields = { query, ...fieldsOf(given), trace: true };
      return toContext<Strategy>(await ask('context', fields, given));
    },
    bootstrap: async (given) => toContext(await ask('bootstrap', { ...fieldsOf(given), trace: true }, given)),
    pinned: async (given) => toContext(await ask('pinned', { ...fieldsOf(given), trace: true }, given)),
    observe: (messages, given) => ask('observe', { messages, ...fieldsOf(given) }, given),
    setImportance: (id, importance, given) => ask('set_importance', { id, importance }, given),
    feedback: (id, vote, given) =>
      ask(
        'feedback',
        { id, vote: vote === 1 ? 'up' : vote === -1 ? 'down' : vote, ...fieldsOf(given) },
        given,
      ),
    markUsed: async (ids, given) =>
      (await ask<{ ids: readonly string[] }>('mark_used', { ids, ...fieldsOf(given) }, given)).ids,
    curate: (given) => ask('curate', fieldsOf(given), given),
    async backup() {
      throw new SalienceError(
        'unsupported',
        'a server writes no files for a client: run "salience backup" where the store is',
      );
    },
    check: async (given) => (await ask<{ problems: readonly string[] }>('check', {}, given)).problems,
    close,
    [Symbol.asyncDispose]: close,
  });
}

/** A statement as the route wants it, which takes one form where the engine takes several. */
function statement({ supersedes, ...fields }: Fields): Fields {
  return supersedes === undefined ? fields : { ...fields, supersedes: [supersedes].flat() };
}

/** What goes to the server: everything but what is of this process, and the moment, which has a header. */
function fieldsOf(options: object = {}): Fields {
  const { signal, now, progress, ...fields } = options as Fields;
  return fields;
}

interface RemoteHit extends Omit<Hit, 'score' | 'explain' | 'features'> {
  readonly score: number;
  readonly features?: Hit['features'];
  readonly explanation?: Explanation;
}

interface RemoteSession extends Omit<StartedSession, 'memories'> {
  readonly memories: readonly RemoteHit[];
  readonly profileHash: string;
}

function toRecall<Strategy extends string>({
  hits,
  evidenceChains,
  trace,
}: {
  readonly hits: readonly RemoteHit[];
  readonly evidenceChains: Recall['evidenceChains'];
  readonly trace: Trace;
}): Recall<Strategy> {
  return {
    hits: hits.map((hit) => toHit(hit, trace.strategy as Strategy, trace.profileHash)),
    evidenceChains,
    trace,
  };
}

function toHit<Strategy extends string>(
  { score, explanation, features, ...hit }: RemoteHit,
  strategy: Strategy,
  profileHash: string,
): Hit<Strategy, Score<Strategy>> {
  return {
    ...hit,
    score: makeScore(strategy, profileHash, score),
    get features() {
      return features ?? notExplained();
    },
    explain: () => explanation ?? notExplained(),
  };
}

interface RemoteContext extends Omit<Context, 'items'> {
  readonly items: readonly (Omit<Context['items'][number], 'score'> & { readonly score: number })[];
}

function toContext<Strategy extends string>({ items, ...built }: RemoteContext): Context<Strategy> {
  const { strategy, profileHash } = built.trace;
  return {
    ...built,
    items: items.map(({ score, ...item }) => ({
      ...item,
      score: makeScore(strategy as Strategy, profileHash, score),
    })),
  };
}

function notExplained(): never {
  throw new SalienceError(
    'unsupported',
    'this memory was connected with explain: false; connect without it, or ask memory.explain(query, id)',
  );
}
