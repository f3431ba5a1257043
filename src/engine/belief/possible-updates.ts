import type { MemoryRecord } from '../../domain/memory.ts';
import type { Instant } from '../../domain/time.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import type { IndexedText, Snapshot } from '../../store/store.ts';
import { mayUpdate, type Quantities, quantitiesOf } from '../../text/quantities.ts';
import type { Dependencies } from '../dependencies.ts';
import { embeddedText } from '../write/derive.ts';
import { searchableText } from '../write/record.ts';

/** Most terms of a statement. Longer texts have so many quantities that two of them always differ in one. */
const MOST_TERMS = 80;

/** How many of the nearest memories by words are compared. */
const NEAREST = 50;

/** Most pairs per statement: a store full of figures must not fill the queue. */
const MOST_PAIRS = 5;

/** The lowest similarity of a pair. Chosen with `MOST_TERMS` on development conversations. */
const LEAST_SIMILARITY = 0.3;

export interface PossibleUpdate {
  /** The older memory, then the newer one. */
  readonly of: readonly [MemoryRecord, MemoryRecord];
  /** The mean of the lexical relevance of each memory to the words of the other one, 0–1. */
  readonly similarity: number;
}

/**
 * Makes a function that finds the possible updates of a memory, or the memories that it may update. Both have the same
 * scope and much the same words, and the newer one gives, in a sentence about a change, another value for a quantity
 * that the older one states. Needs no embedder. Returns at most 5, nearest first.
 *
 * Quantities are cached by memory for the life of the finder. Memories in `gone` are left out.
 */
export function createUpdateFinder(
  { space, analyzer }: Pick<Dependencies, 'space' | 'analyzer'>,
  now: Instant,
  gone: ReadonlySet<string>,
): (memory: MemoryRecord, terms: IndexedText['terms']) => Promise<readonly PossibleUpdate[]> {
  const profile = resolveProfile(builtinProfile('bm25'));
  const known = new Map<string, Quantities>();
  const quantities = (memory: MemoryRecord): Quantities => {
    const found = known.get(memory.id) ?? quantitiesOf(embeddedText(memory), analyzer);
    known.set(memory.id, found);
    return found;
  };
  const find = async (snapshot: Snapshot, memory: MemoryRecord, terms: readonly string[]) => {
    const nearest = { profile, query: { terms }, filter: { scopes: [memory.scope] }, now, limit: NEAREST };
    const { hits } = await snapshot.search(nearest);
    const found: PossibleUpdate[] = [];
    for (const { memory: other, signals } of hits) {
      const of = inOrder(memory, other);
      if (!of || gone.has(other.id) || !mayUpdate(quantities(of[1]), quantities(of[0]))) continue;
      const words = analyzer.analyze(searchableText(other));
      if (words.length > MOST_TERMS) continue;
      const back = { ...nearest, query: { terms: [...new Set(words)].sort() } };
      const [inspected] = await snapshot.inspect([memory.id], back);
      const similarity = ((signals.lexical ?? 0) + (inspected?.signals.lexical ?? 0)) / 2;
      if (similarity >= LEAST_SIMILARITY) found.push({ of, similarity });
    }
    return found.sort((a, b) => b.similarity - a.similarity).slice(0, MOST_PAIRS);
  };
  return async (memory, terms) => {
    if (lengthOf(terms) > MOST_TERMS || quantities(memory).size === 0) return [];
    return space.snapshot((snapshot) => find(snapshot, memory, [...terms.keys()].sort()));
  };
}

/**
 * Orders two memories by their last update, because an update may be a new memory. Returns `undefined` for two of the
 * same moment: they have no order.
 */
function inOrder(a: MemoryRecord, b: MemoryRecord): readonly [MemoryRecord, MemoryRecord] | undefined {
  if (a.updatedAt === b.updatedAt) return undefined;
  return a.updatedAt < b.updatedAt ? [a, b] : [b, a];
}

function lengthOf(terms: IndexedText['terms']): number {
  let length = 0;
  for (const count of terms.values()) length += count;
  return length;
}
