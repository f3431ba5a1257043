import type { NewPair, SimilarPair } from './store.ts';

/** What other memories make of one, where and when a recall looks. */
export interface BeliefState {
  /** A memory that is believed has taken its place. */
  readonly superseded: boolean;
  /** The similarity of the nearest possible update that is believed and not judged yet; 0 without one. */
  readonly conflict: number;
}

/** How memories stand to each other, by whatever tells them apart. */
export interface Relations<Key> {
  /** For a memory that others supersede: those. */
  readonly successors: ReadonlyMap<Key, readonly Key[]>;
  /** For the older memory of possible updates that wait to be judged: the newer ones. */
  readonly newer: ReadonlyMap<Key, readonly { readonly key: Key; readonly similarity: number }[]>;
}

/**
 * Whether anything further up a memory's chain is believed, whatever became of the links in between, and in whatever
 * order they were made.
 */
export function isSuperseded<Key>(
  key: Key,
  successors: ReadonlyMap<Key, Iterable<Key>>,
  isBelieved: (key: Key) => boolean,
): boolean {
  // Writing refuses cycles; a damaged store must not hang.
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

/** The memories of which {@link isSuperseded} holds. Asks of each at most once: of a long chain, each would ask all above it. */
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
  // In a cycle, which only a damaged store has, nothing takes its own place.
  for (const key of superseded) {
    if (!believed.has(key)) continue;
    const above = successors.get(key) ?? [];
    if (above.some((each) => each !== key && believed.has(each))) continue;
    if (!isSuperseded(key, successors, (each) => believed.has(each))) superseded.delete(key);
  }
  return superseded;
}

/** The state of every memory that is superseded or in conflict. */
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

/** Whether a pair counts in a search while it waits: only possible updates do. */
export function isRelation({ kind }: Pick<NewPair, 'kind'>): boolean {
  return kind === 'update';
}

/** Whether a new pair of the same two memories takes the place of a known one. */
export function isReplacedBy(
  known: Pick<SimilarPair, 'kind' | 'resolution'>,
  pair: Pick<NewPair, 'kind'>,
): boolean {
  return known.kind === 'similar' && known.resolution === undefined && pair.kind === 'update';
}

/** Groups pairs by their first part. */
export function grouped<Key, Value>(pairs: Iterable<readonly [Key, Value]>): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}
