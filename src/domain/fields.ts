import { IMPORTANCE_SOURCES, MEMORY_TYPES, type MemoryRecord, SOURCES, TIERS } from './memory.ts';

/** The kind of value in a field. All fields of a kind are checked, stored and described alike. */
export type FieldKind =
  /** An identifier, kept exactly as given. */
  | 'name'
  | 'names'
  /** Human-written text, from which parts marked as private are removed. */
  | 'text'
  | 'texts'
  /** The statement itself, with a limit in bytes. */
  | 'content'
  | 'scope'
  | 'metadata'
  /** Relations between memories; times as instants. */
  | 'relations'
  | 'number'
  | 'count'
  /** Milliseconds in a record, ISO 8601 outside. */
  | 'instant'
  | 'choice'
  | 'flag';

/** `asc`: lowest or earliest first. */
export type SortDirection = 'asc' | 'desc';

export interface Field {
  readonly kind: FieldKind;
  /**
   * Who sets it. `create`: callers, when they create the memory. `change`: callers, when they create or update it.
   * `engine`: only the engine. An import may set every field.
   */
  readonly set: 'create' | 'change' | 'engine';
  /** The value in a new memory. Without it the field is absent until it is set, unless it is `required`. */
  readonly initial?: string | number | boolean | readonly never[] | Readonly<Record<string, never>>;
  /** Every record has a value, though there is no fixed initial one. */
  readonly required?: true;
  readonly maxCharacters?: number;
  /** Allows control characters: callers choose the ids of sessions, and recalls accept any. */
  readonly anyCharacters?: true;
  readonly maxItems?: number;
  readonly range?: readonly [low: number, high: number];
  readonly choices?: readonly string[];
  /** The name under which lists can be sorted by it, and the default direction. */
  readonly sort?: { readonly by: string; readonly direction: SortDirection };
  /** Lists can be filtered by it: by one value, or by a time range if it is an instant. */
  readonly filterable?: true;
  /** A formula may use its age. */
  readonly clock?: true;
  /** A use of the memory may change it. */
  readonly dynamic?: true;
  /** Its description, for schemas and the help of the CLI. */
  readonly about?: string;
  /** Not offered to agents: only users and programs may set it. */
  readonly agents?: false;
  /** The option of the CLI that sets it. */
  readonly option?: string | readonly [flags: string, about: string];
  /** The name in earlier versions. Its column keeps this name; exports and logs are read with either name. */
  readonly formerName?: string;
}

/**
 * All fields of a memory. Checks, rows, exports, schemas and options are derived from this table. `MemoryRecord`,
 * `RememberInput` and `MemoryChanges` are written by hand for readers, and the compiler checks them against it. A new
 * field needs an entry here, a line in those interfaces, and a migration that adds its column (its name in snake case).
 */
export const FIELDS = {
  id: {
    kind: 'name',
    set: 'create',
    required: true,
    maxCharacters: 128,
    about: 'an id of your own (default: a UUIDv7)',
    agents: false,
    option: '--id <id>',
  },
  content: {
    kind: 'content',
    set: 'change',
    required: true,
    about: 'one self-contained statement: who, what, when; names instead of pronouns',
  },
  type: {
    kind: 'text',
    set: 'change',
    initial: 'fact',
    maxCharacters: 64,
    about: `one of ${MEMORY_TYPES.join(', ')}, or a word of your own (default: fact)`,
    option: '--type <type>',
  },
  scope: {
    kind: 'scope',
    set: 'change',
    initial: 'global',
    about: 'who may see it: a path such as "global", "project:match" or "team:a/project:b" (default: global)',
    option: '--scope <scope>',
  },
  title: {
    kind: 'text',
    set: 'change',
    maxCharacters: 1000,
    about: 'a heading, searched like the content',
    option: '--title <title>',
  },
  tags: {
    kind: 'texts',
    set: 'change',
    initial: [],
    maxItems: 64,
    maxCharacters: 128,
    about: 'words to filter by',
    option: '--tag <tag>',
  },
  importance: {
    kind: 'number',
    set: 'change',
    sort: { by: 'importance', direction: 'desc' },
    initial: 0.5,
    range: [0, 1],
    about:
      'how much it matters: 0.8 to 1 critical (medical, security), 0.5 to 0.7 useful, 0.1 to 0.4 casual (default: 0.5)',
    option: '--importance <number>',
  },
  confidence: {
    kind: 'number',
    set: 'change',
    sort: { by: 'confidence', direction: 'desc' },
    initial: 0.8,
    range: [0, 1],
    about: 'how sure it is, 0 to 1 (default: 0.8)',
    option: '--confidence <number>',
  },
  weight: {
    kind: 'number',
    set: 'change',
    initial: 1,
    range: [0.1, 1],
    about: 'a factor of its score, 0.1 to 1 (default: 1)',
    agents: false,
    option: '--weight <number>',
  },
  validFrom: {
    kind: 'instant',
    set: 'change',
    clock: true,
    about: 'hidden before this time',
    option: '--valid-from <time>',
  },
  validUntil: {
    kind: 'instant',
    set: 'change',
    clock: true,
    about: 'hidden after this time',
    option: '--valid-until <time>',
  },
  expiresAt: {
    kind: 'instant',
    set: 'change',
    filterable: true,
    clock: true,
    about: 'hidden from this time on, then erased for good',
    agents: false,
    option: '--expires-at <time>',
  },
  topicKey: {
    kind: 'text',
    set: 'change',
    filterable: true,
    maxCharacters: 512,
    about:
      'a key for what it is about, such as "ada/coffee/milk": the next statement with this key and scope replaces it',
    option: '--topic <key>',
  },
  supersedes: {
    kind: 'names',
    set: 'create',
    initial: [],
    maxItems: 1000,
    maxCharacters: 128,
    about: 'the ids of the memories that it replaces: they stay, and are no longer recalled',
    option: '--supersedes <id>',
  },
  metadata: {
    kind: 'metadata',
    set: 'change',
    initial: {},
    about: 'any JSON that belongs to it',
    option: [
      '--metadata <name=value>',
      'what else belongs to it: 3 is a number, true is true; 01234, 1.10 and all else is text, as is "3" with its quotes',
    ],
  },
  aliases: {
    kind: 'texts',
    set: 'change',
    maxItems: 64,
    maxCharacters: 200,
    about: 'of an entity: the other names of what its title names',
    option: '--alias <name>',
  },
  kind: {
    kind: 'text',
    set: 'change',
    maxCharacters: 64,
    about: 'of an entity: person, organisation, place, project, thing, or another word',
    option: '--kind <kind>',
  },
  relations: {
    kind: 'relations',
    set: 'change',
    about: 'what it says that two memories have to do with each other: from and to are their ids',
    agents: false,
  },
  author: {
    kind: 'text',
    set: 'change',
    filterable: true,
    maxCharacters: 200,
    about: 'who said it, by name',
    option: '--author <name>',
  },
  role: {
    kind: 'text',
    set: 'change',
    filterable: true,
    maxCharacters: 64,
    about: 'user, assistant, system, tool, or another word',
    agents: false,
    option: '--role <role>',
  },
  sessionId: {
    kind: 'name',
    set: 'create',
    filterable: true,
    maxCharacters: 200,
    anyCharacters: true,
    about: 'the session in which it was said',
    option: '--session <id>',
  },
  createdAt: {
    kind: 'instant',
    set: 'create',
    sort: { by: 'created', direction: 'desc' },
    filterable: true,
    required: true,
    clock: true,
    about: 'when it was first known (default: updatedAt, or else now)',
    agents: false,
    option: '--created-at <time>',
  },
  updatedAt: {
    kind: 'instant',
    set: 'create',
    sort: { by: 'updated', direction: 'desc' },
    filterable: true,
    required: true,
    clock: true,
    about: 'when it last changed (default: createdAt)',
    agents: false,
  },
  source: {
    kind: 'choice',
    set: 'create',
    filterable: true,
    initial: 'stated',
    choices: SOURCES,
    about: 'how it came to be known (default: stated)',
    agents: false,
    option: '--source <source>',
  },
  sourceRef: {
    kind: 'text',
    set: 'change',
    maxCharacters: 2000,
    about: 'a pointer to the origin: a file, a commit, a message id',
    agents: false,
    option: '--source-ref <text>',
  },

  ordinal: {
    kind: 'count',
    set: 'engine',
    initial: 0,
    about: 'its place in the order of insertion',
    sort: { by: 'inserted', direction: 'asc' },
  },
  bornIn: {
    kind: 'name',
    set: 'engine',
    maxCharacters: 200,
    anyCharacters: true,
    about: 'the session in which it was made',
  },
  textChangedAt: { kind: 'instant', set: 'engine', clock: true },
  lastAccessedAt: {
    kind: 'instant',
    set: 'engine',
    clock: true,
    dynamic: true,
    sort: { by: 'accessed', direction: 'desc' },
    filterable: true,
  },
  seen: { kind: 'instant', set: 'engine', dynamic: true },
  invalidatedAt: { kind: 'instant', set: 'engine', clock: true, filterable: true },
  invalidReason: { kind: 'text', set: 'engine', maxCharacters: 1000 },
  coldSince: { kind: 'instant', set: 'engine', dynamic: true },
  consolidatedAt: { kind: 'instant', set: 'engine', clock: true, dynamic: true },
  importanceSource: {
    kind: 'choice',
    set: 'engine',
    initial: 'default',
    choices: IMPORTANCE_SOURCES,
    formerName: 'importanceJudge',
  },
  usefulness: {
    kind: 'number',
    set: 'engine',
    initial: 0.5,
    range: [0, 1],
    sort: { by: 'usefulness', direction: 'desc' },
  },
  stability: {
    kind: 'number',
    set: 'engine',
    required: true,
    range: [0, 1],
    dynamic: true,
    sort: { by: 'stability', direction: 'desc' },
  },
  accessCount: {
    kind: 'count',
    set: 'engine',
    initial: 0,
    dynamic: true,
    sort: { by: 'accessCount', direction: 'desc' },
  },
  sessions: {
    kind: 'names',
    set: 'engine',
    initial: [],
    maxItems: 100_000,
    maxCharacters: 200,
    anyCharacters: true,
    dynamic: true,
  },
  revisionCount: { kind: 'count', set: 'engine', initial: 1 },
  tier: { kind: 'choice', set: 'engine', initial: 'hot', choices: TIERS, dynamic: true, filterable: true },
  core: { kind: 'flag', set: 'engine', initial: false, dynamic: true, filterable: true },
  derivedFrom: {
    kind: 'names',
    set: 'engine',
    initial: [],
    maxItems: 1000,
    maxCharacters: 128,
    about: 'the memories that it was derived from',
  },
} as const satisfies Readonly<Record<keyof MemoryRecord, Field>>;

export type FieldName = keyof typeof FIELDS;

type Where<Condition> = {
  [Name in FieldName]: (typeof FIELDS)[Name] extends Condition ? Name : never;
}[FieldName];

/** The fields that callers can set when they create a memory. */
export type CreateField = Where<{ readonly set: 'create' | 'change' }>;
/** The fields that callers may change later. */
export type ChangeField = Where<{ readonly set: 'change' }>;
export type InstantField = Where<{ readonly kind: 'instant' }>;
export type NumberField = Where<{ readonly kind: 'number' }>;
export type ClockName = Where<{ readonly clock: true | 'clock and dynamic' }>;
export type DynamicField = Where<{ readonly dynamic: true | 'clock and dynamic' }>;

type Sorted = Where<{ readonly sort: { readonly by: string } }>;
export type SortName = (typeof FIELDS)[Sorted]['sort']['by'];
type Filtered = Where<{ readonly filterable: true }>;
type FilteredInstant = Filtered & InstantField;
/** The name of a field in filters: its sort name if it has one, else without `At` (`invalidated` for `invalidatedAt`). */
type StemOf<Name extends FieldName> = (typeof FIELDS)[Name] extends {
  readonly sort: { readonly by: infer By extends string };
}
  ? By
  : Name extends `${infer Stem}At`
    ? Stem
    : Name;
/** The arguments that filter a list by one value of a field. */
export type ValueFilter = Exclude<Filtered, FilteredInstant>;
/** The arguments that filter a list by a time range. */
export type TimeFilter =
  `${{ [Name in FilteredInstant]: StemOf<Name> }[FilteredInstant]}${'After' | 'Before'}`;

export const FIELD_NAMES = Object.keys(FIELDS) as readonly FieldName[];
export const CREATE_FIELDS = namesOf<CreateField>(({ set }) => set !== 'engine');
export const CHANGE_FIELDS = namesOf<ChangeField>(({ set }) => set === 'change');
export const INSTANT_FIELDS = namesOf<InstantField>(({ kind }) => kind === 'instant');
/** The fields of a record whose age a formula may use. */
export const CLOCK_NAMES = namesOf<ClockName>(({ clock }) => clock === true);
/** The fields of a memory that a use may change. */
export const DYNAMICS = namesOf<DynamicField>(({ dynamic }) => dynamic === true);

function namesOf<Name extends FieldName>(chosen: (field: Field) => boolean): readonly Name[] {
  return FIELD_NAMES.filter((name) => chosen(FIELDS[name])) as readonly FieldName[] as readonly Name[];
}

/** Whether a change may clear the field: only fields that a new memory need not have. */
export function isClearable(name: ChangeField): boolean {
  const { initial, required }: Field = FIELDS[name];
  return initial === undefined && !required;
}

/** Describes the field as an argument of `update`: without a default, and a list or object replaces the old one. */
export function aboutChange(name: CreateField): string {
  const { about, kind } = FIELDS[name];
  const whole =
    kind === 'texts' || kind === 'metadata' || kind === 'relations' ? ' (replaces what is there)' : '';
  return about.replace(/ \(default: [^)]*\)$/, '') + whole;
}

/** The name of the column that stores a field. */
export function columnOf(name: FieldName): string {
  const { formerName }: Field = FIELDS[name];
  return snakeCase(formerName ?? name);
}

const RENAMED: ReadonlyMap<string, FieldName> = new Map(
  FIELD_NAMES.flatMap((name) => {
    const { formerName }: Field = FIELDS[name];
    return formerName === undefined ? [] : [[formerName, name] as const];
  }),
);

/** Renames former field names of a record to the present ones. Keeps a former name if the present one is there too. */
export function withPresentNames<Written extends object>(written: Written): Written {
  const entries = Object.entries(written);
  if (!entries.some(([name]) => RENAMED.has(name))) return written;
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const present = RENAMED.get(name);
      return [present === undefined || present in written ? name : present, value];
    }),
  ) as Written;
}

/** Converts a name to snake case, as columns and tools use it. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The sort orders of lists, by name. */
export const SORTS = Object.fromEntries(
  FIELD_NAMES.flatMap((field) => {
    const { sort }: Field = FIELDS[field];
    return sort ? [[sort.by, { field, direction: sort.direction }]] : [];
  }),
) as Readonly<Record<SortName, { readonly field: Sorted; readonly direction: SortDirection }>>;

export const SORT_NAMES = Object.keys(SORTS) as readonly SortName[];

/** A field and how it is compared: `is` an equal value, `from` a time on, or `before` it. */
export interface FieldFilter {
  readonly field: Filtered;
  readonly compare: 'is' | 'from' | 'before';
}

/** The field filters of lists, by the name of the argument. */
export const FIELD_FILTERS = Object.fromEntries(
  FIELD_NAMES.flatMap((name): readonly (readonly [string, FieldFilter])[] => {
    const { kind, sort, filterable }: Field = FIELDS[name];
    if (!filterable) return [];
    const field = name as Filtered;
    if (kind !== 'instant') return [[name, { field, compare: 'is' }]];
    const stem = sort?.by ?? name.replace(/At$/, '');
    return [
      [`${stem}After`, { field, compare: 'from' }],
      [`${stem}Before`, { field, compare: 'before' }],
    ];
  }),
) as Readonly<Record<ValueFilter | TimeFilter, FieldFilter>>;
