import type { IncomingMessage } from 'node:http';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { secureHeaders } from 'hono/secure-headers';
import { logLineOf, verbs } from '../api/index.ts';
import { invalidArgument } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { formatInstant } from '../domain/time.ts';
import { addAdministrationRoutes } from './administration.ts';
import {
  type AppContext,
  type AppTypes,
  bearerOf,
  type Desk,
  queryWith,
  refuseHeaders,
} from './app-types.ts';
import { readBody, refuseBody } from './body.ts';
import { confine, withinTime, writeRefused } from './confine.ts';
import { type DoorOptions, door } from './guards.ts';
import { addInspectorRoutes, addSessionRoutes, policyOfPaths } from './inspector.ts';
import type { InspectorSessions } from './inspector-sessions.ts';
import type { Log } from './log.ts';
import { createMetrics } from './metrics.ts';
import type { MountedHandler } from './mounted.ts';
import { openApi } from './open-api.ts';
import { headersOf, problemOf, problemResponse } from './problem.ts';
import type { RateLimiter } from './rate-limit.ts';
import { addVerbRoutes } from './routes.ts';
import type { Grant, TokenStore } from './tokens.ts';
import { addTransferRoutes } from './transfer.ts';

export interface AppOptions extends Desk {
  readonly door: DoorOptions;
  readonly tokens: Pick<TokenStore, 'authenticate'> & Partial<Pick<TokenStore, 'list'>>;
  readonly rateLimiter: RateLimiter;
  /** Called for each request whose token is valid and within its rate limit. */
  readonly admitted: (request: IncomingMessage) => void;
  /** Whether every token is limited to reading, whatever its rights. */
  readonly readOnly: boolean;
  /** Whether spaces may be deleted. */
  readonly deleteSpaces: boolean;
  readonly log: Log | undefined;
  readonly version: string;
  readonly mounts: Readonly<Record<string, MountedHandler>>;
  /** Whether the server is shutting down. */
  readonly closing: () => boolean;
  readonly ready?: (() => Promise<unknown>) | undefined;
  /** `undefined`: the inspector is not served. */
  readonly inspector: InspectorSessions | undefined;
}

/** Security headers of the API. Its answers are for programs: nothing in them may be run, framed or sniffed. */
const protective = secureHeaders({
  contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  referrerPolicy: 'no-referrer',
  xFrameOptions: 'DENY',
  // HSTS would bind the domain of a proxy that terminates TLS. The proxy decides that.
  strictTransportSecurity: false,
});

/** Response headers that pages of other origins may read, beyond the CORS defaults. */
const EXPOSED = ['etag', 'idempotency-replayed', 'retry-after'];

/** How long the store may take to answer `/readyz`, in milliseconds. After that it counts as unavailable. */
export const LONGEST_PROBE = 3000;

async function inTime(ready: AppOptions['ready']): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new SalienceError('timed_out', `the store gave no answer within ${LONGEST_PROBE} ms`);
    timer = setTimeout(reject, LONGEST_PROBE, error);
  });
  await Promise.race([ready?.(), late]).finally(() => clearTimeout(timer));
}

/** Creates the whole API: host and origin checks, authentication, rate limit, then a route for every verb. */
export function createApp(options: AppOptions): Hono<AppTypes> {
  const app = new Hono<AppTypes>();
  const metrics = createMetrics();

  app.use(async (context, next) => {
    const end = metrics.begin();
    const started = performance.now();
    context.set('route', 'none');
    await next();
    context.header('cache-control', context.res.headers.has('etag') ? 'private, no-cache' : 'no-store');
    if (options.closing()) context.header('connection', 'close');
    const labels = { route: context.get('route'), method: methodOf(context), status: context.res.status };
    const note = () => {
      const milliseconds = performance.now() - started;
      end(labels, milliseconds / 1000);
      options.log?.({
        at: formatInstant(options.clock()),
        ...labels,
        milliseconds: Math.round(milliseconds * 100) / 100,
        token: context.get('grant')?.id,
        ...(context.get('failure') === undefined ? {} : { failure: logLineOf(context.get('failure')) }),
      });
    };
    if (context.get('lasts')) whenEnded(context, note);
    else note();
  });
  app.use(options.inspector ? policyOfPaths(protective) : protective);
  app.use(door(options.door));
  if (options.door.origins.length > 0) {
    app.use(cors({ origin: [...options.door.origins], exposeHeaders: EXPOSED, maxAge: 600 }));
  }
  app.onError((error, context) => {
    if (problemOf(error).hidden) context.set('failure', error);
    return problemResponse(error, headersOf(error));
  });
  app.notFound((context) => {
    const allowed = methodsAt(app, context.req.path);
    if (allowed.length === 0 || allowed.includes(context.req.method)) {
      return problemResponse(new SalienceError('not_found', 'unknown route; /openapi.json lists the routes'));
    }
    const allow = allowed.join(', ');
    const error = new SalienceError('invalid_argument', `method: this route takes ${allow}`, {
      details: { field: 'method' },
    });
    return problemResponse(error, { allow }, 405);
  });

  app.get('/healthz', (context) => open(context, '/healthz', () => context.json({ status: 'up' })));
  app.get('/readyz', (context) =>
    open(context, '/readyz', async () => {
      if (options.closing())
        return problemResponse(new SalienceError('closed', 'the server is shutting down'));
      try {
        await inTime(options.ready);
      } catch (error) {
        context.set('failure', error);
        // Anybody may ask, so of the error only its code is told; and a balancer is to send requests elsewhere, whatever it is.
        const code = SalienceError.isInstance(error) ? error.code : 'server_failed';
        return problemResponse(
          new SalienceError(code, 'the store cannot be used now; see the log of the server'),
          {},
          503,
        );
      }
      return context.json({ status: 'ready' });
    }),
  );
  let document: string | undefined;
  app.get('/openapi.json', (context) =>
    open(context, '/openapi.json', () => {
      document ??= JSON.stringify(openApi(options.version));
      return new Response(document, { headers: { 'content-type': 'application/json' } });
    }),
  );

  if (options.inspector) {
    addInspectorRoutes(app, { sessions: options.inspector, body: options.body });
  }
  app.use(async (context, next) => {
    await admit(context, options);
    await next();
  });
  app.get('/metrics', (context) =>
    open(context, '/metrics', () =>
      context.text(
        metrics.text({
          salience_spaces_open: { help: 'Spaces that are open.', value: options.spaces.size },
          salience_spaces_resident_bytes: {
            help: 'About how many bytes the indexes of open spaces take.',
            value: options.spaces.residentBytes,
          },
          process_resident_memory_bytes: {
            help: 'Resident memory size in bytes.',
            value: process.memoryUsage.rss(),
          },
        }),
        200,
        { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      ),
    ),
  );
  app.get('/v1/token', (context) =>
    open(context, '/v1/token', () => {
      refuseBody(context.env.incoming);
      queryWith(context);
      return context.json(context.get('grant'));
    }),
  );
  app.delete('/v1/space', async (context) => {
    context.set('route', '/v1/space');
    refuseBody(context.env.incoming);
    // A retry could delete a space that was created after the first request.
    refuseHeaders(context, 'idempotency-key', 'if-match');
    const { space, rights, scopes } = context.get('grant');
    if (rights === 'read') throw writeRefused('delete');
    if (rights !== 'admin' || scopes) {
      throw new SalienceError(
        'forbidden',
        'only a token with the right admin, for all scopes, deletes its space',
      );
    }
    // The name must be repeated, so that no request deletes a space by its path alone.
    if (queryWith(context, 'name').get('name') !== space) {
      throw invalidArgument('name', 'repeat the name of the space that is to be deleted');
    }
    if (!options.deleteSpaces) throw new SalienceError('unsupported', 'this server deletes no spaces');
    await options.spaces.delete(space);
    return context.json({ space, outcome: 'deleted' });
  });
  addAdministrationRoutes(app, options);
  if (options.inspector) {
    addSessionRoutes(app, { sessions: options.inspector, spaces: options.spaces, body: options.body });
  }
  addTransferRoutes(app, options);
  addVerbRoutes(app, options);
  for (const [path, handler] of Object.entries(options.mounts)) {
    const answer = (context: AppContext) => mounted(context, path, handler, options);
    app.all(path, answer);
    app.all(`${path}/*`, answer);
  }
  return app;
}

/**
 * Calls `call` once, when the response or its connection has closed. A pipelined response that still waits for another
 * one emits no `close` of its own.
 */
function whenEnded({ env: { incoming, outgoing } }: AppContext, call: () => void): void {
  const { socket } = incoming;
  let isOver = false;
  const ended = () => {
    // Both events may fire for one response.
    if (isOver) return;
    isOver = true;
    outgoing.off('close', ended);
    socket.off('close', ended);
    try {
      call();
    } catch (error) {
      // An exception in an event handler would end the process, and `call` may run the `log` of the caller.
      process.emitWarning(error instanceof Error ? error : new Error(String(error)));
    }
  };
  if (outgoing.destroyed || socket.destroyed) ended();
  else {
    outgoing.on('close', ended);
    socket.on('close', ended);
  }
}

function open<Answer extends Response | Promise<Response>>(
  context: AppContext,
  route: string,
  answer: () => Answer,
): Answer {
  context.set('route', route);
  return answer();
}

/** Authenticates the request and counts it against the rate limit. Throws `unauthorized` and `rate_limited`. */
async function admit(
  context: AppContext,
  { tokens, inspector, readOnly, rateLimiter, admitted: noteAdmitted }: AppOptions,
): Promise<void> {
  const token = bearerOf(context);
  const admitted = async () => {
    const grant =
      token === undefined
        ? undefined
        : (inspector?.authenticate(token) ?? (await tokens.authenticate(token)));
    if (grant) return readOnly ? { ...grant, rights: 'read' as const } : grant;
    throw new SalienceError(
      'unauthorized',
      token === undefined
        ? 'a token is needed: send "authorization: Bearer TOKEN"; "salience token create" makes one'
        : 'this token is not known, or was revoked; "salience token create" makes one',
    );
  };
  const grant = await admitted();
  context.set('grant', grant);
  context.set('admitAgain', async () => {
    // The request goes on with the grant that it began with.
    if (opens(await admitted()) === opens(grant)) return;
    throw new SalienceError(
      'unauthorized',
      'this token was changed while the request was in progress; send the request again',
    );
  });
  const seconds = rateLimiter(grant.id);
  if (seconds !== undefined) {
    throw new SalienceError('rate_limited', `too many requests with this token; wait ${seconds} s`, {
      details: { retryAfter: seconds },
    });
  }
  noteAdmitted(context.env.incoming);
}

function opens({ space, scopes, rights }: Grant): string {
  return JSON.stringify([space, scopes, rights]);
}

async function mounted(
  context: AppContext,
  path: string,
  handler: MountedHandler,
  { spaces, body, rateLimiter, workTimeout }: AppOptions,
): Promise<Response> {
  context.set('route', path);
  refuseHeaders(context, 'salience-now');
  // A `Request` cannot have this method.
  if (context.req.method === 'TRACE') throw new SalienceError('unsupported', 'TRACE: no route takes it');
  const grant = context.get('grant');
  const { raw } = context.req;
  const bodiless = raw.method === 'GET' || raw.method === 'HEAD';
  const text = bodiless ? undefined : await readBody(context.env.incoming, body);
  // `admit` has counted the first message already.
  if (text !== undefined) rateLimiter(grant.id, messagesIn(text) - 1);
  const request = new Request(raw.url, {
    method: raw.method,
    headers: raw.headers,
    signal: raw.signal,
    ...(text === undefined ? {} : { body: text }),
  });
  const memory = withinTime(confine(await spaces.get(grant.space), grant), workTimeout);
  const response = await handler(request, { grant, memory });
  // A stream may begin long before the work is done, as at `/mcp`.
  context.set('lasts', response.body !== null);
  return response;
}

/** Counts the messages of a body. A JSON array is a batch, and each of its messages counts as a request. */
function messagesIn(body: string): number {
  if (!body.trimStart().startsWith('[')) return 1;
  try {
    return Math.max(1, (JSON.parse(body) as readonly unknown[]).length);
  } catch {
    return 1;
  }
}

const methods: ReadonlySet<string> = new Set([
  'HEAD',
  'OPTIONS',
  'GET',
  ...verbs.map(({ http }) => http.method),
]);

/** Returns the methods of the routes at a path. Middleware is registered for `ALL` methods and does not count. */
function methodsAt(app: Hono<AppTypes>, path: string): readonly string[] {
  return [...methods].filter((method) => {
    const [matches] = app.router.match(method === 'HEAD' ? 'GET' : method, path);
    return matches.some(([[, route]]) => route.method !== 'ALL');
  });
}

/** Returns the method as a label for metrics. Unknown methods become `other`, because clients can invent any name. */
function methodOf(context: AppContext): string {
  return methods.has(context.req.method) ? context.req.method : 'other';
}
