import type { Hit, Memory, RememberResult, Score } from '../index.ts';

/** The types that `mem_save` accepts by default. */
export const OBSERVATION_TYPES = ['profile', 'preference', 'decision', 'discovery', 'pattern'] as const;
export type ObservationType = (typeof OBSERVATION_TYPES)[number] | (string & {});

/** One observation. Times are ISO 8601 in UTC; unknown values are `null`. */
export interface Observation {
  readonly id: string;
  readonly type: string;
  readonly title: string | null;
  readonly content: string;
  readonly topic_key: string | null;
  readonly session_id: string | null;
  /** Starts at 1. */
  readonly revision_count: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** An observation that a search found. `score` is a SearchScore, comparable with other SearchScores only. */
export interface SearchResult
  extends Pick<Observation, 'id' | 'type' | 'title' | 'topic_key' | 'updated_at'> {
  readonly score: Score<'lexical'>;
  /** The words around the matches. */
  readonly snippet: string;
}

/** An observation for the start of a session. `score` is a ContextScore, comparable with other ContextScores only. */
export interface ContextMemory
  extends Pick<Observation, 'id' | 'type' | 'title' | 'content' | 'topic_key' | 'updated_at'> {
  readonly score: Score<'ambient'>;
}

/** The summary of an earlier session. */
export type SessionSummary = Pick<Observation, 'id' | 'session_id' | 'title' | 'content' | 'created_at'>;

export interface MemSession {
  readonly session_id: string;
  /** False if an open session continues. */
  readonly is_new: boolean;
  /** Newest first; at most 5. */
  readonly sessions_context: readonly SessionSummary[];
  /** Best first; at most 10. */
  readonly memories: readonly ContextMemory[];
}

export interface SavedSummary {
  readonly id: string;
  readonly outcome: SaveOutcome;
  /** `null` when no session is open. */
  readonly session_id: string | null;
}

/** `updated`: an observation with this topic existed. `deduped`: one with this text existed. */
export type SaveOutcome = 'created' | 'updated' | 'deduped';

/** The result of saving an observation. Session and topic are its current ones. */
export interface SavedObservation extends SavedSummary {
  readonly topic_key: string | null;
}

export interface MemTimeline {
  /** Oldest first; at most 5. */
  readonly before: readonly Observation[];
  readonly observation: Observation;
  /** Oldest first; at most 5. */
  readonly after: readonly Observation[];
}

export interface MemStats {
  readonly total: number;
  readonly by_type: Readonly<Record<string, number>>;
}

export function observationOf(memory: Memory): Observation {
  return {
    id: memory.id,
    type: memory.type,
    title: memory.title ?? null,
    content: memory.content,
    topic_key: memory.topicKey ?? null,
    session_id: memory.sessionId ?? null,
    revision_count: memory.revisionCount,
    created_at: memory.createdAt,
    updated_at: memory.updatedAt,
  };
}

export function summaryOf(memory: Memory): SessionSummary {
  const { id, session_id, title, content, created_at } = observationOf(memory);
  return { id, session_id, title, content, created_at };
}

export function searchResultOf({ memory, score, snippet }: Hit<'lexical'>): SearchResult {
  const { id, type, title, topic_key, updated_at } = observationOf(memory);
  return { id, type, title, topic_key, score, snippet: snippet ?? '', updated_at };
}

export function contextMemoryOf({ memory, score }: Hit<'ambient'>): ContextMemory {
  const { id, type, title, content, topic_key, updated_at } = observationOf(memory);
  return { id, type, title, content, topic_key, score, updated_at };
}

export function outcomeOf({ outcome }: RememberResult): SaveOutcome {
  return outcome === 'deduplicated' ? 'deduped' : outcome;
}
