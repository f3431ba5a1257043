import { describe } from './describe.ts';
import { SalienceError } from './errors.ts';

/** Every property name of an options interface; for a union, those of all its members. */
export type KeyOf<Options> = Options extends unknown ? keyof Options & string : never;

/**
 * Lists all property names of an options interface, for {@link onlyKeys}. A missing or additional name does not compile,
 * so that the check cannot fall behind the type.
 *
 * @example
 * ```ts
 * const names = keysOf<AsOf>()({ known: true, valid: true });
 * ```
 */
export function keysOf<Options>() {
  return <Names extends Readonly<Record<KeyOf<Options>, true>>>(
    names: Names & Readonly<Record<Exclude<keyof Names, KeyOf<Options>>, never>>,
  ): readonly KeyOf<Options>[] => Object.keys(names) as unknown as readonly KeyOf<Options>[];
}

/** Refuses anything but a plain object of known options. Throws `invalid_argument`: a misspelt option must not be ignored. */
export function onlyKeys(value: unknown, allowed: readonly string[], field: string): void {
  const fail = (problem: string, key?: string) => {
    const details = { field: key === undefined ? field : `${field}.${key}` };
    return new SalienceError('invalid_argument', `${field}: ${problem}`, { details });
  };
  if (!isPlain(value)) {
    throw fail(`expected an object of options (available: ${allowed.join(', ')})`);
  }
  for (const key of Object.keys(value)) {
    if (!allowed.includes(key))
      throw fail(`unknown option ${JSON.stringify(key)} (${hint(key, allowed)})`, key);
  }
}

/** Whether a value is an object with properties. False for a date or a map: without keys, it would pass for empty options. */
export function isPlain(value: unknown): value is object {
  return /^\[object (Object|Module)\]$/.test(Object.prototype.toString.call(value));
}

/**
 * Copies an instance of a class to a plain object, inherited properties and getters included: spreading or sending the
 * instance would drop them, such as a `dryRun` getter. Does the same for each item of an array. A method is copied only if
 * its name is in `known`, since a class may have methods of its own.
 */
export function withInherited<Value>(value: Value, known: readonly string[] = []): Value {
  if (Array.isArray(value)) {
    return value.some(hasClass)
      ? (value.map((each) => (hasClass(each) ? flat(each, known) : each)) as Value)
      : value;
  }
  return hasClass(value) ? (flat(value, known) as Value) : value;
}

function hasClass(value: unknown): value is object {
  return typeof value === 'object' && value !== null && isPlain(value) && !isLiteral(value);
}

function flat(value: object, known: readonly string[]): object {
  const fields = new Map<string, unknown>(Object.entries(value));
  for (let from: object = Object.getPrototypeOf(value); !isRoot(from); from = Object.getPrototypeOf(from)) {
    for (const [name, { value: held }] of Object.entries(Object.getOwnPropertyDescriptors(from))) {
      if (fields.has(name) || (typeof held === 'function' && !known.includes(name))) continue;
      // Bound to its own object, because it may use private fields.
      fields.set(
        name,
        typeof held === 'function' ? held.bind(value) : (value as Record<string, unknown>)[name],
      );
    }
  }
  return Object.fromEntries(fields);
}

/** Whether an object has no class. Also true for object literals of another realm, which have another root prototype. */
export function isLiteral(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || isRoot(prototype as object);
}

/** Whether this is a root prototype, from which every object inherits. */
function isRoot(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null;
}

/** `unknown strategy "hybird" (did you mean "hybrid"?)` */
export function unknown(what: string, name: unknown, known: readonly string[]): string {
  return `unknown ${what} ${describe(name)} (${hint(name, known)})`;
}

export function unknownStrategy(name: unknown, known: readonly string[]): SalienceError {
  return new SalienceError('unknown_strategy', unknown('strategy', name, known), {
    details: { strategy: name },
  });
}

/** What other memory and search libraries call these verbs and options; lower case, without `_` and `-`. */
const ALSO_CALLED: Readonly<Record<string, readonly string[]>> = {
  remember: ['add', 'addmemory', 'addmemories', 'store', 'save', 'create', 'insert'],
  recall: ['search', 'searchmemory', 'searchmemories', 'query', 'retrieve', 'find'],
  forget: ['delete', 'deletememory', 'deletememories', 'remove', 'rm'],
  update: ['updatememory', 'edit'],
  get: ['show', 'getmemory'],
  list: ['ls', 'getall', 'getmemories', 'listmemories'],
  content: ['text', 'memory', 'data', 'fact', 'statement', 'observation'],
  query: ['q', 'text', 'question', 'searchquery'],
  id: ['memoryid', 'uuid'],
  limit: ['topk', 'k', 'n', 'top', 'max', 'maxresults', 'numresults', 'numberofresults', 'pagesize', 'size'],
  minRelevance: ['threshold', 'scorethreshold', 'similaritythreshold', 'minsimilarity', 'certainty'],
  metadata: ['filter', 'filters', 'where', 'payload', 'properties', 'attributes'],
  maxTokens: ['tokens', 'tokenlimit', 'tokenbudget', 'budget'],
  importance: ['priority'],
  topicKey: ['topic', 'key'],
  type: ['category', 'memorytype'],
  types: ['category', 'categories', 'memorytype', 'memorytypes'],
  tags: ['labels', 'keywords', 'topics'],
  sessionId: ['runid', 'threadid', 'thread', 'conversationid', 'chatid'],
  author: ['speaker', 'sender'],
  createdAt: ['timestamp', 'date', 'time', 'eventdate'],
  expiresAt: ['expirationdate', 'expiry', 'expires'],
  path: ['dir', 'directory', 'folder', 'file', 'filename', 'database', 'db', 'dbpath', 'storage'],
  space: [
    'userid',
    'user',
    'tenant',
    'tenantid',
    'namespace',
    'collection',
    'collectionname',
    'containertag',
  ],
  embedder: ['embeddings', 'embeddingmodel', 'embeddingfunction', 'vectorizer'],
  languageModel: ['llm', 'model', 'chatmodel'],
};

/** The hint for an unknown name: the known name that was probably meant, or all known names. */
export function hint(name: unknown, known: readonly string[]): string {
  const meant = alsoCalled(name, known) ?? nearest(name, known);
  return meant === undefined
    ? `available: ${known.join(', ') || 'none'}`
    : `did you mean ${JSON.stringify(meant)}?`;
}

/** Finds the known name of what has this name in other libraries. */
export function alsoCalled(name: unknown, known: readonly string[]): string | undefined {
  return typeof name === 'string'
    ? known.find((each) => Object.hasOwn(ALSO_CALLED, each) && ALSO_CALLED[each]?.includes(plain(name)))
    : undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

/** Finds the known name nearest to `name`, with at most a third of its letters different; `undefined` if there is none. */
function nearest(name: unknown, known: readonly string[]): string | undefined {
  if (typeof name !== 'string' || name.length > 100) return undefined;
  let best: string | undefined;
  let least = Math.floor(plain(name).length / 3) + 1;
  for (const each of known) {
    const distance = edits(plain(name), plain(each));
    if (distance < least) [best, least] = [each, distance];
  }
  return best;
}

/** The edit distance of two texts: letters added, removed, replaced, or swapped with the next one (Damerau–Levenshtein). */
function edits(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let least = Math.min(
        (last[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (last[j - 1] as number) + (same ? 0 : 1),
      );
      if (from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1] && i > 1 && j > 1) {
        least = Math.min(least, (before[j - 2] as number) + 1);
      }
      row.push(least);
    }
    [before, last] = [last, row];
  }
  return last[to.length] as number;
}
