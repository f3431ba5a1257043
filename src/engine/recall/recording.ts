import { createHash } from 'node:crypto';
import { redactPrivate } from '../../domain/redaction.ts';
import type { SpaceSettings } from '../../domain/settings.ts';
import { type Instant, MILLISECONDS_PER_DAY } from '../../domain/time.ts';
import { readingVerbs } from '../../store/reader.ts';
import type { Keep, LogPlace, RecordedHit } from '../../store/recording.ts';
import type { SearchRequest, Snapshot, SpaceStore } from '../../store/store.ts';
import { callerName } from '../caller.ts';
import { type Dependencies, momentOf } from '../dependencies.ts';
import type { OperationOptions } from '../types.ts';
import { type Arm, type StageTrace, stage, type Trace } from './trace.ts';

/** At about 1 kB per recall the log takes about 100 MB. It holds a day of one recall per second. */
const MOST_RECORDINGS = 100_000;

/** The most that servers return. A longer answer is an export rather than a recall. */
const MOST_HITS = 1000;

/** Most characters of the query and the options together, as JSON. */
const MOST_CHARACTERS = 65_536;

/** The contents of `details` in a recording. */
export interface Circumstances {
  readonly verb: 'recall' | 'context';
  /** The time for which it was computed. */
  readonly now: Instant;
  /** The place in the logs that it read at. */
  readonly place: LogPlace;
  /** Whether there was a write between its reads. It reads more than once if it looks up memories by session or id. */
  readonly moved: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  readonly profileHash: string;
  /** Absent if there was no query. */
  readonly queryHash?: string | undefined;
  /** How many distinct terms the query has. */
  readonly terms?: number | undefined;
  readonly vectorHash?: string | undefined;
  /** The name given to `forCaller`; absent without one, and in recordings of older versions. */
  readonly caller?: string | undefined;
  readonly model: string | undefined;
  readonly analyzer: string | undefined;
  readonly completeness: Trace['completeness'];
  readonly arms: readonly Arm[];
  readonly durationMs: number;
}

interface Asked<Answer> {
  readonly verb: Circumstances['verb'];
  readonly query: string | undefined;
  readonly hitsOf: (answer: Answer) => readonly RecordedHit[];
}

type RecordedOptions = OperationOptions & {
  readonly track?: boolean | undefined;
  readonly sessionId?: string | undefined;
};

/**
 * Runs a recall and records it, if the space records recalls and `track` is not false. If it cannot be recorded, it
 * still answers and the trace says why.
 */
export async function recorded<Answer extends { readonly trace: Trace }>(
  engine: Dependencies,
  options: RecordedOptions,
  asked: Asked<Answer>,
  run: (engine: Dependencies) => Promise<Answer>,
): Promise<Answer> {
  if (options.track === false) return run(engine);
  const noting = noteReading(engine.space);
  const answer = await run({ ...engine, space: noting.space });
  const read = noting.read();
  if (!read) return answer;
  const started = performance.now();
  const { id, reason } = await record(engine, options, asked, answer, read);
  const row: StageTrace = {
    ...stage('record', 1, id === undefined ? 0 : 1, performance.now() - started),
    ...(reason === undefined ? {} : { reason }),
  };
  const { trace } = answer;
  return {
    ...answer,
    trace: {
      ...trace,
      stages: [...trace.stages, row],
      totalMs: trace.totalMs + row.durationMs,
      ...(id === undefined ? {} : { recallId: id }),
    },
  };
}

async function record<Answer extends { readonly trace: Trace }>(
  engine: Dependencies,
  options: RecordedOptions,
  { verb, query, hitsOf }: Asked<Answer>,
  answer: Answer,
  { settings, request, ...read }: Reading,
): Promise<{ readonly id?: string; readonly reason?: string }> {
  if (engine.readOnly) return { reason: 'the space is open for reading only' };
  const hits = hitsOf(answer).map(({ id, score }) => ({ id, score }));
  const { signal: _, now: __, ...chosen } = options;
  const text = JSON.stringify([query, chosen]);
  const problem = unrecordable(hits, text);
  if (problem) return { reason: problem };
  const { trace } = answer;
  const details: Circumstances = {
    verb,
    now: request?.now ?? momentOf(engine, options),
    ...read,
    options: JSON.parse(text)[1],
    caller: callerName(),
    profileHash: trace.profileHash,
    ...(query === undefined ? {} : { queryHash: hashOf(query), terms: request?.query.terms.length ?? 0 }),
    vectorHash: vectorHashOf(request),
    completeness: trace.completeness,
    arms: trace.arms,
    durationMs: trace.totalMs,
  };
  const keep = keepOf(settings, engine.clock());
  try {
    const sequence = await engine.space.record(
      {
        at: engine.clock(),
        strategy: trace.strategy,
        sessionId: options.sessionId,
        query: keep.texts ? query : undefined,
        hits,
        details: { ...details },
      },
      keep,
    );
    return { id: String(sequence) };
  } catch (error) {
    // The answer is correct all the same.
    return { reason: (error as Error).message };
  }
}

function unrecordable(hits: readonly RecordedHit[], text: string): string | undefined {
  if (hits.length > MOST_HITS) return `${hits.length} hits are more than the ${MOST_HITS} that are recorded`;
  if (text.length > MOST_CHARACTERS)
    return `query and options take ${text.length} characters as JSON; at most ${MOST_CHARACTERS} are recorded`;
  if (redactPrivate(text) !== text) return 'the query or an option has a private part';
  return undefined;
}

/** Returns what the log of recalls may keep by the settings of a space. */
export function keepOf({ recordRecalls }: SpaceSettings, now: Instant): Keep {
  if (recordRecalls === 'off') return { since: 0, most: 0, texts: false };
  const { days, texts } = recordRecalls;
  return { since: now - days * MILLISECONDS_PER_DAY, most: MOST_RECORDINGS, texts };
}

/** Removes what the log of recalls may no longer keep. */
export async function trimRecordings(engine: Dependencies, settings: SpaceSettings): Promise<void> {
  const [any] = await engine.space.recordings({ limit: 1 });
  if (any) await engine.space.record(undefined, keepOf(settings, engine.clock()));
}

export function vectorHashOf(request: SearchRequest | undefined): string | undefined {
  const vector = request?.query.vector;
  return vector && hashOf(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
}

function hashOf(value: string | Uint8Array): string {
  return createHash('sha256').update(value).digest('hex').slice(0, 16);
}

/** What a recall read, if it is to be recorded. */
interface Reading extends Pick<Circumstances, 'place' | 'moved' | 'model' | 'analyzer'> {
  readonly settings: SpaceSettings;
  /** The first search of the recall. */
  readonly request: SearchRequest | undefined;
}

type Seen = Omit<Reading, 'moved' | 'request'>;

/** Wraps a space to note what is read from it. It does so within the reading transactions, so that all of it is of one moment. */
function noteReading(space: SpaceStore): {
  readonly space: SpaceStore;
  readonly read: () => Reading | undefined;
} {
  let first: Seen | undefined;
  let off = false;
  let moved = false;
  let request: SearchRequest | undefined;
  let settings: SpaceSettings | undefined;
  const see = async (snapshot: Snapshot): Promise<Seen | undefined> => {
    settings ??= await snapshot.settings();
    if (settings.recordRecalls === 'off') return undefined;
    const { embedding, analyzer } = first ? {} : await snapshot.derivation();
    return { settings, place: await snapshot.place(), model: embedding?.model, analyzer };
  };
  /** Keeps what the successful attempt saw: an attempt may be repeated. */
  const snapshot = async <Result>(work: (snapshot: Snapshot) => Promise<Result>): Promise<Result> => {
    if (off) return space.snapshot(work);
    let seen: Seen | undefined;
    const result = await space.snapshot(async (each) => {
      seen = await see(each);
      return work(seen ? watched(each) : each);
    });
    off = seen === undefined;
    if (first && seen) moved ||= !samePlace(first.place, seen.place);
    first ??= seen;
    return result;
  };
  const watched = watchSearches((asked) => {
    request ??= asked;
  });
  const noted: SpaceStore = {
    ...space,
    ...readingVerbs((_, work) => snapshot(work)),
    snapshot,
    // A recall uses the settings that it began with.
    settings: async () => settings ?? snapshot((each) => each.settings()),
    async asKnown(known, derive) {
      await snapshot(async () => {});
      if (!first) return space.asKnown(known, derive);
      // Writes that come before the whole space is read are left out.
      const at = typeof known === 'number' ? known : known.at;
      const past = await space.asKnown(
        { at, place: { ...first.place, at: Number.MAX_SAFE_INTEGER } },
        derive,
      );
      return { ...past, snapshot: (work) => past.snapshot((each) => work(watched(each))) };
    },
  };
  return { space: noted, read: () => first && { ...first, moved, request } };
}

/** Wraps snapshots to report every search in them. */
export function watchSearches(tell: (request: SearchRequest) => void): (snapshot: Snapshot) => Snapshot {
  return (snapshot) => ({
    ...snapshot,
    search: (request) => {
      tell(request);
      return snapshot.search(request);
    },
  });
}

function samePlace(a: LogPlace, b: LogPlace): boolean {
  return a.sequence === b.sequence && a.usage === b.usage && a.pair === b.pair && a.waiting === b.waiting;
}
