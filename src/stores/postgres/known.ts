import type { Neighbours } from '../../store/store.ts';
import type { Found, Head } from './moment.ts';

/** What was read of a moment, so that it is not read twice. */
export interface Known {
  /** Rows of memories, with whether they were compared, by id. */
  readonly rows: Map<string, Found>;
  /** Keys by id, where a row is not known. */
  readonly keys: Map<string, number>;
  readonly neighbours: Map<string, Neighbours | undefined>;
  /** What statements found, by their text and values. */
  readonly answers: Map<string, readonly Found[]>;
  /** The links among these memories. */
  links: { readonly among: ReadonlySet<string>; readonly rows: readonly Found[] } | undefined;
}

/** What the last reads of a process found, and when: where a write or a read may go on from that verifies it. */
export interface LastRead {
  readonly head: Head;
  readonly known: Known;
  /** Of `performance.now()`. */
  readonly at: number;
}

/** Older than that, others are likely to have written since. */
const FRESH_MS = 1000;

export function nothingKnown(): Known {
  return { rows: new Map(), keys: new Map(), neighbours: new Map(), answers: new Map(), links: undefined };
}

/** Rows that are kept for a later read of the same state; more are read anew. */
const MOST_KEPT = 1000;

/** Whether it is little enough to be gone on with. */
export function isLittle({ rows, keys, answers }: Known): boolean {
  return rows.size + keys.size <= MOST_KEPT && answers.size <= MOST_KEPT / 10;
}

export function isFresh<Read extends Pick<LastRead, 'at'>>(read: Read | undefined): read is Read {
  return read !== undefined && performance.now() - read.at < FRESH_MS;
}
