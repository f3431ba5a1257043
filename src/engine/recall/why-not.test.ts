import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { live } from '../../testing/live-memory.ts';

test.each(['explain', 'whyNot'] as const)('%s asks no model, and refuses options of one', async (verb) => {
  const { memory } = await live();
  await memory.remember('Plays the cello', { id: 'cello' });
  for (const [name, value] of Object.entries({ rerank: true, rerankTopK: 5 })) {
    const options = { query: 'cello', [name]: value };
    await expect(memory[verb]('cello', options)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining(`${verb}: unknown option "${name}"`),
    });
  }
});

test('a score of 0 is blamed on the query only if nothing matches it', async () => {
  const { memory } = await live({
    profiles: [
      {
        name: 'events',
        description: 'Events, whatever is asked.',
        score: { op: 'table', by: 'type', cases: { event: 1 }, otherwise: 0 },
      },
    ],
  });
  await memory.remember('Plays the cello', { id: 'old' });
  await memory.remember('Plays the cello and the viola', { id: 'new', supersedes: 'old' });
  const other = {
    message: 'its score is 0, and what scores 0 is never returned; explain shows which factor is 0',
  };
  const penalised = { query: 'cello', deep: true, deepRecallPenalty: 0 };
  expect(await memory.whyNot('old', penalised)).toMatchObject({ outcome: 'no-score', ...other });
  expect(await memory.whyNot('new', { strategy: 'events' })).toMatchObject({ outcome: 'no-score', ...other });
  expect(await memory.whyNot('new', { query: 'harbour', strategy: 'bm25' })).toMatchObject({
    outcome: 'no-score',
    message: expect.stringContaining('its score is 0: nothing in it answers the query'),
  });
});

test('a gap that four digits would not show is said as it is', async () => {
  const { memory, clock } = await live();
  await memory.remember('Plays the cello', { id: 'cello' });
  clock.advance(10_000);
  await memory.remember('Plays the viola', { id: 'viola' });
  const missed = await memory.whyNot('cello', { strategy: 'ambient', limit: 1 });
  expect(missed.outcome).toBe('outranked');
  expect(missed.message).toMatch(
    /^its score 0\.\d{4} is [1-9]\.\de-\d+ below that of the last memory returned/,
  );
});

describe('a memory that a link leads to', () => {
  async function kitchen() {
    const lived = await live();
    await lived.memory.rememberMany([
      { id: 'machine', content: 'The coffee machine is broken' },
      { id: 'beans', content: 'Coffee beans are in the cupboard' },
      { id: 'papers', content: 'Warranty is in the blue folder' },
      { id: 'folder', content: 'Moved to the attic' },
    ]);
    return lived;
  }

  test('is judged by the score that it has through the link', async () => {
    const { memory } = await kitchen();
    await memory.link('machine', 'papers', { weight: 0.6 });
    await memory.link('papers', 'folder', { weight: 0.9 });
    const how = { limit: 2, association: { propagation: 0.5 } } as const;
    const options = { query: 'coffee machine', ...how };
    const { hits } = await memory.recall(options.query, how);
    expect(hits.map((hit) => hit.memory.id)).toEqual(['machine', 'beans']);
    const [first, last] = hits.map(({ score }) => score.value) as [number, number];
    const near = await memory.whyNot('papers', options);
    expect(near).toMatchObject({ outcome: 'outranked', stage: 'merge', needed: last, changes: [] });
    expect(near.path).toEqual(['machine', 'papers']);
    expect(near.score).toBeCloseTo(first * 0.6 * 0.5, 12);
    expect(near.message).toBe(
      `its score ${near.score?.toFixed(4)}, which it has through "machine", is ${(last - (near.score ?? 0)).toFixed(4)} below that of the last memory returned, ${last.toFixed(4)}`,
    );
    const far = await memory.whyNot('folder', options);
    expect(far.path).toEqual(['machine', 'papers', 'folder']);
    expect(far.score).toBeCloseTo(first * 0.54 * 0.5, 12);
    expect(far.message).toContain('through "machine" and "papers"');
  });

  test('is judged so too if it is cold, or below minScore', async () => {
    const { memory, clock, space } = await kitchen();
    await memory.link('machine', 'papers', { weight: 0.6 });
    const [record] = await space.get(['papers']);
    await space.write({ verb: 'maintain', at: clock.now() }, async () => ({
      changes: [{ kind: 'replace', memory: { ...record!, tier: 'cold', coldSince: clock.now() } }],
      result: undefined,
    }));
    const options = { query: 'coffee machine', association: { propagation: 0.5 } } as const;
    const cut = await memory.whyNot('papers', { ...options, limit: 1 });
    expect(cut).toMatchObject({ outcome: 'outranked', stage: 'merge', path: ['machine', 'papers'] });
    const floored = await memory.whyNot('papers', { ...options, minScore: 0.9 });
    expect(floored).toMatchObject({ outcome: 'outranked', stage: 'floor', needed: 0.9, score: cut.score });
    expect(floored.message).toBe(
      `its score ${cut.score?.toFixed(4)}, which it has through "machine", is below minScore 0.9`,
    );
    const unlinked = await memory.whyNot('papers', { ...options, association: 'none' });
    expect(unlinked).toMatchObject({ outcome: 'excluded', stage: 'eligible' });
    // What a link leads to competes by its own score where that is the higher one.
    const faint = { query: 'coffee machine folder', limit: 1, association: { propagation: 0.1 } } as const;
    const own = await memory.explain('papers', { query: faint.query });
    expect(await memory.whyNot('papers', faint)).toMatchObject({ outcome: 'outranked', score: own.score });
  });

  test('agrees with the recall, of every memory of random graphs', async () => {
    const word = fc.constantFrom('coffee', 'machine', 'tea', 'attic', 'folder', 'blue');
    const graph = fc.record({
      texts: fc.array(fc.array(word, { minLength: 1, maxLength: 4 }), { minLength: 3, maxLength: 12 }),
      links: fc.array(
        fc.record({ ends: fc.tuple(fc.nat(11), fc.nat(11)), weight: fc.constantFrom(0.3, 0.6, 0.9, 1) }),
        { maxLength: 16 },
      ),
      limit: fc.integer({ min: 1, max: 5 }),
      propagation: fc.constantFrom(0.3, 0.7, 1),
      minScore: fc.constantFrom(undefined, 0.2),
    });
    await fc.assert(
      fc.asyncProperty(graph, async ({ texts, links, limit, propagation, minScore }) => {
        const { memory } = await live({ embedder: 'none' });
        const ids = texts.map((_, at) => `m${at}`);
        await memory.rememberMany(
          texts.map((text, at) => ({ id: ids[at]!, content: `${text.join(' ')} ${at}` })),
        );
        const weights = new Map<string, number>();
        for (const { ends, weight } of links) {
          const [a, b] = ends.map((end) => ids[end % ids.length]!) as [string, string];
          if (a === b) continue;
          await memory.link(a, b, { weight });
          weights.set(`${a} ${b}`, weight).set(`${b} ${a}`, weight);
        }
        const association = { propagation, linkThreshold: 0.01, pathThreshold: 0.01, minimum: 0 };
        const how = { limit, association, minScore };
        const { hits } = await memory.recall('coffee machine', { ...how, track: false });
        const last = hits.length < limit ? 0 : hits.at(-1)!.score.value;
        const alone = { limit, association: 'none', track: false } as const;
        const direct = (await memory.recall('coffee machine', alone)).hits.map(({ memory, score }) => ({
          id: memory.id,
          score: score.value,
        }));
        const weight = (a: string, b: string) => weights.get(`${a} ${b}`) ?? 0;
        /** Along the path whose weights multiply to most; of equal ones along fewer links, then from the first hit. */
        const givenTo = (id: string) => {
          const others = direct.filter((hit) => hit.id !== id);
          const byOne = others.map(({ id: from, score }) => ({ weight: weight(from, id), score }));
          const byTwo = others.map(({ id: from, score }) => {
            return { weight: Math.max(...ids.map((by) => weight(from, by) * weight(by, id))), score };
          });
          const [best] = [...byOne, ...byTwo].sort((a, b) => b.weight - a.weight);
          return best ? best.weight * best.score : 0;
        };
        for (const id of ids) {
          const found = await memory.whyNot(id, { ...how, query: 'coffee machine' });
          const place = hits.findIndex((hit) => hit.memory.id === id);
          expect(found.rank ?? 0).toBe(place + 1);
          if (place >= 0) continue;
          const { score: own } = await memory.explain(id, { ...how, query: 'coffee machine' });
          const score = Math.max(own, propagation * givenTo(id));
          expect(found.score).toBeCloseTo(score, 12);
          expect(found.path?.at(-1)).toBe(
            score > own && !direct.some(({ id: hit }) => hit === id) ? id : undefined,
          );
          expect(found.needed).toBe(Math.max(last, minScore ?? 0));
          expect(found.score).toBeLessThanOrEqual(found.needed!);
        }
        await memory.close();
      }),
      { numRuns: 40 },
    );
  });
});
