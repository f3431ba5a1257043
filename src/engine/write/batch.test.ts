import { describe, expect, it } from 'vitest';
import { live } from '../../testing/live-memory.ts';
import type { MemoryEngine } from '../memory-engine.ts';
import type { RememberInput } from '../types.ts';

const plain = { embedder: 'none' } as const;

describe('within one batch', () => {
  const outcomes = async (inputs: readonly RememberInput[]) => {
    const { memory } = await live(plain);
    const results = await memory.rememberMany(inputs);
    return { memory, outcomes: results.map(({ id, outcome }) => `${outcome} ${id}`) };
  };
  const recalled = async (memory: MemoryEngine, query: string) =>
    (await memory.recall(query)).hits.map((hit) => hit.memory.id);

  it('what was superseded is no longer what its topic says, nor known word for word', async () => {
    const topic = await outcomes([
      { content: 'Drinks tea', id: 'a', topicKey: 'drink' },
      { content: 'Drinks nothing now', id: 'b', supersedes: 'a' },
      { content: 'Drinks coffee', id: 'c', topicKey: 'drink' },
    ]);
    expect(topic.outcomes).toEqual(['created a', 'created b', 'created c']);
    expect(await recalled(topic.memory, 'coffee')).toEqual(['c']);
    const words = await outcomes([
      { content: 'Drinks tea', id: 'a' },
      { content: 'Drinks nothing now', id: 'b', supersedes: 'a' },
      { content: 'Drinks tea', id: 'c' },
    ]);
    expect(words.outcomes).toEqual(['created a', 'created b', 'created c']);
    expect(await recalled(words.memory, 'tea')).toEqual(['c']);
  });

  it('what supersedes in a scope that is not seen from there takes nothing away', async () => {
    const { outcomes: known } = await outcomes([
      { content: 'Drinks tea', id: 'a' },
      { content: 'Drinks nothing', id: 'b', supersedes: 'a', scope: 'project:a' },
      { content: 'Drinks tea', id: 'c' },
    ]);
    expect(known).toEqual(['created a', 'created b', 'deduplicated a']);
  });

  it('what takes the place of another one does so until it ends', async () => {
    const { outcomes: known } = await outcomes([
      { content: 'Drinks tea', id: 'a' },
      { content: 'Drinks milk', id: 'b', supersedes: 'a', topicKey: 'drink' },
      { content: 'Drank juice', id: 'ignored', topicKey: 'drink', validUntil: '2025-06-01' },
      { content: 'Drinks tea', id: 'c' },
    ]);
    expect(known).toEqual(['created a', 'created b', 'updated b', 'deduplicated a']);
  });

  it('what has ended or expired is said anew', async () => {
    for (const end of [{ validUntil: '2025-01-01' }, { expiresAt: '2025-01-01' }]) {
      for (const more of [{}, { topicKey: 'work' }]) {
        const { memory, outcomes: known } = await outcomes([
          { content: 'Works at Acme', id: 'old', createdAt: '2024-01-01', ...end, ...more },
          { content: 'Works at Acme', id: 'new', ...more },
          { content: 'Works at Acme', id: 'again', ...more },
        ]);
        expect(known).toEqual([
          'created old',
          'created new',
          more.topicKey ? 'updated new' : 'deduplicated new',
        ]);
        expect(await recalled(memory, 'Acme')).toEqual(['new']);
      }
    }
    const entity = { content: 'Ann', title: 'Ann', type: 'entity' };
    expect(
      (
        await outcomes([
          { ...entity, id: 'a', validUntil: '2025-01-01' },
          { ...entity, id: 'b' },
        ])
      ).outcomes,
    ).toEqual(['created a', 'created b']);
  });

  it('what was invalidated and forgotten comes back inactive, once', async () => {
    const { memory } = await live(plain);
    await memory.remember('The sky is green', { id: 'sky' });
    await memory.invalidate('sky', 'it is blue');
    await memory.forget('sky');
    const sky = (id: string) => ({ content: 'The sky is green', id });
    expect(await memory.rememberMany([sky('a'), sky('b')])).toMatchObject([
      { id: 'a', outcome: 'created', inactive: {} },
      { id: 'a', outcome: 'deduplicated', inactive: {} },
    ]);
  });
});
