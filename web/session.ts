import { connectMemory } from '../src/client/index.ts';
import { createTransport, type Transport } from '../src/client/transport.ts';
import { optionsAt, VERB_NAMES, type VerbName, verbEntry } from '../src/domain/verbs.ts';
import type { MemoryEngine } from '../src/index.ts';
import { cell } from './cell.ts';

/** The rights of a token, as `GET /v1/token` returns them. */
export interface Grant {
  readonly id: string;
  readonly name: string;
  readonly space: string;
  readonly scopes?: readonly string[];
  readonly rights: 'read' | 'write' | 'admin';
  /** Set for the token of the server's operator, which has access to all spaces. */
  readonly everySpace?: true;
  readonly createdAt: string;
}

export interface Session {
  /** Looks from `scope`, if there is one. */
  readonly memory: MemoryEngine;
  /** Looks from no scope unless a call names one. */
  readonly wholeMemory: MemoryEngine;
  readonly grant: Grant;
  /** The scope from which views look. Set for tokens of several scopes, which must name one in each such request. */
  readonly scope?: string;
  readonly canWrite: boolean;
  /** Whether the session administers the space and may see its tokens. */
  readonly isAdmin: boolean;
  /** For requests that are not verbs, and those that depend on the entity tag of a memory. */
  readonly transport: Transport;
}

/** The message for a session or token that is no longer valid. */
export const ENDED = 'This session has ended. Run "salience inspect" again, or sign in with a token.';
const STORED = 'salience-inspector-token';
/** The address of the server that serves this page, possibly below a path of a proxy. */
export const SERVER = new URL('..', location.href).href.replace(/\/$/, '');

/** The current session; `undefined` if nobody is signed in. */
export const session = cell<Session | undefined>(undefined);
/** Why nobody is signed in, for the sign-in page. */
export const signedOutBecause = cell<string | undefined>(undefined);

/** Signs in with the code of the address, or else with the session stored in this tab. */
export async function start(code: string | undefined): Promise<void> {
  if (code !== undefined) {
    await signIn(await exchange('session', { code }));
    return;
  }
  const kept = sessionStorage.getItem(STORED);
  if (kept === null) return;
  await signIn(kept).catch((error: Error) => {
    // A user who signed in with a code has never seen a token, so an error about one would not help.
    throw sessionStorage.getItem(STORED) === null ? new Error(ENDED) : error;
  });
}

/**
 * Signs in with a token. Throws the server's error. Resolves with whether `isMeant` was still true after the answer.
 */
export async function signIn(token: string, isMeant = () => true): Promise<boolean> {
  // A header may hold no other characters, and the browser's own error would be hard to understand.
  if (!/^[!-~]+$/.test(token))
    throw new Error('This is not a token: a token has no spaces and no letters with accents.');
  const { answer, ok, status } = await ask(`${SERVER}/v1/token`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!ok) {
    if (status === 401) sessionStorage.removeItem(STORED);
    throw new Error(answer.detail);
  }
  const grant = answer as unknown as Grant;
  const memory = await connectMemory({ url: SERVER, token });
  if (!isMeant()) return false;
  sessionStorage.setItem(STORED, token);
  signedOutBecause.set(undefined);
  const scope = grant.scopes && grant.scopes.length > 1 ? grant.scopes[0] : undefined;
  session.set({
    memory: scope === undefined ? memory : seenFrom(memory, scope),
    wholeMemory: memory,
    grant,
    ...(scope === undefined ? {} : { scope }),
    canWrite: grant.rights !== 'read',
    isAdmin: grant.rights === 'admin' && !grant.scopes,
    transport: createTransport({ url: SERVER, token }),
  });
  return true;
}

/** Has views look from another scope of the token. */
export function lookFrom(scope: string): void {
  const current = session.get();
  if (current) session.set({ ...current, memory: seenFrom(current.wholeMemory, scope), scope });
}

type Run = (...given: readonly unknown[]) => Promise<unknown>;

/**
 * Has every verb that looks from a scope look from this one, unless it names another. `get` needs none: the server takes
 * the scope of the token that sees the memory.
 */
function seenFrom(memory: MemoryEngine, scope: string): MemoryEngine {
  const verbs = VERB_NAMES.filter(looksFromScope).map((name) => {
    const at = optionsAt(verbEntry(name));
    const run = (memory as unknown as Readonly<Record<string, Run>>)[name] as Run;
    const looks: Run = (...given) => {
      const options = given[at] as { readonly scope?: string } | undefined;
      const before = Array.from({ length: at }, (_, place) => given[place]);
      return run(...before, { ...options, scope: options?.scope ?? scope });
    };
    return [name, looks] as const;
  });
  return { ...memory, ...Object.fromEntries(verbs) };
}

function looksFromScope(verb: VerbName): boolean {
  const { method, access, arguments: all = {} } = verbEntry(verb);
  return method === undefined && access !== 'write' && verb !== 'get' && Object.hasOwn(all, 'scope');
}

/** The arguments of a request as it was sent: with the scope from which the session looks. */
export function fieldsSent(verb: VerbName, fields: Readonly<Record<string, unknown>>): typeof fields {
  const scope = session.get()?.scope;
  return scope !== undefined && looksFromScope(verb)
    ? { ...fields, scope: fields['scope'] ?? scope }
    : fields;
}

/** Signs out. Without a reason, the user did: the server then ends the session, which may be in other tabs too. */
export function signOut(because?: string): void {
  const token = sessionStorage.getItem(STORED);
  if (because === undefined && token !== null) {
    // Sent even if the tab is closed at once. If the server is away, the session ends with it or with its time.
    const request = { method: 'DELETE', keepalive: true, headers: { authorization: `Bearer ${token}` } };
    fetch('session', request).catch(() => undefined);
  }
  sessionStorage.removeItem(STORED);
  signedOutBecause.set(because);
  session.set(undefined);
}

/** Whether the session may switch to other spaces of the server. */
export function goesAnywhere({ grant, isAdmin }: Session): boolean {
  return isAdmin && grant.everySpace === true;
}

/** Whether the session may change memories in a scope. */
export function mayWriteIn({ grant, canWrite }: Session, scope: string): boolean {
  return canWrite && (grant.scopes?.includes(scope) ?? true);
}

/** Whether the session may undo and run maintenance. Sessions limited to some scopes may not. */
export function mayUndo({ grant, canWrite }: Session): boolean {
  return canWrite && !grant.scopes;
}

/**
 * Switches to another space of the server with the same rights, if `isMeant` is still true after the answer. Resolves
 * with whether it did. The current view starts afresh.
 */
export async function enterSpace(space: string, isMeant: () => boolean): Promise<boolean> {
  const token = await exchange('space', { space }, sessionStorage.getItem(STORED));
  return isMeant() && signIn(token, isMeant);
}

/** Exchanges a one-time code, or the token of a session, for a session token. */
async function exchange(
  path: 'session' | 'space',
  body: Readonly<Record<string, string>>,
  token: string | null = null,
): Promise<string> {
  const { answer, ok } = await ask(path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  if (!ok) throw new Error(answer.detail);
  return answer.token ?? '';
}

interface Answer {
  readonly detail?: string;
  readonly token?: string;
}

interface Asked extends Pick<Response, 'ok' | 'status'> {
  readonly answer: Answer;
}

/**
 * Sends a request before sign-in. If nothing answers, or something other than the server, the error says what to do.
 */
async function ask(path: string, request: RequestInit): Promise<Asked> {
  const response = await fetch(path, request).catch(() => {
    throw new Error('The server cannot be reached. Look whether it runs, and load this page again.');
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (typeof answer !== 'object' || answer === null)
    throw new Error(
      `Something else than the server answered, with status ${response.status}, such as a proxy. Load this page again when the server is back.`,
    );
  return { answer, ok: response.ok, status: response.status };
}
