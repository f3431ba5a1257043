import { createHash, randomBytes } from 'node:crypto';
import { flag } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { keysOf, onlyKeys } from '../domain/options.ts';
import type { Clock, Instant } from '../domain/time.ts';
import { type Grant, makeGrant, type NewToken } from './tokens.ts';

/** How long a code can be exchanged, in milliseconds. */
const CODE_LIFE = 60_000;
/** How long a session lasts, in milliseconds. */
const SESSION_LIFE = 12 * 3_600_000;

/** What a session of the inspector may do. */
export interface InspectorAccess extends NewToken {
  /**
   * For the operator of the server. With the right `admin`, the session also sees the names and sizes of all spaces and
   * all tokens, and may enter each of these spaces with the same rights. Default is false.
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

/** Sessions of the inspector, which need no stored token. They are kept in memory and end with the process. */
export interface InspectorSessions {
  /** Returns a code for these rights, which can be exchanged once within 60 seconds. Throws `invalid_argument`. */
  newCode(access: InspectorAccess): string;
  /** Returns the token of a new session; `undefined` if the code was used, has expired or never existed. */
  exchange(code: string): { readonly token: string; readonly grant: Grant } | undefined;
  authenticate(token: string): Grant | undefined;
  /**
   * Starts a session in another space, with the rights and the end of the session of `token`. Throws `forbidden` if
   * that session may not enter other spaces.
   */
  enter(token: string, space: string): { readonly token: string; readonly grant: Grant };
  /** Ends the session of `token`, and those in other spaces that began with the same code. */
  end(token: string): void;
}

interface Kept {
  readonly grant: Grant;
  readonly until: Instant;
  /** The id of the grant whose code was exchanged. All sessions that came from it have the same. */
  readonly origin: string;
}

export function createInspectorSessions(clock: Clock): InspectorSessions {
  const codes = new Map<string, Kept>();
  const sessions = new Map<string, Kept>();
  const keep = (place: Map<string, Kept>, secret: string, entry: Kept) => {
    const now = clock();
    for (const [key, kept] of place) if (kept.until <= now) place.delete(key);
    place.set(keyOf(secret), entry);
    return secret;
  };
  const find = (place: Map<string, Kept>, secret: string) => {
    const kept = place.get(keyOf(secret));
    return kept && kept.until > clock() ? kept : undefined;
  };
  const begin = (entry: Kept) => {
    // The prefix differs from that of stored tokens, so that `TokenStore` never looks it up.
    return { token: keep(sessions, `inspector_${random()}`, entry), grant: entry.grant };
  };
  return {
    newCode(access) {
      onlyKeys(access, accessKeys, 'inspectorUrl');
      const { everySpace = false, ...token } = access;
      flag(everySpace, 'everySpace');
      const made = makeGrant({ name: 'inspector', ...token }, newId(), clock());
      const grant = everySpace ? { ...made, everySpace } : made;
      return keep(codes, random(), { grant, until: clock() + CODE_LIFE, origin: grant.id });
    },
    exchange(code) {
      const kept = find(codes, code);
      codes.delete(keyOf(code));
      return kept && begin({ ...kept, until: clock() + SESSION_LIFE });
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
      return begin({ ...kept, grant: { ...kept.grant, id: newId(), space } });
    },
    end(token) {
      const ended = find(sessions, token);
      for (const [key, { origin }] of sessions) if (origin === ended?.origin) sessions.delete(key);
    },
  };
}

function newId(): string {
  return randomBytes(8).toString('hex');
}

function random(): string {
  return randomBytes(32).toString('base64url');
}

/** Secrets are looked up by their hash, so that timing reveals nothing about them. */
function keyOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
