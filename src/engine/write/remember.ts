import { listOf } from '../../domain/check.ts';
import type { ImportanceSource, MemoryRecord } from '../../domain/memory.ts';
import { mapInSlices, type Slices, startLongSlices } from '../../domain/slices.ts';
import type { Instant } from '../../domain/time.ts';
import type { Change, IndexedText, SpaceReader, Verb, Vote } from '../../store/store.ts';
import { findConflicts, type Noticed, noticedIn, reportOf } from '../belief/conflicts.ts';
import { checkSupersession } from '../belief/supersession.ts';
import { type Dependencies, momentOf } from '../dependencies.ts';
import { optimistically } from '../optimistically.ts';
import { touchSessions } from '../sessions/touch.ts';
import type {
  BatchOptions,
  OperationOptions,
  RememberInput,
  RememberOptions,
  RememberResult,
} from '../types.ts';
import { birthLinks } from './birth.ts';
import { deriveTexts } from './derive.ts';
import { newPeople } from './people.ts';
import { type Draft, draftOf, type Plan, planWrites } from './plan.ts';
import { newRecord } from './record.ts';
import { derivationOf, inContext, placed } from './write.ts';

/** Remembers one statement and reports what it may contradict. If it throws, nothing was written. */
export async function remember(
  engine: Dependencies,
  content: string,
  options: RememberOptions & OperationOptions = {},
): Promise<RememberResult> {
  const { signal, now, ...fields } = options;
  const [remembered] = await rememberAll(
    engine,
    [{ ...fields, content }],
    { signal, now },
    { noticing: true },
  );
  return remembered as RememberResult;
}

/** Remembers many statements in one transaction, all or none. Maintenance looks for contradictions later. */
export async function rememberMany(
  engine: Dependencies,
  inputs: readonly RememberInput[],
  options: BatchOptions = {},
): Promise<readonly RememberResult[]> {
  return rememberAll(engine, listOf(inputs, 'memories'), options, {});
}

/**
 * Remembers many statements whose importance a model or rules have judged, with `furtherChanges` in the same write. If
 * `furtherChanges` returns `undefined`, writes nothing and returns an empty list.
 */
export async function rememberJudged(
  engine: Dependencies,
  inputs: readonly RememberInput[],
  judges: readonly ImportanceSource[],
  options: BatchOptions,
  furtherChanges?: FurtherChanges,
): Promise<readonly RememberResult[]> {
  return rememberAll(engine, inputs, options, { judges, furtherChanges });
}

/** Returns further changes for the same write, given the memories that it is about to write; `undefined` cancels the write. */
export type FurtherChanges = (
  reader: SpaceReader,
  written: readonly MemoryRecord[],
) => Promise<readonly Change[] | undefined>;

/**
 * Remembers the summary of a session, with the changes of the session in the same write. Returns `undefined` if
 * `furtherChanges` cancels the write.
 */
export async function rememberSummary(
  engine: Dependencies,
  input: RememberInput,
  options: OperationOptions,
  furtherChanges?: FurtherChanges,
  derivedFrom: readonly string[] = [],
): Promise<RememberResult | undefined> {
  const inputs = [{ ...input, type: 'summary' }];
  const [remembered] = await rememberAll(engine, inputs, options, {
    summaries: true,
    furtherChanges,
    derivedFrom,
  });
  return remembered;
}

/** Remembers a statement with further changes in the same write. Does not look for contradictions. */
export async function rememberStatement(
  engine: Dependencies,
  input: RememberInput,
  options: OperationOptions,
  settings: Pick<RememberSettings, 'verb' | 'derivedFrom' | 'supersedes' | 'furtherChanges'>,
): Promise<RememberResult> {
  const [remembered] = await rememberAll(engine, [input], options, settings);
  return remembered as RememberResult;
}

interface RememberSettings {
  /** The verb in the log. Default is `remember`. */
  readonly verb?: Verb | undefined;
  /** Whether to look for memories that the first statement may contradict. Default is false. */
  readonly noticing?: boolean | undefined;
  /** Whether the type of a statement may be `summary`. Default is false. */
  readonly summaries?: boolean | undefined;
  readonly furtherChanges?: FurtherChanges | undefined;
  /** The ids of the memories that the statements were made from. */
  readonly derivedFrom?: readonly string[] | undefined;
  /**
   * Returns the ids of further memories that the statements supersede. Called before and within the write with `first`,
   * the record of the first statement as it would be written without them.
   */
  readonly supersedes?:
    | ((reader: SpaceReader, first: MemoryRecord) => Promise<readonly string[]>)
    | undefined;
  /** Where the importance of each statement comes from. By default it is `caller` where the input sets it, else `default`. */
  readonly judges?: readonly ImportanceSource[] | undefined;
}

async function rememberAll(
  engine: Dependencies,
  inputs: readonly RememberInput[],
  options: BatchOptions,
  {
    verb = 'remember',
    noticing,
    summaries,
    judges,
    furtherChanges,
    supersedes,
    derivedFrom = [],
  }: RememberSettings,
): Promise<readonly RememberResult[]> {
  if (inputs.length === 0) return [];
  const now = momentOf(engine, options);
  const context = { now, newId: () => engine.newId(now), limits: engine.limits, summaries };
  const slices = startLongSlices();
  // The caller may change the list while this runs.
  const given = [...inputs];
  const draftNext = (input: RememberInput, index: number): Draft => {
    const record = inContext(index, given.length, () => newRecord(input, context));
    const judge = judges?.[index];
    if (!judge && derivedFrom.length === 0) return draftOf(input, record);
    return draftOf(input, { ...record, importanceSource: judge ?? record.importanceSource, derivedFrom });
  };
  const drafts = await mapInSlices(given, draftNext, slices);
  const people = new Map<string, Draft>();
  /** Returns the drafts of the statements, then of their unknown authors. An author that is looked up again keeps its id. */
  const draftsBy = async (reader: SpaceReader): Promise<readonly Draft[]> => {
    const found = await newPeople(
      reader,
      drafts.map(({ record }) => record),
    );
    for (const { key, input } of found)
      if (!people.has(key)) people.set(key, draftOf(input, newRecord(input, context)));
    const first = supersedes && (await plannedFirst(reader, drafts, now, slices));
    const own = first ? superseding(drafts, await supersedes(reader, first)) : drafts;
    return [...own, ...found.flatMap(({ key }) => people.get(key) ?? [])];
  };
  const checkSuperseded = (reader: SpaceReader, plans: readonly Plan[]) => {
    const places = [...plans.keys()].filter((at) => plans[at]?.kind !== 'keep');
    return checkSupersession(reader, writtenBy(plans), engine.space.name, {
      failure: (error, at) => placed(error, places[at] as number, given.length),
    });
  };
  const { prepared, result } = await optimistically<Prepared, 'written' | 'left out'>(
    engine.space,
    { verb, at: now },
    {
      async prepare() {
        const plans = await engine.space.snapshot(async (reader) => {
          const planned = await planWrites(reader, await draftsBy(reader), now, slices);
          // Fails before an embedding is paid for.
          await checkSuperseded(reader, planned);
          return planned;
        });
        const read = writtenBy(plans);
        const indexed = await deriveTexts(read, engine, { ...options, slices });
        const first = writtenBy(plans.slice(0, 1))[0];
        const noticed: Noticed = noticing
          ? await findConflicts(engine, first, indexed[0]?.vector, now, options)
          : { conflicts: [] };
        return { plans, first, indexed, noticed };
      },
      async decide(reader, { plans, indexed, noticed }) {
        // Another process may have written or recalled meanwhile: plan again with what is stored now.
        const again = await planWrites(reader, await draftsBy(reader), now, slices);
        if (!samePlans(again, plans)) return undefined;
        const written = writtenBy(again);
        await checkSuperseded(reader, again);
        const changes = changesOf(again, indexed);
        const inserted = again.flatMap((plan) => (plan.kind === 'insert' ? [plan.memory] : []));
        const newLinks = linksOfNew(engine, again, inserted, indexed, now);
        const pairs = await noticedIn(reader, noticed, written[0]);
        // Also for statements that are known already.
        const said = drafts.map(({ record }) => record);
        const sessions = await touchSessions(reader, said, now);
        const more = furtherChanges ? await furtherChanges(reader, written) : [];
        if (!more) return { changes: [], result: 'left out' };
        return {
          changes: [...changes, ...newLinks, ...pairs, ...sessions, ...more],
          result: 'written',
          ...derivationOf(engine, indexed),
        };
      },
    },
    options.signal,
  );
  if (result === 'left out') return [];
  const { plans, noticed, first } = prepared;
  const conflicts = await reportOf(engine, noticed, first);
  return plans.slice(0, drafts.length).map((plan) => ({ ...outcomeOf(plan), ...conflicts }));
}

/** Returns the record that the first statement would be written as, or the stored memory if it is known. */
async function plannedFirst(
  reader: SpaceReader,
  drafts: readonly Draft[],
  now: Instant,
  slices: Slices,
): Promise<MemoryRecord | undefined> {
  const [plan] = await planWrites(reader, drafts.slice(0, 1), now, slices);
  return plan?.kind === 'keep' ? (await reader.get([plan.id]))[0] : plan?.memory;
}

function superseding(drafts: readonly Draft[], ids: readonly string[]): readonly Draft[] {
  if (ids.length === 0) return drafts;
  return drafts.map((draft) => {
    const supersedes = [...new Set([...draft.record.supersedes, ...ids])];
    return { ...draft, record: { ...draft.record, supersedes } };
  });
}

/** What was read and derived before the write. */
interface Prepared {
  readonly plans: readonly Plan[];
  /** The first statement, if it is written. */
  readonly first: MemoryRecord | undefined;
  readonly indexed: readonly IndexedText[];
  readonly noticed: Noticed;
}

/** Writes complete records with their votes, as an export has them, in one transaction. */
export async function insertRecords(
  engine: Dependencies,
  restored: readonly { readonly record: MemoryRecord; readonly votes: readonly Vote[] }[],
  verb: Verb,
  at: Instant,
  options: BatchOptions = {},
): Promise<readonly RememberResult[]> {
  if (restored.length === 0) return [];
  const records = restored.map(({ record }) => record);
  const slices = startLongSlices();
  const check = (reader: SpaceReader) =>
    checkSupersession(reader, records, engine.space.name, {
      lenient: true,
      failure: (error, at) => placed(error, at, records.length),
    });
  // Fails before an embedding is paid for.
  await engine.space.snapshot(check);
  const indexed = await deriveTexts(records, engine, { ...options, slices });
  return engine.space.write({ verb, at }, async (reader: SpaceReader) => {
    await check(reader);
    return {
      changes: restored.flatMap(({ record: memory, votes }, index): Change[] => [
        { kind: 'insert', memory, indexed: indexed[index] as IndexedText },
        ...votes.map((vote): Change => ({ kind: 'vote', id: memory.id, vote })),
      ]),
      result: records.map(({ id }): RememberResult => ({ id, outcome: 'created' })),
      ...derivationOf(engine, indexed),
    };
  });
}

function changesOf(plans: readonly Plan[], indexed: readonly IndexedText[]): readonly Change[] {
  let at = 0;
  return plans.flatMap((plan): Change[] => {
    if (plan.kind === 'keep') return [];
    const text = indexed[at++] as IndexedText;
    return [{ kind: plan.kind === 'insert' ? 'insert' : 'replace', memory: plan.memory, indexed: text }];
  });
}

function linksOfNew(
  engine: Dependencies,
  plans: readonly Plan[],
  inserted: readonly MemoryRecord[],
  indexed: readonly IndexedText[],
  now: Instant,
): readonly Change[] {
  if (!engine.embedder || inserted.length < 2) return [];
  const written = plans.filter(({ kind }) => kind !== 'keep');
  const texts = indexed.filter((_, at) => written[at]?.kind === 'insert');
  return birthLinks(inserted, texts, engine.embedder.thresholds.birthLink, now);
}

function outcomeOf(plan: Plan): RememberResult {
  switch (plan.kind) {
    case 'insert':
      return { id: plan.memory.id, outcome: 'created', ...(plan.inactive && { inactive: plan.inactive }) };
    case 'update':
      return { id: plan.memory.id, outcome: 'updated', ...(plan.differs && { differs: plan.differs }) };
    case 'affirm':
      return { id: plan.memory.id, outcome: 'deduplicated', ...(plan.differs && { differs: plan.differs }) };
    case 'keep': {
      const { id, inactive, differs } = plan;
      return { id, outcome: 'deduplicated', ...(inactive && { inactive }), ...(differs && { differs }) };
    }
  }
}

function writtenBy(plans: readonly Plan[]): readonly MemoryRecord[] {
  return plans.flatMap((plan) => (plan.kind === 'keep' ? [] : [plan.memory]));
}

/** Whether two lists of plans write the same texts to the same memories in the same way. */
function samePlans(some: readonly Plan[], others: readonly Plan[]): boolean {
  return (
    some.length === others.length &&
    some.every((plan, at) => {
      const other = others[at] as Plan;
      return isSameInsert(plan, other) || signatureOf(plan) === signatureOf(other);
    })
  );
}

/** A shortcut for nearly all plans: a new draft is inserted as the same object both times. */
function isSameInsert(plan: Plan, other: Plan): boolean {
  return plan.kind === 'insert' && other.kind === 'insert' && plan.memory === other.memory;
}

function signatureOf(plan: Plan): string {
  if (plan.kind === 'keep') return JSON.stringify([plan.id, plan.inactive]);
  const { id, title, content, tags, scope } = plan.memory;
  return JSON.stringify([
    plan.kind,
    id,
    title,
    content,
    tags,
    scope,
    plan.kind === 'insert' && plan.inactive,
  ]);
}
