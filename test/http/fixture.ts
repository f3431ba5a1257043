import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type LogEntry,
  type NewToken,
  openTokenStore,
  type RunningServer,
  type ServerOptions,
  startServer,
  type TokenStore,
} from '../../src/http/index.ts';
import { type MemoryEngine, openSpaces, type SpacesOptions } from '../../src/index.ts';
import { createFakeClock, type FakeClock } from '../../src/testing/fake-clock.ts';

export interface TestServer extends AsyncDisposable {
  readonly server: RunningServer;
  readonly url: string;
  readonly port: number;
  readonly clock: FakeClock;
  readonly tokens: TokenStore;
  readonly directory: string;
  readonly log: readonly LogEntry[];
  /** The next line of the log of this route. */
  logged(route: string): Promise<LogEntry>;
  token(token?: Partial<NewToken>): Promise<string>;
  /** A space as the server has it, without the server in between. */
  space(name?: string): Promise<MemoryEngine>;
  ask(method: string, path: string, options?: AskOptions): Promise<Answer>;
  /** Writes bytes to a socket of its own, and reads until the other side ends it. */
  raw(...pieces: readonly string[]): Promise<string>;
}

export interface AskOptions {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Text and bytes are sent as they are, all else as JSON. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, it says
  readonly json: any;
}

export interface TestServerOptions extends Partial<Omit<ServerOptions, 'spaces'>> {
  /** Limits of the spaces. */
  readonly spaces?: Partial<SpacesOptions>;
  /** In place of opening a space on disk. */
  readonly openSpace?: (space: string) => Promise<MemoryEngine>;
}

/** A server on a free port, with a store on disk and a clock that stands still. */
export async function startTestServer({
  openSpace,
  spaces: limits = {},
  ...options
}: TestServerOptions = {}): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), 'salience-http-'));
  const clock = createFakeClock();
  const tokens = openTokenStore(join(directory, 'tokens'));
  const log: LogEntry[] = [];
  const heard = new EventEmitter();
  const spaces = openSpaces({
    path: directory,
    clock: clock.now,
    synchronous: 'normal',
    embedder: 'none',
    ...limits,
  });
  const space = (name = 'alice') => spaces.get(name);
  const server = await startServer({
    spaces: openSpace ? { ...spaces, get: openSpace } : spaces,
    tokens,
    port: 0,
    clock: clock.now,
    acceptNow: true,
    log: (entry) => {
      log.push(entry);
      heard.emit(entry.route, entry);
    },
    ...options,
  });
  const port = Number(new URL(server.url).port);
  return {
    server,
    url: server.url,
    port,
    clock,
    tokens,
    directory,
    log,
    logged: async (route) => {
      const [entry] = await once(heard, route);
      return entry as LogEntry;
    },
    space,
    token: async (token) => (await tokens.create({ space: 'alice', ...token }, clock.now())).token,
    ask: (method, path, more) => ask(port, method, path, more),
    raw: (...pieces) => raw(port, pieces),
    async [Symbol.asyncDispose]() {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function ask(port: number, method: string, path: string, options: AskOptions = {}): Promise<Answer> {
  const { token, body } = options;
  const isText = typeof body === 'string' || body instanceof Uint8Array;
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined || isText ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, method, path, headers, agent: false },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('error', reject);
        response.on('end', () => {
          const json = /[/+]json$/.test(response.headers['content-type'] ?? '')
            ? JSON.parse(text || 'null')
            : undefined;
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
        });
      },
    );
    request.on('error', reject);
    request.end(body === undefined ? undefined : isText ? body : JSON.stringify(body));
  });
}

function raw(port: number, pieces: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A server that has said no may hang up while we still talk.
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve(text);
      else reject(error);
    });
    socket.on('close', () => resolve(text));
    for (const piece of pieces) socket.write(piece);
  });
}
