import { connectMemory } from '../src/client/index.ts';
import { createTransport, type Transport } from '../src/client/transport.ts';
import type { MemoryEngine } from '../src/index.ts';
import { cell } from './cell.ts';

/** What a token opens, as `GET /v1/token` says it. */
export interface Grant {
  readonly id: string;
  readonly name: string;
  readonly space: string;
  readonly scopes?: readonly string[];
  readonly rights: 'read' | 'write' | 'admin';
  /** Of whoever runs the server: it sees all spaces. */
  readonly everySpace?: true;
  readonly createdAt: string;
}

export interface Session {
  readonly memory: MemoryEngine;
  readonly grant: Grant;
  readonly canWrite: boolean;
  /** Administers the space: it may see its tokens. */
  readonly isAdmin: boolean;
  /** Asks what is no verb, and what goes by the tag of a memory. */
  readonly transport: Transport;
}

/** Said of a session or token that opened the page, and opens it no longer. */
export const ENDED = 'This session has ended. Run "salience inspect" again, or sign in with a token.';
const STORED = 'salience-inspector-token';
/** The server that serves this page, which may stand below a path of a proxy. */
export const SERVER = new URL('..', location.href).href.replace(/\/$/, '');

/** `undefined`: nobody is signed in. */
export const session = cell<Session | undefined>(undefined);
/** Why nobody is signed in, for the page that asks for a token. */
export const signedOutBecause = cell<string | undefined>(undefined);

/** Signs in with the code of the address, else with what this tab has kept. */
export async function start(code: string | undefined): Promise<void> {
  if (code !== undefined) {
    await signIn(await exchange('session', { code }));
    return;
  }
  const kept = sessionStorage.getItem(STORED);
  if (kept === null) return;
  await signIn(kept).catch((error: Error) => {
    // Whoever was signed in by a code has never seen a token.
    throw sessionStorage.getItem(STORED) === null ? new Error(ENDED) : error;
  });
}

/** Throws what the server says of the token. Returns whether it was still meant when the server had answered. */
export async function signIn(token: string, isMeant = () => true): Promise<boolean> {
  // A header holds nothing else, and the browser says so in words of its own.
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
  session.set({
    memory,
    grant,
    canWrite: grant.rights !== 'read',
    isAdmin: grant.rights === 'admin' && !grant.scopes,
    transport: createTransport({ url: SERVER, token }),
  });
  return true;
}

export function signOut(because?: string): void {
  sessionStorage.removeItem(STORED);
  signedOutBecause.set(because);
  session.set(undefined);
}

/** Whether this session may go to other spaces of the server. */
export function goesAnywhere({ grant, isAdmin }: Session): boolean {
  return isAdmin && grant.everySpace === true;
}

/** Whether this session may change what lies in a scope. */
export function mayWriteIn({ grant, canWrite }: Session, scope: string): boolean {
  return canWrite && (grant.scopes?.includes(scope) ?? true);
}

/** Whether this session may undo and maintain: who sees some scopes alone may not. */
export function mayUndo({ grant, canWrite }: Session): boolean {
  return canWrite && !grant.scopes;
}

/**
 * Goes to another space of the server with the same rights, if that is still meant when the server has answered, and
 * returns whether it did. The view that is shown begins anew.
 */
export async function enterSpace(space: string, isMeant: () => boolean): Promise<boolean> {
  const token = await exchange('space', { space }, sessionStorage.getItem(STORED));
  return isMeant() && signIn(token, isMeant);
}

/** The token of a session, for a code or for a session that may have another one. */
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

/** Before anybody is signed in: what does not answer, or answers for the server, is told in words that say what to do. */
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
