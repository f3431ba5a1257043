/**
 * A memory on a server, with the same interface as one that is opened in this process.
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

import { callback, invalidArgument, listOf, text } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { SalienceError } from '../domain/errors.ts';
import { isPlain, keysOf, onlyKeys } from '../domain/options.ts';
import { optionNames, optionsAt, VERB_NAMES, type VerbName, verbEntry } from '../domain/verbs.ts';
import { type Verbs, withVerbChecks } from '../engine/verb-options.ts';
import type {
  Context,
  Explanation,
  Hit,
  MemoryEngine,
  OperationOptions,
  Recall,
  Score,
  StartedSession,
  Trace,
} from '../index.ts';
import { makeScore } from '../scoring/comparable.ts';
import type { Fields } from './routes.ts';
import { createTransport, notThisApi, type TransportOptions } from './transport.ts';

export interface ConnectOptions extends TransportOptions {
  /**
   * Whether hits come with their features and explanations, as they do in this process. They make up most of an
   * answer's size. With `false`, reading them from a hit throws `unsupported`. Default is true.
   */
  readonly explain?: boolean | undefined;
}

const connectKeys = keysOf<ConnectOptions>()({ url: true, token: true, fetch: true, explain: true });

/**
 * Connects to a server. The token decides the space. The memory behaves like one that is opened in this process, except
 * that `backup` and `currentSession({ renew: true })` throw `unsupported`, and `progress` is never called.
 * `rememberMany` and `importMemories` take at most 10,000 memories, in one transaction; `observe` takes at most 10,000
 * messages, and a list of ids or names at most 10,000 entries. A recall returns at most 1,000 hits. At most 32 requests are
 * sent at once, besides those that wait for activity; further calls wait.
 *
 * @throws `invalid_argument`: an option is unknown, missing or invalid, or the URL has a path without an API, such as
 * `/v1`. `server_failed`: the server does not answer. Also the errors that the server returns, such as `unauthorized`.
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
  const url = checkedUrl(options.url);
  const token = checkedToken(options.token);
  if (options.fetch !== undefined) callback(options.fetch, 'fetch');
  const transport = createTransport({ url, token, fetch: options.fetch });
  const granted = await transport
    .askPath<{ readonly space?: unknown } | null>('/v1/token')
    .catch((error: unknown) => {
      throw wrongPath(url, error);
    });
  const space = granted?.space;
  if (typeof space !== 'string') throw notThisApi(url, 200);
  const explain = options.explain !== false;
  let closed = false;
  const ask = async <Answer>(
    verb: VerbName,
    fields: Fields = {},
    operation: OperationOptions = {},
  ): Promise<Answer> => {
    if (closed) throw new SalienceError('closed', 'the memory was closed; connect again');
    const answer = await transport.ask<Answer>(verb, fields, operation);
    if (isShaped(verb, answer as Fields)) return answer;
    throw notThisApi(url, 200, verbEntry(verb).access === 'write');
  };
  const close = async () => {
    closed = true;
  };
  const verbs = Object.fromEntries(
    VERB_NAMES.map((verb) => [verb, (...given: readonly unknown[]) => askAsListed(ask, verb, given)]),
  ) as unknown as Verbs;
  return withVerbChecks({
    ...verbs,
    space,
    remember: (content, given) => ask('remember', { content, ...statement(fieldsOf(given)) }, given),
    rememberMany: (memories, given) =>
      verbs.rememberMany(
        listOf(memories, 'memories').map((each) => (isPlain(each) ? statement({ ...each }) : each)) as never,
        given,
      ),
    importMemories: (memories, given) => verbs.importMemories(listOf(memories, 'memories'), given),
    async recall<Strategy extends string>(query: string | undefined, given?: OperationOptions) {
      const fields = { query, ...fieldsOf(given), explain, trace: true };
      return toRecall<Strategy>(await ask('recall', fields, given));
    },
    async get(id, given) {
      try {
        return await verbs.get(id, given);
      } catch (error) {
        if (SalienceError.isInstance(error) && error.code === 'not_found') return undefined;
        throw error;
      }
    },
    // An empty id would make an empty path segment, which no route matches.
    history: async (id, given) => (id === '' ? [] : verbs.history(id, given)),
    async replay(recallId, given) {
      if (recallId === '') throw invalidArgument('recallId', '"" is none; recalls lists them');
      return verbs.replay(recallId, given);
    },
    forget(target, given = {}) {
      // `forgetMany` takes ids in its body, because a path cannot hold every id.
      const isIds = typeof target === 'string' || Array.isArray(target);
      if (!isIds) onlyKeys(target, FORGET_FILTER, 'filter');
      return ask('forgetMany', { ...(isIds ? { ids: [target].flat() } : target), ...fieldsOf(given) }, given);
    },
    feedback: (id, vote, given) => verbs.feedback(id, vote === 1 ? 'up' : vote === -1 ? 'down' : vote, given),
    async stats(given) {
      return { ...(await verbs.stats(given)), path: undefined };
    },
    async startSession(given) {
      const { profileHash, memories, ...started } = await ask<RemoteSession>(
        'startSession',
        { ...fieldsOf(given), explain },
        given,
      );
      return { ...started, memories: memories.map((hit) => toHit(hit, 'ambient', profileHash)) };
    },
    async currentSession(given) {
      if (given?.renew) {
        throw new SalienceError('unsupported', 'renew: a client cannot; call startSession');
      }
      return (await ask<{ sessionId?: string }>('currentSession', {}, given)).sessionId;
    },
    async context<Strategy extends string>(query: string | undefined, given: OperationOptions) {
      const fields = { query, ...fieldsOf(given), trace: true };
      return toContext<Strategy>(await ask('context', fields, given));
    },
    bootstrap: async (given) => toContext(await ask('bootstrap', { ...fieldsOf(given), trace: true }, given)),
    pinned: async (given) => toContext(await ask('pinned', { ...fieldsOf(given), trace: true }, given)),
    async backup() {
      throw new SalienceError(
        'unsupported',
        'a server writes no files for a client: run "salience backup" where the store is',
      );
    },
    close,
    [Symbol.asyncDispose]: close,
  });
}

function checkedUrl(given: string): string {
  const url = text(given, 'url').trim();
  // In a browser, the URL may be relative to the page.
  const page = (globalThis as { readonly location?: { readonly href?: string } }).location?.href;
  const { username = '', password = '' } = URL.canParse(url) ? new URL(url) : {};
  // `fetch` refuses URLs with a user or password. The message does not repeat them.
  if (username !== '' || password !== '') {
    throw invalidArgument(
      'url',
      'it names a user or a password; leave them out, the token is all that is sent',
    );
  }
  // The path of a verb is appended to the URL.
  if (URL.canParse(url, page) && /^https?:$/.test(new URL(url, page).protocol) && !/[?#]/.test(url))
    return url;
  throw invalidArgument('url', `${describe(given)} is not the URL of a server; write http://127.0.0.1:7411`);
}

/** If there is no API at a URL with a path, suggests the URL without it. Returns other errors as they are. */
function wrongPath(url: string, error: unknown): unknown {
  const isThere =
    SalienceError.isInstance(error) && (error.code === 'not_found' || error.details['status'] === 405);
  const given = url.replace(/\/+$/, '');
  // A proxy may serve the API below a path of its own, which must stay.
  const ofRoute = /\/(v1|mcp|inspector)(\/.*)?$/;
  const likely = ofRoute.test(given)
    ? given.replace(ofRoute, '')
    : given.replace(/^(\w+:\/\/[^/]*).*$/, '$1');
  if (!isThere || likely === given || likely === '') return error;
  return invalidArgument(
    'url',
    `there is no API at ${given}; give the URL of the server, probably ${likely}`,
  );
}

/** Returns the token without surrounding white space, such as the byte order mark that some editors write. */
function checkedToken(given: string): string {
  const token = text(given, 'token').trim();
  // A header cannot hold other characters.
  const [wrong] = /[^\x21-\x7e]/u.exec(token) ?? [];
  if (wrong === undefined) return token;
  throw invalidArgument(
    'token',
    `no token has the character ${JSON.stringify(wrong)}; give the whole token as "salience token create" showed it`,
  );
}

/** The fields of a filter of `forget`: the arguments of `forgetMany` without ids and options. */
const FORGET_FILTER = Object.keys(verbEntry('forgetMany').arguments ?? {}).filter(
  (name) => name !== 'ids' && !optionNames(verbEntry('forget')).includes(name),
);

/** Fields of answers that the client reads and cannot do without. */
const NEEDED: Partial<Record<VerbName, readonly string[]>> = {
  recall: ['hits', 'trace'],
  context: ['items', 'trace'],
  bootstrap: ['items', 'trace'],
  pinned: ['items', 'trace'],
  startSession: ['memories'],
};

/**
 * Whether an answer has the fields that the client reads. Another program, or another version of the server, may answer
 * something else.
 */
function isShaped(verb: VerbName, answer: Fields): boolean {
  const { answer: listed } = verbEntry(verb);
  const needed = listed && 'list' in listed ? [listed.list] : (NEEDED[verb] ?? []);
  return needed.every((name) => (name === 'trace' ? isPlain(answer[name]) : Array.isArray(answer[name])));
}

/** Calls a verb. The table of verbs says how its arguments are sent and how its answer is unpacked. */
async function askAsListed(
  ask: (verb: VerbName, fields: Fields, operation: OperationOptions) => Promise<unknown>,
  verb: VerbName,
  given: readonly unknown[],
): Promise<unknown> {
  const entry = verbEntry(verb);
  const { takes = [], rest, answer, arguments: all = {} } = entry;
  if (rest !== undefined) {
    const names = Object.keys(all).filter((name) => !takes.includes(name));
    onlyKeys(given[takes.length], names, rest);
  }
  const options = (given[optionsAt(entry)] ?? {}) as OperationOptions;
  const answered = await ask(
    verb,
    {
      ...(rest === undefined ? {} : (given[takes.length] as Fields)),
      ...Object.fromEntries(takes.map((name, at) => [name, given[at]])),
      ...fieldsOf(options),
    },
    options,
  );
  if (answer === undefined) return answered;
  return 'list' in answer ? (answered as Fields)[answer.list] : undefined;
}

/** Converts a statement for the route, which takes `supersedes` only as a list. */
function statement({ supersedes, ...fields }: Fields): Fields {
  return supersedes === undefined ? fields : { ...fields, supersedes: [supersedes].flat() };
}

/** Returns the options to send: without those for this process only, and without `now`, which is sent as a header. */
function fieldsOf(options: object = {}): Fields {
  const { signal, now, progress, ...fields } = options as Fields;
  return fields;
}

interface RemoteHit extends Omit<Hit, 'score' | 'explain' | 'features' | 'signals'> {
  readonly score: number;
  readonly features?: Hit['features'];
  readonly signals?: Hit['signals'];
  readonly explanation?: Explanation;
}

interface RemoteSession extends Omit<StartedSession, 'memories'> {
  readonly memories: readonly RemoteHit[];
  readonly profileHash: string;
}

function toRecall<Strategy extends string>({
  hits,
  evidenceChains,
  nothing,
  trace,
}: {
  readonly hits: readonly RemoteHit[];
  readonly evidenceChains: Recall['evidenceChains'];
  readonly nothing?: Recall['nothing'];
  readonly trace: Trace;
}): Recall<Strategy> {
  return {
    hits: hits.map((hit) => toHit(hit, trace.strategy as Strategy, trace.profileHash)),
    evidenceChains,
    ...(nothing ? { nothing } : {}),
    trace,
  };
}

function toHit<Strategy extends string>(
  { score, explanation, features, signals, ...hit }: RemoteHit,
  strategy: Strategy,
  profileHash: string,
): Hit<Strategy, Score<Strategy>> {
  return {
    ...hit,
    score: makeScore(strategy, profileHash, score),
    get features() {
      return features ?? notExplained();
    },
    get signals() {
      return signals ?? notExplained();
    },
    explain: () => explanation ?? notExplained(),
  };
}

interface RemoteContext extends Omit<Context, 'items'> {
  readonly items: readonly (Omit<Context['items'][number], 'score'> & { readonly score: number })[];
  /** For readers of the raw answer. `trace` says the same. */
  readonly missing: unknown;
}

function toContext<Strategy extends string>({
  items,
  missing: _,
  ...built
}: RemoteContext): Context<Strategy> {
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
    'this memory was connected with explain: false; connect without it, or ask memory.explain(id, { query })',
  );
}
