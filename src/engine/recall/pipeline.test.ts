import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { MemoryRecord } from '../../domain/memory.ts';
import type { Reranker } from '../../providers/reranker.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import type { Change, Link, SpaceStore, Store } from '../../store/store.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';
import { sampleIndexed, sampleMemory } from '../../testing/sample-memory.ts';
import { inspectIn } from '../../testing/store-contract/harness.ts';
import { verifyExplanation } from '../../testing/verify-explanation.ts';
import { withOuterFactors } from './outer.ts';
import { type RecallPlan, runPipeline } from './pipeline.ts';
import { type AssociationSettings, strategyOf } from './strategy.ts';

const now = Date.UTC(2026, 0, 1);
const propagating = strategyOf(builtinProfile('hybrid')).association!;
const own = strategyOf(builtinProfile('retention')).association!;

let store: Store;
let space: SpaceStore;
beforeEach(async () => {
  store = createReferenceStore();
  space = await store.openSpace('alice');
});
afterEach(() => store.close());

async function write(
  memories: readonly (Partial<MemoryRecord> & { readonly id: string })[],
  links: readonly (readonly [string, string, number])[] = [],
) {
  const inserts = memories.map((fields): Change => {
    const memory = sampleMemory(fields);
    return { kind: 'insert', memory, indexed: sampleIndexed(memory) };
  });
  await space.write({ verb: 'remember', at: now }, async () => ({ changes: inserts, result: undefined }));
  if (links.length === 0) return;
  const changes = links.map(([a, b, weight]): Change => {
    const link: Link = { ids: a < b ? [a, b] : [b, a], kind: 'stated', weight, at: now };
    return { kind: 'link', link };
  });
  await space.write({ verb: 'link', at: now }, async () => ({ changes, result: undefined }));
}

function recall(fields: {
  readonly limit?: number;
  readonly association?: AssociationSettings;
  readonly rerank?: RecallPlan['rerank'];
  readonly terms?: readonly string[];
}) {
  const { resolved, outer } = withOuterFactors(
    builtinProfile('bm25'),
    { deep: false, includeExpired: false, penalty: 0.5, since: 0 },
    resolveProfile,
  );
  const { limit = 10, terms = ['tea'], association, rerank } = fields;
  return runPipeline(space, {
    request: { profile: resolved, query: { terms }, filter: {}, now, limit },
    outer,
    association,
    rerank,
    minScore: undefined,
    signal: undefined,
  });
}

const idsOf = ({ ranked }: Awaited<ReturnType<typeof recall>>) => ranked.map(({ memory }) => memory.id);

describe('direct hits', () => {
  test('are what the search found, with trees that recompute, and each stage says what it saw', async () => {
    await write([
      { id: 'short', content: 'tea' },
      { id: 'long', content: 'tea in a pot' },
      { id: 'none', content: 'coffee' },
    ]);
    const answer = await recall({});
    expect(idsOf(answer)).toEqual(['short', 'long']);
    for (const hit of answer.ranked) {
      expect(hit).toMatchObject({ isAssociative: false, path: undefined });
      expect(verifyExplanation(hit.explain())).toBe(undefined);
      expect(hit.explain().value).toBe(hit.score);
    }
    expect(answer.stages.map(({ name, candidates, survivors }) => [name, candidates, survivors])).toEqual([
      ['eligible', 3, 3],
      ['validity_filter', 3, 3],
      ['bm25_search', 3, 2],
      ['vector_search', 3, 0],
      ['score', 3, 2],
    ]);
    expect(answer).toMatchObject({ chains: [], arms: [] });
  });
});

describe('a reranker', () => {
  const reversing: Reranker = {
    model: 'test',
    rerank: async (_, passages) => ({
      results: passages.map((_, index) => ({ index, score: index })),
      promptTokens: 5,
      completionTokens: 2,
    }),
  };
  const failing: Reranker = { model: 'test', rerank: async () => Promise.reject(new Error('no quota')) };
  const plan = (reranker: Reranker, most: number) => ({ reranker, most, query: 'tea' });
  const three = [
    { id: 'a', content: 'tea' },
    { id: 'b', content: 'tea pot' },
    { id: 'c', content: 'tea pot cup' },
  ];

  test('puts the first into its order, which what it did not see follows', async () => {
    await write(three);
    const answer = await recall({ rerank: plan(reversing, 2) });
    expect(idsOf(answer)).toEqual(['b', 'a', 'c']);
    expect(answer.arms).toEqual([{ name: 'rerank', status: 'ran' }]);
    expect(answer.stages.at(-1)).toMatchObject({ name: 'rerank', promptTokens: 5, completionTokens: 2 });
  });

  test('may bring in what lies beyond the limit', async () => {
    await write(three);
    expect(idsOf(await recall({ limit: 1, rerank: plan(reversing, 3) }))).toEqual(['c']);
  });

  test('that fails leaves the order, and the answer says so', async () => {
    await write(three);
    const answer = await recall({ rerank: plan(failing, 2) });
    expect(idsOf(answer)).toEqual(['a', 'b', 'c']);
    expect(answer.arms).toEqual([{ name: 'rerank', status: 'failed', reason: 'no quota' }]);
  });

  test('has the last word over propagated scores', async () => {
    await write([...three, { id: 'linked', content: 'kettle' }], [['a', 'linked', 1]]);
    const answer = await recall({ rerank: plan(reversing, 3), association: propagating });
    expect(idsOf(answer)).toEqual(['c', 'b', 'a', 'linked']);
  });

  test('reads the title with the content, and the content alone where there is no title', async () => {
    await write([
      { id: 'a', title: 'Drinks', content: 'tea tea' },
      { id: 'b', content: 'tea in an old pot' },
    ]);
    const seen: string[] = [];
    const reading: Reranker = {
      model: 'test',
      rerank: async (query, passages) => {
        seen.push(query, ...passages);
        return { results: [] };
      },
    };
    await recall({ rerank: plan(reading, 10) });
    expect(seen).toEqual(['tea', 'Drinks\ntea tea', 'tea in an old pot']);
  });
});

describe('associates', () => {
  test('propagated: have a share of the score of the direct hit that leads to them', async () => {
    await write(
      [
        { id: 'hit', content: 'tea' },
        { id: 'next', content: 'kettle' },
      ],
      [['hit', 'next', 0.4]],
    );
    const { ranked } = await recall({ association: propagating });
    expect(ranked.map(({ memory, isAssociative, path }) => [memory.id, isAssociative, path])).toEqual([
      ['hit', false, undefined],
      ['next', true, ['hit', 'next']],
    ]);
    const [hit, next] = ranked;
    expect(next!.score).toBe(propagating.propagation * 0.4 * hit!.score);
    expect(next!.explain().value).toBe(next!.score);
  });

  test('no link propagates more than all of a score', async () => {
    await write(
      [
        { id: 'hit', content: 'tea' },
        { id: 'next', content: 'kettle' },
      ],
      [['hit', 'next', 1]],
    );
    const [hit, next] = (await recall({ association: propagating })).ranked;
    expect(next!.score).toBe(hit!.score);
  });

  test('own: count for what they say themselves', async () => {
    await write(
      [
        { id: 'hit', content: 'tea' },
        { id: 'cold', content: 'tea pot', tier: 'cold', coldSince: now },
        { id: 'mute', content: 'kettle' },
      ],
      [
        ['hit', 'cold', 0.8],
        ['hit', 'mute', 1],
      ],
    );
    const [, cold, ...rest] = (await recall({ association: own })).ranked;
    expect(rest).toEqual([]);
    expect(cold?.memory.id).toBe('cold');
    const inspected = await inspectIn(space, ['cold'], {
      profile: resolveProfile(builtinProfile('bm25')),
      query: { terms: ['tea'] },
      filter: {},
      now,
    });
    expect(cold?.score).toBe(inspected[0]!.score * 0.8);
  });

  test('one that scores exactly the minimum stays, one a hair below it is left out', async () => {
    await write(
      [
        { id: 'hit', content: 'tea' },
        { id: 'next', content: 'kettle' },
      ],
      [['hit', 'next', 0.4]],
    );
    const { score } = (await recall({ association: propagating })).ranked[1]!;
    expect(idsOf(await recall({ association: { ...propagating, minimum: score } }))).toEqual(['hit', 'next']);
    const more = score * (1 + Number.EPSILON);
    expect(idsOf(await recall({ association: { ...propagating, minimum: more } }))).toEqual(['hit']);
  });

  test('raise a direct hit that stands beside a better one, and keep its place as a direct hit', async () => {
    await write(
      [
        { id: 'strong', content: 'tea' },
        { id: 'weak', content: 'tea in a pot that stands on the old stove in the kitchen' },
      ],
      [['strong', 'weak', 0.6]],
    );
    const plain = (await recall({})).ranked;
    const raised = (await recall({ association: propagating })).ranked;
    expect(raised.map(({ memory, isAssociative }) => [memory.id, isAssociative])).toEqual([
      ['strong', false],
      ['weak', false],
    ]);
    expect(raised[1]!.score).toBeGreaterThan(plain[1]!.score);
    expect(raised[1]!.explain().value).toBe(raised[1]!.score);
    const counted = (await recall({ association: own })).ranked;
    expect(counted.map(({ score }) => score)).toEqual(plain.map(({ score }) => score));
  });

  test('a direct hit that would inherit less than it has keeps its own explanation', async () => {
    await write(
      [
        { id: 'strong', content: 'tea' },
        { id: 'weak', content: 'tea pot' },
      ],
      [['strong', 'weak', 0.3]],
    );
    const plain = (await recall({})).ranked;
    const beside = (await recall({ association: propagating })).ranked;
    expect(beside).toHaveLength(2);
    expect(beside.map((hit) => hit.explain())).toEqual(plain.map((hit) => hit.explain()));
  });

  test('a full list takes only what outranks its last hit', async () => {
    await write(
      [
        { id: 'strong', content: 'tea' },
        { id: 'weak', content: 'tea in a pot that stands on the old stove in the kitchen' },
        { id: 'near', content: 'kettle' },
        { id: 'far', content: 'oven' },
      ],
      [
        ['strong', 'near', 0.66],
        ['strong', 'far', 0.3],
      ],
    );
    expect(idsOf(await recall({ limit: 2, association: propagating }))).toEqual(['strong', 'near']);
    const { ranked } = await recall({ limit: 4, association: propagating });
    expect(ranked).toHaveLength(4);
  });

  test('without a direct hit nothing is followed', async () => {
    await write(
      [
        { id: 'a', content: 'coffee' },
        { id: 'b', content: 'kettle' },
      ],
      [['a', 'b', 1]],
    );
    const answer = await recall({ association: propagating });
    expect(answer.ranked).toEqual([]);
    expect(answer.stages.map(({ name }) => name)).not.toContain('expand');
  });
});
