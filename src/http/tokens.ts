import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import { chmod, type FileHandle, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { oneOf, text, texts } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { SalienceError } from '../domain/errors.ts';
import { makeDirectory } from '../domain/make-directory.ts';
import { keysOf, onlyKeys } from '../domain/options.ts';
import { parseScope } from '../domain/scope.ts';
import { parseSpaceName } from '../domain/space.ts';
import { formatInstant, type Instant, isInstant } from '../domain/time.ts';
import { waitForDisk } from '../domain/wait-for-disk.ts';
import type { SharedTexts } from '../store-kit.ts';

export const TOKEN_RIGHTS = ['read', 'write', 'admin'] as const;
export type TokenRights = (typeof TOKEN_RIGHTS)[number];

/** What the holder of a token may do. */
export interface Grant {
  /** Names the token; no secret. */
  readonly id: string;
  readonly name: string;
  /** The only space it opens. */
  readonly space: string;
  /** It sees these and their ancestors, and writes in these alone. Absent: every scope. */
  readonly scopes?: readonly string[] | undefined;
  /** `write` includes reading, `admin` everything: deleting the space too. */
  readonly rights: TokenRights;
  /** As an administrator it sees and enters all spaces; only sessions of the inspector can have it. */
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

/** Tokens, in a directory or a store that servers share: a hash of each, and never the token. */
export interface TokenStore {
  /**
   * Makes a token. It is in this answer and nowhere else.
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
   * From now on the token opens nothing. Throws `not_found`.
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
   * What the token grants; `undefined` for one that was never made, or was revoked.
   *
   * @example
   * ```ts
   * const grant = await openTokenStore('./tokens').authenticate('salience_…');
   * if (!grant) console.log('unknown or revoked');
   * ```
   */
  authenticate(token: string): Promise<Grant | undefined>;
}

/** `salience_`, the id, and 256 random bits in base64url. */
const form = /^salience_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;
const idForm = /^[0-9a-f]{16}$/;
const suffix = '.json';

/**
 * The tokens kept in a directory, which is made when the first token is; or in the store that several servers share, so that
 * a token that one of them made or revoked is made or revoked for all.
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

/** Where tokens are kept. */
interface KeptTokens {
  add(token: StoredToken): Promise<void>;
  read(id: string): Promise<StoredToken | undefined>;
  /** The same, looked at anew for every request: what is revoked must open nothing from that moment on. */
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

/** A file for each, readable by its owner alone. */
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

/** 256 random bits cannot be guessed, so that a hash need not be slow. */
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

/** The file is complete or not there, and nobody else can read it at any moment. */
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
    await rename(temporary, path);
  } catch (cause) {
    // Where the folder cannot be entered, nothing is there to be removed, and the first error is the one to tell.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw unwritable(path, cause);
  }
}

/**
 * What root makes in the folder of somebody else is theirs: a server that may not read one of its tokens does not start. Where the
 * file system does not let root do so, it stays as it is.
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

/** A file that was changed by hand must not grant what nobody meant. */
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

/** What it holds is unknown, so that nothing says that it should be deleted. */
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
