import { describe, expect, it } from 'vitest';
import { type MemoryEngine, openMemory } from '../../index.ts';
import { verifyExplanation } from '../../testing/verify-explanation.ts';

const now = Date.UTC(2026, 0, 10);

async function sample(): Promise<MemoryEngine> {
  const memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none', clock: () => now });
  await memory.rememberMany([
    {
      id: 'ada',
      type: 'entity',
      title: 'Ada Lovelace',
      aliases: ['Ada'],
      kind: 'person',
      content: 'someone',
    },
    { id: 'acme', type: 'entity', title: 'Acme', kind: 'organisation', content: 'a firm' },
    { id: 'bonn', type: 'entity', title: 'Bonn', kind: 'place', content: 'a town' },
    {
      id: 'joined',
      content: 'She joined the engine makers',
      relations: [{ from: 'ada', name: 'works_at', to: 'acme' }],
    },
    {
      id: 'seat',
      content: 'Their head office stands by the river',
      relations: [{ from: 'acme', name: 'based_in', to: 'bonn' }],
    },
    { id: 'alias', content: 'I met Ada at the fair' },
    { id: 'common', content: 'Lovelace is a common name' },
    { id: 'other', content: 'The weather was fine' },
  ]);
  return memory;
}

const found = async (memory: MemoryEngine, query: string, graph = 0.8, options: object = {}) =>
  (await memory.recall(query, { association: { graph }, track: false, limit: 20, ...options })).hits;
const ids = async (...given: Parameters<typeof found>) =>
  (await found(...given)).map(({ memory: { id } }) => id).sort();

describe('recall along relations and mentions', () => {
  it('is off unless asked for', async () => {
    const memory = await sample();
    const before = await memory.recall('Where does Lovelace work?', { track: false });
    expect(before.hits.map(({ memory: { id } }) => id).sort()).toEqual(['ada', 'common']);
    expect(await ids(memory, 'Where does Ada Lovelace work?', 0)).toEqual(['ada', 'alias', 'common']);
  });

  it('leads from an entity that the query names to the statements of its relations, and further', async () => {
    const memory = await sample();
    const hits = await found(memory, 'Where does Ada Lovelace work?');
    const byId = new Map(hits.map((hit) => [hit.memory.id, hit]));
    expect(byId.get('joined')?.path).toEqual(['ada', 'joined']);
    expect(byId.get('acme')?.path).toEqual(['ada', 'acme']);
    expect(byId.get('seat')?.path).toEqual(['ada', 'acme', 'seat']);
    expect(byId.has('other')).toBe(false);
    for (const hit of hits) {
      verifyExplanation(hit.explain());
      expect(hit.explain().value).toBe(hit.score.value);
    }
    const score = (id: string) => byId.get(id)?.score.value as number;
    expect(score('joined')).toBeGreaterThan(score('seat'));
    expect(score('joined')).toBeLessThanOrEqual(score('ada'));
  });

  it('finds what mentions it under another of its names', async () => {
    const memory = await sample();
    expect(await ids(memory, 'anything about Lovelace', 0)).toEqual(['ada', 'common']);
    await memory.update('ada', { aliases: ['Ada', 'Lovelace'] });
    const hits = await found(memory, 'anything about lovelace');
    expect(hits.find(({ memory: { id } }) => id === 'alias')?.path).toEqual(['ada', 'alias']);
  });

  it('propagates the relevance of a named entity that is not a hit, with a floor of relevance', async () => {
    const memory = await sample();
    await memory.update('acme', { tags: ['firm'] });
    const floor = { minRelevance: 0.3, tags: ['firm'] };
    expect(await ids(memory, 'Ada Lovelace', 0.8, { tags: ['firm'] })).toEqual(['acme']);
    expect(await ids(memory, 'Ada Lovelace', 0.8, floor)).toEqual(['acme']);
    expect(await ids(memory, 'Ada Lovelace', 0.8, { ...floor, minRelevance: 0.99 })).toEqual([]);
    const why = { query: 'Ada Lovelace', association: { graph: 0.8 }, ...floor };
    expect(await memory.whyNot('acme', why)).toMatchObject({ outcome: 'returned' });
  });

  it('follows nothing for an ambiguous name, a common word, or an invisible entity', async () => {
    const memory = await sample();
    await memory.remember('hidden', { type: 'entity', title: 'Mark', id: 'mark', kind: 'person' });
    await memory.remember('He builds boats', {
      id: 'boats',
      relations: [{ from: 'mark', name: 'knows', to: 'ada' }],
    });
    expect(await ids(memory, 'Is Mark at sea?')).toContain('boats');
    expect(await ids(memory, 'mark the sea')).not.toContain('boats');
    expect(await ids(memory, 'Is Mark at sea?', 0.8, { types: ['fact'] })).toContain('boats');
    await memory.remember('another', { type: 'entity', title: 'Mark', kind: 'ship' });
    expect(await ids(memory, 'Is Mark at sea?')).not.toContain('boats');
    await memory.invalidate('joined', 'wrong');
    expect(await ids(memory, 'Where does Ada Lovelace work?')).not.toContain('seat');
    await expect(found(memory, 'Ada', 2)).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});
