import type { Neighbours } from '../../store/store.ts';
import type { Found, Head } from './moment.ts';

/** A cache of what was read at one moment. */
export interface Known {
  /** Rows of memories, including `compared`, by id. */
  readonly rows: Map<string, Found>;
  /** Keys by id, for memories whose rows were not read. */
  readonly keys: Map<string, number>;
  readonly neighbours: Map<string, Neighbours | undefined>;
  /** Results of statements, by their text and values. */
  readonly answers: Map<string, readonly Found[]>;
  /** All links among the memories `among`, if they were read. */
  links: { readonly among: ReadonlySet<string>; readonly rows: readonly Found[] } | undefined;
}

/** What the last reads of a process found, and when. A later read or write may start from it, if it verifies it. */
export interface LastRead {
  readonly head: Head;
  readonly known: Known;
  /** The time of the read, by `performance.now()`. */
  readonly at: number;
}

/** The age, in milliseconds, up to which a read is reused. After that, others are likely to have written. */
const FRESH_MS = 1000;

export function nothingKnown(): Known {
  return { rows: new Map(), keys: new Map(), neighbours: new Map(), answers: new Map(), links: undefined };
}

/** The most rows and keys that are kept for a later read. A larger cache is dropped. */
const MOST_KEPT = 1000;

/** Whether a cache is small enough to be kept for a later read. */
export function isLittle({ rows, keys, answers }: Known): boolean {
  return rows.size + keys.size <= MOST_KEPT && answers.size <= MOST_KEPT / 10;
}

export function isFresh<Read extends Pick<LastRead, 'at'>>(read: Read | undefined): read is Read {
  return read !== undefined && performance.now() - read.at < FRESH_MS;
}
