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
   * Whether hits come with their features and explanations, as they do in this process; what an answer weighs is
   * mostly these. With `false`, asking a hit for them throws `unsupported`. Default is true.
   */
  readonly explain?: boolean | undefined;
}

const connectKeys = keysOf<ConnectOptions>()({ url: true, token: true, fetch: true, explain: true });

/**
 * Connects to a server; the token decides the space. What the engine promises holds here too, but for `backup` and
 * `currentSession({ renew: true })`, which throw `unsupported`, and for `progress`, which nobody calls. `rememberMany` and
 * `importMemories` take 10,000 memories at most, which are one transaction; `observe` takes as many messages, and a list of ids or names as many entries. A
 * recall has 1,000 hits at most.
 *
 * @throws `invalid_argument`: an option is unknown, missing or not what a server could be asked with, or the URL has a path at which the server has no API, such as `/v1`. What the server answers, such as `unauthorized`;
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
    // No path has an empty segment.
    history: async (id, given) => (id === '' ? [] : verbs.history(id, given)),
    async replay(recallId, given) {
      if (recallId === '') throw invalidArgument('recallId', '"" is none; recalls lists them');
      return verbs.replay(recallId, given);
    },
    forget(target, given = {}) {
      // A path cannot name every id.
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
  // In a page it may be a path of the server that the page is from.
  const page = (globalThis as { readonly location?: { readonly href?: string } }).location?.href;
  const { username = '', password = '' } = URL.canParse(url) ? new URL(url) : {};
  // Not shown, and sent by no runtime: a request has one authorization.
  if (username !== '' || password !== '') {
    throw invalidArgument(
      'url',
      'it names a user or a password; leave them out, the token is all that is sent',
    );
  }
  // The path of a verb goes behind the URL.
  if (URL.canParse(url, page) && /^https?:$/.test(new URL(url, page).protocol) && !/[?#]/.test(url))
    return url;
  throw invalidArgument('url', `${describe(given)} is not the URL of a server; write http://127.0.0.1:7411`);
}

/** The error of a server that has no such path, or something else there: where the URL has one, it is not the server's. */
function wrongPath(url: string, error: unknown): unknown {
  const isThere =
    SalienceError.isInstance(error) && (error.code === 'not_found' || error.details['status'] === 405);
  const given = url.replace(/\/+$/, '');
  // The path of a proxy may come before that of a route.
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

/** As a header sends it: without white space around it, such as the mark that some editors begin a file with. */
function checkedToken(given: string): string {
  const token = text(given, 'token').trim();
  // No header holds another one.
  const [wrong] = /[^\x21-\x7e]/u.exec(token) ?? [];
  if (wrong === undefined) return token;
  throw invalidArgument(
    'token',
    `no token has the character ${JSON.stringify(wrong)}; give the whole token as "salience token create" showed it`,
  );
}

/** The fields of a filter of `forget`: the route takes ids and options beside them. */
const FORGET_FILTER = Object.keys(verbEntry('forgetMany').arguments ?? {}).filter(
  (name) => name !== 'ids' && !optionNames(verbEntry('forget')).includes(name),
);

/** What is taken apart here, and could not be if it were missing. */
const NEEDED: Partial<Record<VerbName, readonly string[]>> = {
  recall: ['hits', 'trace'],
  context: ['items', 'trace'],
  bootstrap: ['items', 'trace'],
  pinned: ['items', 'trace'],
  startSession: ['memories'],
};

/** Whether an answer has what the client reads of it: another program, or another version, may answer something else. */
function isShaped(verb: VerbName, answer: Fields): boolean {
  const { answer: listed } = verbEntry(verb);
  const needed = listed && 'list' in listed ? [listed.list] : (NEEDED[verb] ?? []);
  return needed.every((name) => (name === 'trace' ? isPlain(answer[name]) : Array.isArray(answer[name])));
}

/** Asks a verb as the table lists its arguments, and takes the answer apart as the table says. */
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

/** A statement as the route wants it, which takes one form where the engine takes several. */
function statement({ supersedes, ...fields }: Fields): Fields {
  return supersedes === undefined ? fields : { ...fields, supersedes: [supersedes].flat() };
}

/** What goes to the server: everything but what is of this process, and the moment, which has a header. */
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
  /** For readers of the answer: the trace says the same. */
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
