/// <reference lib="esnext.disposable" preserve="true" />

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { callback, invalidArgument, wholeNumber } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { SalienceError } from '../domain/errors.ts';
import { keysOf, onlyKeys } from '../domain/options.ts';
import type { Clock } from '../domain/time.ts';
import type { Spaces } from '../index.ts';
import type { SharedTexts } from '../store-kit.ts';
import { createApp } from './app.ts';
import { limitConnections } from './connections.ts';
import { LOCAL_HOSTS } from './guards.ts';
import { createIdempotencyKeys } from './idempotency.ts';
import { INSPECTOR } from './inspector.ts';
import { createInspectorSessions, type InspectorAccess } from './inspector-sessions.ts';
import type { Log } from './log.ts';
import type { MountedHandler } from './mounted.ts';
import { createRateLimiter } from './rate-limit.ts';
import { responseToUnreadable } from './refusal.ts';
import { createSharedIdempotencyKeys } from './shared-idempotency.ts';
import type { TokenStore } from './tokens.ts';
import { createWaitingPlaces } from './waiting.ts';

export interface ServerOptions {
  /** Closed together with the server. */
  readonly spaces: Pick<Spaces, 'get' | 'delete' | 'size' | 'residentBytes' | 'close'> &
    Partial<Pick<Spaces, 'ready' | 'list'>>;
  /**
   * Whether every token is limited to reading, whatever its rights. For a store that this process cannot write to, such
   * as a replica; open the spaces with `readOnly` too. Default is false.
   */
  readonly readOnly?: boolean | undefined;
  /** Whether tokens with the right `admin` may delete their space. Default is false. */
  readonly deleteSpaces?: boolean | undefined;
  /** With `list`, administrators can list the tokens of their space, without the secrets. */
  readonly tokens: Pick<TokenStore, 'authenticate'> & Partial<Pick<TokenStore, 'list'>>;
  /** The address to listen on. Default is 127.0.0.1, which only this machine can reach. */
  readonly host?: string | undefined;
  /** Default is 7411; 0 picks a free port. */
  readonly port?: number | undefined;
  /** Additional Host names that the server accepts, without ports, such as `memory.example`. */
  readonly allowHosts?: readonly string[] | undefined;
  /**
   * Origins whose pages may use the server, such as `https://app.example`; for a browser extension,
   * `chrome-extension://` and its id.
   */
  readonly allowOrigins?: readonly string[] | undefined;
  /** Limit per token. Default is 6,000. */
  readonly requestsPerMinute?: number | undefined;
  /** Most bytes of a body, or of a line of an import. Default is 8 MiB. */
  readonly bodyLimit?: number | undefined;
  /**
   * Most connections at once. At the limit, a new connection replaces the one that has been idle longest; if all have
   * requests in progress, the new one is answered with 503. Default is 400, which with 100 open spaces fits
   * `ulimit -n 1024`.
   */
  readonly maxConnections?: number | undefined;
  /**
   * Most connections at once from one network address. Behind a proxy, all come from one. Default is half of
   * `maxConnections`.
   */
  readonly maxConnectionsPerAddress?: number | undefined;
  /** Milliseconds for the head of a request to arrive. Default is 10,000. */
  readonly headersTimeout?: number | undefined;
  /** Milliseconds for the body of a request to arrive; for an import, for its next piece. Default is 30,000. */
  readonly requestTimeout?: number | undefined;
  /** Milliseconds in which a client must read some of a pending answer. Default is 30,000. */
  readonly answerTimeout?: number | undefined;
  /** Milliseconds that an idle connection stays open. Default is 10,000. */
  readonly keepAliveTimeout?: number | undefined;
  /** Milliseconds that a verb may run. Steps that cannot be interrupted finish first. Default is 120,000. */
  readonly workTimeout?: number | undefined;
  /** Milliseconds that requests in progress may take to finish when the server closes. Default is 10,000. */
  readonly closeTimeout?: number | undefined;
  /** Called with one entry per request. Default is no log. */
  readonly log?: Log | undefined;
  /** Default is the system's clock. */
  readonly clock?: Clock | undefined;
  /**
   * Whether requests may set the time of their operation with `Salience-Now`, for tests and replays. With it, any token
   * that may read can see what is hidden until a later time. Default is false.
   */
  readonly acceptNow?: boolean | undefined;
  /** The version in the OpenAPI document. Default is `0`. */
  readonly version?: string | undefined;
  /**
   * Called by `/readyz`. Rejects while the store cannot be used, so that a load balancer sends requests elsewhere.
   * Default is `ready` of the spaces.
   */
  readonly ready?: (() => Promise<unknown>) | undefined;
  /**
   * Storage that several servers share (`store.shared`). Idempotency keys then hold across all of them. Default is
   * separate keys per server.
   */
  readonly shared?: SharedTexts | undefined;
  /** Whether the inspector, a page that shows a memory at work, is served at `/inspector`. Default is true. */
  readonly inspector?: boolean | undefined;
  /**
   * The public URL of a proxy that terminates TLS, such as `https://memory.example`. Its host name and origin are
   * accepted too.
   */
  readonly publicUrl?: string | undefined;
  /** Additional handlers by path. */
  readonly mount?: Readonly<Record<string, MountedHandler>> | undefined;
}

export interface RunningServer extends AsyncDisposable {
  /** Where the server is reached, such as `http://127.0.0.1:7411`. */
  readonly url: string;
  /**
   * Returns a URL that opens the inspector with these rights. It works once, within 60 seconds; the session lasts 12
   * hours, and ends with the server. Throws `unsupported` with `inspector: false`.
   *
   * @example
   * ```ts
   * const spaces = openSpaces({ path: './memory' });
   * await using server = await startServer({ spaces, tokens: openTokenStore('./tokens'), port: 0 });
   * const url = server.inspectorUrl({ space: 'alice', rights: 'read' });
   * console.log(`open ${url} within a minute`);
   * ```
   */
  inspectorUrl(access: InspectorAccess): string;
  /** Stops accepting requests, lets those in progress finish, then closes the spaces. */
  close(): Promise<void>;
}

const optionKeys = keysOf<ServerOptions>()({
  spaces: true,
  readOnly: true,
  deleteSpaces: true,
  tokens: true,
  host: true,
  port: true,
  allowHosts: true,
  allowOrigins: true,
  requestsPerMinute: true,
  bodyLimit: true,
  maxConnections: true,
  maxConnectionsPerAddress: true,
  headersTimeout: true,
  requestTimeout: true,
  answerTimeout: true,
  keepAliveTimeout: true,
  workTimeout: true,
  closeTimeout: true,
  log: true,
  clock: true,
  acceptNow: true,
  version: true,
  ready: true,
  shared: true,
  inspector: true,
  publicUrl: true,
  mount: true,
});

const DEFAULT_PORT = 7411;
const DAY = 86_400_000;
/** Upper limit of all time limits, in milliseconds. */
const LONGEST = 3_600_000;

/**
 * Starts the HTTP server: a route for every verb, with a token for each space. By default it listens on 127.0.0.1, port
 * 7411.
 *
 * @throws `unsupported`: the address cannot be had. `invalid_argument`: an option is unknown or out of range.
 * @example
 * ```ts
 * import { openTokenStore, startServer } from 'salience/http';
 * const spaces = openSpaces({ path: './memory' });
 * await using server = await startServer({ spaces, tokens: openTokenStore('./tokens'), port: 0 });
 * // Closing the server closes the spaces too.
 * console.log(server.url);
 * ```
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  onlyKeys(options, optionKeys, 'startServer');
  const clock = options.clock ?? Date.now;
  const host = checkHost(options.host ?? '127.0.0.1');
  const limits = limitsOf(options);
  const port = wholeNumber(options.port ?? DEFAULT_PORT, 'port', 0, 65_535);
  const { spaces, tokens, mount = {} } = options;
  // Without these checks, the errors would appear only in the first request or at shutdown.
  if (typeof spaces?.get !== 'function') throw invalidArgument('spaces', 'expected what openSpaces returns');
  if (typeof tokens?.authenticate !== 'function') {
    throw invalidArgument('tokens', 'expected what openTokenStore returns');
  }
  for (const [path, handler] of Object.entries(mount)) {
    if (!path.startsWith('/')) throw invalidArgument('mount', `${describe(path)} must begin with "/"`);
    callback(handler, `mount[${describe(path)}]`);
  }
  let closing = false;
  const shutdown = new AbortController();
  const inspector = options.inspector === false ? undefined : createInspectorSessions(clock);
  const publicUrl = options.publicUrl === undefined ? undefined : checkPublicUrl(options.publicUrl);
  const app = createApp({
    spaces,
    admitted: ({ socket }) => connections.admit(socket),
    tokens,
    readOnly: options.readOnly ?? false,
    deleteSpaces: options.deleteSpaces ?? false,
    door: {
      // `host` is accepted too. If it is an IP address, DNS rebinding cannot use it.
      hosts: [
        ...LOCAL_HOSTS,
        inUrl(host),
        ...(publicUrl ? [publicUrl.hostname] : []),
        ...(options.allowHosts ?? []).map(checkHostName),
      ],
      origins: [...(publicUrl ? [publicUrl.origin] : []), ...(options.allowOrigins ?? []).map(checkOrigin)],
    },
    inspector,
    rateLimiter: createRateLimiter({ requestsPerMinute: limits.requestsPerMinute }, clock),
    idempotency: options.shared
      ? createSharedIdempotencyKeys(options.shared, clock)
      : createIdempotencyKeys({ keptFor: DAY, bytes: 32 * 2 ** 20 }, clock),
    body: { bytes: limits.body, timeout: limits.requestTimeout },
    acceptNow: options.acceptNow === true,
    workTimeout: limits.workTimeout,
    shutdown: shutdown.signal,
    // A quarter of the connections, so that the others stay free for requests that do work.
    placeToWait: createWaitingPlaces(Math.ceil(limits.total / 4)),
    log: options.log,
    clock,
    version: options.version ?? '0',
    mounts: mount,
    closing: () => closing,
    ready: options.ready ?? spaces.ready,
  });
  const server = createServer(
    {
      headersTimeout: limits.headersTimeout,
      // Body limits are enforced in `body.ts`, where an import may last as long as data keeps arriving.
      requestTimeout: 0,
      // Otherwise Node.js answers such a request itself, without a problem body.
      requireHostHeader: false,
      keepAliveTimeout: limits.keepAliveTimeout,
      maxHeaderSize: 16 * 1024,
      connectionsCheckingInterval: Math.min(1000, limits.headersTimeout),
    },
    getRequestListener(app.fetch, { overrideGlobalObjects: false, errorHandler: responseToUnreadable }),
  );
  // By default, Node.js silently drops headers after the first 2,000. `maxHeaderSize` limits them instead.
  server.maxHeadersCount = 0;
  const connections = limitConnections(server, limits);
  await listen(server, host, port);
  let closed: Promise<void> | undefined;
  const close = () => {
    closing = true;
    shutdown.abort();
    closed ??= connections.finish(limits.closeTimeout).then(() => spaces.close());
    return closed;
  };
  const { port: bound } = server.address() as AddressInfo;
  const url = `http://${inUrl(host)}:${bound}`;
  const inspectorUrl = (access: InspectorAccess) => {
    if (!inspector) throw new SalienceError('unsupported', 'this server was started with inspector: false');
    // In the fragment, which browsers do not send to servers.
    return `${publicUrl?.href.replace(/\/$/, '') ?? url}${INSPECTOR}/#code=${inspector.newCode(access)}`;
  };
  return { url, inspectorUrl, close, [Symbol.asyncDispose]: close };
}

function limitsOf(options: ServerOptions) {
  const total = wholeNumber(options.maxConnections ?? 400, 'maxConnections', 1, 1_000_000);
  const perAddress = options.maxConnectionsPerAddress ?? Math.ceil(total / 2);
  const time = (
    name:
      | 'workTimeout'
      | 'headersTimeout'
      | 'requestTimeout'
      | 'answerTimeout'
      | 'keepAliveTimeout'
      | 'closeTimeout',
    otherwise: number,
  ) => wholeNumber(options[name] ?? otherwise, name, 1, LONGEST);
  return {
    total,
    perAddress: wholeNumber(perAddress, 'maxConnectionsPerAddress', 1, 1_000_000),
    requestsPerMinute: wholeNumber(options.requestsPerMinute ?? 6000, 'requestsPerMinute', 1, 1_000_000_000),
    body: wholeNumber(options.bodyLimit ?? 8 * 2 ** 20, 'bodyLimit', 1, 2 ** 30),
    workTimeout: time('workTimeout', 120_000),
    headersTimeout: time('headersTimeout', 10_000),
    requestTimeout: time('requestTimeout', 30_000),
    answerTimeout: time('answerTimeout', 30_000),
    keepAliveTimeout: time('keepAliveTimeout', 10_000),
    closeTimeout: time('closeTimeout', 10_000),
  };
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const hint =
        cause.code === 'EADDRINUSE' ? 'is it running already? choose another --port' : cause.message;
      reject(
        new SalienceError('unsupported', `port ${port} of ${host} cannot be used: ${hint}`, {
          details: { host, port },
          cause,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
}

/**
 * Throws `invalid_argument` for an empty host, such as from `--host "$HOST"` with `HOST` unset: Node.js would listen on
 * every network.
 */
function checkHost(host: string): string {
  if (typeof host === 'string' && host.trim() !== '') return host;
  throw invalidArgument(
    'host',
    'it is empty; write 127.0.0.1 for this machine alone, 0.0.0.0 for every network, or leave it out',
  );
}

function checkPublicUrl(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && /^https?:$/.test(parsed.protocol) && !parsed.search && !parsed.hash && !parsed.username) {
    return parsed;
  }
  throw invalidArgument(
    'publicUrl',
    `${JSON.stringify(url)} is not an address; write https://memory.example`,
  );
}

/** Returns the name as clients send it: internationalised names in ASCII. */
function checkHostName(name: string): string {
  if (
    typeof name === 'string' &&
    /^(?:\[[^\]]*\]|[^\s/\\?#@:*[\]]+)$/.test(name) &&
    URL.canParse(`http://${name}`)
  ) {
    return new URL(`http://${name}`).hostname;
  }
  throw invalidArgument(
    'allowHosts',
    `${describe(name)} is not a host name; write memory.example, without a scheme, port or path, and an IPv6 address in brackets`,
  );
}

function checkOrigin(origin: string): string {
  if (URL.canParse(origin)) {
    const { origin: known, protocol, host } = new URL(origin);
    // For schemes such as `chrome-extension:`, `URL.origin` is "null".
    const named = known === 'null' && host !== '' ? `${protocol}//${host}` : known;
    if (named === origin) return origin;
  }
  throw invalidArgument(
    'allowOrigins',
    `${JSON.stringify(origin)} is not an origin; write https://app.example`,
  );
}
