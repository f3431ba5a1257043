import type { Instant } from '../domain/time.ts';
import type { State } from './state.ts';

/** A place in the logs of a space, after everything written and used so far. */
export interface LogPlace {
  /** The sequence of the last event; 0 before the first. */
  readonly sequence: number;
  /** The sequence of the last use; 0 before the first. */
  readonly usage: number;
  /** The sequence of the last pair that was queued; 0 before the first. */
  readonly pair: number;
  /** How many pairs nobody has judged yet. */
  readonly waiting: number;
}

/** A moment to look back to: an instant, a place in the logs, or the earlier of the two. */
export interface Moment {
  readonly at?: Instant | undefined;
  /** `at` is when the place was read. It orders verdicts on pairs that changed nothing else, which have no sequence. */
  readonly place?: (LogPlace & { readonly at: Instant }) | undefined;
}

/** A recall to be recorded. */
export interface NewRecording {
  /** When it was asked. */
  readonly at: Instant;
  readonly strategy: string;
  readonly sessionId: string | undefined;
  /** The text of the query; absent if there was none or texts are not kept. */
  readonly query: string | undefined;
  /** The hits, in order. */
  readonly hits: readonly RecordedHit[];
  readonly details: RecordingDetails;
}

export interface RecordedHit {
  readonly id: string;
  /** Kept bit for bit. */
  readonly score: number;
}

/** The other data needed to repeat a recall, as JSON. A store only searches it for texts that are ids. */
export interface RecordingDetails {
  /** The options of the caller. Empty once the recording is redacted. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly [name: string]: unknown;
}

/** A recorded recall. */
export interface Recording extends NewRecording {
  /** Increases with every recording of the space; never used twice. */
  readonly sequence: number;
  /** Whether a memory in its hits or options was forgotten since. Its query, session, options and that hit are then removed. */
  readonly redacted: boolean;
}

/** Which recordings the log of recalls may keep. */
export interface Keep {
  /** Recordings from before this time are removed. */
  readonly since: Instant;
  /** The maximum number of recordings; the latest are kept. 0 keeps none. */
  readonly most: number;
  /** Whether the texts of queries are kept. */
  readonly texts: boolean;
}

/** Selects the recordings that meet all given conditions, newest first. */
export interface RecordingRequest {
  readonly limit: number;
  /** The one of this sequence. */
  readonly sequence?: number | undefined;
  /** Those before this sequence. */
  readonly before?: number | undefined;
  /** Those asked since then. */
  readonly since?: Instant | undefined;
  readonly strategy?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** The properties of `details` that reveal the query. Hashes are included: the text could be guessed from them. */
const SAID = ['queryHash', 'vectorHash', 'terms'];

/** Whether a recording names one of these memories, as a hit or as a text in its options. */
export function names({ hits, details }: NewRecording, ids: ReadonlySet<string>): boolean {
  return hits.some(({ id }) => ids.has(id)) || holdsText(details.options, ids);
}

function holdsText(value: unknown, texts: ReadonlySet<string>): boolean {
  if (typeof value === 'string') return texts.has(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((each) => holdsText(each, texts));
}

/** Redacts a recording that names forgotten memories. Also removes the query and options, which may quote them. */
export function recordingWithout(recording: Recording, ids: ReadonlySet<string>): Recording {
  const details = Object.entries(recording.details).filter(([name]) => !SAID.includes(name));
  return {
    ...recording,
    sessionId: undefined,
    query: undefined,
    hits: recording.hits.filter(({ id }) => !ids.has(id)),
    details: { ...Object.fromEntries(details), options: {} },
    redacted: true,
  };
}

/** Adds a recording to a state, and removes what `keep` does not allow. */
export function afterRecording(state: State, recording: NewRecording | undefined, keep: Keep): State {
  const lastRecording = state.lastRecording + (recording ? 1 : 0);
  const added: Recording[] = recording
    ? [{ ...structuredClone(recording), sequence: lastRecording, redacted: false }]
    : [];
  const recordings = [...state.recordings, ...added]
    .filter(({ at, sequence }) => at >= keep.since && sequence > lastRecording - keep.most)
    .map((each) => (keep.texts ? each : { ...each, query: undefined }));
  return { ...state, recordings, lastRecording };
}

/** Returns the recordings of a state that a request selects. */
export function recordingsOf({ recordings }: State, request: RecordingRequest): readonly Recording[] {
  const { sequence, before, since, strategy, sessionId } = request;
  return recordings
    .filter(
      (each) =>
        (sequence === undefined || each.sequence === sequence) &&
        (before === undefined || each.sequence < before) &&
        (since === undefined || each.at >= since) &&
        (strategy === undefined || each.strategy === strategy) &&
        (sessionId === undefined || each.sessionId === sessionId),
    )
    .toReversed()
    .slice(0, request.limit);
}
