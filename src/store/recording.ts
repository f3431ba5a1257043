import type { Instant } from '../domain/time.ts';
import type { State } from './state.ts';

/** A place in the logs of a space: all that had been written and used up to there. */
export interface LogPlace {
  /** The sequence of the last event; 0 before the first. */
  readonly sequence: number;
  /** The sequence of the last use; 0 before the first. */
  readonly usage: number;
  /** The sequence of the last pair that was queued; 0 before the first. */
  readonly pair: number;
  /** How many pairs wait to be judged. */
  readonly waiting: number;
}

/** A moment to look back to: an instant, a place in the logs, or the earlier of the two. */
export interface Moment {
  readonly at?: Instant | undefined;
  /** With the instant at which it was read: verdicts on pairs that changed nothing else have no number. */
  readonly place?: (LogPlace & { readonly at: Instant }) | undefined;
}

/** One recall, as it is recorded. */
export interface NewRecording {
  /** When it was asked. */
  readonly at: Instant;
  readonly strategy: string;
  readonly sessionId: string | undefined;
  /** The text of the query; absent where it took none, or its text is not kept. */
  readonly query: string | undefined;
  /** What it returned, in order. */
  readonly hits: readonly RecordedHit[];
  readonly details: RecordingDetails;
}

export interface RecordedHit {
  readonly id: string;
  /** To the bit. */
  readonly score: number;
}

/** What else a recall can be repeated from, as JSON has it. A store reads nothing of it but texts that are ids. */
export interface RecordingDetails {
  /** What the caller chose. Empty once the recording is redacted. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly [name: string]: unknown;
}

/** A recall that was recorded. */
export interface Recording extends NewRecording {
  /** Grows with every recording of the space; never used twice. */
  readonly sequence: number;
  /** A memory that it returned or named was forgotten since: its query, session and options are gone, and that memory's hit. */
  readonly redacted: boolean;
}

/** What the log of recalls may hold. */
export interface Keep {
  /** Nothing that was asked before. */
  readonly since: Instant;
  /** The latest so many; 0: nothing. */
  readonly most: number;
  /** Whether the texts of queries stay. */
  readonly texts: boolean;
}

/** Which recordings are read: those that meet all that is given, newest first. */
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

/** The names in `details` of what a caller asked for in words: a hash of it may be tried out. */
const SAID = ['queryHash', 'vectorHash', 'terms'];

/** Whether a recording names one of these memories: as a hit, or as a text in what the caller chose. */
export function names({ hits, details }: NewRecording, ids: ReadonlySet<string>): boolean {
  return hits.some(({ id }) => ids.has(id)) || holdsText(details.options, ids);
}

function holdsText(value: unknown, texts: ReadonlySet<string>): boolean {
  if (typeof value === 'string') return texts.has(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((each) => holdsText(each, texts));
}

/** A recording without some memories: what was asked may quote them, so that it goes too. */
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

/** The state after a recall was recorded, and without what its log may not hold. */
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

/** Recordings of a state. */
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
