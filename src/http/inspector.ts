import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Hono, MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { SalienceError } from '../domain/errors.ts';
import { type AppContext, type AppTypes, bearerOf, type Desk, headerOf } from './app-types.ts';
import { type BodyLimits, readBody } from './body.ts';
import { isKnown } from './etag.ts';
import type { InspectorSessions } from './inspector-sessions.ts';

/** The path of the page. */
export const INSPECTOR = '/inspector';

/**
 * Returns the directory that `npm run build` creates from `web/`. The relative path is the same in the sources and in
 * the package. Throws in a CommonJS bundle, where `import.meta.url` is missing.
 */
const built = () => fileURLToPath(new URL('../../dist/inspector/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The content policy of the page. It shows texts of others, so only its own files run and no text becomes markup. */
const policy = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'"],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
    requireTrustedTypesFor: ["'script'"],
    trustedTypes: ["'none'"],
  },
  referrerPolicy: 'no-referrer',
  xFrameOptions: 'DENY',
  strictTransportSecurity: false,
});

/** Applies the policy of the page to its own paths, and `elsewhere` to all others. */
export function policyOfPaths(elsewhere: MiddlewareHandler): MiddlewareHandler {
  return (context, next) =>
    isInspector(context.req.path) ? policy(context, next) : elsewhere(context, next);
}

function isInspector(path: string): boolean {
  return path === INSPECTOR || path.startsWith(`${INSPECTOR}/`);
}

/** Most bytes of a body that holds a code or the name of a space. Anybody may send the first, without a token. */
const MOST_BYTES = 4096;

interface PageFile {
  readonly type: string;
  readonly etag: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly zipped: Uint8Array<ArrayBuffer>;
}

/**
 * Serves the files of the inspector and exchanges its codes. Both need no authentication: the files hold no data, and a
 * code is a credential. The page reads everything else from the API, like any other client.
 */
export function addInspectorRoutes(
  app: Hono<AppTypes>,
  { sessions, body }: Pick<Desk, 'body'> & { readonly sessions: InspectorSessions },
  directory?: string,
): void {
  let files: ReadonlyMap<string, PageFile> | undefined;
  const serve = (context: AppContext): Response | Promise<Response> => {
    context.set('route', INSPECTOR);
    files ??= readFiles(directory);
    if (files.size === 0) return context.text(NOT_BUILT, 503);
    const file = files.get(context.req.path.slice(INSPECTOR.length + 1) || 'index.html');
    return file ? send(context, file) : context.notFound();
  };
  app.get(INSPECTOR, (context) => {
    context.set('route', INSPECTOR);
    // The page links its files relative to a folder, so that a proxy can serve it below another path.
    return context.redirect(`.${INSPECTOR}/`, 308);
  });
  app.post(`${INSPECTOR}/session`, async (context) => {
    context.set('route', `${INSPECTOR}/session`);
    const code = textIn(await readBody(context.env.incoming, short(body)), 'code');
    const session = code === undefined ? undefined : sessions.exchange(code);
    if (!session) {
      throw new SalienceError(
        'unauthorized',
        'this code was used already, or is older than 60 seconds; run "salience inspect" again',
      );
    }
    return context.json({ token: session.token, ...session.grant });
  });
  app.get(`${INSPECTOR}/*`, serve);
}

/**
 * Adds the routes by which a session ends, and by which a session of the operator enters another space. Both require
 * authentication.
 */
export function addSessionRoutes(
  app: Hono<AppTypes>,
  { sessions, spaces, body }: Pick<Desk, 'body' | 'spaces'> & { readonly sessions: InspectorSessions },
): void {
  app.delete(`${INSPECTOR}/session`, (context) => {
    context.set('route', `${INSPECTOR}/session`);
    // A stored token is no session, and stays valid until it is revoked.
    sessions.end(bearerOf(context) ?? '');
    return context.body(null, 204);
  });
  app.post(`${INSPECTOR}/space`, async (context) => {
    context.set('route', `${INSPECTOR}/space`);
    const space = textIn(await readBody(context.env.incoming, short(body)), 'space') ?? '';
    const session = sessions.enter(bearerOf(context) ?? '', space);
    // A misspelt name must not create a space.
    if (!(await spaces.list?.())?.includes(space)) {
      throw new SalienceError('not_found', `there is no space ${JSON.stringify(space)}`);
    }
    return context.json({ token: session.token, ...session.grant });
  });
}

const NOT_BUILT =
  'The inspector is not built, or was left behind by a bundler. Run "npm run build" in the checkout, or leave salience out of the bundle, and start the server again.\n';

/** Reads all files of the page. Paths of requests are keys of this map and never paths on disk. */
function readFiles(given: string | undefined): ReadonlyMap<string, PageFile> {
  let directory: string;
  let names: readonly string[];
  try {
    directory = given ?? built();
    names = readdirSync(directory);
  } catch {
    return new Map();
  }
  return new Map(
    names.flatMap((name) => {
      const type = TYPES[extname(name)];
      return type === undefined ? [] : [[name, fileOf(type, readFileSync(`${directory}/${name}`))] as const];
    }),
  );
}

function fileOf(type: string, content: Uint8Array): PageFile {
  const body = new Uint8Array(content);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { type, etag, body, zipped: new Uint8Array(gzipSync(body)) };
}

/** Matches an Accept-Encoding that names gzip, unless with `q=0`. */
const GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

function send(context: AppContext, { type, etag, body, zipped }: PageFile): Response {
  const headers = { etag, vary: 'accept-encoding' };
  if (isKnown(headerOf(context, 'if-none-match'), etag)) return new Response(null, { status: 304, headers });
  const packed = GZIP.test(headerOf(context, 'accept-encoding') ?? '');
  return new Response(packed ? zipped : body, {
    headers: { ...headers, 'content-type': type, ...(packed ? { 'content-encoding': 'gzip' } : {}) },
  });
}

function short(limits: BodyLimits): BodyLimits {
  return { ...limits, bytes: Math.min(limits.bytes, MOST_BYTES), isFixed: true };
}

function textIn(body: string, name: string): string | undefined {
  try {
    const { [name]: text } = JSON.parse(body) as Readonly<Record<string, unknown>>;
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}
