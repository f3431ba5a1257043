import { basename } from 'node:path';
import { SalienceError } from '../domain/errors.ts';
import { checkedFields, NO_LIMITS } from '../domain/field-checks.ts';
import type { JsonValue, Metadata } from '../domain/memory.ts';
import { parseSpaceName } from '../domain/space.ts';
import { type Instant, parseInstant } from '../domain/time.ts';
import { readLines, unreadableLine } from '../files/lines.ts';

/** Memories and questions about them with known right answers. */
export interface Dataset {
  /** The file name without its extension. */
  readonly name: string;
  /** The spaces by name, in the order of the file. */
  readonly spaces: ReadonlyMap<string, DatasetSpace>;
}

/** A space. Its queries are answered only from its own memories. */
export interface DatasetSpace {
  readonly memories: readonly DatasetMemory[];
  readonly queries: readonly DatasetQuery[];
}

export interface DatasetMemory {
  /** Unique in its space. */
  readonly id: string;
  readonly content: string;
  readonly createdAt: Instant;
  readonly session: string | undefined;
  readonly type: string | undefined;
  /** `user`, `assistant`, or another word. */
  readonly role?: string | undefined;
  /** Who said it, by name. */
  readonly author?: string | undefined;
  /** Every field of the line that the format does not name. */
  readonly metadata: Metadata;
}

export interface DatasetQuery {
  /** Unique in its space. */
  readonly id: string;
  readonly query: string;
  /** The moment of asking. */
  readonly now: Instant;
  /** The type of question; results are also reported by type. */
  readonly type: string;
  /** Ids of the memories that answer it. Empty if nothing should be found. */
  readonly relevant: readonly string[];
  /** Ids of outdated memories, which must rank below the relevant ones. Often empty. */
  readonly stale: readonly string[];
  /** Ids of memories that must not be returned at all. Default is none. */
  readonly mustNot?: readonly string[] | undefined;
  /** Its weight in means, above 0. Default is 1. */
  readonly weight?: number | undefined;
}

/**
 * Reads a dataset: JSON Lines, gzipped or not, with one memory or query per line, in any order. Blank lines are
 * ignored.
 *
 * ```
 * {"kind":"memory","space":"s","id":"m1","content":"…","createdAt":"2023-05-08T13:57:00Z","session"?,"type"?,"role"?,"author"?,…}
 * {"kind":"query","space":"s","id":"q1","query":"…","now":"2023-10-23T00:00:00Z","type":"…","relevant":["m1"],"stale"?:[],"mustNot"?:[],"weight"?:1}
 * ```
 *
 * Throws `unreadable_file` with `details.file` and `details.line` for the first line with a missing or invalid field,
 * an id that its space already has, or a judgement about a memory that its space does not have; `aborted`.
 *
 * @example
 * ```ts
 * const { name, spaces } = await readDataset('./questions.jsonl');
 * for (const [space, { queries }] of spaces) console.log(name, space, queries.length);
 * ```
 */
export async function readDataset(
  path: string,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<Dataset> {
  const spaces = new Map<string, SpaceDraft>();
  for await (const { number, text } of readLines(path, options)) {
    if (text.trim() === '') continue;
    const entry = parseEntry(path, number, text);
    let space = spaces.get(entry.space);
    if (!space) {
      space = { memories: new Map(), queries: new Map(), lines: new Map() };
      spaces.set(entry.space, space);
    }
    const { kind, value } = entry;
    const known: ReadonlyMap<string, unknown> = kind === 'memory' ? space.memories : space.queries;
    if (known.has(value.id)) {
      throw unreadableLine(path, number, `repeats the id ${JSON.stringify(value.id)} of an earlier ${kind}`);
    }
    if (kind === 'memory') {
      space.memories.set(value.id, value);
    } else {
      space.queries.set(value.id, value);
      space.lines.set(value, number);
    }
  }
  for (const space of spaces.values()) checkJudgements(path, space);
  return {
    name: basename(path).replace(/(?:\.(?:jsonl|ndjson|json))?(?:\.gz)?$/i, ''),
    spaces: new Map(
      Array.from(spaces, ([name, { memories, queries }]) => [
        name,
        { memories: [...memories.values()], queries: [...queries.values()] },
      ]),
    ),
  };
}

interface SpaceDraft {
  readonly memories: Map<string, DatasetMemory>;
  readonly queries: Map<string, DatasetQuery>;
  /** The line number of each query. */
  readonly lines: Map<DatasetQuery, number>;
}

type Entry =
  | { readonly kind: 'memory'; readonly space: string; readonly value: DatasetMemory }
  | { readonly kind: 'query'; readonly space: string; readonly value: DatasetQuery };

function parseEntry(path: string, number: number, source: string): Entry {
  let json: unknown;
  try {
    json = JSON.parse(source);
  } catch (cause) {
    throw unreadableLine(path, number, `is not valid JSON: ${(cause as Error).message}`, cause);
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw unreadableLine(path, number, 'is wrong: expected an object');
  }
  const line = fieldsOf(json as { readonly [field: string]: JsonValue }, (field, problem) => {
    throw unreadableLine(path, number, `is wrong in "${field}": ${problem}`);
  });
  const { kind, space: _space, id: _id, ...rest } = json as { readonly [field: string]: JsonValue };
  if (kind === 'memory' || kind === 'query') checkPresent(path, number, kind, json);
  switch (kind) {
    case 'memory': {
      const { content: _content, createdAt: _createdAt, session, type, role, author, ...metadata } = rest;
      const space = line.space('space');
      const value: DatasetMemory = {
        id: line.id('id'),
        content: line.text('content'),
        createdAt: line.instant('createdAt'),
        session: session === undefined ? undefined : line.text('session'),
        type: type === undefined ? undefined : line.text('type'),
        role: role === undefined ? undefined : line.text('role'),
        author: author === undefined ? undefined : line.text('author'),
        metadata,
      };
      line.memory(value);
      return { kind, space, value };
    }
    case 'query':
      return {
        kind,
        space: line.space('space'),
        value: {
          id: line.id('id'),
          query: line.text('query'),
          now: line.instant('now'),
          type: line.text('type'),
          relevant: line.ids('relevant'),
          stale: rest['stale'] === undefined ? [] : line.ids('stale'),
          ...(rest['mustNot'] !== undefined && { mustNot: line.ids('mustNot') }),
          ...(rest['weight'] !== undefined && { weight: line.weight('weight') }),
        },
      };
    default:
      throw unreadableLine(path, number, 'is wrong in "kind": it must be "memory" or "query"');
  }
}

const NEEDED = {
  memory: ['space', 'id', 'content', 'createdAt'],
  query: ['space', 'id', 'query', 'now', 'type', 'relevant'],
} as const;

/** Names all fields that a line lacks at once: who writes a first dataset would meet them one by one. */
function checkPresent(path: string, number: number, kind: keyof typeof NEEDED, line: object): void {
  const quoted = (fields: readonly string[]) => fields.map((field) => `"${field}"`).join(', ');
  const missing = NEEDED[kind].filter((field) => !(field in line));
  if (missing.length === 0) return;
  throw unreadableLine(path, number, `has no ${quoted(missing)}: a ${kind} needs ${quoted(NEEDED[kind])}`);
}

const MEMORY_FIELDS = ['id', 'content', 'sessionId', 'type', 'role', 'author', 'metadata'] as const;

/** Returns readers for the fields of one line. They call `refuse`, which throws, for an invalid field. */
function fieldsOf(
  line: { readonly [field: string]: JsonValue },
  refuse: (field: string, problem: string) => never,
) {
  const parsed = <Value>(field: string, parse: (value: string) => Value): Value => {
    const value = text(field);
    try {
      return parse(value);
    } catch (cause) {
      return refuse(field, (cause as Error).message.replace(`${field}: `, ''));
    }
  };
  const text = (field: string, value: unknown = line[field]): string => {
    if (typeof value !== 'string') return refuse(field, 'expected a string');
    if (!value.isWellFormed()) return refuse(field, 'holds half of a surrogate pair');
    return value.trim() === '' ? refuse(field, 'must not be blank') : value;
  };
  const id = (field: string, value: unknown = line[field]): string => {
    const checked = text(field, value);
    return checked.length > 128 ? refuse(field, 'must be of at most 128 characters') : checked;
  };
  return {
    text: (field: string) => text(field),
    id: (field: string) => id(field),
    ids(field: string): readonly string[] {
      const list = line[field];
      if (!Array.isArray(list)) return refuse(field, 'expected a list of ids');
      const ids = list.map((each) => id(field, each));
      return new Set(ids).size === ids.length ? ids : refuse(field, 'names an id twice');
    },
    weight(field: string): number {
      const value = line[field];
      return typeof value === 'number' && value > 0 && value <= 1e6
        ? value
        : refuse(field, 'expected a number above 0, at most 1,000,000');
    },
    /** Refuses a memory that the engine would refuse later, when the line number is no longer known. */
    memory({ session, ...fields }: DatasetMemory): void {
      try {
        checkedFields({ ...fields, sessionId: session }, MEMORY_FIELDS, NO_LIMITS);
      } catch (cause) {
        if (!SalienceError.isInstance(cause)) throw cause;
        const field = String(cause.details['field']);
        const problem = cause.message.replace(`${field}: `, '');
        // Metadata is not one field of the line: it is all the remaining ones.
        refuse(field === 'sessionId' ? 'session' : field.replace('metadata.', ''), problem);
      }
    },
    instant: (field: string) => parsed(field, (value) => parseInstant(value, field)),
    space: (field: string) => parsed(field, parseSpaceName),
  };
}

function checkJudgements(path: string, { memories, queries, lines }: SpaceDraft): void {
  for (const query of queries.values()) {
    const { relevant, stale, mustNot = [] } = query;
    for (const each of [...relevant, ...stale, ...mustNot]) {
      if (memories.has(each)) continue;
      const problem = `judges the memory ${JSON.stringify(each)}, which is not in its space`;
      throw unreadableLine(path, lines.get(query)!, problem);
    }
    for (const [name, forbidden] of Object.entries({ stale, mustNot })) {
      const both = forbidden.find((each) => relevant.includes(each));
      if (both === undefined) continue;
      const problem = `names the memory ${JSON.stringify(both)} as relevant and as ${name}`;
      throw unreadableLine(path, lines.get(query)!, problem);
    }
  }
}
