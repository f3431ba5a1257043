import { expect, test } from 'vitest';
import { live } from '../../testing/live-memory.ts';

const outranked = { limit: 1, strategy: 'hybrid' } as const;

async function conversation() {
  const { memory } = await live({ embedder: 'none' });
  await memory.rememberMany([
    { id: 'asked', content: 'Which tea does Ann buy?', sessionId: 's' },
    { id: 'said', content: 'The green one', sessionId: 's' },
    { id: 'hidden', content: 'Oslo', sessionId: 's', scope: 'project:b' },
    { id: 'then', content: 'Nothing else', sessionId: 's' },
    { id: 'later', content: 'In Porto', sessionId: 's' },
    { id: 'last', content: 'In Lisbon', sessionId: 's' },
    { id: 'best', content: 'Ann buys green tea in Porto, Oslo and Lisbon' },
    { id: 'oslo', content: 'Oslo' },
  ]);
  return memory;
}

test('names the words that a memory, the turns beside it and its session lack, as they were written', async () => {
  await using memory = await conversation();
  const query = 'the green TEAS of Lisbon, Porto and Oslo';
  const { missingWords, message } = await memory.whyNot('said', { query, ...outranked, scope: 'global' });
  expect(missingWords).toEqual({
    memory: ['Lisbon', 'Oslo', 'Porto', 'TEAS'],
    neighbours: ['Lisbon', 'Oslo'],
    session: ['Oslo'],
  });
  expect(message).toContain(
    'it lacks "Lisbon", "Oslo", "Porto", "TEAS", of which the turns beside it have "Porto", "TEAS", and its session has "Lisbon"',
  );
});

test('a memory of no session has none, and a strategy of words alone looks at no other memory', async () => {
  await using memory = await conversation();
  const alone = await memory.whyNot('oslo', { query: 'green tea, Oslo', ...outranked });
  expect(alone.missingWords).toEqual({ memory: ['green', 'tea'], neighbours: ['green', 'tea'] });
  const bm25 = await memory.whyNot('said', { query: 'green tea, Oslo', limit: 1, strategy: 'bm25' });
  expect(bm25.missingWords).toEqual({ memory: ['Oslo', 'tea'] });
  expect(bm25.message).toMatch(/; it lacks "Oslo", "tea"$/);
});

test('of a requirement that is not met, it names the words; where none is missing, or words are not why, none', async () => {
  await using memory = await conversation();
  const required = await memory.whyNot('oslo', { query: 'green tea', strategy: 'lexical' });
  expect(required).toMatchObject({ outcome: 'requirement', missingWords: { memory: ['green', 'tea'] } });
  expect(required.message).toContain('it lacks "green", "tea"');
  for (const [id, options] of [
    ['oslo', { query: 'Oslo', limit: 1, strategy: 'bm25' }],
    ['best', { query: 'Oslo', limit: 1, strategy: 'bm25' }],
    ['oslo', { query: 'Oslo tea', types: ['event'] }],
    ['oslo', { strategy: 'ambient', limit: 1 }],
  ] as const) {
    const { missingWords, message } = await memory.whyNot(id, options);
    expect(missingWords).toBeUndefined();
    expect(message).not.toContain('lacks');
  }
});
