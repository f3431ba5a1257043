import { expect, test } from 'vitest';
import { interruptedEmbedder } from '../testing/interrupted-embedder.ts';
import { live } from '../testing/live-memory.ts';
import type { MemoryEngine } from './memory-engine.ts';

const interrupted = () =>
  interruptedEmbedder({ tea: 0, 'Anna likes tea': 0, 'Anna likes coffee': 45, 'Anna likes milk': 90 });

async function interruptible() {
  const embedder = interrupted();
  const { memory } = await live({ embedder });
  await memory.remember('Anna likes tea', { id: 'a', topicKey: 'drink' });
  return { embedder, memory };
}

/** Two ways in which the text of a memory changes. */
const changes: readonly (readonly [string, (memory: MemoryEngine) => Promise<unknown>])[] = [
  ['an update', (memory) => memory.update('a', { content: 'Anna likes coffee' })],
  [
    'another statement about its topic',
    (memory) => memory.remember('Anna likes coffee', { topicKey: 'drink' }),
  ],
];

test.each(changes)('%s loses nothing of what others do meanwhile', async (_, change) => {
  const { embedder, memory } = await interruptible();
  await memory.remember('Anna likes milk', { id: 'other' });
  embedder.meanwhile = async () => {
    await memory.recall('tea', { strategy: 'retention', sessionId: 's', limit: 1 });
    // The same words again, which now supersede something.
    await memory.remember('Anna likes tea', { supersedes: 'other' });
    await memory.update('a', { importance: 0.9, tags: [] });
  };
  await change(memory);
  expect(await memory.get('a')).toMatchObject({
    content: 'Anna likes coffee',
    accessCount: 1,
    sessions: ['s'],
    supersedes: ['other'],
    importance: 0.9,
    revisionCount: 4,
  });
  const { hits } = await memory.recall('Anna likes coffee', { strategy: 'vector', track: false });
  expect(hits[0]?.score.value).toBeCloseTo(1, 6);
});

test('an update does not take an invalidation back that came in between', async () => {
  const { embedder, memory } = await interruptible();
  embedder.meanwhile = () => memory.invalidate('a', 'wrong');
  await memory.update('a', { content: 'Anna likes coffee' });
  expect(await memory.get('a')).toMatchObject({ content: 'Anna likes coffee', invalidReason: 'wrong' });
});

test('another statement about a topic that was invalidated in between is a memory of its own', async () => {
  const { embedder, memory } = await interruptible();
  embedder.meanwhile = () => memory.invalidate('a', 'wrong');
  const remembered = await memory.remember('Anna likes coffee', { topicKey: 'drink' });
  expect(remembered.outcome).toBe('created');
  expect((await memory.get('a'))?.content).toBe('Anna likes tea');
});

test.each(changes)('%s is embedded again when the text became another one in between', async (_, change) => {
  const { embedder, memory } = await interruptible();
  embedder.meanwhile = () => memory.update('a', { content: 'Anna likes milk', title: null });
  await change(memory);
  expect(await memory.get('a')).toMatchObject({ content: 'Anna likes coffee', revisionCount: 3 });
  const { hits } = await memory.recall('Anna likes coffee', { strategy: 'vector', track: false });
  expect(hits[0]?.score.value).toBeCloseTo(1, 6);
});

test('a statement that another says at the same time is one memory', async () => {
  const { embedder, memory } = await interruptible();
  embedder.meanwhile = () => memory.remember('Anna likes milk', { id: 'first' });
  expect(await memory.remember('Anna likes milk', { id: 'second' })).toMatchObject({
    id: 'first',
    outcome: 'deduplicated',
  });
});
