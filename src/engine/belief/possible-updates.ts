import type { MemoryRecord } from '../../domain/memory.ts';
import type { Instant } from '../../domain/time.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import type { IndexedText, Snapshot } from '../../store/store.ts';
import { mayUpdate, type Quantities, quantitiesOf } from '../../text/quantities.ts';
import type { Dependencies } from '../dependencies.ts';
import { embeddedText } from '../write/derive.ts';
import { searchableText } from '../write/record.ts';

/** Terms of a statement at most: a longer text counts many things, and two of them always differ in one. */
const MOST_TERMS = 80;

/** The nearest by words that are looked at. */
const NEAREST = 50;

/** Pairs that comparing one statement may add: a store full of figures must not fill the queue. */
const MOST_PAIRS = 5;

/** How far the words of two statements must be the same. Chosen with `MOST_TERMS` on development conversations. */
const LEAST_SIMILARITY = 0.3;

export interface PossibleUpdate {
  /** The older, the newer. */
  readonly of: readonly [MemoryRecord, MemoryRecord];
  /** ½ · (the lexical relevance of the older to the newer one's words + that of the newer to the older one's), 0–1. */
  readonly similarity: number;
}

/**
 * Finds the memories of the same scope that one may be an update of, or that may be one of it: the newer gives, in a
 * sentence about a change, another value for something that the older counts, and their words are much the same.
 * Words alone decide, so that no embedder is needed. At most 5, nearest first. The finder remembers what it has read of
 * a text. What is `gone` is none of them.
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

/** By their last update, for an update may be a new statement; what was said in one moment has no order. */
function inOrder(a: MemoryRecord, b: MemoryRecord): readonly [MemoryRecord, MemoryRecord] | undefined {
  if (a.updatedAt === b.updatedAt) return undefined;
  return a.updatedAt < b.updatedAt ? [a, b] : [b, a];
}

function lengthOf(terms: IndexedText['terms']): number {
  let length = 0;
  for (const count of terms.values()) length += count;
  return length;
}
