import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../open.ts';
import { live } from '../../testing/live-memory.ts';
import { ASSOCIATION } from './strategy.ts';

const words = ['amber', 'birch', 'cedar', 'dune', 'ember', 'fjord'];
const question = 'amber birch cedar';
const size = 9;

/** What a memory is worth by itself. */
interface Own {
  readonly id: string;
  readonly score: number;
  readonly match: number;
}

/** What links make of a memory: as what it enters, and along which path. */
interface Associate extends Own {
  readonly path: readonly string[];
}

/** Weights of links by their two ends, both ways. */
type Weights = ReadonlyMap<string, number>;

/** Every path of one or two links from one of these memories, with the product of its weights. */
function pathsFrom(ids: readonly string[], all: readonly string[], weights: Weights) {
  const { linkThreshold, pathThreshold } = ASSOCIATION;
  const weightOf = (a: string, b: string) => {
    const weight = weights.get(`${a} ${b}`) ?? 0;
    return weight >= linkThreshold ? weight : 0;
  };
  return ids
    .flatMap((a) =>
      all.flatMap((b) => [
        { path: [a, b], weight: weightOf(a, b) },
        ...all
          .filter((c) => c !== a)
          .map((c) => ({ path: [a, b, c], weight: weightOf(a, b) * weightOf(b, c) })),
      ]),
    )
    .filter(({ path, weight }) => path[0] !== path[1] && weight >= pathThreshold);
}

/** The answer as spec'd, by looking at everything: what the floor keeps, and what it leaves out. */
function expected(all: readonly Own[], weights: Weights, limit: number, floor: number) {
  const { propagation, minimum } = ASSOCIATION;
  const ids = all.map(({ id }) => id);
  const byScore = (a: Own, b: Own) => b.score - a.score;
  const relevant = all.filter(({ score, match }) => score > 0 && match >= floor).sort(byScore);
  const direct = relevant.slice(0, limit);
  const sources = new Map(direct.map((each) => [each.id, each]));
  // Of several paths the best counts; of equal ones the shorter, then that from the better hit.
  const paths = pathsFrom([...sources.keys()], ids, weights).sort(
    (a, b) => b.weight - a.weight || a.path.length - b.path.length,
  );
  const reached = all.flatMap((own): Associate[] => {
    const best = paths.find(({ path }) => path.at(-1) === own.id);
    const source = best && sources.get(best.path[0] as string);
    if (!best || !source) return [];
    const share = Math.min(1, propagation * best.weight);
    const score = Math.max(own.score, share * source.score);
    return [{ id: own.id, score, match: Math.max(own.match, share * source.match), path: best.path }];
  });
  const associates = reached.filter(({ id }) => !sources.has(id));
  const kept = associates.filter(({ score, match }) => score > 0 && score >= minimum && match >= floor);
  const raised = direct.map((hit) => reached.find(({ id }) => id === hit.id) ?? hit);
  const merged = [...raised, ...kept].sort(byScore);
  const ofLength = (list: readonly Associate[], length: number) =>
    list.filter(({ path }) => path.length === length).length;
  return {
    merged,
    direct,
    refused: associates.filter(({ match }) => match < floor),
    rows: {
      score: direct.length,
      expand: [ofLength(associates, 2), ofLength(kept, 2)],
      bridge: [ofLength(associates, 3), ofLength(kept, 3)],
      merge: [merged.length, Math.min(limit, merged.length)],
    },
    /** Of the search: what is at least as relevant as the floor, by itself. */
    relevant: all.filter(({ match }) => match >= floor).length,
  };
}

const text = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 5 }).map((all) => all.join(' '));
const pair = fc
  .tuple(fc.nat(size - 1), fc.nat(size - 1), fc.double({ min: 0.2, max: 1, noNaN: true }))
  .filter(([a, b]) => a !== b);

describe('recall with a floor of relevance, over links', () => {
  test('is what looking at every path gives, and its trace counts what the floor left out', async () => {
    let left = 0;
    let entered = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: size, maxLength: size }),
        fc.array(pair, { minLength: 2, maxLength: 14 }),
        fc.integer({ min: 1, max: size + 2 }),
        fc.nat(),
        fc.constantFrom(0, 0, 1, -1),
        async (texts, pairs, limit, drawn, hair) => {
          const { memory } = await live({ embedder: 'none' });
          await memory.rememberMany(
            texts.map((content, at) => ({
              id: `m${at}`,
              content: `${content} ${at}`,
              importance: at / size,
            })),
          );
          const weights = new Map<string, number>();
          for (const [a, b, weight] of pairs) {
            if (weights.has(`m${a} m${b}`)) continue;
            await memory.link(`m${a}`, `m${b}`, { weight });
            weights.set(`m${a} m${b}`, weight).set(`m${b} m${a}`, weight);
          }
          const asked = { query: question, association: 'none', track: false } as const;
          const all: Own[] = [];
          for (let at = 0; at < size; at++) {
            const { score, features } = await memory.explain(`m${at}`, asked);
            all.push({ id: `m${at}`, score, match: features['match'] as number });
          }
          // The floor is what a memory has by itself, or what it has through a link: exactly, or by a hair off.
          const through = expected(all, weights, limit, 0).merged;
          const matches = [...all, ...through].map(({ match }) => match).filter((each) => each > 0);
          fc.pre(matches.length > 0);
          const floor = Math.min(1, (matches[drawn % matches.length] as number) + hair * 1e-9);
          const should = expected(all, weights, limit, floor);

          const options = { limit, minRelevance: floor, track: false } as const;
          const { hits, trace } = await memory.recall(question, options);
          expect(hits.map(({ score }) => score.value)).toEqual(
            should.merged.slice(0, limit).map(({ score }) => score),
          );
          for (const { memory, score, isAssociative } of hits) {
            expect(score.value).toBe(should.merged.find(({ id }) => id === memory.id)?.score);
            expect(isAssociative).toBe(!should.direct.some(({ id }) => id === memory.id));
          }
          const rows = new Map(
            trace.stages.map(({ name, candidates, survivors }) => [name, [candidates, survivors]]),
          );
          expect(rows.get('score')?.[1]).toBe(should.rows.score);
          const floored = rows.get('floor') ?? [];
          expect(floored[0]).toBe(size);
          // Whether what is not needed reaches the floor may stay open; with room for all, nothing does.
          if (limit >= size) expect(floored[1]).toBe(should.relevant);
          else expect(floored[1]).toBeGreaterThanOrEqual(should.relevant);
          if (should.direct.length > 0) {
            expect(rows.get('expand')).toEqual(should.rows.expand);
            expect(rows.get('bridge')).toEqual(should.rows.bridge);
            expect(rows.get('merge')).toEqual(should.rows.merge);
          }
          const [refused] = should.refused;
          if (refused) {
            left++;
            const why = await memory.whyNot(refused.id, { query: question, ...options });
            expect(why).toMatchObject({
              outcome: 'requirement',
              stage: 'floor',
              relevance: { match: refused.match, minRelevance: floor, missedBy: floor - refused.match },
            });
          }
          if (
            hits.some(({ isAssociative, features }) => isAssociative && (features['match'] as number) < floor)
          )
            entered++;
        },
      ),
      { numRuns: 60, seed: 1 },
    );
    // What the draws must have shown: associates that the floor left out, and such as only their source brought in.
    expect(left).toBeGreaterThan(2);
    expect(entered).toBeGreaterThan(2);
  });
});

describe('recall with a floor of relevance, among memories that match alike', () => {
  test.each([
    ['the reference store', undefined],
    ['SQLite in memory', () => openStore({ path: ':memory:' })],
  ])('a match that equals the floor is in, for every limit: %s', async (_, makeStore) => {
    const texts = ['amber birch', 'amber', 'birch cedar dune', 'ember', 'amber birch cedar'];
    const types = ['fact', 'event', 'insight'];
    const { memory } = await live({ embedder: 'none', ...(makeStore ? { store: await makeStore() } : {}) });
    // The same words with other marks: not the same statement, and no word tells them apart.
    const marks = ['', '!', '?', '…'];
    await memory.rememberMany(
      texts.flatMap((words, at) =>
        marks.map((mark, each) => ({
          id: `m${at}-${each}`,
          content: `${words}${mark}`,
          type: types[(at + each) % types.length] as string,
        })),
      ),
    );
    const total = texts.length * marks.length;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('amber', question, 'birch dune'),
        fc.integer({ min: 1, max: total + 3 }),
        fc.nat(),
        fc.constantFrom(1, 1, 1 + Number.EPSILON, 1 - Number.EPSILON),
        fc.subarray(types),
        async (query, limit, drawn, hair, typesExclude) => {
          const asked = { association: 'none', track: false, typesExclude } as const;
          const all = (await memory.recall(query, { ...asked, limit: 100 })).hits;
          const matches = all.map(({ features }) => features['match'] as number);
          fc.pre(matches.length > 0);
          const floor = Math.min(1, (matches[drawn % matches.length] as number) * hair);
          const { hits, trace } = await memory.recall(query, { ...asked, limit, minRelevance: floor });
          const kept = all.filter((_, at) => (matches[at] as number) >= floor);
          const idsOf = (list: typeof all) => list.map(({ memory }) => memory.id);
          expect(idsOf(hits)).toEqual(idsOf(kept.slice(0, limit)));
          // The first that is left out of a full list may score as much as the last in it.
          expect(trace.upperBound).toBeGreaterThanOrEqual(kept[limit]?.score.value ?? 0);
          const eligible = trace.stages.find(({ name }) => name === 'validity_filter')?.survivors;
          const row = trace.stages.find(({ name }) => name === 'floor');
          expect(row?.candidates).toBe(eligible);
          // Of a list that is full, bounds may leave open whether what is behind it reaches the floor.
          if (row?.atMost) expect(row.survivors).toBeGreaterThanOrEqual(kept.length);
          else expect(row?.survivors).toBe(kept.length);
          if (limit > kept.length) {
            expect(row).not.toHaveProperty('atMost');
            expect(trace.upperBound).toBe(0);
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});
