import { describe, expect, test } from 'vitest';
import { type MemoryEngine, openMemory, type RecallOptions } from '../../index.ts';
import { createSqliteStore } from '../../stores/sqlite/index.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { day } from '../../testing/live-memory.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';

const question = 'where does Anna live';

/** How well the answer that follows the question in its session matches it, with the words of the question. */
async function matchOf(memory: MemoryEngine, options: RecallOptions = {}): Promise<number> {
  const { hits } = await memory.recall(question, { strategy: 'hybrid', ...options });
  return hits.find((hit) => hit.memory.id === 'a')?.signals.contextLexical ?? 0;
}

async function conversation(store: Parameters<typeof openMemory>[0]['store']) {
  const clock = createFakeClock();
  const memory = await openMemory({
    path: 'test',
    space: 'test',
    store,
    embedder: 'none',
    clock: () => clock.now(),
  });
  await memory.remember('Where does Anna live now?', { id: 'q', sessionId: 's' });
  await memory.remember('In Lisbon, near the river', {
    id: 'a',
    sessionId: 's',
    topicKey: 'home',
    tags: ['home'],
  });
  clock.advance(day);
  return { memory, clock };
}

describe.each([
  ['the index', () => createSqliteStore({ directory: ':memory:' })],
  ['the naive search', createReferenceStore],
] as const)('by %s', (_, makeStore) => {
  test('a memory keeps the words around it whatever changes beside its text', async () => {
    const { memory, clock } = await conversation(makeStore());
    const match = await matchOf(memory);
    expect(match).toBeGreaterThan(0.1);
    const changes = [
      { confidence: 0.9 },
      { metadata: { checked: true } },
      { content: 'In Lisbon, near the river', tags: ['home'] },
      { type: 'event', importance: 0.7 },
    ];
    for (const change of changes) {
      const { textChangedAt, createdAt } = await memory.update('a', change);
      expect(textChangedAt).toBe(createdAt);
      expect(await matchOf(memory)).toBe(match);
    }
    // What is said again of its topic, in the same words, replaces no text.
    await memory.remember('In Lisbon, near the river', { topicKey: 'home', confidence: 0.7 });
    expect(await memory.get('a')).toMatchObject({ revisionCount: 6, confidence: 0.7 });
    expect(await matchOf(memory)).toBe(match);
    clock.advance(day);
    expect(await matchOf(memory)).toBe(match);
  });

  test.each<readonly [string, (memory: MemoryEngine) => Promise<unknown>]>([
    ['its content', (memory) => memory.update('a', { content: 'In Porto, near the river' })],
    ['its title', (memory) => memory.update('a', { title: 'Home' })],
    ['its tags', (memory) => memory.update('a', { tags: ['house'] })],
    ['what is said of its topic', (memory) => memory.remember('In Porto, by the sea', { topicKey: 'home' })],
  ])(
    'it loses them when %s changes, for good, and has them back by undo and when looking back',
    async (_, change) => {
      const { memory, clock } = await conversation(makeStore());
      const match = await matchOf(memory);
      const before = clock.now();
      clock.advance(day);
      await change(memory);
      const changedAt = (await memory.get('a'))?.textChangedAt;
      expect(changedAt).toBe(new Date(clock.now()).toISOString());
      expect(await matchOf(memory)).toBe(0);
      expect(await matchOf(memory, { asOf: { known: new Date(before) } })).toBe(match);
      clock.advance(day);
      expect(await memory.update('a', { confidence: 0.3 })).toMatchObject({ textChangedAt: changedAt });
      expect(await matchOf(memory)).toBe(0);
      await memory.undo();
      await memory.undo();
      expect((await memory.get('a'))?.textChangedAt).toBeUndefined();
      expect(await matchOf(memory)).toBe(match);
    },
  );

  test('an export brings the time along; one of an earlier version leaves the last update', async () => {
    const { memory, clock } = await conversation(makeStore());
    const match = await matchOf(memory);
    await memory.update('a', { confidence: 0.9 });
    const { memories } = await memory.list({ sort: 'inserted' });
    const { memory: copy } = await conversation(makeStore());
    await copy.forget(['q', 'a']);
    await copy.importMemories(memories);
    expect(await matchOf(copy)).toBe(match);
    const { memory: old } = await conversation(makeStore());
    await old.forget(['q', 'a']);
    await old.importMemories(memories.map(({ textChangedAt: _, ...each }) => each as (typeof memories)[0]));
    expect(await matchOf(old)).toBe(0);
    clock.advance(day);
    const last = (await old.get('a'))?.updatedAt;
    expect(await old.update('a', { confidence: 0.3 })).toMatchObject({ textChangedAt: last });
  });
});
