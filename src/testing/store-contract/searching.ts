import fc from 'fast-check';
import { expect } from 'vitest';
import { parseMetadataFilter } from '../../domain/metadata-condition.ts';
import type { Condition } from '../../scoring/condition.ts';
import { resolveProfile, withFloor } from '../../scoring/profile.ts';
import { BUILTIN_PROFILE_NAMES, builtinProfile } from '../../scoring/profiles/index.ts';
import { defineProfile } from '../../scoring/score.ts';
import { areAtMost } from '../../store/candidates.ts';
import type { PreparedQuery, SearchAnswer, SearchRequest, SpaceStore } from '../../store/store.ts';
import { arbitraryIndexedMemory, arbitraryVector } from '../arbitrary-memory.ts';
import { arbitraryConditions } from '../arbitrary-metadata.ts';
import { ARBITRARY_NOW } from '../arbitrary-profile.ts';
import { createReferenceStore } from '../reference-store/index.ts';
import { unitVector } from '../sample-memory.ts';
import { seededRandom } from '../seeded-random.ts';
import {
  type ContractTest,
  expectCode,
  insert,
  inspectIn,
  onSpace,
  replace,
  searchIn,
  start,
  write,
} from './harness.ts';
import { idsOf, profileOf, request } from './queries.ts';

async function idsFor(space: SpaceStore, query: Partial<PreparedQuery>, fields: Partial<SearchRequest> = {}) {
  return idsOf(await searchIn(space, request(query, fields)));
}

/** Returns the parts of an answer that must be equal to the last bit in every exact store. */
function comparable({ durations: _, scored: __, ...answer }: SearchAnswer) {
  return answer;
}

export const searchTests: readonly ContractTest[] = [
  onSpace('an empty space answers with nothing', async (space) => {
    expect(comparable(await searchIn(space, request({ terms: ['tea'] })))).toEqual({
      hits: [],
      completeness: 'exact',
      upperBound: 0,
      total: 0,
      filtered: 0,
      cold: 0,
      eligible: 0,
      lexicalMatches: 0,
      withVector: 0,
      candidates: 0,
      spelling: [],
      sequence: 0,
    });
    expect(await inspectIn(space, ['a'], request({ terms: ['tea'] }))).toEqual([undefined]);
  }),
  onSpace('words: rarer terms and fuller matches rank higher, and what has none is no hit', async (space) => {
    await write(space, [
      insert({ id: 'both', content: 'green tea' }),
      insert({ id: 'rare', content: 'green car' }),
      insert({ id: 'often', content: 'some tea' }),
      insert({ id: 'often-2', content: 'more tea' }),
      insert({ id: 'none', content: 'black coffee' }),
    ]);
    const answer = await searchIn(space, request({ terms: ['green', 'tea'] }));
    expect(idsOf(answer)).toEqual(['both', 'rare', 'often-2', 'often']);
    expect(answer).toMatchObject({
      completeness: 'exact',
      upperBound: 0,
      total: 5,
      filtered: 5,
      eligible: 5,
    });
    expect(answer).toMatchObject({ lexicalMatches: 4, withVector: 0, candidates: 5, sequence: 5 });
    // Five memories of two terms and a prior of 50: ln(1 + 53.5 / 2.5) + ln(1 + 52.5 / 3.5), all of average length.
    expect(answer.hits[0]?.bm25).toBeCloseTo(Math.log(22.4) + Math.log(16), 12);
    expect(answer.hits[0]?.signals.lexical).toBe(0.9);
    expect(answer.hits[0]?.score).toBe(0.9);
    const [none] = await inspectIn(space, ['none'], request({ terms: ['green', 'tea'] }));
    expect(none).toMatchObject({ bm25: 0, score: 0, signals: { lexical: 0 } });
    expect(none).toMatchObject({ excluded: undefined, failedRequirement: undefined });
  }),
  onSpace('the bound is the best score that was left out', async (space) => {
    await write(space, [
      insert({ id: '1', content: 'tea' }),
      insert({ id: '2', content: 'tea pot' }),
      insert({ id: '3', content: 'tea pot cup' }),
    ]);
    const all = await searchIn(space, request({ terms: ['tea'] }));
    expect(idsOf(all)).toEqual(['1', '2', '3']);
    const one = await searchIn(space, request({ terms: ['tea'] }, { limit: 1 }));
    expect(idsOf(one)).toEqual(['1']);
    // The upper bound may be too high, but never too low, and never above the last hit.
    expect(one.upperBound).toBeGreaterThanOrEqual(all.hits[1]?.score as number);
    expect(one.upperBound).toBeLessThanOrEqual(one.hits[0]?.score as number);
  }),
  onSpace('meaning: the cosine, opposites at 0, memories without a vector unknown', async (space) => {
    await write(space, [
      insert({ id: 'same' }, [1, 0, 0]),
      insert({ id: 'near' }, [1, 1, 0]),
      insert({ id: 'far' }, [-1, 0, 0]),
      insert({ id: 'unknown' }),
    ]);
    const query = request({ vector: unitVector([2, 0, 0]) }, { profile: profileOf('vector') });
    const answer = await searchIn(space, query);
    expect(idsOf(answer)).toEqual(['same', 'near']);
    expect(answer.hits[0]).toMatchObject({
      score: 1,
      bm25: 0,
      signals: { similarity: 1, lexical: undefined },
    });
    expect(answer.hits[1]?.score).toBe(unitVector([1, 1, 0])[0]);
    expect(answer).toMatchObject({ withVector: 3, lexicalMatches: 0 });
    const [far, unknown] = await inspectIn(space, ['far', 'unknown'], query);
    expect(far?.signals.similarity).toBe(0);
    expect(unknown?.signals).toMatchObject({ similarity: undefined });
    await expectCode(searchIn(space, request({ vector: unitVector([1, 1]) })), 'embedder_mismatch');
  }),
  onSpace('a query of another model or analyzer than the space is refused, not compared', async (space) => {
    const embedding = { model: 'one', dimensions: 3 };
    const unnamed = request({ vector: unitVector([1, 0, 0]) }, { profile: profileOf('vector') });
    const of = (query: Partial<PreparedQuery>) => ({ ...unnamed, query: { ...unnamed.query, ...query } });
    // The space is empty, so any model and analyzer may be used.
    expect(idsOf(await searchIn(space, of({ model: 'two', analyzer: 'other' })))).toEqual([]);
    await write(space, [insert({ id: 'a' }, [1, 0, 0])], {}, { embedding, analyzer: 'words' });
    for (const same of [unnamed, of({ model: 'one', analyzer: 'words' })]) {
      expect(idsOf(await searchIn(space, same))).toEqual(['a']);
      expect((await inspectIn(space, ['a'], same))[0]?.signals.similarity).toBe(1);
    }
    for (const other of [of({ model: 'two', analyzer: 'words' }), of({ model: 'one', analyzer: 'other' })]) {
      const error = await expectCode(searchIn(space, other), 'embedder_mismatch');
      expect(error.message).toMatch(/\b(one|words)\b.*reindex/);
      await expectCode(inspectIn(space, ['a'], other), 'embedder_mismatch');
    }
    expect(idsOf(await searchIn(space, of({ model: 'two', vector: undefined })))).toEqual([]);
  }),
  onSpace('a query without terms matches its text, whatever its case', async (space) => {
    await write(space, [
      insert({ id: 'content', content: 'why? C’EST LA VIE' }),
      insert({ id: 'title', title: 'La Vie', content: 'x' }),
      insert({ id: 'tag', tags: ['LA VIE'], content: 'y' }),
      insert({ id: 'split', tags: ['la', 'vie'], content: 'z' }),
      // The Kelvin sign is the one letter beyond ASCII whose lower case is ASCII.
      insert({ id: 'kelvin', content: '5 \u212a' }),
      insert({ id: 'quotes', tags: ['say "no"'], content: 'percent: 5_%' }),
    ]);
    const matching = async (substring: string) => idsOf(await searchIn(space, request({ substring })));
    expect(await matching('5 k')).toEqual(['kelvin']);
    expect(await matching('SAY "')).toEqual(['quotes']);
    expect(await matching('5_%')).toEqual(['quotes']);
    const answer = await searchIn(space, request({ substring: 'lA vIe' }));
    expect(idsOf(answer).toSorted()).toEqual(['content', 'tag', 'title']);
    expect(answer.hits.map((hit) => [hit.score, hit.bm25])).toEqual([
      [0.5, 0],
      [0.5, 0],
      [0.5, 0],
    ]);
    expect(answer.lexicalMatches).toBe(3);
    const inspected = await inspectIn(space, ['split', 'title'], request({ substring: 'la vie' }));
    expect(inspected.map((each) => each?.signals.lexical)).toEqual([0, 0.5]);
  }),
  onSpace('a search with several conditions on metadata finds what meets all of them', async (space) => {
    await write(space, [
      insert({ id: 'both', content: 'tea', metadata: { open: true, n: 3 } }),
      insert({ id: 'first', content: 'tea', metadata: { open: true, n: 4 } }),
      insert({ id: 'second', content: 'tea', metadata: { open: false, n: 3 } }),
    ]);
    const filter = { metadata: parseMetadataFilter({ open: true, n: 3 }) };
    expect(await idsFor(space, { terms: ['tea'] }, { filter })).toEqual(['both']);
  }),
  onSpace('a word that no memory has stands for a known one that is spelt much like it', async (space) => {
    await write(space, [insert({ id: 'a', content: 'python' }), insert({ id: 'b', content: 'coffee' })]);
    const answer = await searchIn(space, request({ terms: ['pyhton'] }));
    expect(idsOf(answer)).toEqual(['a']);
    expect(answer.spelling).toMatchObject([{ term: 'pyhton', standIns: [{ term: 'python' }] }]);
    await write(space, [insert({ id: 'c', content: 'pyhton' })]);
    const known = await searchIn(space, request({ terms: ['pyhton'] }));
    expect([idsOf(known), known.spelling]).toEqual([['c'], []]);
  }),
  onSpace('equal scores: BM25, similarity, the newest update, then what was inserted last', async (space) => {
    const ambient = { profile: profileOf('ambient') };
    const at = (id: string, updatedAt: number, vector?: readonly number[], content = 'x') =>
      insert({ id, updatedAt, content, type: 'event', createdAt: start - 5 }, vector);
    // All updates lie in the future, so that the recency of each is 1.
    await write(space, [
      at('old', start + 1),
      at('new', start + 2),
      at('\uff5e', start + 1),
      at('\u{1f600}', start + 1),
      at('similar', start + 1, [1, 0, 0]),
      at('opposite', start + 1, [-1, 0, 0]),
      at('words', start + 1, undefined, 'tea'),
    ]);
    const ids = await idsFor(space, { terms: ['tea'], vector: unitVector([1, 0, 0]) }, ambient);
    expect(ids).toEqual(['words', 'similar', 'opposite', 'new', '\u{1f600}', '\uff5e', 'old']);
  }),
  onSpace('many memories are inspected in the order of their ids, with gaps', async (space) => {
    await write(space, [insert({ id: 'a', content: 'tea' }), insert({ id: 'b', content: 'green tea' })]);
    const query = request({ terms: ['green', 'tea'] });
    const found = await inspectIn(space, ['b', 'x', 'a', 'b'], query);
    expect(found.map((each) => each?.id)).toEqual(['b', undefined, 'a', 'b']);
    expect(found[3]).toEqual(found[0]);
    const { hits } = await searchIn(space, query);
    expect([found[0], found[2]].map((each) => [each?.score, each?.bm25, each?.signals])).toEqual(
      hits.map(({ score, bm25, signals }) => [score, bm25, signals]),
    );
    expect(await inspectIn(space, [], query)).toEqual([]);
  }),
  onSpace('statistics count every memory that is not a stub, eligible or not', async (space) => {
    await write(space, [insert({ id: 'a', content: 'tea' })]);
    const score = async () =>
      (await searchIn(space, request({ terms: ['tea', 'x'] }, { filter: { scopes: ['global'] } }))).hits[0]
        ?.bm25;
    const alone = await score();
    await write(space, [insert({ id: 'stub', content: 'tea tea', tier: 'stub' })]);
    expect(await score()).toBe(alone);
    await write(space, [insert({ id: 'cold', content: 'tea', tier: 'cold' })]);
    const withCold = await score();
    expect(withCold).toBeLessThan(alone as number);
    await write(space, [insert({ id: 'elsewhere', content: 'tea', scope: 'project:a' })]);
    expect(await score()).toBeLessThan(withCold as number);
  }),
  onSpace('a requirement that is not met keeps a memory out, and is named', async (space) => {
    await write(space, [insert({ id: 'a', content: 'tea' }), insert({ id: 'b', content: 'coffee' })]);
    const query = request({ terms: ['tea'] }, { profile: profileOf('lexical') });
    const answer = await searchIn(space, query);
    expect(idsOf(answer)).toEqual(['a']);
    expect(answer).toMatchObject({ eligible: 2, candidates: 1 });
    const inspected = await inspectIn(space, ['b', 'a'], query);
    expect(inspected.map((each) => each?.failedRequirement)).toEqual([0, undefined]);
  }),
  onSpace('a floor under a part keeps out what is below it, and is named last', async (space) => {
    await write(space, [
      insert({ id: 'both', content: 'green tea' }),
      insert({ id: 'one', content: 'tea' }),
      insert({ id: 'none', content: 'coffee' }),
    ]);
    const query = { terms: ['green', 'tea'] };
    const { hits } = await searchIn(space, request(query, { profile: profileOf('hybrid') }));
    const match = hits.find(({ memory }) => memory.id === 'one')?.signals.lexical as number;
    // Without sessions and vectors the match is that of the words.
    const floored = (least: number) =>
      request(query, { profile: withFloor(profileOf('hybrid'), 'match', least), limit: 1 });
    const at = await searchIn(space, floored(match));
    expect(idsOf(at)).toEqual(['both']);
    expect(at).toMatchObject({ eligible: 3, candidates: 2, belowFloor: 1 });
    expect(at.upperBound).toBeGreaterThanOrEqual(hits[1]?.score as number);
    const above = floored(match + 1e-6);
    expect(await searchIn(space, above)).toMatchObject({ candidates: 1, belowFloor: 2 });
    const inspected = await inspectIn(space, ['both', 'one'], above);
    expect(inspected.map((each) => each?.failedRequirement)).toEqual([undefined, 0]);
  }),
  onSpace('a search sees every write that is acknowledged, through any handle', async (space, store) => {
    const other = await store.openSpace('alice');
    await write(space, [insert({ id: 'a', content: 'tea' })]);
    expect(await idsFor(other, { terms: ['tea'] })).toEqual(['a']);
    await write(other, [insert({ id: 'b', content: 'tea tea' }), replace({ id: 'a', content: 'coffee' })]);
    expect(await idsFor(space, { terms: ['tea'] })).toEqual(['b']);
    await write(space, [{ kind: 'remove', id: 'b' }]);
    expect(await idsFor(other, { terms: ['tea'] })).toEqual([]);
    expect(await idsFor(other, { terms: ['coffee'] })).toEqual(['a']);
    // Without new text, what is derived from the old one stays.
    const [memory] = await space.get(['a']);
    if (!memory) throw new Error('a is gone');
    await write(space, [{ kind: 'replace', memory: { ...memory, importance: 1 } }]);
    expect((await searchIn(other, request({ terms: ['coffee'] }))).hits[0]?.memory.importance).toBe(1);
  }),
  {
    title: 'a requirement whose threshold is the value of a memory, or a hair beside it, is decided exactly',
    async run({ store }) {
      await using reference = createReferenceStore();
      const oracle = await reference.openSpace('oracle');
      await using space = await store.openSpace('alice');
      const random = seededRandom(11);
      const vector = () => [random() - 0.25, random() - 0.25, random() - 0.25];
      const changes = Array.from({ length: 20 }, (_, at) =>
        insert({ id: `m${at}`, importance: random(), usefulness: random() }, vector()),
      );
      await write(oracle, changes);
      await write(space, changes);
      const hairs = [0, 1e-15, -1e-15, 1e-9, -1e-9, 1e-4, -1e-4, 2e-3, -2e-3];
      const arbitrary = fc.record({
        query: arbitraryVector(3),
        at: fc.nat(19),
        hair: fc.constantFrom(...hairs),
        test: fc.constantFrom('above', 'atLeast', 'below', 'atMost', 'relevanceFloor'),
        score: fc.constantFrom('similarity', 'importance'),
        limit: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 21 })),
      });
      await fc.assert(
        fc.asyncProperty(arbitrary, async ({ query: vector, at, hair, test, score, limit }) => {
          const query = { vector, terms: [] };
          const [found] = await inspectIn(
            oracle,
            [`m${at}`],
            request(query, { profile: profileOf('vector') }),
          );
          const threshold = Math.min(1, Math.max(0, (found?.signals.similarity as number) + hair));
          const profile =
            test === 'relevanceFloor'
              ? resolveProfile(builtinProfile('five-factor'), { relevanceFloor: threshold })
              : resolveProfile(
                  defineProfile({
                    name: 'threshold',
                    description: 'One condition on the similarity.',
                    score: { op: 'signal', name: score },
                    require: [{ signal: 'similarity', [test]: threshold } as Condition],
                  }),
                );
          const search = request(query, { profile, limit });
          const {
            upperBound: expectedBound,
            candidates: exactly,
            ...expected
          } = comparable(await searchIn(oracle, search));
          const searched = await searchIn(space, search);
          const { upperBound, candidates, ...answer } = comparable(searched);
          expect(answer).toEqual(expected);
          expect(upperBound).toBeGreaterThanOrEqual(expectedBound);
          // A memory may count as a candidate if the bound of its similarity cannot decide, unless it was scored.
          expect(candidates).toBeGreaterThanOrEqual(exactly);
          if (!areAtMost(searched, profile)) expect(candidates).toBe(exactly);
        }),
        { numRuns: 300 },
      );
    },
  },
  onSpace('the upperBound covers every memory outside the hits, whatever the limit', async (space) => {
    const random = seededRandom(5);
    const vector = () => [random() - 0.25, random() - 0.25, random() - 0.25];
    await write(
      space,
      Array.from({ length: 150 }, (_, at) => insert({ id: `m${at}` }, vector())),
    );
    const profile = profileOf('vector');
    for (let run = 0; run < 60; run++) {
      const query = { vector: unitVector(vector()) };
      const all = await searchIn(space, request(query, { profile, limit: 1000 }));
      expect(all.hits.length).toBeGreaterThan(40);
      expect(all.upperBound).toBe(0);
      for (const limit of [1 + (run % 40), 16, 32]) {
        const { hits, upperBound } = await searchIn(space, request(query, { profile, limit }));
        expect(hits.map(({ memory }) => memory.id)).toEqual(idsOf(all).slice(0, limit));
        expect(upperBound).toBeGreaterThanOrEqual(all.hits[limit]?.score as number);
      }
    }
  }),
  {
    title: 'any search over any memories equals the obvious computation, to the last bit',
    async run({ store }) {
      let run = 0;
      const term = fc.constantFrom('tea', 'coffee', 'berlin', 'plan', 'match', 'unknown');
      const query = fc.oneof(
        fc.record({
          terms: fc.uniqueArray(term, { maxLength: 4 }).map((terms) => terms.toSorted()),
          vector: fc.option(arbitraryVector(3), { nil: undefined }),
        }),
        fc.constant({ terms: [], substring: 'E' }),
      );
      const some = (...values: readonly string[]) => fc.option(fc.subarray([...values]), { nil: undefined });
      const search = fc.record({
        query,
        profile: fc.constantFrom(...BUILTIN_PROFILE_NAMES).map(profileOf),
        filter: fc.record({
          scopes: some('global', 'project:match', 'team:a/project:b'),
          inScope: fc.constantFrom(
            undefined,
            undefined,
            'global',
            'project:match',
            'project:*',
            'team:*',
            'nowhere',
          ),
          types: fc.constant(undefined),
          typesExclude: some('fact', 'event', 'rule'),
          tags: fc.option(fc.constantFrom(['tea'], ['plan', 'tea']), { nil: undefined, freq: 2 }),
          metadata: fc.option(arbitraryConditions, { nil: undefined, freq: 1 }),
          deep: fc.constantFrom(undefined, false, true),
          cold: fc.constantFrom(undefined, false, true),
          includeExpired: fc.constantFrom(undefined, false, true),
        }),
        now: fc.constantFrom(ARBITRARY_NOW, ARBITRARY_NOW - 1, ARBITRARY_NOW + 1),
        limit: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 13, max: 40 })),
      });
      const memories = fc.uniqueArray(arbitraryIndexedMemory(3), {
        selector: ({ memory }) => memory.id,
        maxLength: 25,
        size: 'max',
      });
      await fc.assert(
        fc.asyncProperty(
          memories,
          fc.array(search, { minLength: 1, maxLength: 6 }),
          async (list, searches) => {
            await using reference = createReferenceStore();
            const oracle = await reference.openSpace('oracle');
            await using space = await store.openSpace(`run-${run++}`);
            const changes = list.map((each) => ({ kind: 'insert', ...each }) as const);
            await write(oracle, changes);
            await write(space, changes);
            for (const each of searches) {
              const { upperBound: expectedBound, ...expected } = comparable(await searchIn(oracle, each));
              const { upperBound, ...answer } = comparable(await searchIn(space, each));
              expect(answer).toEqual(expected);
              expect(upperBound).toBeGreaterThanOrEqual(expectedBound);
              const last = answer.hits.at(-1);
              if (last && answer.hits.length === each.limit)
                expect(upperBound).toBeLessThanOrEqual(last.score);
              const ids = [...list.map(({ memory }) => memory.id), 'never written'];
              expect(await inspectIn(space, ids, each)).toEqual(await inspectIn(oracle, ids, each));
            }
          },
        ),
        { numRuns: 40 },
      );
    },
  },
];
