import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { OpenOptions } from '../open.ts';
import { angleEmbedder } from '../testing/angle-embedder.ts';
import { gate } from '../testing/gate.ts';
import { live } from '../testing/live-memory.ts';
import type { MemoryEngine } from './memory-engine.ts';

interface Call {
  readonly call: (memory: MemoryEngine, signal: AbortSignal) => Promise<unknown>;
  /** What the model is asked for, as the option of `openMemory`. */
  readonly of: 'embedder' | 'languageModel' | 'reranker' | 'dateReader' | 'tokenCounter';
}

const conversation = [{ role: 'user', content: 'I moved to Oslo.' }];
const calls: Readonly<Record<string, Call>> = {
  remember: { of: 'embedder', call: (memory, signal) => memory.remember('Likes coffee', { signal }) },
  update: {
    of: 'embedder',
    call: (memory, signal) => memory.update('n0', { content: 'Likes mate' }, { signal }),
  },
  recall: { of: 'embedder', call: (memory, signal) => memory.recall('what to drink', { signal }) },
  context: {
    of: 'embedder',
    call: (memory, signal) => memory.context('what to drink', { maxTokens: 99, signal }),
  },
  compare: { of: 'embedder', call: (memory, signal) => memory.compare('what to drink', { signal }) },
  explain: {
    of: 'embedder',
    call: (memory, signal) => memory.explain('n0', { query: 'what to drink', signal }),
  },
  reindex: { of: 'embedder', call: (memory, signal) => memory.reindex({ signal }) },
  health: { of: 'embedder', call: (memory, signal) => memory.health({ signal }) },
  'recall that reranks': {
    of: 'reranker',
    call: (memory, signal) => memory.recall('tea', { rerank: true, signal }),
  },
  'recall by dates': {
    of: 'dateReader',
    call: (memory, signal) => memory.recall('tea in May', { strategy: 'hybrid', signal }),
  },
  'context that counts': {
    of: 'tokenCounter',
    call: (memory, signal) => memory.context('tea', { maxTokens: 99, signal }),
  },
  bootstrap: { of: 'tokenCounter', call: (memory, signal) => memory.bootstrap({ signal }) },
  observe: { of: 'languageModel', call: (memory, signal) => memory.observe(conversation, { signal }) },
  maintain: { of: 'languageModel', call: (memory, signal) => memory.maintain({ useModel: true, signal }) },
};

/** A memory of two statements that may update each other, one of whose models hangs and hears no signal once `hang` was called. */
async function hanging(of: Call['of']) {
  const { embed, ...plane } = angleEmbedder({ 'Likes tea': 0, 'Likes green tea': 20, 'what to drink': 10 });
  const asked = gate();
  const failing = gate();
  let hangs = false;
  const never = async () => {
    asked.open();
    await failing.opened;
    throw new Error('too late');
  };
  const models: Partial<OpenOptions> = {
    languageModel: { name: 'own', generate: never },
    reranker: { model: 'own', rerank: never },
    dateReader: never,
    tokenCounter: never,
  };
  const { memory } = await live({
    embedder: { ...plane, embed: (texts) => (hangs && of === 'embedder' ? never() : embed(texts)) },
    ...(of === 'embedder' ? {} : { [of]: models[of] }),
  });
  await memory.remember('Likes tea');
  await memory.remember('Likes green tea');
  hangs = true;
  return { memory, asked: asked.opened, failing };
}

describe('a model that does not answer and hears no signal', () => {
  test.each(Object.entries(calls))(
    '%s ends as soon as its own signal aborts, and writes nothing',
    async (_, { of, call }) => {
      const { memory, asked, failing } = await hanging(of);
      const before = await memory.stats();
      const stop = new AbortController();
      const calling = call(memory, stop.signal);
      await Promise.race([asked, calling]);
      stop.abort();
      await expect(calling).rejects.toMatchObject({ code: 'aborted' });
      // The runner of the tests fails on a rejection that nobody handles.
      failing.open();
      expect(await memory.stats()).toEqual(before);
      await memory.close();
    },
  );
});

test('many calls at once have one listener of a signal that they share: Node.js warns of more than ten', async () => {
  const { memory, asked, failing } = await hanging('dateReader');
  const stop = new AbortController();
  const { signal } = stop;
  const { position } = await memory.activity();
  const calling = Array.from({ length: 11 }, () => [
    memory.recall('tea in May', { strategy: 'hybrid', signal }),
    memory.activity(position, { wait: 60_000, signal }),
    memory.reindex({ signal }),
  ]).flat();
  await asked;
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  stop.abort();
  await Promise.allSettled(calling);
  failing.open();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  await memory.close();
});
