import { afterEach, beforeEach, expect, test } from 'vitest';
import { LONGEST_QUERY } from '../../domain/query.ts';
import type { MemoryEngine } from '../../index.ts';
import { live } from '../../testing/live-memory.ts';

let memory: MemoryEngine;
beforeEach(async () => {
  ({ memory } = await live({ embedder: 'none' }));
  await memory.remember('Prefers green tea', { id: 'tea' });
  await memory.remember('Prefers dark coffee', { id: 'coffee' });
});
afterEach(() => memory.close());

const verbs: readonly [verb: string, ask: (query: string) => Promise<unknown>][] = [
  ['recall', (query) => memory.recall(query)],
  ['recall of the past', (query) => memory.recall(query, { asOf: { known: '2026-01-01' } })],
  ['context', (query) => memory.context(query, { maxTokens: 1000 })],
  ['compare', (query) => memory.compare(query)],
  ['explain', (query) => memory.explain('tea', { query })],
  ['whyNot', (query) => memory.whyNot('tea', { query })],
  ['entities', (query) => memory.entities(query)],
];

test.each(verbs)('%s takes a query of 32,768 characters, and refuses a longer one', async (_, ask) => {
  expect(LONGEST_QUERY).toBe(32_768);
  const query = 'tea '.repeat(LONGEST_QUERY / 4);
  await ask(query);
  await expect(ask(`${query}x`)).rejects.toMatchObject({
    code: 'invalid_argument',
    message:
      'query: 32769 characters are too many for a query; at most 32768 are allowed. Ask with the part that matters',
    details: { field: 'query' },
  });
});

test('fit says which question is too long', async () => {
  const questions = [
    { query: 'tea', relevant: ['tea'] },
    { query: 'x'.repeat(LONGEST_QUERY + 1), relevant: ['coffee'] },
  ];
  await expect(memory.fit(questions)).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('32769 characters are too many for a query'),
    details: { field: 'questions[1].query' },
  });
});
