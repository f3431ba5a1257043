import { describe, expect, test } from 'vitest';
import type { Link, LinkKind } from '../../store/store.ts';
import { type ExpansionSettings, expandLinks, presentWeight } from './expand.ts';

const now = Date.UTC(2026, 0, 1);
const day = 86_400_000;
const settings: ExpansionSettings = {
  linkThreshold: 0.3,
  pathThreshold: 0.3,
  secondHop: true,
  sequence: true,
};
/** The number after this one: a hair above. */
const hair = (value: number) => value * (1 + Number.EPSILON);

function link(a: string, b: string, weight: number, kind: LinkKind = 'stated', at = now): Link {
  return { ids: a < b ? [a, b] : [b, a], kind, weight, at };
}

/** These links between visible memories; none whose stored weight is below what is asked for. */
function spaceOf(links: readonly Link[]) {
  return {
    async links(ids: readonly string[], minimum = 0) {
      return links.filter((each) => each.weight >= minimum && each.ids.some((id) => ids.includes(id)));
    },
    async visible(ids: readonly string[]) {
      return ids;
    },
  };
}

const expand = (links: readonly Link[], direct: readonly string[], given: Partial<ExpansionSettings> = {}) =>
  expandLinks(spaceOf(links), direct, { ...settings, ...given }, now);
const idsOf = (reached: readonly { readonly id: string }[]) => reached.map(({ id }) => id);

describe('the present weight of a link', () => {
  test.each(['co-retrieval', 'birth'] as const)('%s fades to 1/e in 90 days', (kind) => {
    const faded = link('a', 'b', 0.8, kind, now - 90 * day);
    expect(presentWeight(faded, now)).toBeCloseTo(0.8 / Math.E, 12);
    expect(presentWeight(link('a', 'b', 0.8, kind), now)).toBe(0.8);
  });

  test.each(['sequence', 'consolidation', 'stated'] as const)('%s stays', (kind) => {
    expect(presentWeight(link('a', 'b', 0.8, kind, now - 4000 * day), now)).toBe(0.8);
  });
});

describe('a threshold is met by what equals it', () => {
  test('a link whose weight is the threshold counts, one a hair below does not', async () => {
    const links = [link('hit', 'at', 0.3), link('hit', 'below', 0.3 / (1 + Number.EPSILON))];
    expect(links[1]!.weight).toBeLessThan(0.3);
    expect((await expand(links, ['hit'])).first).toEqual([{ id: 'at', path: ['hit', 'at'], weight: 0.3 }]);
  });

  test('a link that has faded to the threshold counts, and not a millisecond later', async () => {
    const faded = link('hit', 'faded', 0.8, 'co-retrieval', now - 40 * day);
    const left = presentWeight(faded, now);
    expect(left).toBeGreaterThan(0.3);
    const given = { linkThreshold: left, pathThreshold: 0 };
    expect(idsOf((await expand([faded], ['hit'], given)).first)).toEqual(['faded']);
    const later = { ...faded, at: faded.at - 1 };
    expect((await expand([later], ['hit'], given)).first).toEqual([]);
    expect((await expand([faded], ['hit'], { ...given, linkThreshold: hair(left) })).first).toEqual([]);
  });

  test('a stored weight above the threshold does not count if the present weight is below', async () => {
    const faded = link('hit', 'faded', 0.35, 'birth', now - 30 * day);
    expect(presentWeight(faded, now)).toBeLessThan(0.3);
    expect((await expand([faded], ['hit'])).first).toEqual([]);
  });

  test('a path counts if its weights multiply to the threshold, but not if the threshold is a hair higher', async () => {
    const links = [link('hit', 'one', 0.6), link('one', 'two', 0.5)];
    expect(0.6 * 0.5).toBe(0.3);
    const { further } = await expand(links, ['hit']);
    expect(further).toEqual([{ id: 'two', path: ['hit', 'one', 'two'], weight: 0.3 }]);
    const strict = await expand(links, ['hit'], { pathThreshold: hair(0.3) });
    expect(idsOf(strict.first)).toEqual(['one']);
    expect(strict.further).toEqual([]);
  });

  test('the path threshold holds for one link too', async () => {
    const given = { linkThreshold: 0.1, pathThreshold: 0.4 };
    const links = [link('hit', 'at', 0.4), link('hit', 'below', 0.39)];
    expect(idsOf((await expand(links, ['hit'], given)).first)).toEqual(['at']);
  });

  test('a chain between direct hits whose weights multiply to the threshold counts', async () => {
    const links = [link('x', 'm', 0.6), link('m', 'y', 0.5)];
    expect((await expand(links, ['x', 'y'])).chains).toEqual([{ ids: ['x', 'm', 'y'], weight: 0.3 }]);
    expect((await expand(links, ['x', 'y'], { pathThreshold: hair(0.3) })).chains).toEqual([]);
  });

  test('a rounded quotient leaves no second link unread that could reach the threshold', async () => {
    // threshold ÷ first link may round to more than a second link whose product still meets the threshold.
    let tried = 0;
    for (let at = 1; at < 400; at++) {
      const first = 0.3 + at / 600;
      const second = 0.3 / first / (1 + Number.EPSILON);
      if (second >= 0.3 / first || first * second < 0.3) continue;
      tried++;
      const { further } = await expand([link('hit', 'one', first), link('one', 'two', second)], ['hit']);
      expect(idsOf(further)).toEqual(['two']);
    }
    expect(tried).toBeGreaterThan(10);
  });
});

describe('following links', () => {
  test('direct hits and memories without links are no associates', async () => {
    const links = [link('a', 'b', 0.5), link('b', 'c', 0.9), link('x', 'y', 1)];
    const { first, among, further } = await expand(links, ['a', 'b']);
    expect(first).toEqual([{ id: 'c', path: ['b', 'c'], weight: 0.9 }]);
    expect(among).toEqual([
      { id: 'b', path: ['a', 'b'], weight: 0.5 },
      { id: 'a', path: ['b', 'a'], weight: 0.5 },
    ]);
    expect(further).toEqual([]);
    expect(await expand(links, [])).toEqual({ first: [], among: [], further: [], chains: [] });
  });

  test('of several links between two memories the strongest counts', async () => {
    const links = [
      link('hit', 'a', 0.4, 'birth'),
      link('hit', 'a', 0.9),
      link('hit', 'a', 0.5, 'co-retrieval'),
    ];
    expect((await expand(links, ['hit'])).first).toEqual([{ id: 'a', path: ['hit', 'a'], weight: 0.9 }]);
  });

  test('of several direct hits the one with the stronger link leads; if equal, the better hit', async () => {
    const links = [
      link('best', 'a', 0.5),
      link('next', 'a', 0.6),
      link('best', 'b', 0.5),
      link('next', 'b', 0.5),
    ];
    const { first } = await expand(links, ['best', 'next']);
    expect(new Map(first.map(({ id, path }) => [id, path]))).toEqual(
      new Map([
        ['a', ['next', 'a']],
        ['b', ['best', 'b']],
      ]),
    );
  });

  test('without a second hop only neighbours are found', async () => {
    const links = [link('hit', 'one', 1), link('one', 'two', 1)];
    const { first, further } = await expand(links, ['hit'], { secondHop: false });
    expect(idsOf(first)).toEqual(['one']);
    expect(further).toEqual([]);
  });

  test('no path is longer than two links, but for bridges', async () => {
    const links = [link('hit', 'one', 1), link('one', 'two', 1), link('two', 'three', 1)];
    const { first, further } = await expand(links, ['hit']);
    expect(idsOf([...first, ...further])).toEqual(['one', 'two']);
  });
});

describe('bridges between direct hits', () => {
  test('have at most three links', async () => {
    const three = [link('x', 'm', 0.9), link('m', 'n', 0.9), link('n', 'y', 0.9)];
    const { chains } = await expand(three, ['x', 'y']);
    expect(chains.map(({ ids }) => ids)).toEqual([['x', 'm', 'n', 'y']]);
    expect(chains[0]!.weight).toBeCloseTo(0.729, 12);
    const four = [link('x', 'm', 1), link('m', 'n', 1), link('n', 'o', 1), link('o', 'y', 1)];
    expect((await expand(four, ['x', 'y'])).chains).toEqual([]);
  });

  test('lie between the first three hits, the strongest first, the best path of each pair', async () => {
    const links = [
      link('a', 'b', 0.5),
      link('a', 'm', 0.9),
      link('m', 'b', 0.9),
      link('b', 'c', 0.7),
      link('c', 'd', 1),
    ];
    const { chains } = await expand(links, ['a', 'b', 'c', 'd']);
    expect(chains.map(({ ids }) => ids)).toEqual([
      ['a', 'm', 'b'],
      ['b', 'c'],
      ['a', 'm', 'b', 'c'],
    ]);
  });

  test('the memories inside one are candidates, unless another path has reached them', async () => {
    const links = [link('x', 'm', 0.9), link('m', 'n', 0.9), link('n', 'y', 0.9)];
    const { first, further } = await expand(links, ['x', 'y']);
    expect(idsOf(first).toSorted()).toEqual(['m', 'n']);
    expect(further).toEqual([]);
  });
});
