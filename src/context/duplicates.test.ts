import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readStatement, saysAll } from '../text/says-all.ts';
import { compareCandidates, type PackCandidate, textOf } from './candidate.ts';
import { repetitionsAmong } from './duplicates.ts';
import { pack } from './pack.ts';

function memory(id: string, content: string, more: Partial<PackCandidate> = {}): PackCandidate {
  return { id, content, type: 'fact', at: 0, source: 'stated', score: 0.5, tokens: 10, ...more };
}

function repeated(...ranked: readonly PackCandidate[]) {
  return [...repetitionsAmong(ranked)].map(([{ id }, sayers]) => [id, sayers.map((each) => each.id)]);
}

const ids = (all: readonly { readonly id: string }[]) => all.map(({ id }) => id);

describe('repetitionsAmong', () => {
  test('finds memories that another one says word for word, and no others', () => {
    expect(
      repeated(
        memory('a', 'Ann is allergic to peanuts'),
        memory('b', 'Ben is allergic to peanuts'),
        memory('c', 'Ann is allergic to peanuts, and carries an epipen'),
        memory('d', 'ann is allergic to PEANUTS.'),
      ),
    ).toEqual([
      ['a', ['c']],
      ['d', ['a', 'c']],
    ]);
  });

  test('finds no repetition that is newer, more certain or has another title', () => {
    const said = 'Ann lives in Oslo';
    expect(repeated(memory('old', said), memory('new', said, { at: 1 }))).toEqual([['old', ['new']]]);
    expect(repeated(memory('sure', said), memory('doubted', said, { confidence: 0.5 }))).toEqual([
      ['doubted', ['sure']],
    ]);
    expect(repeated(memory('sure', said), memory('doubted', said, { at: 1, confidence: 0.5 }))).toEqual([]);
    expect(repeated(memory('a', said, { title: 'Home' }), memory('b', said))).toEqual([]);
  });

  test('keeps must-includes, and lets others repeat them', () => {
    const rule = 'Never deploy on Friday';
    expect(
      repeated(
        memory('a', rule, { mustInclude: true }),
        memory('b', rule, { mustInclude: true }),
        memory('c', rule),
      ),
    ).toEqual([['c', ['a', 'b']]]);
  });
});

const word = fc.constantFrom('ann', 'ben', 'tea', 'likes', 'not', 'the', '5', '-5', '?');
const memories: fc.Arbitrary<readonly PackCandidate[]> = fc
  .array(
    fc.record({
      content: fc.oneof(
        fc.array(word, { minLength: 1, maxLength: 7 }).map((words) => words.join(' ')),
        fc.constantFrom(
          'Ann likes tea with milk',
          'ann likes tea with milk!',
          'Ann likes tea with milk and honey',
        ),
      ),
      at: fc.nat(2),
      score: fc.constantFrom(0.1, 0.5, 0.5, 0.9),
      tokens: fc.integer({ min: 0, max: 30 }),
      mustInclude: fc.oneof(
        { weight: 6, arbitrary: fc.constant(false) },
        { weight: 1, arbitrary: fc.constant(true) },
      ),
    }),
    { maxLength: 10 },
  )
  .map((all) => all.map(({ content, ...more }, at) => memory(`m${at}`, content, more)));

test('finds the same as comparing each memory with each other', () => {
  let seen = 0;
  fc.assert(
    fc.property(memories, fc.array(fc.constantFrom(1, 0.5, undefined)), (all, confidences) => {
      const ranked = all.map((each, at) => ({ ...each, confidence: confidences[at] }));
      const isAsGood = (other: PackCandidate, one: PackCandidate) =>
        other.at >= one.at && (other.confidence ?? 1) >= (one.confidence ?? 1);
      const readings = ranked.map((each) => readStatement(textOf(each)));
      const expected = ranked.flatMap((one, at) => {
        const sayers = ranked.filter(
          (other, place) =>
            one.mustInclude !== true &&
            place !== at &&
            isAsGood(other, one) &&
            saysAll(readings[place]!, readings[at]!) &&
            (place < at || readings[place]!.count > readings[at]!.count || !isAsGood(one, other)),
        );
        return sayers.length > 0 ? [[one.id, ids(sayers)]] : [];
      });
      seen += expected.length;
      expect(repeated(...ranked)).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
  expect(seen).toBeGreaterThan(100);
});
const strategy = fc.constantFrom('optimal' as const, 'greedy' as const);
const objective = fc.constantFrom('score' as const, 'evidence' as const);
const shares = fc.constantFrom(undefined, { a: 1, b: 3 });

describe('duplicates in a context', () => {
  test('where everything fits nothing is left out', () => {
    fc.assert(
      fc.property(memories, strategy, objective, (all, strategy, objective) => {
        const maxTokens = all.reduce((sum, { tokens }) => sum + tokens, 0);
        const packed = pack(all, { maxTokens, strategy, objective, maxItems: all.length });
        expect(packed.omitted).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('a duplicate that is left out has no room, and an included memory says it word for word', () => {
    let seen = 0;
    fc.assert(
      fc.property(
        memories,
        strategy,
        objective,
        shares,
        fc.nat(150),
        (all, strategy, objective, shares, maxTokens) => {
          const { included, omitted, tokens } = pack(all, { maxTokens, strategy, objective, shares });
          const byId = new Map(all.map((each) => [each.id, each]));
          expect([...ids(included), ...ids(omitted)].sort()).toEqual(ids(all).sort());
          expect(tokens).toBeLessThanOrEqual(maxTokens);
          for (const omission of omitted) {
            if (omission.reason !== 'duplicate') continue;
            seen++;
            const [one, other] = [byId.get(omission.id)!, byId.get(omission.of)!];
            expect(included).toContain(other);
            const [short, long] = [readStatement(textOf(one)), readStatement(textOf(other))];
            expect(long.text.startsWith(short.text)).toBe(true);
            expect(other.at).toBeGreaterThanOrEqual(one.at);
            if (strategy === 'optimal') expect(tokens + one.tokens).toBeGreaterThan(maxTokens);
          }
        },
      ),
      { numRuns: 2000, seed: 7 },
    );
    expect(seen).toBeGreaterThan(100);
  });

  test('the other memories are the best choice without repetitions', () => {
    fc.assert(
      fc.property(memories, fc.nat(150), (all, maxTokens) => {
        const packed = pack(all, { maxTokens });
        const ranked = [...all].sort(compareCandidates);
        const said = repetitionsAmong(ranked);
        const must = packed.included.filter(({ mustInclude }) => mustInclude);
        const room = maxTokens - must.reduce((sum, { tokens }) => sum + tokens, 0);
        const open = ranked.filter((each) => !each.mustInclude && !said.has(each));
        const least = bestOf(open, room) + must.reduce((sum, { score }) => sum + score, 0);
        expect(packed.totalScore).toBeGreaterThanOrEqual(least - 1e-9);
      }),
      { numRuns: 500 },
    );
  });

  test('a statement is not lost with a longer one that does not fit', () => {
    const short = memory('short', 'Ann is allergic to peanuts', { tokens: 10 });
    const long = memory('long', 'Ann is allergic to peanuts and to much else', { tokens: 500 });
    for (const strategy of ['optimal', 'greedy'] as const) {
      expect(ids(pack([short, long], { maxTokens: 100, strategy }).included)).toEqual(['short']);
    }
    const many = Array.from({ length: 9 }, (_, at) =>
      memory(`m${at}`, `Note ${at}`, { score: 0.9, tokens: 10 }),
    );
    const worse = [
      { ...short, tokens: 5 },
      { ...long, tokens: 60 },
    ];
    const packed = pack([...many, ...worse], { maxTokens: 96 });
    expect(ids(packed.included)).toContain('short');
    expect(packed.omitted.map(({ id, reason }) => [id, reason])).toEqual([['long', 'worse-value']]);
  });

  test('duplicates get the room that is left', () => {
    const all = [
      memory('a', 'Ann likes tea', { score: 0.9 }),
      memory('b', 'Ann likes tea.', { score: 0.8 }),
      memory('c', 'Ben likes rum', { score: 0.1, tokens: 85 }),
    ];
    expect(pack(all, { maxTokens: 100 }).omitted).toEqual([{ id: 'b', reason: 'duplicate', of: 'a' }]);
    expect(pack(all, { maxTokens: 104 }).omitted.map(({ id }) => id)).toEqual(['b']);
    expect(pack(all, { maxTokens: 94 }).omitted.map(({ id }) => id)).toEqual(['c']);
    expect(pack(all, { maxTokens: 100, duplicates: 'keep' }).omitted.map(({ id }) => id)).toEqual(['c']);
    expect(() => pack(all, { maxTokens: 1, duplicates: { cosine: 0.9 } as never })).toThrow(
      /duplicates.*remove, keep/,
    );
  });
});

function bestOf(all: readonly PackCandidate[], tokens: number): number {
  const [first, ...rest] = all;
  if (first === undefined) return 0;
  const without = bestOf(rest, tokens);
  return first.tokens > tokens
    ? without
    : Math.max(without, first.score + bestOf(rest, tokens - first.tokens));
}
