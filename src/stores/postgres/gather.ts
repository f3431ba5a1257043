import { linkKey } from '../../store/links.ts';
import { buriedKey, emptyState, type SearchableMemory, type State } from '../../store/state.ts';
import type {
  Change,
  Decision,
  MemoryEvent,
  NewUsage,
  Usage,
  UseDecision,
  WriteEntry,
} from '../../store/store.ts';
import { EVENT_COLUMNS, eventOf } from './events.ts';
import { LINK_COLUMNS, linkOf } from './links.ts';
import { embeddingOf, type Found, type Head, type Moment, settingsOf } from './moment.ts';
import { keptPairOf, PAIR_COLUMNS } from './pairs.ts';
import { RECORDING_COLUMNS, recordingOf } from './recordings.ts';
import { fromRow, memoriesWhere } from './rows.ts';
import { isAnyText, type Sql, sql, wantedNumbers, wantedTexts } from './sql.ts';
import { hashOf, readTombstoneKey } from './tombstones.ts';
import { USAGE_COLUMNS, usageOf } from './usage.ts';
import { VOTE_COLUMNS, voteOf } from './votes.ts';

/** The part of a space that a write touches, as a `State`, with the row data that a `State` does not have. */
export interface Gathered {
  readonly head: Head;
  readonly state: State;
  /** By id. */
  readonly keys: ReadonlyMap<string, number>;
  /** The former keys of memories that are only in the log, by id. */
  readonly loggedKeys: ReadonlyMap<string, number>;
  /** The hashes of statements, by {@link buriedKey}. */
  readonly hashes: ReadonlyMap<string, string>;
  /** The stamps of uses, by their sequence. */
  readonly usageStamps: ReadonlyMap<number, string>;
  /** The ids of new memories that other memories already supersede. */
  readonly superseded: ReadonlySet<string>;
}

const changesOf = <Kind extends Change['kind']>(changes: readonly Change[], ...kinds: readonly Kind[]) =>
  changes.filter((change): change is Extract<Change, { kind: Kind }> =>
    (kinds as readonly string[]).includes(change.kind),
  );

/** Reads everything that a write needs and changes, with one statement. */
export async function gatherForWrite(
  moment: Moment,
  entry: WriteEntry,
  { changes }: Decision<unknown>,
): Promise<Gathered> {
  const { database, id } = moment.place;
  const { link, similar_pair, event, usage, recall, vote, tombstone, supersession } = database.tables;
  const here = sql`space_id = ${id}::uuid`;
  const written = changesOf(changes, 'insert', 'replace').map((change) => change.memory);
  const gone = changesOf(changes, 'remove', 'redact').map((change) => change.id);
  const redacted = changesOf(changes, 'redact').map((change) => change.id);
  const linked = [
    ...changesOf(changes, 'link').flatMap((change) => change.link.ids),
    ...changesOf(changes, 'unlink').flatMap((change) => change.ids),
  ];
  const queued = changesOf(changes, 'queue-pair').flatMap(({ pair }) => [pair.older, pair.newer]);
  const compared = changesOf(changes, 'compared').flatMap((change) => change.ids);
  const judged = [
    ...changesOf(changes, 'attempt-pairs').flatMap((change) => change.sequences),
    ...changesOf(changes, 'settle-pair').map((change) => change.sequence),
  ];
  const requeued = changesOf(changes, 'requeue-pairs').map((change) => change.operation);
  const withdrawn = changesOf(changes, 'withdraw-votes').map((change) => change.operation);
  const statements = changesOf(changes, 'add-tombstone', 'remove-tombstone').map(
    (change) => change.statement,
  );
  const stubs = written.filter(({ tier }) => tier === 'stub').map((each) => each.id);
  const replaced = changesOf(changes, 'replace').map((change) => change.memory.id);

  /** The pairs that an operation ended, and the memories that they are about. */
  const ended = (column: Sql) =>
    sql`(SELECT ${column} FROM ${similar_pair} WHERE ${here} AND ended_by IN ${wantedNumbers(requeued)})`;
  const requeuedEnds =
    requeued.length === 0
      ? sql`false`
      : sql`(memory.id IN ${ended(sql`older_id`)} OR memory.id IN ${ended(sql`newer_id`)})`;
  const about = wantedTexts([...replaced, ...gone, ...queued]);
  const pairsAbout = sql`older_id IN ${about} OR newer_id IN ${about} OR sequence IN ${wantedNumbers(judged)}`;
  const texts = JSON.stringify(redacted.map((each) => JSON.stringify(each)));
  const quoting = (...columns: readonly Sql[]) =>
    sql`EXISTS (SELECT 1 FROM json_array_elements_text(${texts}::json) AS each(id)
      WHERE ${columns.reduce((all, column) => sql`${all} OR strpos(${column}, each.id) > 0`, sql`false`)})`;
  const attached = wantedTexts(gone);
  const among = wantedTexts(linked);

  const secret = statements.length > 0 ? await readTombstoneKey(moment) : '';
  const hashes = new Map(
    statements.map((statement) => [buriedKey(statement), hashOf(secret, statement)] as const),
  );

  const queries = createQueries();
  const memories = queries.add(
    [...written, ...gone, ...linked, ...queued, ...compared, ...requeued].length > 0,
    memoriesWhere(
      moment.place,
      sql`(memory.id ${isAnyText([...written.map((each) => each.id), ...gone, ...linked, ...queued, ...compared])}
        OR ${requeuedEnds})`,
    ),
  );
  const links = queries.add(
    gone.length + linked.length > 0,
    sql`SELECT ${LINK_COLUMNS} FROM ${link} AS link WHERE ${here} AND (a_id IN ${attached} OR b_id IN ${attached}
      OR (a_id IN ${among} AND b_id IN ${among}))`,
  );
  const pairs = queries.add(
    [...replaced, ...gone, ...queued, ...judged, ...requeued].length > 0,
    sql`SELECT ${PAIR_COLUMNS} FROM ${similar_pair} WHERE ${here} AND (${pairsAbout}
      ${requeued.length === 0 ? sql`` : sql`OR ended_by IN ${wantedNumbers(requeued)} OR older_id IN ${ended(sql`older_id`)} OR newer_id IN ${ended(sql`older_id`)}`})
      ORDER BY sequence`,
  );
  const events = queries.add(
    entry.undoes !== undefined || redacted.length + stubs.length > 0,
    sql`SELECT ${EVENT_COLUMNS} FROM ${event} WHERE ${here} AND (
      memory_id IN ${wantedTexts([...redacted, ...stubs])} OR other_id IN ${wantedTexts(redacted)}
      ${entry.undoes === undefined ? sql`` : sql`OR operation = ${entry.undoes}::numeric OR undoes = ${entry.undoes}::numeric`})
      ORDER BY sequence`,
  );
  const usages = queries.add(
    redacted.length > 0,
    sql`SELECT ${USAGE_COLUMNS}, stamp FROM ${usage} WHERE ${here} AND ${quoting(sql`used`, sql`before`)} ORDER BY sequence`,
  );
  const recordings = queries.add(
    redacted.length > 0,
    sql`SELECT ${RECORDING_COLUMNS} FROM ${recall} WHERE ${here} AND ${quoting(sql`hits`, sql`details`)} ORDER BY sequence`,
  );
  const votes = queries.add(
    redacted.length + withdrawn.length > 0,
    sql`SELECT ${VOTE_COLUMNS} FROM ${vote} WHERE ${here}
      AND (memory_id IN ${wantedTexts(redacted)} OR operation IN ${wantedNumbers(withdrawn)}) ORDER BY operation`,
  );
  const tombstones = queries.add(
    statements.length > 0,
    sql`SELECT hash, at, reason FROM ${tombstone} WHERE ${here} AND hash IN ${wantedTexts([...hashes.values()])}`,
  );
  const superseded = queries.add(
    written.length > replaced.length,
    sql`SELECT DISTINCT older_id FROM ${supersession} WHERE ${here} AND older_id IN ${wantedTexts(written.map((each) => each.id))}`,
  );
  const { head, found } = await queries.ask(moment);

  const rows = found(memories);
  const logged = found(events);
  const buried = new Map(
    found(tombstones).map((row) => [row['hash'], { at: Number(row['at']), reason: String(row['reason']) }]),
  );
  return {
    head,
    keys: new Map(rows.map((row) => [String(row['id']), Number(row['key'])])),
    loggedKeys: new Map(logged.map((row) => [String(row['memory_id']), Number(row['memory_key'])])),
    hashes,
    usageStamps: new Map(found(usages).map((row) => [Number(row['sequence']), String(row['stamp'])])),
    superseded: new Set(found(superseded).map((row) => String(row['older_id']))),
    state: {
      ...stateOf(head),
      memories: memoriesOf(rows),
      compared: new Set(rows.filter((row) => row['compared']).map((row) => String(row['id']))),
      links: new Map(found(links).map((row) => [linkKey(linkOf(row)), linkOf(row)])),
      pairs: new Map(found(pairs).map((row) => [Number(row['sequence']), keptPairOf(row)])),
      events: withLast(logged.map(eventOf), head),
      usages: found(usages).map(usageOf),
      recordings: found(recordings).map(recordingOf),
      votes: found(votes).map(voteOf),
      tombstones: new Map(
        [...hashes].flatMap(([statement, hash]) => {
          const tombstone = buried.get(hash);
          return tombstone ? [[statement, tombstone] as const] : [];
        }),
      ),
    },
  };
}

/** Reads what a use may need or change, with one statement, unless it was read before. */
export async function readForUse(moment: Moment, { used, effect }: NewUsage): Promise<void> {
  const { known, place } = moment;
  const ids = used.map((each) => each.id);
  const hasLinks = effect !== 'reinforce' || ids.every((each) => known.links?.among.has(each));
  if (hasLinks && ids.every((each) => known.rows.has(each))) return;
  const { link } = place.database.tables;
  const wanted = wantedTexts(ids);
  const [rows = [], links = []] = await moment.read(
    memoriesWhere(place, sql`memory.id ${isAnyText(ids)}`),
    sql`SELECT ${LINK_COLUMNS} FROM ${link} AS link
      WHERE space_id = ${place.id}::uuid AND a_id IN ${wanted} AND b_id IN ${wanted}`,
  );
  for (const row of rows) known.rows.set(String(row['id']), row);
  known.links = { among: new Set(ids), rows: links };
}

/** Reads everything that a use needs and changes. */
export async function gatherForUse(
  moment: Moment,
  usage: NewUsage,
  { memories, links }: UseDecision,
): Promise<Gathered> {
  const { database, id } = moment.place;
  const ends = wantedTexts(links.flatMap((link) => link.ids));
  const linked = links.flatMap((link) => link.ids);
  const ids = [...new Set([...[...usage.used, ...memories].map((each) => each.id), ...linked])];
  const { known } = moment;
  const missing = ids.filter((each) => !known.rows.has(each));
  const hasLinks = linked.every((each) => known.links?.among.has(each));
  if (missing.length > 0 || !hasLinks) {
    const [read = [], among = []] = await moment.read(
      memoriesWhere(moment.place, sql`memory.id ${isAnyText(missing)}`),
      sql`SELECT ${LINK_COLUMNS} FROM ${database.tables.link} AS link
        WHERE space_id = ${id}::uuid AND a_id IN ${ends} AND b_id IN ${ends}`,
    );
    for (const row of read) known.rows.set(String(row['id']), row);
    if (!hasLinks) known.links = { among: new Set(linked), rows: among };
  }
  const rows = ids.flatMap((each): readonly Found[] => {
    const row = known.rows.get(each);
    return row ? [row] : [];
  });
  const isEnd = new Set(linked);
  const found = (known.links?.rows ?? []).filter((row) => linkOf(row).ids.every((end) => isEnd.has(end)));
  const head = await moment.head();
  return {
    head,
    keys: new Map(rows.map((row) => [String(row['id']), Number(row['key'])])),
    loggedKeys: new Map(),
    hashes: new Map(),
    usageStamps: new Map(),
    superseded: new Set(),
    state: {
      ...stateOf(head),
      memories: memoriesOf(rows),
      compared: new Set(rows.filter((row) => row['compared']).map((row) => String(row['id']))),
      links: new Map(found.map((row) => [linkKey(linkOf(row)), linkOf(row)])),
      events: withLast([], head),
      usages: [lastUse(head)].filter(({ sequence }) => sequence > 0),
    },
  };
}

/** Collects queries, and leaves out those without anything to look for. */
function createQueries() {
  const asked: Sql[] = [];
  return {
    add: (isNeeded: boolean, query: Sql): number => (isNeeded ? asked.push(query) - 1 : -1),
    async ask(moment: Moment) {
      const rows = asked.length > 0 ? await moment.read(...asked) : [];
      return { head: await moment.head(), found: (at: number): readonly Found[] => rows[at] ?? [] };
    },
  };
}

/** Creates a state with the single values of a space and no rows. */
export function stateOf(head: Head): State {
  return {
    ...emptyState,
    lastPair: head.pair,
    lastOrdinal: head.ordinal,
    lastRecording: head.recording,
    settings: settingsOf(head),
    generation: head.generation,
    embedding: embeddingOf(head),
    analyzer: head.analyzer ?? undefined,
  };
}

/** Creates the memories of the state, without derived data: it stays in its table unless a change replaces it. */
function memoriesOf(rows: readonly Found[]): State['memories'] {
  return new Map(
    rows.map((row): [string, SearchableMemory] => {
      const memory = fromRow(row);
      return [memory.id, { memory, terms: new Map(), vector: undefined }];
    }),
  );
}

/** Adds a placeholder for the last event, so that the next write continues its sequence and time. */
function withLast(events: readonly MemoryEvent[], { sequence, at }: Head): readonly MemoryEvent[] {
  if (sequence === 0 || events.at(-1)?.sequence === sequence) return events;
  return [
    ...events,
    {
      sequence,
      operation: sequence,
      at,
      verb: 'remember',
      // No memory has this id.
      memoryId: '\0',
      before: undefined,
      redacted: false,
      undoes: undefined,
      link: undefined,
      settings: undefined,
      run: undefined,
    },
  ];
}

function lastUse({ usage: sequence, used_at: at }: Head): Usage {
  return {
    sequence,
    at,
    strategy: '',
    effect: 'see',
    queryHash: '',
    sessionId: undefined,
    used: [],
    after: 0,
  };
}
