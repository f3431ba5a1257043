import type { Hono } from 'hono';
import { callVerb, type Verb, verbs } from '../api/index.ts';
import { memorySchema } from '../api/schemas.ts';
import { invalidArgument } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { FIELD_NAMES } from '../domain/fields.ts';
import { fromPathSegment } from '../domain/path-segment.ts';
import { parseInstant } from '../domain/time.ts';
import { provided } from '../domain/work.ts';
import type { MemoryEngine } from '../index.ts';
import {
  type AppContext,
  type AppTypes,
  type Desk,
  headerOf,
  queryOf,
  refuseHeaders,
  signalOf,
} from './app-types.ts';
import { readBody, refuseBody } from './body.ts';
import { confine, withinTime, writeRefused } from './confine.ts';
import { checkRevision, etagOf, isKnown } from './etag.ts';
import type { KeptAnswer } from './idempotency.ts';
import { parseJsonFields, parseQueryFields, withoutSpace } from './input.ts';

/** Adds a route for every verb. */
export function addVerbRoutes(app: Hono<AppTypes>, desk: Desk): void {
  for (const verb of verbs) {
    const { method, path } = verb.http;
    app.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), async (context) => {
      context.set('route', path);
      return answer(context, verb, desk);
    });
  }
}

async function answer(context: AppContext, verb: Verb, desk: Desk): Promise<Response> {
  const grant = context.get('grant');
  if (verb.access === 'write' && grant.rights === 'read') {
    throw writeRefused(verb.name);
  }
  const inQuery = verb.http.method === 'GET' || verb.http.method === 'DELETE';
  if (inQuery) refuseBody(context.env.incoming);
  else refuseQuery(queryOf(context));
  const body = inQuery ? '' : await readBody(context.env.incoming, desk.body);
  const given = withoutSpace(
    inQuery
      ? parseQueryFields(verb.input, queryOf(context))
      : parseJsonFields(body, headerOf(context, 'content-type')),
    grant,
  );
  const input = withPath(given, context.req.param() as Readonly<Record<string, string>>);
  const whole = await desk.spaces.get(grant.space);
  const memory = withinTime(confine(whole, grant), desk.workTimeout);
  const waits = Number(input['wait']) > 0;
  const work = () => (waits ? runWaiting : run)(context, verb, memory, input, desk);
  if (verb.access !== 'write') return respond(await work(), headerOf(context, 'if-none-match'));

  const key = headerOf(context, 'idempotency-key');
  if (key === undefined) return respond(await work());
  if (!/^[\x21-\x7e]{1,200}$/.test(key)) {
    throw invalidArgument('idempotency-key', '1–200 visible ASCII characters are needed');
  }
  const said = headerOf(context, 'salience-now');
  const moment = said === undefined ? '' : `${said}\n`;
  const request = `${verb.http.method} ${context.env.incoming.url}\n${headerOf(context, 'if-match')}\n${moment}${body}`;
  const keep = async () => {
    const [before, after] = await Promise.all([originOf(whole), lastWriteOf(whole)]);
    const done = await work();
    // The work is done, so a failure to read the origin must not fail the request. `unknown` matches no space.
    const origin = before ?? (await originOf(whole).catch(() => 'unknown'));
    const position = await positionOf(whole).catch(() => undefined);
    return { ...done, origin, after, position };
  };
  const { answer, replayed } = await desk.idempotency.once(`${grant.id} ${key}`, request, keep, (kept) =>
    isErased(kept, whole),
  );
  return respond(answer, undefined, replayed ? { 'idempotency-replayed': 'true' } : {});
}

/**
 * Like {@link run}, for requests that may only be waiting. Takes a place to wait, and ends when the server shuts down.
 */
async function runWaiting(
  context: AppContext,
  verb: Verb,
  memory: MemoryEngine,
  input: Readonly<Record<string, unknown>>,
  desk: Desk,
): Promise<KeptAnswer> {
  const { shutdown, placeToWait } = desk;
  const leave = placeToWait(context.get('grant'));
  try {
    const answer = await run(context, verb, memory, input, desk, shutdown);
    await context.get('admitAgain')();
    return answer;
  } catch (error) {
    if (!shutdown.aborted) throw error;
    throw new SalienceError('closed', 'the server is shutting down; try again when it is running', {
      cause: error,
    });
  } finally {
    leave();
  }
}

async function run(
  context: AppContext,
  verb: Verb,
  memory: MemoryEngine,
  input: Readonly<Record<string, unknown>>,
  desk: Desk,
  until?: AbortSignal,
): Promise<KeptAnswer> {
  const ifMatch = verb.access === 'write' ? headerOf(context, 'if-match') : undefined;
  const now = momentSaid(context, desk);
  const { signal, done } = signalOf(context, until);
  const readOnly = context.get('grant').rights === 'read';
  const call = () => callVerb(verb, memory, input, { signal, now, readOnly });
  const work = async () => {
    if (ifMatch === undefined) return call();
    // An id in the body belongs to a memory that does not exist yet.
    if (!verb.http.path.includes('{id}')) {
      refuseHeaders(context, 'if-match');
      return call();
    }
    const id = String(input['id']);
    // Checked before the work, which may take long, and again within the write.
    const found = await memory.get(id);
    if (found) checkRevision(ifMatch, found);
    return provided({ id, check: (record) => checkRevision(ifMatch, record) }, call);
  };
  const output = await work().finally(done);
  const tagged = verb.output === (memorySchema as unknown) ? { etag: etagOf(output as never) } : {};
  return { status: 200, headers: tagged, body: JSON.stringify(output) };
}

/** Most characters of an id. */
const LONGEST_ID = 128;

/** Fields of a memory that never contain ids. Any other field of an answer may. */
const WITHOUT_IDS: ReadonlySet<string> = new Set(
  FIELD_NAMES.filter((name) => !['id', 'supersedes', 'derivedFrom', 'relations'].includes(name)),
);

/**
 * Whether a stored answer contains text that was erased since, with its whole space or by a `forget` in any process, or
 * is of a space that was restored since, which may not have what was written. Only erasures after the answer count: an
 * id may have been forgotten before, and used again.
 */
async function isErased(
  { body, origin, after = 0, position }: KeptAnswer,
  memory: MemoryEngine,
): Promise<boolean> {
  if (origin !== undefined && origin !== (await originOf(memory))) return true;
  if (position !== undefined && !(await hasPosition(memory, position))) return true;
  // For these ids the erasure itself is the answer.
  const { forgotten: _, rebuilt: __, ...told } = JSON.parse(body) as Readonly<Record<string, unknown>>;
  for (const id of new Set(idsIn(told))) {
    const entries = await memory.history(id);
    if (entries.some(({ memoryId, redacted, sequence }) => memoryId === id && redacted && sequence > after))
      return true;
  }
  return false;
}

/** Returns every string that may be an id. */
function idsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.length <= LONGEST_ID ? [value] : [];
  if (Array.isArray(value)) return value.flatMap(idsIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => (WITHOUT_IDS.has(name) ? [] : idsIn(each)));
}

/** Returns the number of the last log entry. A position begins with it. */
async function lastWriteOf(memory: MemoryEngine): Promise<number> {
  return Number.parseInt(await positionOf(memory), 10);
}

async function positionOf(memory: MemoryEngine): Promise<string> {
  return (await memory.activity('end')).position;
}

async function hasPosition(memory: MemoryEngine, position: string): Promise<boolean> {
  try {
    await memory.activity(position, { limit: 1 });
    return true;
  } catch (error) {
    if (SalienceError.isInstance(error) && error.code === 'invalid_argument') return false;
    throw error;
  }
}

/** Identifies a space by the time of the first entry in its log. */
async function originOf(memory: MemoryEngine): Promise<string | undefined> {
  const { entries } = await memory.activity('start', { limit: 1 });
  return entries[0]?.at;
}

/** Throws `invalid_argument` for a query that the route would ignore. */
function refuseQuery(query: URLSearchParams): void {
  const [name] = query.keys();
  if (name === undefined) return;
  throw invalidArgument(name, 'this route reads its arguments from a JSON body');
}

function momentSaid(context: AppContext, { acceptNow }: Desk): Date | undefined {
  const said = headerOf(context, 'salience-now');
  if (said === undefined) return undefined;
  if (acceptNow || context.get('grant').rights === 'admin')
    return new Date(parseInstant(said, 'salience-now'));
  throw new SalienceError(
    'forbidden',
    'salience-now: this server goes by its own clock; leave the header out, use a token that has the right admin, or start the server with acceptNow',
  );
}

function withPath(
  given: Readonly<Record<string, unknown>>,
  parameters: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const named = Object.fromEntries(
    Object.entries(parameters).map(([name, segment]) => [name, fromPathSegment(segment)]),
  );
  for (const [name, value] of Object.entries(named)) {
    if (given[name] !== undefined && given[name] !== value) {
      throw invalidArgument(name, 'the path and the body name two different ones');
    }
  }
  return { ...given, ...named };
}

function respond(
  { status, headers, body }: KeptAnswer,
  ifNoneMatch?: string,
  more: Readonly<Record<string, string>> = {},
): Response {
  const etag = headers['etag'];
  if (etag !== undefined && isKnown(ifNoneMatch, etag)) return new Response(null, { status: 304, headers });
  return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers, ...more } });
}
