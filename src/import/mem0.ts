import { type DocumentFormat, type Part, partsOfList, partsOfOther } from './document-format.ts';
import {
  fieldsOf,
  idOf,
  isFields,
  joinMetadata,
  listOf,
  metadataIn,
  metadataOf,
  textOf,
  textsOf,
  timeOf,
} from './fields.ts';
import { foreignStatements, type ImportItem, leftOutField, type SourceOptions, unusable } from './item.ts';
import { entityName, relationItems } from './mcp-memory.ts';

/** The types for categories of mem0, which its documentation of custom categories lists. */
const typeOfCategory: ReadonlyMap<string, string> = new Map([
  ['user_preferences', 'preference'],
  ['personal_details', 'profile'],
  ['milestones', 'event'],
]);

/**
 * The result of `get_all` of mem0: a list, or an object with `results` and, if mem0 keeps a graph, `relations`. The
 * fields are those of github.com/mem0ai/mem0, mem0/memory/main.py (_get_all_from_vector_store). The platform adds
 * categories and pages, as its API reference describes.
 */
export const mem0: DocumentFormat = {
  holds: 'the answer of get_all of mem0: "results", a list of objects with a "memory"',
  recognises: (document) =>
    listOf(resultsOf(document)).some((each) => textOf(fieldsOf(each)['memory']) !== undefined),
  partsOf(document) {
    const results = resultsOf(document);
    if (!Array.isArray(results)) return undefined;
    const { relations, next } = fieldsOf(document);
    return [
      ...partsOfList(results, 'results', readMemory, userOf),
      ...partsOfOther(relations, 'relations', relationReader(listOf(relations)), userOf),
      ...(textOf(next) === undefined ? [] : [missingPages]),
    ];
  },
};

function userOf(record: unknown): string | undefined {
  return idOf(fieldsOf(record)['user_id']);
}

function resultsOf(document: unknown): unknown {
  return Array.isArray(document) ? document : fieldsOf(document)['results'];
}

const missingPages: Part = {
  at: 'next',
  read: (where) => [unusable(where, 'says that there are more pages; export and import those too')],
};

/** Internal fields of the search engine, useless elsewhere, with the nouns that report them as left out. */
const internals: ReadonlyMap<string, string> = new Map([
  ['hash', 'hashes'],
  ['score', 'scores'],
  ['embedding', 'embeddings'],
  ['vector', 'embeddings'],
]);

function readMemory(value: unknown, where: string, options: SourceOptions): readonly ImportItem[] {
  if (!isFields(value)) return [unusable(where, 'is not an object')];
  // An answer of `add` also names the memories that it deleted, with their last text.
  if (value['event'] === 'DELETE') return [{ kind: 'left-out', what: 'deleted memories' }];
  const content = textOf(value['memory']);
  if (content === undefined) return [unusable(where, 'has no memory, or one that is not a string')];
  const {
    memory: _,
    metadata: own,
    id: _id,
    user_id: user,
    agent_id: agent,
    app_id: app,
    actor_id: actor,
    run_id: session,
    role,
    categories: _categories,
    created_at: createdAt,
    updated_at: updatedAt,
    expiration_date: expiresAt,
    ...others
  } = value;
  const id = idOf(value['id']);
  const unused = [...internals].filter(([name]) => others[name] !== undefined && others[name] !== null);
  const kept = Object.entries(others).filter(([name]) => !internals.has(name));
  const fields = joinMetadata(metadataIn(own), Object.fromEntries(kept));
  const { joined, hidden } = joinMetadata(fields.joined, { mem0Id: id, user, agent, app });
  const lost = [
    ...unused.map(([, what]): ImportItem => ({ kind: 'left-out', what })),
    ...[...fields.hidden, ...hidden].map(leftOutField),
  ];
  const categories = categoriesOf(value['categories']);
  const statements = foreignStatements(
    {
      system: 'mem0',
      where,
      key: id === undefined ? ['text', content] : [id],
      reference: id,
      content,
      type: categories.flatMap((each) => typeOfCategory.get(each) ?? [])[0] ?? 'fact',
      tags: categories,
      ...metadataOf(joined),
      author: idOf(actor),
      role: textOf(role),
      sessionId: idOf(session),
      createdAt: timeOf(createdAt),
      updatedAt: timeOf(updatedAt),
      expiresAt: timeOf(expiresAt),
    },
    options,
  );
  return [...statements, ...lost];
}

/**
 * Reads a list or a comma-separated string. A category is a string, an object with a `name`, or `{ name: description
 * }`.
 */
function categoriesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return textsOf(value.split(','));
  return [value].flat().flatMap((each) => {
    if (!isFields(each)) return idOf(each)?.trim() ?? [];
    const name = idOf(each['name'])?.trim();
    return name === undefined ? textsOf(Object.keys(each)) : [name];
  });
}

type ReadRelation = (value: unknown, where: string, options: SourceOptions) => readonly ImportItem[];

interface Joined {
  readonly from: string;
  readonly type: string;
  readonly to: string;
}

/** Reads a relation. `get_all` returns its end as `target`, `search` as `destination`. */
function joinedBy(value: unknown): Joined | undefined {
  const fields = fieldsOf(value);
  const [from, type] = [textOf(fields['source']), textOf(fields['relationship'])];
  const to = textOf(fields['target']) ?? textOf(fields['destination']);
  return from === undefined || type === undefined || to === undefined ? undefined : { from, type, to };
}

/** Returns a reader of relations. It yields an entity with the first relation of the same user that names it. */
function relationReader(relations: readonly unknown[]): ReadRelation {
  const first = new Map<string, unknown>();
  const keyOf = (value: unknown, name: string) => JSON.stringify([userOf(value), name]);
  for (const each of relations) {
    const { from, to } = joinedBy(each) ?? {};
    for (const name of [from, to]) {
      if (name !== undefined && !first.has(keyOf(each, name))) first.set(keyOf(each, name), each);
    }
  }
  return (value, where, options) => {
    const joined = joinedBy(value);
    if (!joined) return [unusable(where, 'is a relation without source, relationship or target')];
    const names = [...new Set([joined.from, joined.to])].filter(
      (name) => first.get(keyOf(value, name)) === value,
    );
    return [
      ...names.flatMap((name) => entityStatements(name, where, options)),
      ...relationItems({ system: 'mem0', where, ...joined }, options),
    ];
  };
}

/** mem0 writes the names of its graph in lower case, with `_` for spaces. */
function entityStatements(name: string, where: string, options: SourceOptions): readonly ImportItem[] {
  const title = name.replaceAll('_', ' ').trim() || name;
  return foreignStatements(
    {
      system: 'mem0',
      where,
      key: ['entity', name],
      reference: entityName(name),
      type: 'entity',
      title,
      content: title,
      ...(title === name ? {} : { aliases: [name.slice(0, 200).toWellFormed()] }),
      names: [entityName(name)],
    },
    options,
  );
}
