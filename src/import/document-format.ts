import { SalienceError, throwIfAborted } from '../domain/errors.ts';
import { isThere, listOf } from './fields.ts';
import { type ImportItem, type ImportSource, type SourceOptions, unusable, withoutTooDeep } from './item.ts';

/** One record of a document of another system. */
export interface Part {
  /** Its path in the document. */
  readonly at: string;
  /** The user it belongs to; `null` if it names none, absent if it concerns the whole document. */
  readonly owner?: string | null | undefined;
  read(where: string, options: SourceOptions): Iterable<ImportItem>;
}

/** A JSON document of another system. */
export interface DocumentFormat {
  /** What it is, for messages. */
  readonly holds: string;
  /** Whether the document is certainly of this system. */
  recognises(document: unknown): boolean;
  /** Returns its records; `undefined` if the document has another shape. */
  partsOf(document: unknown): readonly Part[] | undefined;
}

type ReadRecord = (value: unknown, where: string, options: SourceOptions) => Iterable<ImportItem>;
type OwnerOf = (value: unknown) => string | undefined;

/** Returns the elements of a list as parts that are all read by `read`. */
export function partsOfList(
  list: readonly unknown[],
  at: string,
  read: ReadRecord,
  ownerOf?: OwnerOf,
): readonly Part[] {
  return list.map((value, index) => ({
    at: `${at}[${index}]`,
    ...(ownerOf ? { owner: ownerOf(value) ?? null } : {}),
    read: (where, options) => read(value, where, options),
  }));
}

/** Returns the elements of an optional list as parts. A value that is not a list is reported. */
export function partsOfOther(
  value: unknown,
  at: string,
  read: ReadRecord,
  ownerOf?: OwnerOf,
): readonly Part[] {
  if (isThere(value) && !Array.isArray(value)) {
    return [{ at, read: (where) => [unusable(where, 'is not a list')] }];
  }
  return partsOfList(listOf(value), at, read, ownerOf);
}

/** How many users a message lists. */
const MOST_NAMED = 10;

/**
 * Returns the parts of one user, because a space belongs to one user. Throws `invalid_argument` with the names of the
 * users if the document has several and none is chosen, or if the chosen one is not among them.
 */
export function partsOfUser(
  parts: readonly Part[],
  path: string,
  { user }: Pick<SourceOptions, 'user'>,
): readonly Part[] {
  const users = [...new Set(parts.flatMap(({ owner }) => owner ?? []))];
  const names = users.slice(0, MOST_NAMED).join(', ') + (users.length > MOST_NAMED ? ', …' : '');
  if (user === undefined && users.length > 1) {
    throw new SalienceError(
      'invalid_argument',
      `${path} contains the data of ${users.length} users: ${names}; a space is for one user: import each into a space of its own, with --user NAME --space SPACE, or all at once with --space-per-user`,
      { details: { field: 'user', users: users.slice(0, MOST_NAMED) } },
    );
  }
  if (user === undefined) return parts;
  if (!users.includes(user)) {
    const known = users.length === 0 ? 'names no users' : `names ${names}`;
    throw new SalienceError('invalid_argument', `${path} contains nothing of user ${user}; it ${known}`, {
      details: { field: 'user', users: users.slice(0, MOST_NAMED) },
    });
  }
  if (users.length === 1) return parts;
  return parts.map((part) =>
    part.owner === undefined || part.owner === user
      ? part
      : { at: part.at, read: () => [part.owner === null ? ofNobody : leftOut] },
  );
}

/** Groups the parts by user. Parts that concern the document or name no user are reported with the first user. */
export function partsByUser(parts: readonly Part[], path: string): ReadonlyMap<string, readonly Part[]> {
  const users = [...new Set(parts.flatMap(({ owner }) => owner ?? []))];
  if (users.length === 0) throw namesNoUsers(path);
  return new Map(
    users.map((user, at) => [
      user,
      parts.flatMap((part) => {
        if (part.owner === user) return [part];
        if (part.owner === undefined) return at === 0 ? [part] : [];
        return part.owner === null && at === 0 ? [{ at: part.at, read: () => [ofNobody] }] : [];
      }),
    ]),
  );
}

export function namesNoUsers(path: string): SalienceError {
  return new SalienceError(
    'invalid_argument',
    `${path} names no users; leave out --space-per-user, and name the space with --space`,
    { details: { field: 'spacePerUser', file: path } },
  );
}

const ofNobody: ImportItem = { kind: 'left-out', what: 'records of no user' };
const leftOut: ImportItem = { kind: 'left-out', what: 'records of other users' };

export function openParts(parts: readonly Part[], name: string, options: SourceOptions): ImportSource {
  let done = 0;
  const items = async function* (): AsyncGenerator<ImportItem, void> {
    for (const part of parts) {
      throwIfAborted(options.signal);
      const where = `${name} ${part.at}`;
      yield* withoutTooDeep(where, () => part.read(where, options));
      done++;
    }
  };
  return { items: items(), share: () => (parts.length === 0 ? undefined : done / parts.length) };
}
