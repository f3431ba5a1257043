import * as z from 'zod';
import { type Verb, verbs } from '../api/index.ts';
import { list } from '../api/read.ts';
import { explanationSchema, memorySchema } from '../api/schemas.ts';
import { TOKEN_RIGHTS } from './tokens.ts';
import { NOT_OF_EXPORTS } from './transfer.ts';

type Json = Readonly<Record<string, unknown>>;

const text = { type: 'string' } as const;
const problem = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: text,
    title: text,
    status: { type: 'integer' },
    detail: { ...text, description: 'What is wrong and how to mend it' },
    code: { ...text, description: 'For programs; stays the same from version to version' },
    details: { type: 'object' },
  },
} as const;

const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  schema: text,
  description,
});
const idempotencyKey = header(
  'Idempotency-Key',
  'The same key with the same request gets the first answer again, for a day',
);
const ifMatch = header('If-Match', 'The ETag of the memory as it was read; 412 when it was changed since');
const ifNoneMatch = header('If-None-Match', 'An ETag; 304 when nothing has changed');

/**
 * Returns the API as an OpenAPI 3.1 document, generated from the schemas of the verbs.
 *
 * @example
 * ```ts
 * import { openApi } from 'salience/http';
 * console.log(JSON.stringify(openApi('1.0.0'), null, 2));
 * ```
 */
export function openApi(version: string): Json {
  const { schemas, of } = schemasOfVerbs();
  const paths: Record<string, Json> = {};
  for (const verb of verbs) {
    paths[verb.http.path] = {
      ...paths[verb.http.path],
      [verb.http.method.toLowerCase()]: operationOf(verb, of(verb.input), of(verb.output)),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Salience',
      version,
      description: 'A memory for agents. The token decides which space is asked, and which scopes are seen.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'Where this document was fetched from' }],
    security: [{ token: [] }],
    paths: { ...paths, ...otherPaths(of(list.input)) },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { ...schemas, Problem: problem },
    },
  };
}

function operationOf(verb: Verb, input: Json, output: Json): Json {
  const { method, path } = verb.http;
  const { properties = {}, required = [] } = input as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
  };
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const others = Object.entries(properties).filter(([name]) => !inPath.includes(name));
  const inQuery = method === 'GET' || method === 'DELETE';
  const isWrite = verb.access === 'write';
  const tagged = path === '/v1/memories/{id}' && !isWrite;
  // If-Match is accepted wherever the path names the memory that is written, as in the routes.
  const matched = isWrite && inPath.includes('id');
  return {
    operationId: verb.name,
    summary: verb.title,
    description: verb.description,
    parameters: [
      ...inPath.map((name) => parameterOf(name, 'path', properties[name])),
      ...(inQuery
        ? others.map(([name, schema]) => parameterOf(name, 'query', schema, required.includes(name)))
        : []),
      ...(isWrite ? [idempotencyKey] : []),
      ...(matched ? [ifMatch] : []),
      ...(tagged ? [ifNoneMatch] : []),
    ],
    ...(inQuery || others.length === 0
      ? {}
      : {
          requestBody: {
            required: others.some(([name]) => required.includes(name)),
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: Object.fromEntries(others),
                  required: required.filter((name) => !inPath.includes(name)),
                  additionalProperties: false,
                },
              },
            },
          },
        }),
    responses: {
      200: { description: 'Done', content: { 'application/json': { schema: output } } },
      ...(tagged ? { 304: { description: 'Nothing has changed' } } : {}),
      ...problems(
        ...(mayMiss(verb) ? [404] : []),
        ...(isWrite ? [409, 410, 422] : []),
        ...(OF_FORGOTTEN.has(verb.name) ? [410] : []),
        ...(matched ? [412] : []),
        ...(inQuery ? [] : [413]),
      ),
    },
  };
}

/** Verbs without an id in their path that still throw `not_found` for something that their arguments name. */
const NAMES_OTHERS: ReadonlySet<string> = new Set([
  'remember',
  'remember_many',
  'import_memories',
  'context',
  'list',
  'forget_many',
  'maintain',
  'end_session',
  'relate',
  'unrelate',
  'merge_entities',
  'split_entity',
  'neighbours',
  'paths',
]);

/** Verbs that read and throw `redacted` for something forgotten. */
const OF_FORGOTTEN: ReadonlySet<string> = new Set(['get', 'replay']);

function mayMiss({ name, http: { path } }: Verb): boolean {
  // The history of an unknown id is empty.
  return NAMES_OTHERS.has(name) || (path.includes('{') && name !== 'history');
}

function parameterOf(
  name: string,
  place: 'path' | 'query',
  schema: Json | undefined,
  required = false,
): Json {
  const { description, ...rest } = schema ?? {};
  return {
    name,
    in: place,
    required: place === 'path' || required,
    ...(description === undefined ? {} : { description }),
    // An object in a query is JSON, as `parseQueryFields` reads it.
    ...(rest['type'] === 'object' ? { content: { 'application/json': { schema: rest } } } : { schema: rest }),
  };
}

/** Descriptions of the statuses, in ascending order. */
const REASONS: Readonly<Record<number, string>> = {
  400: 'The request is invalid: the detail says what is wrong and how to fix it',
  401: 'The token is missing or unknown',
  403: 'The token may not do this',
  404: 'No memory, session or other object has this id, or the token may not see it',
  409: 'It cannot be done any more: something is there already, or was changed since',
  410: 'A memory that this is about has been forgotten',
  412: 'The memory was changed since the ETag of If-Match',
  413: 'The body is larger than the server takes',
  422: 'The Idempotency-Key was used with another request',
  429: 'Too many requests: Retry-After says when to try again',
};

/** Returns the problem responses of a route: those of every request, and `statuses`. */
function problems(...statuses: readonly number[]): Json {
  const asked = new Set([400, 401, 403, 429, ...statuses]);
  const answer = (description: string) => ({
    description,
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  });
  return {
    ...Object.fromEntries(
      Object.entries(REASONS).flatMap(([status, reason]) =>
        asked.has(Number(status)) ? [[status, answer(reason)]] : [],
      ),
    ),
    default: answer('Any other problem: its code and detail say what'),
  };
}

const jsonLines = {
  'application/x-ndjson': { schema: { ...text, description: 'A memory as JSON on each line' } },
};
const count = { type: 'integer', minimum: 0 } as const;

function object(required: Json, optional: Json = {}): Json {
  return { type: 'object', required: Object.keys(required), properties: { ...required, ...optional } };
}

function listOf(items: Json): Json {
  return { type: 'array', items };
}

function answer(description: string, schema: Json): Json {
  return { description, content: { 'application/json': { schema } } };
}

const time = { type: 'string', format: 'date-time' } as const;
const grant = object(
  { id: text, name: text, space: text, rights: { enum: TOKEN_RIGHTS }, createdAt: time },
  { scopes: listOf(text), everySpace: { type: 'boolean' } },
);
const spaceSummary = object(
  { name: text },
  {
    ...{ memories: count, bytes: count, lastBackup: time },
    failure: { ...text, description: 'Why nothing can be said of it' },
  },
);
const importAnswer = object(
  {
    ...{ imported: count, updated: count, unchanged: count, skipped: count },
    problems: {
      ...listOf(object({ line: text, reason: text })),
      description: 'The first 1,000 lines that could not be used',
    },
  },
  {
    ...{ linked: count, differs: count },
    run: {
      ...text,
      description:
        'Pass it to undo to take back the whole import. Absent if nothing was written, or if the token is limited to scopes',
    },
  },
);

/** The paths that are not verbs. */
function otherPaths(listInput: Json): Json {
  const filters = Object.entries((listInput['properties'] ?? {}) as Readonly<Record<string, Json>>).filter(
    ([name]) => !NOT_OF_EXPORTS.includes(name),
  );
  return {
    '/v1/export': {
      get: {
        operationId: 'export',
        summary: 'Export all memories as JSON Lines; takes the filters of list',
        parameters: filters.map(([name, schema]) => parameterOf(name, 'query', schema)),
        responses: { 200: { description: 'All memories', content: jsonLines }, ...problems() },
      },
    },
    '/v1/import': {
      post: {
        operationId: 'import',
        summary: 'Import JSON Lines: an export, or objects with a content and what else remember takes',
        parameters: [
          {
            name: 'update',
            in: 'query',
            schema: { type: 'boolean' },
            description:
              'Overwrite memories that differ here, even if the export is not newer; by default they are kept, and counted in differs',
          },
        ],
        requestBody: { required: true, content: jsonLines },
        responses: { 200: answer('What became of the lines', importAnswer), ...problems(413, 422) },
      },
    },
    '/v1/space': {
      delete: {
        operationId: 'deleteSpace',
        summary: 'Delete the space of the token, for good; needs the right admin, and its name once more',
        parameters: [{ name: 'name', in: 'query', required: true, schema: text }],
        responses: {
          200: answer('It is deleted', object({ space: text, outcome: { const: 'deleted' } })),
          ...problems(),
        },
      },
    },
    '/v1/spaces': {
      get: {
        operationId: 'spaces',
        summary:
          'How large the space of the token is; for an administrator of the server, the size of all spaces. Needs the right admin',
        parameters: [
          { name: 'offset', in: 'query', schema: { type: 'integer' }, description: 'How many to pass over' },
        ],
        responses: {
          200: answer(
            'Some spaces, and how many there are',
            object({ spaces: listOf(spaceSummary), total: count }),
          ),
          ...problems(),
        },
      },
    },
    '/v1/tokens': {
      get: {
        operationId: 'tokens',
        summary: 'The tokens that open the space, without their secrets; needs the right admin',
        responses: {
          200: answer('Their names, scopes and rights', object({ tokens: listOf(grant) })),
          ...problems(),
        },
      },
    },
    '/v1/token': {
      get: {
        operationId: 'token',
        summary: 'What the token opens',
        responses: { 200: answer('Its space, scopes and rights', grant), ...problems() },
      },
    },
  };
}

/** Converts the schemas of all verbs. Schemas that are used several times become components. */
function schemasOfVerbs(): { readonly schemas: Json; of(schema: z.ZodType): Json } {
  const named = z.registry<{ id: string }>();
  named.add(memorySchema, { id: 'Memory' });
  named.add(explanationSchema, { id: 'Explanation' });
  // Descriptions are in zod's global registry. The ids are only for this document.
  const own = named.get.bind(named);
  named.get = (schema) => ({ ...z.globalRegistry.get(schema), ...own(schema) }) as never;
  const plain = (schema: z.ZodType): { readonly definitions: Json; readonly schema: Json } => {
    const made: unknown = z.toJSONSchema(schema, { io: 'input', metadata: named });
    const { $schema, $id, $defs, ...rest } = JSON.parse(
      JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/'),
    ) as Json;
    return { definitions: ($defs ?? {}) as Json, schema: rest };
  };
  const definitions = plain(z.object({ memory: memorySchema, explanation: explanationSchema })).definitions;
  return { schemas: definitions, of: (schema) => plain(schema).schema };
}
