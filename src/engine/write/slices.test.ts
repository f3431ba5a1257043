import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { openMemory } from '../../open.ts';
import { builtinEmbedder } from '../../providers/builtin/embedder.ts';
import type { SpaceReader } from '../../store/store.ts';
import { sampleMemory } from '../../testing/sample-memory.ts';
import { createAnalyzer } from '../../text/analyze.ts';
import { deriveTexts } from './derive.ts';
import { draftOf, planWrites } from './plan.ts';

const memories = Array.from({ length: 300 }, (_, at) => sampleMemory({ id: `m${at}` }));

/** Counts how often a pause is asked for. */
function counted() {
  let count = 0;
  return {
    count: () => count,
    slices: () => {
      count++;
      return undefined;
    },
  };
}

test('texts are derived in slices, memory by memory', async () => {
  const { count, slices } = counted();
  const tools = { analyzer: createAnalyzer(), embedder: builtinEmbedder() };
  expect(await deriveTexts(memories, tools, { slices })).toHaveLength(300);
  expect(count()).toBe(300);
});

test('writes are planned in slices, memory by memory', async () => {
  const { count, slices } = counted();
  const reader = {
    find: async () => [],
    tombstones: async (statements: readonly unknown[]) => statements.map(() => undefined),
  } as unknown as SpaceReader;
  const drafts = memories.map((memory) => draftOf({ content: memory.content }, memory));
  expect(await planWrites(reader, drafts, 0, slices)).toHaveLength(300);
  expect(count()).toBe(300);
});

test('a batch is checked in slices too, and what the caller does to the list meanwhile changes nothing', async () => {
  await using memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none' });
  const batch = Array.from({ length: 20_000 }, (_, at) => ({ content: `statement ${at}` }));
  batch.push({ content: '' });
  let turns = 0;
  let isDone = false;
  const refused = memory.rememberMany(batch).catch((error: unknown) => {
    isDone = true;
    return error;
  });
  batch.length = 0;
  while (!isDone) {
    await turn();
    turns++;
  }
  // Checking them takes 50 ms and more, of which each turn gets a few.
  expect(turns).toBeGreaterThan(2);
  expect(await refused).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('memory 20001 of 20001'),
    details: { index: 20_000 },
  });
});

test('a program whose tests stop the timers is not stopped with them', async () => {
  await using memory = await openMemory({ path: ':memory:', space: 'alice' });
  vi.useFakeTimers({ toFake: ['setImmediate', 'setTimeout'] });
  try {
    const batch = Array.from({ length: 2000 }, (_, at) => ({ content: `statement ${at}` }));
    expect(await memory.rememberMany(batch)).toHaveLength(2000);
    for (let each = 0; each < 50; each++) await memory.recall(`statement ${each}`, { limit: 1 });
  } finally {
    vi.useRealTimers();
  }
});
