import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Memory, type MemoryEngine, openMemory, type RelationInput } from '../../index.ts';
import { verifyExplanation } from '../../testing/verify-explanation.ts';

const now = Date.UTC(2026, 0, 10);
const day = 86_400_000;

async function opened(): Promise<MemoryEngine> {
  return openMemory({ path: ':memory:', space: 'alice', embedder: 'none', clock: () => now });
}

const ids = ['a', 'b', 'c', 'd'] as const;
const word = fc.constantFrom('tea', 'coffee', 'milk', 'rain');
const relation = fc
  .record({
    from: fc.constantFrom(...ids),
    name: fc.constantFrom('knows', 'lives_in'),
    to: fc.constantFrom(...ids, 'nothing'),
    weight: fc.constantFrom(0.1, 0.5, 1),
    begun: fc.constantFrom(undefined, -3, -2, 1),
    ended: fc.constantFrom(undefined, undefined, -1, 0),
  })
  .filter(({ from, to }) => from !== to)
  .map(
    ({ begun, ended, ...rest }): RelationInput => ({
      ...rest,
      ...(begun === undefined ? {} : { validFrom: new Date(now + begun * day) }),
      ...(ended === undefined ? {} : { validUntil: new Date(now + Math.max(ended, begun ?? -9) * day) }),
    }),
  );
const statement = fc.record({
  words: fc.array(word, { minLength: 1, maxLength: 4 }),
  age: fc.integer({ min: 4, max: 8 }),
  scope: fc.constantFrom('global', 'global', 'project:x'),
  type: fc.constantFrom('fact', 'event'),
  relations: fc.array(relation, { maxLength: 3 }),
});

/** Every relation that can be seen, scored by its definition, from every memory that can be seen with its score. */
function naiveEdges(
  seen: readonly { readonly memory: Memory; readonly score: { readonly value: number } }[],
  visible: readonly string[],
): readonly { readonly id: string; readonly score: number; readonly by: string }[] {
  const holding = seen.flatMap(({ memory, score }, place) =>
    (memory.relations ?? [])
      .filter(({ validFrom, validUntil }) => {
        const since = validFrom === undefined ? -Infinity : Date.parse(validFrom);
        const until = validUntil === undefined ? Infinity : Date.parse(validUntil);
        return since <= now && now <= until;
      })
      .map((each) => ({ ...each, memory, place, value: score.value * each.weight })),
  );
  const begin = ({ validFrom, memory }: (typeof holding)[number]) =>
    Date.parse(validFrom ?? memory.createdAt) - now + memory.ordinal / 1000;
  const left = holding.filter(
    (each) =>
      each.name !== 'lives_in' ||
      holding.every(
        (other) =>
          other.from !== each.from ||
          other.name !== each.name ||
          other.to === each.to ||
          holding
            .filter(({ from, name }) => from === each.from && name === each.name)
            // Of what one memory says at once, the value of the lowest id.
            .toSorted((a, b) => begin(b) - begin(a) || (a.to < b.to ? -1 : 1))[0]?.to === each.to,
      ),
  );
  const edges = new Map<string, (typeof left)[number]>();
  for (const each of left) {
    if (!visible.includes(each.from) || !visible.includes(each.to)) continue;
    const id = `relation:${each.from}/${each.name}/${each.to}`;
    const best = edges.get(id);
    if (!best || each.value > best.value) edges.set(id, each);
  }
  return [...edges].map(([id, { value, memory }]) => ({ id, score: value, by: memory.id }));
}

describe('recall with relations', () => {
  it('returns the exact best of memories and relations together', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(statement, { minLength: 1, maxLength: 7 }),
        fc.integer({ min: 1, max: 8 }),
        fc.constantFrom(undefined, 'global'),
        async (statements, limit, scope) => {
          await using memory = await opened();
          await memory.rememberMany([
            ...ids.map((id) => ({ id, type: 'entity', title: id, content: `entity ${id}` })),
            ...statements.map(({ words, age, ...rest }, at) => ({
              ...rest,
              id: `m${at}`,
              content: `${words.join(' ')} ${at}`,
              createdAt: new Date(now - age * day),
            })),
          ]);
          const asked = { strategy: 'lexical', scope, track: false } as const;
          const every = (await memory.recall('tea rain', { ...asked, limit: 1000 })).hits;
          // What no word matches states relations too: it counts for what holds, and scores nothing.
          const { memories } = await memory.list({ limit: 1000, ...(scope ? { scope } : {}) });
          const scored = new Set(every.map((hit) => hit.memory.id));
          const all = [
            ...every,
            ...memories
              .filter(({ id }) => !scored.has(id))
              .map((each) => ({ memory: each, score: { value: 0 } })),
          ];
          if (every.length === 0) return;
          const place = new Map(every.map((hit, at) => [hit.memory.id, at]));
          const expected = [
            ...every.map((hit, at) => ({ id: hit.memory.id, score: hit.score.value, at, edge: 0 })),
            ...naiveEdges(
              all,
              memories.map(({ id }) => id),
            )
              .filter(({ score }) => score > 0)
              .map(({ id, score, by }) => ({ id, score, at: place.get(by) as number, edge: 1 })),
          ];
          const found = await memory.recall('tea rain', { ...asked, limit, include: ['edges'] });
          const got = found.hits.map(({ memory: { id }, relation, score }) => [
            relation?.id ?? id,
            score.value,
          ]);
          // Scores are in order, and each is what it should be; ties are decided below.
          const best = expected.toSorted((x, y) => y.score - x.score).slice(0, limit);
          expect(got.map(([, score]) => score)).toEqual(best.map(({ score }) => score));
          for (const [id, score] of got) {
            expect(expected.find((each) => each.id === id)?.score).toBe(score);
          }
          for (const [at, hit] of found.hits.entries()) {
            const tree = hit.explain();
            verifyExplanation(tree);
            expect(tree.value).toBe(hit.score.value);
            // What states it stands before it.
            if (hit.relation) {
              const before = found.hits.slice(0, at);
              expect(before.some((each) => !each.relation && each.memory.id === hit.memory.id)).toBe(true);
              expect(hit.relation.statements).toContain(hit.memory.id);
            }
          }
          const returned = new Set(got.map(([id]) => id));
          for (const { id, score } of expected)
            if (!returned.has(id)) expect(score).toBeLessThanOrEqual(found.trace.upperBound);
        },
      ),
      { numRuns: 60 },
    );
  });

  async function sample(): Promise<MemoryEngine> {
    const memory = await opened();
    await memory.rememberMany([
      { id: 'ada', type: 'entity', title: 'Ada', content: 'someone' },
      { id: 'acme', type: 'entity', title: 'Acme', content: 'something' },
      {
        id: 'said',
        content: 'She joined the engine makers',
        relations: [{ from: 'ada', name: 'works_at', to: 'acme', weight: 0.5 }],
      },
      {
        id: 'wrote',
        type: 'event',
        content: 'A letter of the engine makers',
        relations: [{ from: 'ada', name: 'works_at', to: 'acme', weight: 0.1 }],
      },
    ]);
    return memory;
  }
  const asked = { strategy: 'bm25', include: ['edges'], track: false } as const;
  const shape = async (memory: MemoryEngine, options: object = {}) =>
    (await memory.recall('engine makers', { ...asked, ...options })).hits.map(
      ({ memory: { id }, relation }) => (relation ? `${relation.name} by ${id}` : id),
    );

  it('says nothing of relations unless asked', async () => {
    const memory = await sample();
    const { hits } = await memory.recall('engine makers', { strategy: 'bm25' });
    expect(hits.some((hit) => 'relation' in hit)).toBe(false);
    expect(await shape(memory)).toEqual(['wrote', 'said', 'works_at by said']);
    expect(await shape(memory, { include: ['edges', 'edges'] })).toEqual(await shape(memory));
    const { trace } = await memory.recall('engine makers', asked);
    expect(trace.stages.find(({ name }) => name === 'edges')).toMatchObject({ candidates: 1, survivors: 1 });
  });

  it('gives a relation to what states it best; where a filter leaves that out, it is left out', async () => {
    const memory = await sample();
    expect(await shape(memory, { types: ['fact'] })).toEqual(['said', 'works_at by said']);
    expect(await shape(memory, { types: ['event'] })).toEqual(['wrote']);
    expect(await shape(memory, { minScore: 0.6, types: ['fact'] })).toEqual(['said']);
    await memory.invalidate('said', 'wrong');
    expect(await shape(memory)).toEqual(['wrote', 'works_at by wrote']);
    expect(await shape(memory, { limit: 1 })).toEqual(['wrote']);
  });

  it('counts a relation that has ended in a deep recall alone, by the penalty', async () => {
    const memory = await sample();
    await memory.unrelate('ada', 'works_at', 'acme', { endedAt: new Date(now - day) });
    expect(await shape(memory)).toEqual(['wrote', 'said']);
    const { hits } = await memory.recall('engine makers', { ...asked, deep: true });
    const [, said, edge] = hits;
    expect(edge?.relation?.id).toBe('relation:ada/works_at/acme');
    expect(edge?.score.value).toBe((said?.score.value as number) * 0.5 * 0.5);
    expect(await shape(memory, { asOf: { valid: new Date(now - 2 * day) } })).toContain('works_at by said');
  });

  it('returns what a cold memory states that a link has brought in', async () => {
    let at = now;
    const fading = { path: ':memory:', space: 'alice', embedder: 'none', fading: 'retention' } as const;
    await using memory = await openMemory({ ...fading, clock: () => at });
    const entity = { type: 'entity', content: 'someone' };
    const relations = [{ from: 'ada', name: 'works_at', to: 'acme', weight: 0.5 }];
    await memory.rememberMany([
      { ...entity, id: 'ada', title: 'Ada' },
      { ...entity, id: 'acme', title: 'Acme' },
      { id: 'said', type: 'event', content: 'She joined the engine makers', relations },
    ]);
    at += 400 * day;
    expect((await memory.maintain()).cooled).toContain('said');
    await memory.remember('A letter about the harbour', { id: 'letter' });
    await memory.link('letter', 'said');
    const harbour = { strategy: 'hybrid', track: false, include: ['edges'] } as const;
    const { hits } = await memory.recall('harbour letter', harbour);
    expect(hits.map(({ memory: { id }, relation }) => relation?.id ?? id)).toEqual([
      'letter',
      'said',
      'relation:ada/works_at/acme',
    ]);
    expect(hits[2]?.score.value).toBe((hits[1]?.score.value as number) * 0.5);
    const why = { query: 'harbour letter', strategy: 'hybrid' } as const;
    expect(await memory.whyNot('relation:ada/works_at/acme', why)).toMatchObject({
      outcome: 'returned',
      rank: 3,
    });
    const none = await memory.recall('harbour letter', { ...harbour, association: 'none' });
    expect(none.hits.map(({ relation }) => relation?.id)).toEqual([undefined]);
  });

  it('says why a relation is not returned', async () => {
    const memory = await sample();
    const id = 'relation:ada/works_at/acme';
    const why = async (options: object = {}) =>
      memory.whyNot(id, { query: 'engine makers', strategy: 'bm25', ...options });
    expect(await why()).toMatchObject({ outcome: 'returned', rank: 3 });
    expect(await why({ limit: 2 })).toMatchObject({ outcome: 'outranked', stage: 'edges' });
    expect((await why({ limit: 2 })).message).toMatch(
      /^its score 0\.\d+, that of "said" × its weight, is 0\./,
    );
    expect((await why({ types: ['event'] })).message).toContain('"said", is not among the hits');
    expect(await why({ query: 'tea' })).toMatchObject({ outcome: 'no-score' });
    await memory.unrelate('ada', 'works_at', 'acme', { endedAt: new Date(now - day) });
    expect(await why()).toMatchObject({ outcome: 'excluded' });
    await expect(memory.whyNot('relation:ada/knows/acme', { query: 'tea' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('refuses what it does not know, and a reranker', async () => {
    const memory = await sample();
    for (const include of [['nodes'], 'edges', [1]] as unknown as (readonly 'edges'[])[])
      await expect(memory.recall('tea', { include })).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(memory.recall('tea', { ...asked, rerank: true })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    expect((await memory.recall('engine', { include: [] })).hits.some(({ relation }) => relation)).toBe(
      false,
    );
  });
});
