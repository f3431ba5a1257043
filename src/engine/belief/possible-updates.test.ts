import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatExplanation } from '../../scoring/format.ts';
import type { Change } from '../../store/store.ts';
import { live, liveFading } from '../../testing/live-memory.ts';
import { verifyExplanation } from '../../testing/verify-explanation.ts';

const budget = { id: 'then', content: 'The budget for the garden is $500', createdAt: '2025-11-01' };
const raised = { id: 'now', content: 'The garden budget is now $650', createdAt: '2025-12-01' };

const words = { embedder: 'none' } as const;
const pairsOf = (report: { similarPairs: readonly { older: string; newer: string; kind: string }[] }) =>
  report.similarPairs.map(({ older, newer, kind }) => [older, newer, kind]);

describe('maintenance finds possible updates', () => {
  test('by words alone, once, with how far the words are the same', async () => {
    const { memory, space } = await live(words);
    await memory.rememberMany([raised, budget, { id: 'other', content: 'The roof has 12 windows now' }]);
    const dry = await memory.maintain({ dryRun: true });
    expect(pairsOf(dry)).toEqual([['then', 'now', 'update']]);
    expect(await memory.conflicts()).toEqual([]);
    const report = await memory.maintain();
    expect(report.similarPairs).toEqual(dry.similarPairs);
    const request = async (id: string, other: string) => {
      const found = await memory.explain(id, { query: (await memory.get(other))?.content, strategy: 'bm25' });
      return found.score;
    };
    const expected = ((await request('then', 'now')) + (await request('now', 'then'))) / 2;
    expect(report.similarPairs[0]?.similarity).toBe(expected);
    expect(await memory.conflicts()).toMatchObject([
      { kind: 'update', older: { id: 'then' }, newer: { id: 'now' }, similarity: expected },
    ]);
    expect(await memory.maintain()).toMatchObject({ compared: 0, similarPairs: [] });
    expect(await space.uncompared(10)).toEqual([]);
  });

  test('and none with what the same run would cool, in a dry run either', async () => {
    const { memory, pass } = await liveFading(words);
    await memory.remember(budget.content, { id: 'then', type: 'event', importance: 0 });
    pass(1);
    await memory.remember(raised.content, { id: 'now', type: 'event', importance: 1 });
    expect(pairsOf(await memory.maintain({ dryRun: true }))).toEqual([['then', 'now', 'update']]);
    pass(60);
    const dry = await memory.maintain({ dryRun: true });
    expect(dry).toMatchObject({ cooled: ['then'], similarPairs: [] });
    expect((await memory.maintain()).similarPairs).toEqual([]);
  });

  test.each([
    ['in another scope', { ...raised, scope: 'project:a' }],
    ['said at the same time', { ...raised, createdAt: budget.createdAt }],
    ['said before', { ...raised, createdAt: '2025-10-01' }],
    ['that tells of no change', { ...raised, content: 'The garden budget is $650' }],
    ['about something else', { ...raised, content: 'Concert tickets for the whole band are now $650' }],
    [
      'longer than 80 terms',
      { ...raised, content: `${raised.content} ${Array.from({ length: 80 }, (_, at) => `word${at}`)}` },
    ],
    ['that no longer holds', { ...raised, validUntil: '2025-12-02' }],
  ])('not %s', async (_, newer) => {
    const { memory } = await live(words);
    await memory.rememberMany([budget, newer]);
    expect(await memory.maintain()).toMatchObject({ compared: 2, similarPairs: [] });
  });

  test('one takes the place of a similar pair that waits, and not of a judgement', async () => {
    const { memory, clock } = await live({ conflictThreshold: 0.5 });
    await memory.remember('I work 20 hours a week at the library', { id: 'a', createdAt: '2025-11-01' });
    const said = { createdAt: '2025-12-01' };
    const { conflicts } = await memory.remember('I now work 30 hours a week at the library', {
      id: 'b',
      ...said,
    });
    expect(conflicts).toMatchObject([{ id: 'a' }]);
    clock.advance(1);
    expect(pairsOf(await memory.maintain())).toEqual([['a', 'b', 'update']]);
    const [pending, ...others] = await memory.conflicts();
    expect(others).toEqual([]);
    expect(pending).toMatchObject({ kind: 'update', older: { id: 'a' }, newer: { id: 'b' } });
    await memory.resolve(pending?.conflictId as string, 'keep-both');
    await memory.update('b', { content: 'I now work 35 hours a week at the library' });
    expect(pairsOf(await memory.maintain())).toEqual([['a', 'b', 'update']]);
    const [again] = await memory.conflicts();
    await memory.resolve(again?.conflictId as string, 'keep-both');
    const [judged] = await memory.conflicts();
    expect(judged).toBeUndefined();
  });

  test('at most 5 for one statement, the nearest', async () => {
    const { memory } = await live(words);
    const weekly = Array.from({ length: 9 }, (_, at) => ({
      id: `week${at}`,
      content: `The garden cost ${at + 10} euros ${'and more '.repeat(at)}`,
      createdAt: `2025-10-0${at + 1}`,
    }));
    await memory.rememberMany(weekly);
    expect(await memory.maintain()).toMatchObject({ compared: 9, similarPairs: [] });
    await memory.remember('The garden now cost 60 euros', { id: 'last' });
    const { similarPairs } = await memory.maintain();
    expect(similarPairs.every(({ newer, kind }) => newer === 'last' && kind === 'update')).toBe(true);
    const similarities = similarPairs.map(({ similarity }) => similarity);
    expect(similarities).toEqual([...similarities].sort((a, b) => b - a));
    expect(similarPairs).toHaveLength(5);
  });

  test('nothing fades where it is told so', async () => {
    const { memory, pass } = await live({ ...words, fading: 'retention' });
    await memory.rememberMany([budget, raised]);
    pass(2000);
    const report = await memory.maintain({ fade: false });
    expect(report).toMatchObject({ examined: 0, cooled: [], compared: 2 });
    expect((await memory.maintain()).cooled).toHaveLength(2);
  });
});

describe('hybrid prefers a possible update', () => {
  /** Asked for the budget for the garden, the older statement has more of the words. */
  async function noticed() {
    const lived = await live(words);
    await lived.memory.rememberMany([
      budget,
      raised,
      { id: 'far', content: 'Seeds for the garden are in the shed', createdAt: '2025-11-01' },
    ]);
    await lived.memory.maintain();
    return lived;
  }
  const question = 'What is the budget for the garden: $500?';

  test('which inherits the score of the older statement without the conflict; the older one falls a little', async () => {
    const { memory } = await noticed();
    const none = await memory.recall(question, { association: 'none' });
    expect(none.hits.map((hit) => hit.memory.id)).toEqual(['then', 'now', 'far']);
    const { hits } = await memory.recall(question);
    expect(hits.map((hit) => [hit.memory.id, hit.isAssociative, hit.path])).toEqual([
      ['now', false, ['then', 'now']],
      ['then', false, undefined],
      ['far', false, undefined],
    ]);
    for (const hit of hits) {
      verifyExplanation(hit.explain());
      expect(hit.explain().value).toBe(hit.score.value);
      expect(hit.features['combined']).toBe(hit.score.value);
    }
    const [now, then] = hits;
    const [conflict] = await memory.conflicts();
    const relevance = then!.features['relevance'] as number;
    const withoutConflict = then!.score.value + relevance * 0.02 * (conflict?.similarity as number);
    const own = none.hits[1]!.score.value;
    const most = own * (1 + 1.25 * (conflict?.similarity as number));
    expect(most).toBeGreaterThan(withoutConflict);
    expect(now!.score.value).toBeCloseTo(withoutConflict, 12);
    // Judged, it is as if it had never been noticed.
    await memory.resolve(conflict?.conflictId as string, 'keep-both');
    const after = await memory.recall(question);
    expect(after.hits.map((hit) => hit.memory.id)).toEqual(['then', 'now', 'far']);
    expect(after.hits[0]!.score.value).toBeCloseTo(withoutConflict, 12);
  });

  test('but not above itself by more than the rise allows, nor at all when it is 0', async () => {
    const { memory } = await noticed();
    const [conflict] = await memory.conflicts();
    const none = await memory.recall(question, { association: 'none' });
    const own = none.hits[1]!.score.value;
    const scoreAt = async (updateRise: number) => {
      const { hits } = await memory.recall(question, { association: { updateRise } });
      return hits.find((hit) => hit.memory.id === 'now')!.score.value;
    };
    expect(await scoreAt(0)).toBe(own);
    expect(await scoreAt(0.1)).toBe((1 + 0.1 * (conflict?.similarity as number)) * own);
    await expect(scoreAt(-1)).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  test('a question about the past is answered by what was said then', async () => {
    const { memory } = await noticed();
    const { hits } = await memory.recall('What was the budget for the garden: $500?');
    expect(hits.map((hit) => [hit.memory.id, hit.path])).toEqual([
      ['then', undefined],
      ['now', undefined],
      ['far', undefined],
    ]);
  });

  test('an older statement that is pushed out is told by what', async () => {
    const { memory } = await noticed();
    const { hits, trace } = await memory.recall(question, { limit: 1 });
    expect(hits.map((hit) => [hit.memory.id, hit.isAssociative, hit.path])).toEqual([
      ['now', true, ['then', 'now']],
    ]);
    const none = await memory.recall(question, { limit: 1, association: 'none' });
    expect(trace.upperBound).toBe(none.hits[0]!.score.value);
    const why = await memory.whyNot('then', { query: question, limit: 1 });
    expect(why).toMatchObject({ outcome: 'outranked', changes: [] });
    expect(why.message).toContain('"now" inherits its score');
    const { message } = await memory.whyNot('far', { query: question, limit: 1 });
    expect(message).toContain('below that of the last memory returned');
  });

  test('an update that the recall may not see, or that no longer holds, inherits nothing and causes no conflict', async () => {
    const { memory } = await live(words);
    await memory.rememberMany([
      { ...budget, scope: 'project:a' },
      { ...raised, scope: 'project:a', type: 'decision' },
    ]);
    await memory.maintain();
    const scores = async (more = {}) =>
      (await memory.recall(question, more)).hits.map((hit) => [hit.memory.id, hit.path]);
    expect(await scores()).toEqual([
      ['now', ['then', 'now']],
      ['then', undefined],
    ]);
    expect(await scores({ types: ['fact'] })).toEqual([['then', undefined]]);
    await memory.invalidate('now', 'the bank said no');
    const { hits } = await memory.recall(question);
    expect(hits.map((hit) => hit.memory.id)).toEqual(['then']);
    expect(formatExplanation(hits[0]!.explain(), 'text')).toContain('0.0000  conflict');
  });

  test('what was noticed later is not known of an earlier moment', async () => {
    const { memory, pass, clock } = await live(words);
    await memory.rememberMany([budget, raised]);
    const before = new Date(clock.now()).toISOString();
    pass(1);
    await memory.maintain();
    const first = async (asOf?: { known: string }) =>
      (await memory.recall(question, { asOf })).hits[0]?.memory.id;
    expect(await first()).toBe('now');
    expect(await first({ known: before })).toBe('then');
  });
});

test('an answer with possible updates is what the definition says', async () => {
  const vocabulary = ['amber', 'birch', 'cedar', 'dune', 'ember'];
  const text = fc.array(fc.constantFrom(...vocabulary), { minLength: 1, maxLength: 6 });
  const pair = fc
    .tuple(fc.nat(11), fc.nat(11), fc.constantFrom(0.3, 0.5, 0.8))
    .filter(([older, newer]) => older !== newer);
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { minLength: 12, maxLength: 12 }),
      fc.uniqueArray(pair, { maxLength: 12, selector: ([a, b]) => [a, b].sort().join() }),
      fc.integer({ min: 1, max: 13 }),
      fc.constantFrom(0.3, 1.25),
      async (texts, pairs, limit, updateRise) => {
        const remembered = async (queued: typeof pairs) => {
          const { memory, space, clock } = await live(words);
          await memory.rememberMany(
            texts.map((list, at) => ({ id: `m${at + 10}`, content: `${list.join(' ')} ${'!'.repeat(at)}` })),
          );
          await space.write({ verb: 'maintain', at: clock.now() }, async () => ({
            changes: queued.map(
              ([older, newer, similarity]): Change => ({
                kind: 'queue-pair',
                pair: { older: `m${older + 10}`, newer: `m${newer + 10}`, kind: 'update', similarity },
              }),
            ),
            result: undefined,
          }));
          return memory;
        };
        const everything = { association: 'none', limit: 100 } as const;
        const query = 'amber birch';
        const memory = await remembered(pairs);
        const own = (await memory.recall(query, everything)).hits;
        const plain = (await (await remembered([])).recall(query, everything)).hits;
        const withoutConflict = new Map(plain.map((hit) => [hit.memory.id, hit.score.value]));
        const direct = new Set(own.slice(0, limit).map((hit) => hit.memory.id));
        // Equal scores are ordered as BM25 orders them.
        const byWords = (await memory.recall(query, { ...everything, strategy: 'bm25' })).hits;
        const places = new Map(byWords.map((hit, place) => [hit.memory.id, place]));
        const placeOf = (id: string) => places.get(id) ?? everything.limit;
        const expected = own
          .map((hit) => {
            const { id } = hit.memory;
            const inherited = pairs
              .filter(([older, newer]) => `m${newer + 10}` === id && direct.has(`m${older + 10}`))
              .map(([older, , similarity]) =>
                Math.min(
                  withoutConflict.get(`m${older + 10}`) as number,
                  (1 + updateRise * similarity) * hit.score.value,
                ),
              )
              .filter((each) => direct.has(id) || each >= 0.1);
            const score = Math.max(
              direct.has(id) || inherited.length > 0 ? hit.score.value : 0,
              ...inherited,
            );
            return { id, score };
          })
          .filter(({ score }) => score > 0)
          .sort(
            (a, b) =>
              b.score - a.score ||
              placeOf(a.id) - placeOf(b.id) ||
              Number(b.id.slice(1)) - Number(a.id.slice(1)),
          )
          .slice(0, limit);
        const { hits, trace } = await memory.recall(query, { limit, association: { updateRise } });
        expect(hits.map((hit) => [hit.memory.id, hit.score.value])).toEqual(
          expected.map(({ id, score }) => [id, score]),
        );
        const returned = new Set(hits.map((hit) => hit.memory.id));
        const left = own.filter((hit) => !returned.has(hit.memory.id)).map((hit) => hit.score.value);
        expect(trace.upperBound).toBeGreaterThanOrEqual(Math.max(0, ...left));
        for (const hit of hits) {
          verifyExplanation(hit.explain());
          expect(hit.explain().value).toBe(hit.score.value);
        }
      },
    ),
    { numRuns: 150 },
  );
});
