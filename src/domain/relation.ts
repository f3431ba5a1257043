import { instant, invalidArgument, number, text } from './check.ts';
import { snakeCase } from './fields.ts';
import { onlyKeys } from './options.ts';
import { formatInstant, type Instant } from './time.ts';

/** One relation that a memory states: a directed, named link between two memories, with its validity. */
export interface Relation<Time = string> {
  /** The id of the memory that it starts from, usually an entity. */
  readonly from: string;
  /** The name of the relation in snake case, such as `works_at`. At most 64 characters. */
  readonly name: string;
  /** The id of the memory that it leads to. */
  readonly to: string;
  /** A factor of its score, 0.1–1. Default is 1. */
  readonly weight: number;
  /** How sure it is, 0–1. Default is 0.8. */
  readonly confidence: number;
  /** The relation is not valid before this time. Default is the validity of the memory that states it. */
  readonly validFrom?: Time;
  /** The relation is not valid after this time. */
  readonly validUntil?: Time;
}

/** A relation in a record: times are milliseconds. */
export type RelationRecord = Relation<Instant>;

/** A relation as a caller passes it. */
export interface RelationInput {
  readonly from: string;
  /** `works at`, `works-at` and `worksAt` are read as `works_at`. */
  readonly name: string;
  readonly to: string;
  readonly weight?: number | undefined;
  readonly confidence?: number | undefined;
  readonly validFrom?: string | Date | undefined;
  readonly validUntil?: string | Date | undefined;
}

/** The identity of a relation, independent of how often and by which memories it is stated. */
export type Triple = Pick<Relation, 'from' | 'name' | 'to'>;

export const RELATION_WEIGHT = [0.1, 1] as const;
export const MOST_RELATIONS = 100;
const MOST_CHARACTERS_OF_ID = 128;
const KEYS: readonly (keyof RelationInput)[] = [
  'from',
  'name',
  'to',
  'weight',
  'confidence',
  'validFrom',
  'validUntil',
];

/**
 * The default single-valued relations, which have one value at a time: where somebody lives, not where somebody has
 * lived. Of two values, the one that began later is current. Names that often have several values at once (`works_at`,
 * `knows`) are left out: users notice and correct a relation that wrongly continues, but not one that wrongly ended.
 */
export const SINGLE_VALUED: readonly string[] = [
  'born_in',
  'born_on',
  'capital_of',
  'died_in',
  'died_on',
  'headquartered_in',
  'lives_in',
  'married_to',
  'reports_to',
];

/** Parses the name of a relation and converts it to snake case. Throws `invalid_argument`. */
export function relationName(value: unknown, field: string): string {
  const given = text(value, field, { maxCharacters: 64 }).normalize('NFC').trim();
  const name = snakeCase(given.replace(/^[A-Z]/, (letter) => letter.toLowerCase()))
    .toLowerCase()
    .replace(/[\s\-_]+/gu, '_')
    .replace(/^_|_$/g, '');
  if (name === '' || !/^[\p{L}\p{N}\p{M}_]+$/u.test(name))
    throw invalidArgument(field, 'expected words such as "works_at": letters, digits, spaces and _');
  return name;
}

/** Parses the relations that a memory states. Throws `invalid_argument` and `invalid_time`, naming the field. */
export function parseRelations(value: unknown, field: string): readonly RelationRecord[] {
  if (!Array.isArray(value)) throw invalidArgument(field, 'expected a list of relations');
  if (value.length > MOST_RELATIONS)
    throw invalidArgument(field, `${value.length} relations are more than the limit of ${MOST_RELATIONS}`);
  return withRelations(
    [],
    value.map((each: unknown, at) => parseRelation(each, `${field}[${at}]`)),
  );
}

function parseRelation(value: unknown, field: string): RelationRecord {
  if (typeof value !== 'object' || value === null)
    throw invalidArgument(field, 'expected an object with from, name and to');
  onlyKeys(value, KEYS, field);
  return relationOf(value as RelationInput, `${field}.`);
}

/**
 * Parses one relation of a caller. Errors name its fields, preceded by `prefix`. Throws `invalid_argument` and
 * `invalid_time`.
 */
export function relationOf(
  { from, name, to, weight = 1, confidence = 0.8, validFrom, validUntil }: RelationInput,
  prefix = '',
): RelationRecord {
  const since = validFrom == null ? undefined : instant(validFrom, `${prefix}validFrom`);
  const until = validUntil == null ? undefined : instant(validUntil, `${prefix}validUntil`);
  if (since !== undefined && until !== undefined && since > until)
    throw invalidArgument(`${prefix}validUntil`, 'it lies before validFrom');
  const end = (id: unknown, which: 'from' | 'to') =>
    text(id, `${prefix}${which}`, { maxCharacters: MOST_CHARACTERS_OF_ID });
  const relation = { from: end(from, 'from'), name: relationName(name, `${prefix}name`), to: end(to, 'to') };
  if (relation.from === relation.to)
    throw invalidArgument(`${prefix}to`, 'a memory cannot be related to itself');
  return {
    ...relation,
    weight: number(weight, `${prefix}weight`, ...RELATION_WEIGHT),
    confidence: number(confidence, `${prefix}confidence`, 0, 1),
    ...(since === undefined ? {} : { validFrom: since }),
    ...(until === undefined ? {} : { validUntil: until }),
  };
}

/** Converts a stored relation to the form that memories show: times as ISO 8601. */
export function shownRelation({ validFrom, validUntil, ...rest }: RelationRecord): Relation {
  return {
    ...rest,
    ...(validFrom === undefined ? {} : { validFrom: formatInstant(validFrom) }),
    ...(validUntil === undefined ? {} : { validUntil: formatInstant(validUntil) }),
  };
}

/** Adds relations to a list. One with the same ends, name and `validFrom` is replaced. */
export function withRelations(
  before: readonly RelationRecord[],
  added: readonly RelationRecord[],
): readonly RelationRecord[] {
  const keyed = [...before, ...added].map((each) => [keyOf(each), each] as const);
  return [...new Map(keyed).values()];
}

/**
 * Merges relations that several memories state, or that became equal when entities were merged. Relations with the same
 * ends, name and `validFrom` become one, with the highest weight and confidence and the latest `validUntil` of them.
 */
export function unitedRelations(stated: readonly RelationRecord[]): readonly RelationRecord[] {
  const united = new Map<string, RelationRecord>();
  for (const each of stated) {
    const known = united.get(keyOf(each));
    united.set(keyOf(each), known ? mostOf(known, each) : each);
  }
  return [...united.values()];
}

function mostOf(a: RelationRecord, b: RelationRecord): RelationRecord {
  const { validUntil: _, ...same } = a;
  const until = Math.max(a.validUntil ?? Infinity, b.validUntil ?? Infinity);
  return {
    ...same,
    weight: Math.max(a.weight, b.weight),
    confidence: Math.max(a.confidence, b.confidence),
    ...(until === Infinity ? {} : { validUntil: until }),
  };
}

function keyOf({ from, name, to, validFrom }: RelationRecord): string {
  return JSON.stringify([from, name, to, validFrom]);
}

const PREFIX = 'relation:';

/** The id of a relation: the same for all memories that state it. */
export function relationId({ from, name, to }: Triple): string {
  return PREFIX + [from, name, to].map(encodeURIComponent).join('/');
}

/** Parses the id of a relation; `undefined` for any other id. */
export function tripleOf(id: string): Triple | undefined {
  if (!id.startsWith(PREFIX)) return undefined;
  const parts = id.slice(PREFIX.length).split('/');
  if (parts.length !== 3) return undefined;
  try {
    const [from, name, to] = parts.map(decodeURIComponent) as [string, string, string];
    return { from, name, to };
  } catch {
    return undefined;
  }
}

export function isSameTriple(a: Triple, b: Triple): boolean {
  return a.from === b.from && a.name === b.name && a.to === b.to;
}

/** A relation as a sentence: `Ada works at Acme`. */
export function relationText(from: string, name: string, to: string): string {
  return `${from} ${name.replaceAll('_', ' ')} ${to}`;
}

/** Normalises a name for comparison: NFKC, lower case, trimmed, inner white space as one space. */
export function foldedName(name: string): string {
  return name.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/** The names of an entity in folded form (see {@link foldedName}); none for other memories. */
export function namesOfEntity({
  type,
  title,
  aliases = [],
}: {
  readonly type: string;
  readonly title: string | undefined;
  readonly aliases?: readonly string[] | undefined;
}): readonly string[] {
  if (type !== 'entity') return [];
  const names = [...(title === undefined ? [] : [title]), ...aliases].map(foldedName);
  return [...new Set(names)].filter((name) => name !== '');
}

/** Adds aliases to those of an entity, each once and without its title; `undefined` if there are none. */
export function withAliases(
  {
    title,
    aliases = [],
  }: { readonly title?: string | undefined; readonly aliases?: readonly string[] | undefined },
  more: readonly string[],
): readonly string[] | undefined {
  const taken = new Set(title === undefined ? [] : [foldedName(title)]);
  const names = [...aliases, ...more].filter(
    (name) => !taken.has(foldedName(name)) && taken.add(foldedName(name)),
  );
  return names.length === 0 ? undefined : names;
}

/** The ids of the relations of a memory. */
export function relationIds(relations: readonly Triple[] | undefined): readonly string[] {
  return [...new Set((relations ?? []).map(relationId))];
}

/** The ids at both ends of the relations of a memory, each once. */
export function endsOf(relations: readonly Triple[] | undefined): readonly string[] {
  return [...new Set((relations ?? []).flatMap(({ from, to }) => [from, to]))];
}
