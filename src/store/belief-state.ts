import type { NewPair, SimilarPair } from './store.ts';

/** How other memories affect one, from the scope and time of a recall. */
export interface BeliefState {
  /** Whether a believed memory supersedes it. */
  readonly superseded: boolean;
  /** The highest similarity of a possible update of it that is believed and not judged yet; 0 without one. */
  readonly conflict: number;
}

/** Which memories supersede or may update which. `Key` identifies a memory. */
export interface Relations<Key> {
  /** For each superseded memory, the memories that supersede it. */
  readonly successors: ReadonlyMap<Key, readonly Key[]>;
  /** For the older memory of each unjudged possible update, the newer memories. */
  readonly newer: ReadonlyMap<Key, readonly { readonly key: Key; readonly similarity: number }[]>;
}

/**
 * Whether any memory that supersedes `key`, directly or through a chain, is believed. The memories in between need not be.
 */
export function isSuperseded<Key>(
  key: Key,
  successors: ReadonlyMap<Key, Iterable<Key>>,
  isBelieved: (key: Key) => boolean,
): boolean {
  // Writes refuse cycles, but a damaged store must not cause an endless loop.
  const seen = new Set<Key>([key]);
  const waiting = [...(successors.get(key) ?? [])];
  for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
    if (seen.has(each)) continue;
    if (isBelieved(each)) return true;
    seen.add(each);
    waiting.push(...(successors.get(each) ?? []));
  }
  return false;
}

/**
 * Finds all memories for which {@link isSuperseded} is true, in linear time: it calls `isBelieved` at most once for each,
 * where separate calls would visit the whole chain above every memory.
 */
function supersededOf<Key>(
  successors: Relations<Key>['successors'],
  isBelieved: (key: Key) => boolean,
): ReadonlySet<Key> {
  const below = new Map<Key, Key[]>();
  for (const [key, above] of successors) {
    for (const each of above) {
      const known = below.get(each);
      if (known) known.push(key);
      else below.set(each, [key]);
    }
  }
  const believed = new Set([...below.keys()].filter(isBelieved));
  const superseded = new Set<Key>();
  const waiting = [...believed];
  for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
    for (const key of below.get(each) ?? []) {
      if (superseded.has(key)) continue;
      superseded.add(key);
      waiting.push(key);
    }
  }
  // In a cycle, which only a damaged store has, a memory does not supersede itself.
  for (const key of superseded) {
    if (!believed.has(key)) continue;
    const above = successors.get(key) ?? [];
    if (above.some((each) => each !== key && believed.has(each))) continue;
    if (!isSuperseded(key, successors, (each) => believed.has(each))) superseded.delete(key);
  }
  return superseded;
}

/** Computes the state of every memory that is superseded or has a possible update. */
export function beliefStates<Key>(
  { successors, newer }: Relations<Key>,
  isBelieved: (key: Key) => boolean,
): ReadonlyMap<Key, BeliefState> {
  const superseded = supersededOf(successors, isBelieved);
  const states = new Map<Key, BeliefState>();
  for (const key of successors.keys()) {
    if (superseded.has(key)) states.set(key, { superseded: true, conflict: 0 });
  }
  for (const [key, statements] of newer) {
    let conflict = 0;
    for (const { key: other, similarity } of statements) {
      if (similarity > conflict && isBelieved(other) && !superseded.has(other)) conflict = similarity;
    }
    if (conflict > 0) states.set(key, { superseded: superseded.has(key), conflict });
  }
  return states;
}

/** Whether an unjudged pair affects a search: only possible updates do. */
export function isRelation({ kind }: Pick<NewPair, 'kind'>): boolean {
  return kind === 'update';
}

/** Whether a new pair replaces the known pair of the same two memories. */
export function isReplacedBy(
  known: Pick<SimilarPair, 'kind' | 'resolution'>,
  pair: Pick<NewPair, 'kind'>,
): boolean {
  return known.kind === 'similar' && known.resolution === undefined && pair.kind === 'update';
}

/** Whether what ended a pair still holds, because an undo left these memories unchanged: see the change `requeue-pairs`. */
export function isStillEnded(
  { older, newer, resolution }: Pick<SimilarPair, 'older' | 'newer' | 'resolution'>,
  unchanged: readonly string[] = [],
): boolean {
  return unchanged.includes(newer) || (resolution === undefined && unchanged.includes(older));
}

/** Groups values by their key. */
export function grouped<Key, Value>(pairs: Iterable<readonly [Key, Value]>): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}
