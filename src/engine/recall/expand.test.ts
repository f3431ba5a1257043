import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { orderedEnds } from '../../store/links.ts';
import type { Link } from '../../store/store.ts';
import { type Expansion, type ExpansionSettings, expandLinks } from './expand.ts';

const now = Date.UTC(2026, 0, 1);
const settings = { linkThreshold: 0.3, pathThreshold: 0.3, secondHop: true, sequence: true };

type Edge = readonly [a: number, b: number, weight: number];

function link([a, b, weight]: Edge): Link {
  return { ids: orderedEnds([`m${a}`, `m${b}`]), kind: 'stated', weight, at: now };
}

function spaceOf(edges: readonly Edge[], hidden: ReadonlySet<string> = new Set()) {
  const links = edges.map(link);
  return {
    async links(ids: readonly string[], minimum = 0) {
      return links.filter((each) => each.weight >= minimum && each.ids.some((id) => ids.includes(id)));
    },
    async visible(ids: readonly string[]) {
      return ids.filter((id) => !hidden.has(id));
    },
  };
}

/** Every path of at most `most` links that passes each memory once and nothing hidden, with its product of weights. */
function everyPath(
  edges: readonly Edge[],
  hidden: ReadonlySet<string>,
  start: string,
  most: number,
  { linkThreshold, pathThreshold }: ExpansionSettings,
) {
  const paths: { readonly ids: readonly string[]; readonly weight: number }[] = [];
  const walk = (ids: readonly string[], weight: number) => {
    if (ids.length > 1 && weight >= pathThreshold) paths.push({ ids, weight });
    if (ids.length > most) return;
    for (const { ids: ends, weight: each } of edges.map(link)) {
      const other = ends.find((id) => id !== ids.at(-1));
      if (each < linkThreshold || !ends.includes(ids.at(-1)!) || other === undefined) continue;
      if (!hidden.has(other) && !ids.includes(other)) walk([...ids, other], weight * each);
    }
  };
  walk([start], 1);
  return paths;
}

function allOf({ first, among, further }: Expansion) {
  return [...first, ...among, ...further];
}

describe('links that are followed', () => {
  test('a link at the threshold leads on, one below does not; so does a path', async () => {
    const edges: Edge[] = [
      [0, 1, 0.3],
      [0, 2, 0.3 - Number.EPSILON],
      [0, 3, 0.6],
      [3, 4, 0.5],
      [3, 5, 0.5 - Number.EPSILON],
    ];
    const { first, further } = await expandLinks(spaceOf(edges), ['m0'], settings, now);
    expect(first.map(({ id }) => id)).toEqual(['m1', 'm3']);
    expect(further.map(({ id, weight }) => [id, weight])).toEqual([['m4', 0.3]]);
  });

  test('two strong links are better than a weak one, for direct hits too', async () => {
    const edges: Edge[] = [
      [0, 1, 0.4],
      [0, 2, 1],
      [2, 1, 0.9],
      [2, 3, 0.8],
      [0, 3, 0.5],
    ];
    const { first, among, further } = await expandLinks(spaceOf(edges), ['m0', 'm3'], settings, now);
    expect(first).toEqual([{ id: 'm2', path: ['m0', 'm2'], weight: 1 }]);
    expect(further).toEqual([{ id: 'm1', path: ['m0', 'm2', 'm1'], weight: 0.9 }]);
    expect(among).toContainEqual({ id: 'm3', path: ['m0', 'm2', 'm3'], weight: 0.8 });
  });

  test('nothing passes a memory that is not visible', async () => {
    const edges: Edge[] = [
      [0, 1, 1],
      [1, 2, 1],
      [1, 3, 1],
      [0, 2, 0.5],
    ];
    const expansion = await expandLinks(spaceOf(edges, new Set(['m1'])), ['m0', 'm3'], settings, now);
    expect(allOf(expansion)).toEqual([{ id: 'm2', path: ['m0', 'm2'], weight: 0.5 }]);
    expect(expansion.chains).toEqual([]);
  });

  test('random graphs: every visible memory within two links, by its best path; the best bridges', async () => {
    const weights = fc.constantFrom(0.29, 0.3, 0.35, 0.5, 0.55, 0.6, 0.7, 0.9, 1);
    const edge = fc.tuple(fc.nat(11), fc.nat(11), weights).filter(([a, b]) => a !== b);
    const edges = fc.uniqueArray(edge, {
      minLength: 4,
      maxLength: 40,
      selector: ([a, b]) => orderedEnds([`m${a}`, `m${b}`]).join(),
    });
    let reached = 0;
    let bridged = 0;
    await fc.assert(
      fc.asyncProperty(
        edges,
        fc.uniqueArray(fc.nat(11), { minLength: 1, maxLength: 5 }),
        fc.uniqueArray(fc.nat(11), { maxLength: 4 }),
        fc.boolean(),
        async (graph, starts, out, secondHop) => {
          const direct = starts.map((each) => `m${each}`);
          const hidden = new Set(out.map((each) => `m${each}`).filter((id) => !direct.includes(id)));
          const given = { ...settings, secondHop };
          const expansion = await expandLinks(spaceOf(graph, hidden), direct, given, now);
          const best = new Map<string, number>();
          for (const start of direct) {
            for (const { ids, weight } of everyPath(graph, hidden, start, secondHop ? 2 : 1, given)) {
              const id = ids.at(-1)!;
              best.set(id, Math.max(weight, best.get(id) ?? 0));
            }
          }
          const found = allOf(expansion);
          for (const id of expansion.chains.flatMap(({ ids }) => ids))
            expect([...direct, ...best.keys()]).toContain(id);
          expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
          for (const { id, path, weight } of found) {
            reached++;
            expect(path.every((each) => !hidden.has(each))).toBe(true);
            expect(direct).toContain(path[0]);
            expect(weight).toBe(best.get(id));
          }
          expect([...best.keys()].every((id) => found.some((each) => each.id === id))).toBe(true);
          if (!secondHop) {
            expect(expansion.chains).toEqual([]);
            return;
          }
          const bridges = direct.slice(0, 3).flatMap((from, at) =>
            direct.slice(at + 1, 3).flatMap((to) => {
              const paths = everyPath(graph, hidden, from, 3, given).filter(({ ids }) => ids.at(-1) === to);
              return paths.length === 0 ? [] : [Math.max(...paths.map(({ weight }) => weight))];
            }),
          );
          bridged += bridges.length;
          expect(expansion.chains.map(({ weight }) => weight)).toEqual(bridges.sort((a, b) => b - a));
        },
      ),
      { numRuns: 300, seed: 1 },
    );
    expect(reached).toBeGreaterThan(300);
    expect(bridged).toBeGreaterThan(20);
  });

  test('of two paths of equal weight the one with fewer links counts, from whichever hit', async () => {
    const edges: Edge[] = [
      [0, 2, 1],
      [2, 4, 0.6],
      [1, 4, 0.6],
    ];
    const { first, further } = await expandLinks(spaceOf(edges), ['m0', 'm1'], settings, now);
    expect(further).toEqual([]);
    expect(first).toContainEqual({ id: 'm4', path: ['m1', 'm4'], weight: 0.6 });
  });

  test('a hit may have more links than a call can have arguments', async () => {
    const edges = Array.from({ length: 200_000 }, (_, at): Edge => [at % 2, at + 2, 0.75]);
    const links = edges.map(link);
    const ends = new Set(['m0', 'm1']);
    const hub = {
      links: async (ids: readonly string[]) => (ids.some((id) => ends.has(id)) ? links : []),
      visible: async (ids: readonly string[]) => ids,
    };
    const { first, chains } = await expandLinks(hub, ['m0', 'm1'], settings, now);
    expect(first).toHaveLength(200_000);
    expect(chains).toEqual([]);
  });

  describe('a chain between two hits', () => {
    const never = () => false;
    async function chainOf(edges: readonly Edge[], direct: readonly string[] = ['m0', 'm1']) {
      const calls: (readonly string[])[] = [];
      const space = spaceOf(edges);
      const counted = {
        ...space,
        links(ids: readonly string[], minimum = 0) {
          calls.push(ids);
          return space.links(ids, minimum);
        },
      };
      const { chains } = await expandLinks(counted, direct, settings, now, never);
      return { chains, asked: calls.slice(1).flat() };
    }

    test('is one of three links where none is shorter', async () => {
      const edges: Edge[] = [
        [0, 2, 0.7],
        [2, 3, 1],
        [3, 1, 0.5],
      ];
      expect((await chainOf(edges)).chains).toEqual([{ ids: ['m0', 'm2', 'm3', 'm1'], weight: 0.7 * 0.5 }]);
    });

    test('is one of three links where that is stronger than a shorter one, and not where it is as strong', async () => {
      const way: Edge[] = [
        [0, 2, 1],
        [2, 3, 0.6],
        [3, 1, 1],
      ];
      const [longer] = (await chainOf([...way, [0, 1, 0.5]])).chains;
      expect(longer?.ids).toEqual(['m0', 'm2', 'm3', 'm1']);
      const [shorter] = (await chainOf([...way, [0, 1, 0.6]])).chains;
      expect(shorter?.ids).toEqual(['m0', 'm1']);
      const over: Edge[] = [
        [0, 4, 0.6],
        [4, 1, 1],
      ];
      expect((await chainOf([...way, ...over])).chains[0]?.ids).toEqual(['m0', 'm4', 'm1']);
    });

    test('is searched on the side with fewer links, and not at all if it could not be stronger', async () => {
      const around: Edge[] = [
        [0, 2, 0.75],
        [0, 3, 0.75],
        [1, 4, 0.75],
      ];
      expect((await chainOf(around)).asked).toEqual(['m4']);
      expect((await chainOf(around, ['m1', 'm0'])).asked).toEqual(['m4']);
      // 0.75 × 0.75 at most.
      expect((await chainOf([...around, [0, 1, 0.5625]])).asked).toEqual([]);
      expect((await chainOf([...around, [0, 1, 0.5624]])).asked).toEqual(['m4']);
      expect((await chainOf([...around.slice(0, 2), [1, 4, 0.37]])).asked).toEqual([]);
      // What is a hit itself was followed before.
      expect((await chainOf(around, ['m0', 'm1', 'm4'])).asked).toEqual([]);
    });
  });

  test.each([
    ['heavier', 0.9],
    ['as heavy, from a better hit', 0.6],
  ])('a path from a weak hit that is %s takes the place of one that would enter', async (_, weight) => {
    const edges: Edge[] = [
      [0, 2, weight],
      [2, 4, 1],
      [1, 3, 0.6],
      [3, 4, 1],
    ];
    const mayEnter = ({ path, weight }: { path: readonly string[]; weight: number }) =>
      path[0] === 'm1' && weight >= 0.5;
    const { further } = await expandLinks(spaceOf(edges), ['m0', 'm1'], settings, now, mayEnter);
    expect(further).toEqual([{ id: 'm4', path: ['m0', 'm2', 'm4'], weight }]);
  });

  test('skipping paths that cannot enter changes neither the associates that enter nor the chains', async () => {
    const weights = fc.constantFrom(0.3, 0.5, 0.6, 0.9, 1);
    const edge = fc.tuple(fc.nat(9), fc.nat(9), weights).filter(([a, b]) => a !== b);
    const edges = fc.uniqueArray(edge, {
      minLength: 4,
      maxLength: 14,
      selector: ([a, b]) => orderedEnds([`m${a}`, `m${b}`]).join(),
    });
    const score = fc.constantFrom(0.05, 0.3, 1);
    let spared = 0;
    let entered = 0;
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(
        edges,
        fc.uniqueArray(fc.tuple(fc.nat(9), score), { minLength: 1, maxLength: 4, selector: ([id]) => id }),
        fc.constantFrom(0, 0.15, 0.25, 0.3, 0.4, 0.9),
        async (graph, starts, floor) => {
          const scores = new Map(starts.map(([id, each]) => [`m${id}`, each]));
          const direct = [...scores.keys()];
          const mayEnter = ({ path, weight }: { path: readonly string[]; weight: number }) =>
            (scores.get(path[0]!) ?? 0) * weight >= floor;
          const asked: string[] = [];
          const space = spaceOf(graph);
          const counted = {
            ...space,
            links(ids: readonly string[], minimum = 0) {
              asked.push(...ids);
              return space.links(ids, minimum);
            },
          };
          const all = await expandLinks(space, direct, settings, now);
          const some = await expandLinks(counted, direct, settings, now, mayEnter);
          const entering = ({ first, further }: Expansion) =>
            [...first, ...further].filter(mayEnter).sort((a, b) => (a.id < b.id ? -1 : 1));
          expect(entering(some)).toEqual(entering(all));
          expect(some.chains).toEqual(all.chains);
          expect(new Map(some.among.map((each) => [each.id, each]))).toEqual(
            new Map(all.among.map((each) => [each.id, each])),
          );
          entered += entering(all).length;
          spared += direct.length + all.first.length - asked.length;
          taken += all.first.filter((each) => !mayEnter(each)).length;
        },
      ),
      { numRuns: 600, seed: 1 },
    );
    expect(Math.min(entered, spared, taken)).toBeGreaterThan(20);
  });
});
