import { createHash, randomBytes } from 'node:crypto';
import { flag } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { keysOf, onlyKeys } from '../domain/options.ts';
import type { Clock, Instant } from '../domain/time.ts';
import { type Grant, makeGrant, type NewToken } from './tokens.ts';

/** Milliseconds in which a code must be exchanged. */
const CODE_LIFE = 60_000;
/** Milliseconds for which a session lasts. */
const SESSION_LIFE = 12 * 3_600_000;

/** What a session of the inspector may do. */
export interface InspectorAccess extends NewToken {
  /**
   * With the right `admin`, it also sees the names and sizes of all spaces of the server and all tokens, and may go to any of
   * these spaces with the same rights: for whoever runs the server. Default is false.
   */
  readonly everySpace?: boolean | undefined;
}

const accessKeys = keysOf<InspectorAccess>()({
  name: true,
  space: true,
  scopes: true,
  rights: true,
  everySpace: true,
});

/** Who may use the inspector without a stored token. All of it is in this process, and ends with it. */
export interface InspectorSessions {
  /** A code for these rights, which one request may exchange within 60 seconds. Throws `invalid_argument`. */
  newCode(access: InspectorAccess): string;
  /** The token of a new session, or `undefined`: the code was used, has expired or never was. */
  exchange(code: string): { readonly token: string; readonly grant: Grant } | undefined;
  authenticate(token: string): Grant | undefined;
  /**
   * The token of a session in another space, with the rights of the session that `token` opens, until that one ends. Throws
   * `forbidden` where it may not go there.
   */
  enter(token: string, space: string): { readonly token: string; readonly grant: Grant };
}

interface Kept {
  readonly grant: Grant;
  readonly until: Instant;
}

export function createInspectorSessions(clock: Clock): InspectorSessions {
  const codes = new Map<string, Kept>();
  const sessions = new Map<string, Kept>();
  const keep = (place: Map<string, Kept>, secret: string, grant: Grant, until: Instant) => {
    const now = clock();
    for (const [key, kept] of place) if (kept.until <= now) place.delete(key);
    place.set(keyOf(secret), { grant, until });
    return secret;
  };
  const find = (place: Map<string, Kept>, secret: string) => {
    const kept = place.get(keyOf(secret));
    return kept && kept.until > clock() ? kept : undefined;
  };
  const begin = (grant: Grant, until: Instant) => {
    // Of a form of its own, so that it is not looked for among the stored ones.
    return { token: keep(sessions, `inspector_${random()}`, grant, until), grant };
  };
  return {
    newCode(access) {
      onlyKeys(access, accessKeys, 'inspectorUrl');
      const { everySpace = false, ...token } = access;
      flag(everySpace, 'everySpace');
      const grant = makeGrant({ name: 'inspector', ...token }, newId(), clock());
      return keep(codes, random(), everySpace ? { ...grant, everySpace } : grant, clock() + CODE_LIFE);
    },
    exchange(code) {
      const kept = find(codes, code);
      codes.delete(keyOf(code));
      return kept && begin(kept.grant, clock() + SESSION_LIFE);
    },
    authenticate: (token) => find(sessions, token)?.grant,
    enter(token, space) {
      const kept = find(sessions, token);
      if (!kept?.grant.everySpace || kept.grant.rights !== 'admin' || kept.grant.scopes) {
        throw new SalienceError(
          'forbidden',
          'only a session of whoever runs the server goes to other spaces; "salience inspect" makes one',
        );
      }
      return begin({ ...kept.grant, id: newId(), space }, kept.until);
    },
  };
}

function newId(): string {
  return randomBytes(8).toString('hex');
}

function random(): string {
  return randomBytes(32).toString('base64url');
}

/** Found by its hash, so that how long the search takes says nothing of a secret. */
function keyOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
