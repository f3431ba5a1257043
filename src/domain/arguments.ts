import {
  aboutChange,
  CHANGE_FIELDS,
  type ChangeField,
  CREATE_FIELDS,
  type CreateField,
  FIELD_FILTERS,
  FIELD_NAMES,
  FIELDS,
  type Field,
  type FieldName,
  isClearable,
  snakeCase,
  type TimeFilter,
  type ValueFilter,
} from './fields.ts';
import { LINK_KINDS } from './memory.ts';
import { LONGEST_QUERY } from './query.ts';

/** The part of JSON Schema that arguments need. */
export interface Schema {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'null';
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | false;
  readonly anyOf?: readonly Schema[];
  readonly description?: string;
}

/** One argument of a verb: the JSON Schema of its value, and further data for the HTTP API, MCP and the CLI. */
export interface Argument extends Omit<Schema, 'description' | 'required'> {
  /** Its description, for schemas and the help of the CLI. */
  readonly about?: string | undefined;
  /** `true`: the argument is required. A list belongs to the schema: the required properties of an object. */
  readonly required?: true | readonly string[];
  /** The option of the CLI that sets it; with a description of its own if it turns something off. */
  readonly option?: string | readonly [flags: string, about: string] | undefined;
  /** The argument is the id of a memory. A caller that may not see this memory is refused. */
  readonly isId?: true;
  /** Not offered to agents: only users and programs may set it. */
  readonly agents?: false | undefined;
  /** The default for recalls by agents, if it differs. */
  readonly agentDefault?: string;
}

export type Arguments = Readonly<Record<string, Argument>>;

export const text = { type: 'string' } as const satisfies Schema;
/** The text of a query. */
export const queryText = { ...text, maxLength: LONGEST_QUERY } as const satisfies Schema;
export const flag = { type: 'boolean' } as const satisfies Schema;
/** The maximum length of a list in one call, unless the list has another limit. */
export const LONGEST_LIST = 10_000;
/** The maximum number of messages in a JSON-RPC batch, which is the limit of the MCP SDK over HTTP. */
export const LONGEST_BATCH = 100;
export const texts = { type: 'array', items: text, maxItems: LONGEST_LIST } as const satisfies Schema;
export const share = { type: 'number', minimum: 0, maximum: 1 } as const satisfies Schema;

export function integer(minimum: number, maximum?: number) {
  return { type: 'integer', minimum, ...(maximum === undefined ? {} : { maximum }) } as const;
}

export function choice<const Value extends string>(...values: readonly Value[]) {
  return { enum: values } as const;
}

function object<const Properties extends Readonly<Record<string, Schema>>>(
  properties: Properties,
  required: readonly (keyof Properties & string)[] = [],
) {
  return { type: 'object', properties, required, additionalProperties: false } as const;
}

const scalar = { anyOf: [text, { type: 'number' }, flag, { type: 'null' }] } as const satisfies Schema;
const limit = { anyOf: [text, { type: 'number' }] } as const satisfies Schema;
export const anything = { type: 'object', additionalProperties: {} } as const satisfies Schema;

const time = { ...text, description: 'ISO 8601' } as const satisfies Schema;
const relations = {
  type: 'array',
  maxItems: LONGEST_LIST,
  items: object(
    {
      from: { ...text, description: 'The id of a memory' },
      name: { ...text, description: 'Such as works_at' },
      to: { ...text, description: 'The id of a memory' },
      weight: { type: 'number', minimum: 0.1, maximum: 1 },
      confidence: share,
      validFrom: time,
      validUntil: time,
    },
    ['from', 'name', 'to'],
  ),
} as const satisfies Schema;

/** The JSON Schema of a field of a memory. */
export function schemaOfField({ kind, choices = [], range, maxItems = LONGEST_LIST }: Field): Schema {
  switch (kind) {
    case 'number':
      return range ? { type: 'number', minimum: range[0], maximum: range[1] } : share;
    case 'count':
      return { type: 'number' };
    case 'flag':
      return flag;
    case 'names':
    case 'texts':
      return { ...texts, maxItems };
    case 'metadata':
      return anything;
    case 'relations':
      return relations;
    case 'choice':
      return { enum: choices };
    default:
      return text;
  }
}

function fieldArguments<Name extends FieldName>(names: readonly Name[], of: (name: Name) => Argument) {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Readonly<Record<Name, Argument>>;
}

function argumentOf(name: CreateField, about: string, schema: Schema): Argument {
  const { option, agents }: Field = FIELDS[name];
  const { description: _, required: __, ...rest } = schema;
  return { ...rest, about, option, agents };
}

const timeToLive = {
  ...text,
  about:
    'how long it lives: "7d", "24h", an ISO 8601 duration, or the time at which it ends. A plan or transient_state is no longer valid then, everything else is forgotten',
  option: '--ttl <duration>',
} as const satisfies Argument;

/** The arguments that set the fields of a new memory. */
export const createArguments: Readonly<Record<CreateField | 'ttl', Argument>> = {
  ...fieldArguments(CREATE_FIELDS, (name) => ({
    ...argumentOf(name, FIELDS[name].about, schemaOfField(FIELDS[name])),
    ...(name === 'content' ? ({ required: true } as const) : {}),
  })),
  ttl: timeToLive,
};

/** The arguments that change a memory; `null` clears an optional field. */
export const changeArguments: Readonly<Record<ChangeField | 'ttl' | 'updatedAt', Argument>> = {
  ...fieldArguments(CHANGE_FIELDS, (name) => {
    const schema = schemaOfField(FIELDS[name]);
    return isClearable(name)
      ? argumentOf(name, `${aboutChange(name)}; null clears it`, { anyOf: [schema, { type: 'null' }] })
      : argumentOf(name, aboutChange(name), schema);
  }),
  ttl: timeToLive,
  updatedAt: {
    ...createArguments.updatedAt,
    about: 'when it was changed, if that was before now: for imports',
  },
};

/** Questions with the ids of the memories that answer them. */
export const labelledQuestions = {
  type: 'array',
  maxItems: LONGEST_LIST,
  items: object({ query: queryText, relevant: texts }, ['query', 'relevant']),
} as const satisfies Schema;

/** The statements of a batch. */
export const statements = {
  type: 'array',
  maxItems: LONGEST_LIST,
  items: object(schemasOf(createArguments), ['content']),
} as const satisfies Schema;

/** Whole memories, as returned by a list or an export. Absent fields get their defaults. */
export const memories = {
  type: 'array',
  maxItems: LONGEST_LIST,
  items: {
    type: 'object',
    properties: {
      ...Object.fromEntries(FIELD_NAMES.map((name) => [name, schemaOfField(FIELDS[name])])),
      votes: {
        type: 'array',
        maxItems: 100_000,
        items: object({ voter: text, vote: { type: 'integer' } }, ['voter', 'vote']),
      },
    },
    required: ['id', 'content', 'createdAt'],
  },
} as const satisfies Schema;

export const memoryId = {
  ...text,
  required: true,
  isId: true,
  about: 'the id of a memory, as remember and recall return it',
} as const satisfies Argument;

const metadataFilter = {
  type: 'object',
  additionalProperties: {
    anyOf: [
      scalar,
      { type: 'array', maxItems: LONGEST_LIST, items: scalar },
      object({
        in: { type: 'array', maxItems: LONGEST_LIST, items: scalar },
        exists: flag,
        above: limit,
        atLeast: limit,
        below: limit,
        atMost: limit,
      }),
    ],
  },
} as const satisfies Schema;

/** The filters that do not depend on the caller's scope. */
export const narrowingArguments = {
  inScope: {
    ...text,
    about: 'only memories in this scope itself, not above it; "project:*" means every scope of that kind',
    option: '--in-scope <scope>',
  },
  types: { ...texts, about: 'only these types', option: '--type <type>' },
  typesExclude: {
    ...texts,
    about: 'none of these types; give this or types, not both',
    option: '--not-type <type>',
  },
  tags: { ...texts, about: 'only memories that carry all of these tags', option: '--tag <tag>' },
  metadata: {
    ...metadataFilter,
    about:
      'only memories with this metadata: a value, some values, or a test, by property: {"status": "open", "priority": {"atLeast": 3}}',
    option: [
      '--where <condition>',
      'only with this metadata: key=value, key>=3, key<3, or a key that is there; values are read as by --metadata: \'key="3"\' is the text',
    ],
  },
} as const satisfies Arguments;

/** All filters, the caller's scope included. */
export const filterArguments = {
  scope: {
    ...text,
    about: 'only what this scope sees: its own memories and those of scopes above it (default: all)',
    option: '--scope <scope>',
  },
  ...narrowingArguments,
} as const satisfies Arguments;

/** The filters of a list by field, derived from the table of fields. */
export const fieldFilters = Object.fromEntries(
  Object.entries(FIELD_FILTERS).map(([name, { field, compare }]) => [
    name,
    fieldFilter(name, field, compare),
  ]),
) as Readonly<Record<ValueFilter | TimeFilter, Argument>>;

function fieldFilter(name: string, field: FieldName, compare: 'is' | 'from' | 'before'): Argument {
  const { kind, option }: Field = FIELDS[field];
  const words = snakeCase(field.replace(/(Id|Key)$/, '')).replaceAll('_', ' ');
  const flags = `--${snakeCase(name).replaceAll('_', '-')}`;
  if (compare === 'from')
    return {
      ...text,
      about: `only with ${field} at this time or later`,
      option: `${flags} <time>`,
      agents: false,
    };
  if (compare === 'before')
    return {
      ...text,
      about: `only with ${field} before this time`,
      option: `${flags} <time>`,
      agents: false,
    };
  const schema = schemaOfField(FIELDS[field]);
  if (kind === 'flag') return { ...schema, about: `only ${words} memories`, option: flags, agents: false };
  return { ...schema, about: `only of this ${words}`, option: option ?? `${flags} <${name}>`, agents: false };
}

const known = { ...text, description: 'What was known then. ISO 8601; default is now' } as const;
const valid = {
  ...text,
  description: 'What was true then, by what is known. ISO 8601; default is now',
} as const;

/** A moment to look back to. */
export const asOf = { ...object({ known, valid }), about: 'looks back; nothing is learnt from it' } as const;
const weighed = {
  ...text,
  description: 'Effective weights are those of this moment, by what is known. ISO 8601; default is now',
} as const;
/** `asOf` for verbs that do not hide invalid memories: `valid` only sets the time of the effective weights. */
export const asOfWeighed = { ...object({ known, valid: weighed }), about: 'looks back' } as const;

const parameter = { anyOf: [{ type: 'number' }, flag, text] } as const satisfies Schema;

/** How memories are ranked. */
export const strategyArguments = {
  strategy: {
    ...text,
    about:
      'how to rank: hybrid (default), lexical, vector, bm25, ambient (what matters without a query), retention (fades like human memory), balanced, five-factor, scoped',
    option: ['--strategy <name>', 'how to rank; salience profiles lists them (default: hybrid)'],
  },
  limit: {
    ...integer(1, 1000),
    about: 'how many memories at most (default: as the strategy says: 10, balanced 20, scoped 5)',
    option: '--limit <number>',
  },
  minScore: { ...share, about: 'nothing below this score, from 0 to 1', option: '--min-score <number>' },
  minRelevance: {
    anyOf: [share, choice('auto')],
    about:
      'nothing that matches the query less than this, from 0 to 1; auto: the floor measured for the embedder (default: auto in a context and for agents, else 0)',
    option: [
      '--min-relevance <number>',
      'nothing that matches the query less, from 0 to 1; auto: the floor measured for the embedder',
    ],
    agentDefault: 'auto',
  },
  ...filterArguments,
  deep: {
    ...flag,
    about: 'also search cold memories, and superseded and consolidated ones at half their score',
    option: '--deep',
  },
  includeExpired: {
    ...flag,
    about: 'also plans and transient states that have ended',
    option: '--include-expired',
  },
  deepRecallPenalty: { ...share, about: 'the factor of what is outdated in a deep recall (default: 0.5)' },
  asOf,
  parameters: {
    type: 'object',
    additionalProperties: {
      anyOf: [...parameter.anyOf, { type: 'object', additionalProperties: parameter }],
    },
    about: "values for parameters of the strategy's formula",
    option: ['--param <name=value>', 'set a parameter of the formula'],
  },
} as const satisfies Arguments;

const associationModes = ['direct', 'propagated'] as const;

/** How memories are recalled. */
export const recallArguments = {
  ...strategyArguments,
  sessionId: {
    ...text,
    about: 'the session in which this is asked',
    option: '--session <id>',
  },
  track: {
    ...flag,
    about: 'whether it notes what was used, as the strategy does (default: true)',
    option: ['--no-track', 'leave no trace of use (retention reinforces, five-factor counts uses)'],
  },
  association: {
    anyOf: [
      choice('none', ...associationModes),
      object({
        mode: choice(...associationModes),
        propagation: { type: 'number' },
        updateRise: { type: 'number' },
        minimum: { type: 'number' },
        graph: share,
        linkThreshold: { type: 'number' },
        pathThreshold: { type: 'number' },
        secondHop: flag,
        sequence: flag,
      }),
    ],
    about: "how links bring memories in (default: the strategy's)",
    option: [
      '--association <how>',
      'what links bring in: nothing, memories by their own score, or by a share of the score of direct hits (default: as the strategy does)',
    ],
  },
  rerank: { ...flag, about: 'have a language model order the first hits (default: false)' },
  rerankTopK: { ...integer(1, 100), about: 'how many hits it sees (default: 10)' },
} as const satisfies Arguments;

export const query = {
  ...queryText,
  about: 'what to look for, in plain words; only the strategy "ambient" takes none',
} as const satisfies Argument;

export const linkKinds = {
  type: 'array',
  maxItems: LONGEST_LIST,
  items: { enum: LINK_KINDS },
} as const satisfies Schema;

/** The messages of a conversation. */
export const messages = {
  type: 'array',
  maxItems: LONGEST_LIST,
  items: object(
    {
      role: { ...text, description: 'user, assistant, or another' },
      content: text,
      name: { ...text, description: "The speaker's name" },
      at: { ...text, description: 'ISO 8601; when it was said. Default is now' },
      id: { ...text, description: 'To be found again as the source of memories' },
    },
    ['role', 'content'],
  ),
  about: 'in the order in which they were said',
} as const satisfies Argument;

/** The parts of a context: names of built-in ones, or parts of your own. */
export const sections = {
  type: 'array',
  maxItems: LONGEST_LIST,
  items: {
    anyOf: [
      text,
      object(
        {
          name: text,
          types: texts,
          takesOthers: flag,
          takesAssociates: flag,
          share: { type: 'number' },
        },
        ['name', 'types', 'share'],
      ),
    ],
  },
  about: 'which parts, in which order (default: all)',
} as const satisfies Argument;

/** How the memories of a space fade. */
export const fading = {
  anyOf: [
    choice('off', 'retention'),
    object({ mode: choice('off') }, ['mode']),
    object(
      {
        mode: choice('retention'),
        curve: choice('exponential', 'power'),
        daysAtFloor: { type: 'number', minimum: 0, maximum: 3650 },
        daysCold: { type: 'number', minimum: 0, maximum: 36_500 },
      },
      ['mode'],
    ),
  ],
  about: 'off: nothing fades; retention: memories that are not used cool and are archived',
} as const satisfies Argument;

/** Whether recalls are recorded. */
export const recordRecalls = {
  anyOf: [choice('off'), object({ days: integer(1, 365), texts: flag })],
  about:
    'off: recalls are not recorded, and existing records are erased; otherwise for how many days (default: 30), and whether with the texts of queries (default: false)',
} as const satisfies Argument;

/** The JSON Schemas of arguments, each with its description. */
export function schemasOf(given: Arguments): Readonly<Record<string, Schema>> {
  return Object.fromEntries(Object.entries(given).map(([name, each]) => [name, schemaOf(each)]));
}

function schemaOf({ about, required, ...given }: Argument): Schema {
  const { isId: _, option: __, agents: ___, agentDefault: ____, ...rest } = given;
  const schema = required === undefined || required === true ? rest : { ...rest, required };
  return about === undefined ? schema : { ...schema, description: capitalised(about) };
}

/** The JSON Schema of an object with these arguments and no other properties. */
export function objectSchema(given: Arguments): Schema & { readonly type: 'object' } {
  const required = Object.keys(given).filter((name) => given[name]?.required === true);
  return { type: 'object', properties: schemasOf(given), required, additionalProperties: false };
}

export function capitalised(sentence: string): string {
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
}
