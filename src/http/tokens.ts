import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import { chmod, type FileHandle, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { oneOf, text, texts } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { SalienceError } from '../domain/errors.ts';
import { replaceFile } from '../domain/give-name.ts';
import { makeDirectory } from '../domain/make-directory.ts';
import { keysOf, onlyKeys } from '../domain/options.ts';
import { parseScope } from '../domain/scope.ts';
import { parseSpaceName } from '../domain/space.ts';
import { formatInstant, type Instant, isInstant } from '../domain/time.ts';
import { waitForDisk, waitForNames } from '../domain/wait-for-disk.ts';
import type { SharedTexts } from '../store-kit.ts';

export const TOKEN_RIGHTS = ['read', 'write', 'admin'] as const;
export type TokenRights = (typeof TOKEN_RIGHTS)[number];

/** What the holder of a token may do. */
export interface Grant {
  /** Identifies the token. It is no secret. */
  readonly id: string;
  readonly name: string;
  /** The only space that the token opens. */
  readonly space: string;
  /** The token reads these scopes and their ancestors, and writes only in these. Absent: every scope. */
  readonly scopes?: readonly string[] | undefined;
  /** `write` includes reading; `admin` includes everything, also deleting the space. */
  readonly rights: TokenRights;
  /** Whether an administrator may see and enter all spaces. Only sessions of the inspector can have this. */
  readonly everySpace?: boolean | undefined;
  readonly createdAt: string;
}

export interface NewToken {
  /** Default is `default`. */
  readonly name?: string | undefined;
  readonly space: string;
  readonly scopes?: readonly string[] | undefined;
  /** Default is `write`. */
  readonly rights?: TokenRights | undefined;
}

const newTokenKeys = keysOf<NewToken>()({ name: true, space: true, scopes: true, rights: true });

/** Stores tokens in a directory, or in a store that servers share. It keeps a hash of each token, never the token. */
export interface TokenStore {
  /**
   * Creates a token. Only this answer contains it.
   *
   * @example
   * ```ts
   * const grants = { space: 'alice', scopes: ['project:website'], rights: 'write' } as const;
   * const { token } = await openTokenStore('./tokens').create(grants, Date.now());
   * ```
   */
  create(token: NewToken, now: Instant): Promise<{ readonly token: string; readonly grant: Grant }>;
  /**
   * Lists the grants that are not revoked, oldest first.
   *
   * @example
   * ```ts
   * for (const { id, name, space } of await openTokenStore('./tokens').list()) console.log(id, name, space);
   * ```
   */
  list(): Promise<readonly Grant[]>;
  /**
   * Revokes a token. It stops working immediately. Throws `not_found`.
   *
   * @example
   * ```ts
   * const tokens = openTokenStore('./tokens');
   * const { grant } = await tokens.create({ space: 'alice' }, Date.now());
   * await tokens.revoke(grant.id);
   * ```
   */
  revoke(id: string): Promise<void>;
  /**
   * Returns the grant of a token; `undefined` if the token never existed or was revoked.
   *
   * @example
   * ```ts
   * const grant = await openTokenStore('./tokens').authenticate('salience_…');
   * if (!grant) console.log('unknown or revoked');
   * ```
   */
  authenticate(token: string): Promise<Grant | undefined>;
}

/** `salience_`, the id, `_`, and 256 random bits in base64url. */
const form = /^salience_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;
const idForm = /^[0-9a-f]{16}$/;
const suffix = '.json';

/**
 * Opens a store of tokens. With a path, tokens are files in that directory, which is created with the first token. With
 * the `shared` part of a store, a token that one server creates or revokes is created or revoked for all.
 *
 * @example
 * ```ts
 * import { openTokenStore } from 'salience/http';
 * const tokens = openTokenStore('./tokens');
 * const { token, grant } = await tokens.create({ space: 'alice', rights: 'read' }, Date.now());
 * // Shown once: only its hash is kept.
 * console.log(`${token} opens ${grant.space}`);
 * ```
 */
export function openTokenStore(place: string | SharedTexts): TokenStore {
  const kept = typeof place === 'string' ? tokenFiles(place) : sharedTokens(place);
  return {
    async create(token, now) {
      onlyKeys(token, newTokenKeys, 'token');
      if (!isInstant(now)) {
        throw new SalienceError(
          'invalid_argument',
          `now: ${describe(now)} is no time; give whole milliseconds since 1970, such as Date.now()`,
          { details: { field: 'now' } },
        );
      }
      const id = randomBytes(8).toString('hex');
      const secret = `salience_${id}_${randomBytes(32).toString('base64url')}`;
      const grant = makeGrant(token, id, now);
      await kept.add({ ...grant, hash: hashOf(secret).toString('hex') });
      return { token: secret, grant };
    },
    async list() {
      const stored = await Promise.all((await kept.ids()).map(kept.read));
      return stored
        .filter((each) => each !== undefined)
        .map(({ hash, ...grant }) => grant)
        .sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
    },
    async revoke(id) {
      if (idForm.test(id) && (await kept.remove(id))) return;
      throw new SalienceError(
        'not_found',
        `token ${JSON.stringify(id)} does not exist; "salience token list" shows the ids`,
        { details: { id } },
      );
    },
    async authenticate(token) {
      const [, id] = form.exec(token) ?? [];
      const stored = id === undefined ? undefined : await kept.present(id);
      if (!stored) return undefined;
      const { hash, ...grant } = stored;
      return timingSafeEqual(hashOf(token), Buffer.from(hash, 'hex')) ? grant : undefined;
    },
  };
}

/** Storage of tokens. */
interface KeptTokens {
  add(token: StoredToken): Promise<void>;
  read(id: string): Promise<StoredToken | undefined>;
  /** Like `read`, but checked anew for every request, because a revoked token must stop working immediately. */
  present(id: string): Promise<StoredToken | undefined>;
  remove(id: string): Promise<boolean>;
  ids(): Promise<readonly string[]>;
}

function sharedTokens(texts: SharedTexts): KeptTokens {
  const read = async (id: string) => {
    const content = await texts.get('token', id);
    return content === undefined ? undefined : parseStored(content, id, `token ${id} of the store`);
  };
  return {
    add: (token) => texts.add('token', token.id, JSON.stringify(token)),
    read,
    present: read,
    remove: (id) => texts.remove('token', id),
    ids: () => texts.ids('token'),
  };
}

/** Stores each token in a file that only its owner can read. */
function tokenFiles(directory: string): KeptTokens {
  const fileOf = (id: string) => join(directory, `${id}${suffix}`);
  const read = async (id: string): Promise<StoredToken | undefined> => {
    let content: string;
    try {
      content = await readFile(fileOf(id), 'utf8');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw closedFile(fileOf(id), cause);
    }
    return parseStored(content, id, fileOf(id));
  };
  const known = new Map<string, { readonly stamp: string; readonly stored: StoredToken }>();
  return {
    add: (token) => writeTokenFile(directory, fileOf(token.id), token),
    read,
    async present(id) {
      const file = statIn(directory, fileOf(id));
      const stamp = file && `${file.ino} ${file.ctimeNs} ${file.size}`;
      const cached = known.get(id);
      if (stamp !== undefined && cached?.stamp === stamp) return cached.stored;
      known.delete(id);
      const stored = stamp === undefined ? undefined : await read(id);
      if (stored && stamp !== undefined) known.set(id, { stamp, stored });
      return stored;
    },
    async remove(id) {
      try {
        await rm(fileOf(id));
        // Otherwise a power cut could bring back a token that was revoked.
        await waitForNames(directory);
        return true;
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw unwritable(fileOf(id), cause);
        return false;
      }
    },
    ids: () => idsIn(directory),
  };
}

function statIn(directory: string, path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false, bigint: true });
  } catch (cause) {
    throw unenterable(directory, cause);
  }
}

type StoredToken = Grant & { readonly hash: string };

/** A fast hash is enough: 256 random bits cannot be guessed. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

export function makeGrant(
  { name = 'default', space, scopes, rights = 'write' }: NewToken,
  id: string,
  now: Instant,
) {
  if (scopes?.length === 0) {
    throw new SalienceError(
      'invalid_argument',
      'scopes: name at least one, or leave them out for all scopes',
    );
  }
  return {
    id,
    name: text(name, 'name', { maxCharacters: 100 }),
    space: parseSpaceName(space),
    ...(scopes ? { scopes: texts(scopes, 'scopes', 64, 512).map(parseScope) } : {}),
    rights: oneOf(rights, 'rights', TOKEN_RIGHTS),
    createdAt: formatInstant(now),
  } satisfies Grant;
}

/** Writes the file atomically. At no moment can anybody but the owner read it. */
async function writeTokenFile(directory: string, path: string, token: StoredToken): Promise<void> {
  const temporary = `${path}.tmp`;
  try {
    makeDirectory(directory, 0o700);
    await chmod(directory, 0o700);
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await giveToOwner(handle, directory);
      await handle.writeFile(`${JSON.stringify(token)}\n`);
      await waitForDisk(handle);
    } finally {
      await handle.close();
    }
    await replaceFile(temporary, path);
  } catch (cause) {
    // The first error is the one to report. If the directory cannot be entered, there is no file to remove.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw unwritable(path, cause);
  }
}

/**
 * Gives files that root creates in a directory of another user to that user, because a server that cannot read one of
 * its tokens does not start. Does nothing if the file system does not allow it.
 */
async function giveToOwner(handle: FileHandle, directory: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(directory);
  if (uid !== 0) await handle.chown(uid, gid).catch(() => undefined);
}

async function idsIn(directory: string): Promise<readonly string[]> {
  try {
    const names = await readdir(directory);
    return names
      .filter((name) => name.endsWith(suffix))
      .map((name) => name.slice(0, -suffix.length))
      .filter((id) => idForm.test(id));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw unenterable(directory, cause);
  }
}

/** Parses and checks a stored token. A file that was edited by hand must not grant more than intended. */
function parseStored(content: string, id: string, path: string): StoredToken {
  try {
    const { id: named, hash, createdAt, ...rest } = JSON.parse(content) as StoredToken;
    if (named !== id || !/^[0-9a-f]{64}$/.test(hash)) throw new Error('its id or its hash is damaged');
    return { ...makeGrant(rest, id, Date.parse(createdAt)), hash };
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function unenterable(directory: string, cause: unknown): SalienceError {
  return new SalienceError(
    'unreadable_file',
    `${directory} cannot be read (${(cause as Error).message}); check that it is a directory and that you may read it`,
    { details: { file: directory }, cause },
  );
}

/** The error for a file that cannot be opened. Its content is unknown, so the message does not suggest deleting it. */
function closedFile(path: string, cause: unknown): SalienceError {
  return new SalienceError(
    'unreadable_file',
    `${path} cannot be read (${(cause as Error).message}); check whose it is and that you may read it`,
    { details: { file: path }, cause },
  );
}

function unreadable(path: string, cause: unknown): SalienceError {
  return new SalienceError(
    'unreadable_file',
    `${path} cannot be read as a token (${(cause as Error).message}); revoke the token by deleting the file, and make a new one`,
    { details: { file: path }, cause },
  );
}

function unwritable(path: string, cause: unknown): SalienceError {
  return new SalienceError(
    'unwritable_file',
    `${path} cannot be written (${(cause as Error).message}); check that you may write there and that the disk has room`,
    { details: { file: path }, cause },
  );
}
