import type { AsOf, MemoryEngine } from '../index.ts';

const QUERIES: readonly (readonly [strategy: string, query: string | undefined, more?: object])[] = [
  ['hybrid', 'coffee in Lisbon'],
  ['hybrid', 'who drinks tea', { deep: true, includeExpired: true }],
  ['lexical', 'Anna coffee'],
  ['retention', 'train to Lisbon', { association: 'propagated' }],
  ['retention', 'Anna coffee', { deep: true }],
  ['five-factor', 'Ben tea'],
  ['balanced', 'Anna', { scope: 'project:a' }],
  ['scoped', 'coffee', { scope: 'project:a/part:b' }],
  ['ambient', undefined, { scope: 'project:b' }],
  ['vector', 'a drink'],
];

/** The answers of a memory as plain data. Two are equal only if every id, score and feature is equal bit for bit. */
export interface Answers {
  readonly recalls: readonly unknown[];
  readonly memories: readonly { readonly id: string }[];
  readonly redacted: number;
}

/** The maximum number of recalls that {@link answersOf} makes. */
export const MOST_RECALLS = QUERIES.length;

/** Recalls with many strategies, or some of them by number, and lists all memories, without writing. `asOf` looks back. */
export async function answersOf(
  memory: Pick<MemoryEngine, 'recall' | 'list'>,
  asOf?: Pick<AsOf, 'known'>,
  some: readonly number[] = [...QUERIES.keys()],
): Promise<Answers> {
  const recalls: unknown[] = [];
  for (const at of some) {
    const [strategy, query, more] = QUERIES[at]!;
    const { hits } = await memory.recall(query, { strategy, limit: 8, track: false, asOf, ...more });
    recalls.push(hits.map((hit) => [hit.memory.id, hit.score.value, hit.features, hit.path ?? []]));
  }
  const { memories, redacted = 0 } = await memory.list({ limit: 1000, asOf });
  // Through JSON, so that the answers of another process can be compared with it.
  return JSON.parse(JSON.stringify({ recalls, memories, redacted })) as Answers;
}
