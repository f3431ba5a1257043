import { expect, test } from 'vitest';
import { live } from '../../testing/live-memory.ts';
import type { Trace } from './trace.ts';

/**
 * Stages follow one another: none takes less than no time, and together they take no longer than the whole. What happens
 * within another stage has a row of its own, and no time.
 */
function expectParts({ stages, totalMs }: Trace): readonly string[] {
  let sum = 0;
  for (const { name, durationMs } of stages) {
    expect(durationMs).toBeGreaterThanOrEqual(0);
    if (name === 'floor' || name === 'validity_filter') expect(durationMs).toBe(0);
    sum += durationMs;
  }
  // What is left is rounding: no stage is counted twice, or from another beginning, and no time is left out.
  expect(Math.abs(totalMs - sum)).toBeLessThanOrEqual(1e-6);
  return stages.map(({ name }) => name);
}

test('the times of the stages are parts of the time of the whole', async () => {
  const rerank = async () => ({ results: [{ index: 1, score: 1 }], promptTokens: 3, completionTokens: 2 });
  const { memory } = await live({ reranker: { model: 'fake', rerank } });
  await memory.rememberMany([
    { id: 'best', content: 'coffee coffee machine' },
    { id: 'next', content: 'a coffee grinder' },
    { id: 'papers', content: 'Warranty is in the blue folder' },
  ]);
  await memory.link('best', 'papers', { weight: 0.9 });
  const asked = { limit: 2, rerank: true, minScore: 0.01, minRelevance: 0.05 } as const;
  const seen = new Set([
    ...expectParts((await memory.recall('coffee machine', asked)).trace),
    ...expectParts((await memory.recall('coffee machine', { strategy: 'retention' })).trace),
    ...expectParts((await memory.context('coffee machine', { maxTokens: 500 })).trace),
  ]);
  for (const name of [
    'analyze',
    'score',
    'floor',
    'rerank',
    'expand',
    'bridge',
    'merge',
    'hydrate',
    'other',
    'pack',
    'effects',
  ]) {
    expect(seen).toContain(name);
  }
});
