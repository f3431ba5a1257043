import { isDeepStrictEqual } from 'node:util';
import { atMost } from '../../domain/check.ts';
import { CHANGE_FIELDS, FIELD_NAMES, FIELDS } from '../../domain/fields.ts';
import { initialStability, type MemoryRecord } from '../../domain/memory.ts';
import { foldedName, MOST_RELATIONS, withAliases, withRelations } from '../../domain/relation.ts';
import { mapInSlices, type Slices, startLongSlices } from '../../domain/slices.ts';
import { normalisedContent } from '../../domain/statement.ts';
import { formatInstant, type Instant } from '../../domain/time.ts';
import type { SpaceReader } from '../../store/store.ts';
import { revived } from '../../store/tiers.ts';
import { inheritedImportance } from '../belief/supersession.ts';
import { isOfAnotherTime, sentenceValidity, valuesBeside } from '../graph/restate.ts';
import type { Stating } from '../graph/view.ts';
import type { Inactive, RememberInput, RememberResult } from '../types.ts';
import { type Candidates, nameIn, readCandidates, statementOf, topicOf } from './candidates.ts';
import { changedRecord, revised } from './record.ts';
import { inContext } from './write.ts';

/** What `planWrites` decided for one statement. */
export type Plan =
  | {
      readonly kind: 'insert';
      readonly memory: MemoryRecord;
      /** Set when the statement was invalidated before: the inserted memory is invalid too. */
      readonly inactive?: Inactive | undefined;
    }
  | { readonly kind: 'update'; readonly memory: MemoryRecord; readonly differs?: Differs }
  /** The known memory says all of it already. It only becomes hot again. */
  | { readonly kind: 'affirm'; readonly memory: MemoryRecord; readonly differs?: Differs }
  | {
      readonly kind: 'keep';
      readonly id: string;
      readonly inactive?: Inactive | undefined;
      readonly differs?: Differs;
    };

type Differs = RememberResult['differs'];

export interface Draft {
  readonly input: RememberInput;
  /** The memory that is inserted if the statement turns out to be new. */
  readonly record: MemoryRecord;
  /** The comparison key of {@link statementOf}, kept because a draft is compared several times. */
  readonly statement: string;
}

export function draftOf(input: RememberInput, record: MemoryRecord): Draft {
  return { input, record, statement: statementOf(record) };
}

/**
 * Decides for each statement, in order, what is written:
 * - A statement that was invalidated stays invalid.
 * - A statement about a topic that its scope knows replaces the content of the memory about that topic.
 * - An entity whose name its scope knows adds to that entity.
 * - A statement that its scope knows word for word, with the same type, is that memory, whatever its title.
 * - Any other statement is new.
 * Later statements of a batch see the plans of earlier ones.
 */
export async function planWrites(
  reader: SpaceReader,
  drafts: readonly Draft[],
  now: Instant,
  slices: Slices = startLongSlices(),
): Promise<readonly Plan[]> {
  const records = drafts.map(({ record }) => record);
  // In parallel, so that a networked store needs one round trip.
  const [candidates, tombstones, values] = await Promise.all([
    readCandidates(reader, records, now),
    reader.tombstones(records),
    valuesBeside(reader, records),
  ]);
  const said = new Map(records.map((record) => [record.id, record]));
  const planNext = ({ input, record, statement }: Draft, index: number): Plan => {
    const plan = inContext(index, drafts.length, () =>
      planOne(
        input,
        record,
        {
          topic: record.topicKey === undefined ? undefined : candidates.live(topicOf(record)).at(-1),
          entity: entityOf(record, candidates),
          twin: twinOf(record, candidates.live(statement), values),
          invalid: candidates.invalidated(statement),
          tombstone: tombstones[index],
        },
        values,
        now,
      ),
    );
    if (plan.kind === 'keep') return plan;
    const written = inheriting(plan, candidates, said);
    candidates.add(written.memory, plan.kind === 'insert' ? statement : undefined);
    return written;
  };
  return mapInSlices(drafts, planNext, slices);
}

/**
 * Raises the importance of a planned memory to that of the memories it supersedes. The order of a batch does not
 * matter: a superseded statement that is not planned yet is looked up in `said`, together with what it supersedes
 * itself.
 */
function inheriting(
  plan: Exclude<Plan, { readonly kind: 'keep' }>,
  candidates: Candidates,
  said: ReadonlyMap<string, MemoryRecord>,
): Exclude<Plan, { readonly kind: 'keep' }> {
  // Iterating over a set also visits ids that the loop adds, each once: a cycle ends.
  const older = new Set(plan.memory.supersedes);
  for (const id of older) {
    if (!candidates.get(id)) for (const below of said.get(id)?.supersedes ?? []) older.add(below);
  }
  const { importance, importanceSource } = [...older]
    .flatMap((id) => candidates.get(id) ?? said.get(id) ?? [])
    .reduce(inheritedImportance, plan.memory);
  if (importance === plan.memory.importance) return plan;
  const stability = plan.kind === 'insert' ? initialStability(importance) : plan.memory.stability;
  return { ...plan, memory: { ...plan.memory, importance, importanceSource, stability } };
}

function planOne(
  input: RememberInput,
  record: MemoryRecord,
  found: {
    readonly topic: MemoryRecord | undefined;
    readonly entity: MemoryRecord | undefined;
    readonly twin: MemoryRecord | undefined;
    readonly invalid: MemoryRecord | undefined;
    readonly tombstone: { readonly at: Instant; readonly reason: string } | undefined;
  },
  values: readonly Stating[],
  now: Instant,
): Plan {
  const { topic, entity, twin, invalid, tombstone } = found;
  if (!twin && invalid) {
    return {
      kind: 'keep',
      id: invalid.id,
      inactive: inactiveOf(invalid.invalidatedAt, invalid.invalidReason),
    };
  }
  if (!twin && tombstone) {
    const { at, reason } = tombstone;
    // Forgetting a memory erases the reason of its tombstone.
    const invalidReason = reason === '' ? undefined : reason;
    const memory = { ...record, invalidatedAt: at, invalidReason };
    return { kind: 'insert', memory, inactive: inactiveOf(at, invalidReason) };
  }
  if (topic)
    return { kind: 'update', memory: restated(topicFor(record, revived(topic, now)), input, record) };
  if (entity) return restatedEntity(entity, input, record, now);
  if (!twin || isOfAnotherTime(twin, record, values)) return { kind: 'insert', memory: record };
  const added = record.supersedes.filter((id) => id !== twin.id && !twin.supersedes.includes(id));
  const topicKey = twin.topicKey ?? record.topicKey;
  const hot = revived(twin, now);
  const relations = record.relations
    ? atMost(withRelations(twin.relations ?? [], record.relations), MOST_RELATIONS, 'relations', 'relations')
    : twin.relations;
  const same = JSON.stringify(relations) === JSON.stringify(twin.relations);
  const validity = same ? {} : sentenceValidity(twin, relations);
  // The known memory becomes the one about this topic. The other fields of the input apply as for any topic.
  if (topicKey !== twin.topicKey)
    return { kind: 'update', memory: { ...restated(hot, input, record), topicKey, relations } };
  const differs = differingFrom(twin, input, record);
  if (added.length === 0 && same)
    return hot === twin ? { kind: 'keep', id: twin.id, differs } : { kind: 'affirm', memory: hot, differs };
  const supersedes = [...twin.supersedes, ...added];
  const { updatedAt } = record;
  return {
    kind: 'update',
    memory: revised(twin, { ...hot, supersedes, relations, updatedAt, ...validity }),
    differs,
  };
}

/**
 * Fields that are never reported as differing: the content is the same but for white space, a title is only a label, and
 * relations are added to those of the memory.
 */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  'content',
  'title',
  'relations',
] satisfies (keyof RememberInput)[]);

/** Returns the fields for which the input gives another value than the known memory has; `undefined` if there are none. */
function differingFrom(known: MemoryRecord, input: RememberInput, record: MemoryRecord): Differs {
  const given = ([...RESTATED, 'topicKey'] as const).filter(
    (name) => input[name] !== undefined && !NOT_COMPARED.has(name),
  );
  const ends = (['validUntil', 'expiresAt'] as const).filter((name) => record[name] !== undefined);
  const fields = new Set(given.flatMap((name) => (name === 'ttl' ? ends : name)));
  const differing = [...fields].filter((name) => !isDeepStrictEqual(record[name], known[name]));
  return differing.length === 0 ? undefined : differing;
}

/**
 * Returns which of the live memories `alike`, all with the statement of `record`, it restates: the latest one that
 * `isOfAnotherTime` does not rule out, or else the latest.
 */
function twinOf(
  record: MemoryRecord,
  alike: readonly MemoryRecord[],
  values: readonly Stating[],
): MemoryRecord | undefined {
  if (record.type === 'entity') return undefined;
  return alike.findLast((each) => !isOfAnotherTime(each, record, values)) ?? alike.at(-1);
}

/**
 * Clears author, validity and relations if the content changes: they belong to the old wording, and a new statement
 * about the topic must not expire with it.
 */
function topicFor({ content }: MemoryRecord, before: MemoryRecord): MemoryRecord {
  if (normalisedContent(content) === normalisedContent(before.content)) return before;
  return {
    ...before,
    author: undefined,
    role: undefined,
    validFrom: undefined,
    validUntil: undefined,
    expiresAt: undefined,
    relations: undefined,
  };
}

/**
 * The fields that a restatement copies from its input. Left out are `scope` and `topicKey`, which stay, and
 * `sourceRef`, which comes from the new record.
 */
const RESTATED = [
  ...CHANGE_FIELDS.filter((name) => name !== 'scope' && name !== 'topicKey' && name !== 'sourceRef'),
  'ttl',
] as const;

/** Returns the memory with the fields that the input sets. Other fields keep their values. */
function restated(before: MemoryRecord, input: RememberInput, record: MemoryRecord): MemoryRecord {
  const changes = Object.fromEntries(
    RESTATED.filter((key) => input[key] !== undefined).map((key) => [key, input[key]]),
  );
  // `newRecord` has already applied the size limits to these values.
  const changed = changedRecord(before, changes, { now: record.updatedAt });
  return {
    ...changed,
    sessionId: record.sessionId ?? before.sessionId,
    source: record.source,
    sourceRef: record.sourceRef ?? before.sourceRef,
    supersedes: [...new Set([...before.supersedes, ...record.supersedes.filter((id) => id !== before.id)])],
  };
}

/** Plans a statement about a known entity. The entity keeps its title and aliases; the names in the statement become aliases. */
function restatedEntity(known: MemoryRecord, input: RememberInput, record: MemoryRecord, now: Instant): Plan {
  const before = revived(known, now);
  const { title: _, aliases: __, ...said } = input;
  const title = known.title ?? record.title;
  const names = [...(record.title ? [record.title] : []), ...(record.aliases ?? [])];
  const aliases = atMost(
    withAliases({ title, aliases: known.aliases }, names),
    FIELDS.aliases.maxItems,
    'aliases',
    'other names',
  );
  const next = restated(before, said, record);
  const memory = revised(before, { ...next, title, aliases });
  const { updatedAt, textChangedAt, revisionCount } = before;
  const unsaid = { ...memory, updatedAt, textChangedAt, revisionCount };
  if (JSON.stringify(sorted({ ...unsaid, source: before.source })) !== JSON.stringify(sorted(before)))
    return { kind: 'update', memory };
  return before === known ? { kind: 'keep', id: known.id } : { kind: 'affirm', memory: before };
}

function sorted(memory: MemoryRecord): readonly unknown[] {
  return FIELD_NAMES.map((name) => memory[name] ?? null);
}

/**
 * Finds the one live entity that has the title of `record` as its title, else as an alias. Returns `undefined` if there
 * are several.
 */
function entityOf(record: MemoryRecord, candidates: Candidates): MemoryRecord | undefined {
  if (record.type !== 'entity' || record.title === undefined) return undefined;
  const name = foldedName(record.title);
  const meant = candidates
    .live(nameIn(record.scope, name))
    // A person and a place with the same name are different entities.
    .filter(({ kind }) => kind === undefined || record.kind === undefined || kind === record.kind);
  const titled = meant.filter(({ title }) => title !== undefined && foldedName(title) === name);
  return titled.length === 1 ? titled[0] : meant.length === 1 ? meant[0] : undefined;
}

/** Describes an invalidated statement for the result of a write: since when, and why. */
export function inactiveOf(at: Instant | undefined, reason: string | undefined): Inactive {
  return { since: formatInstant(at ?? 0), reason: reason ?? 'no reason was given' };
}
