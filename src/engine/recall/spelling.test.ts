import { expect, test } from 'vitest';
import { formatExplanation } from '../../index.ts';
import { live, liveOnDisk } from '../../testing/live-memory.ts';
import { verifyExplanation } from '../../testing/verify-explanation.ts';

const none = { embedder: 'none' } as const;

test('a misspelt word finds what it was meant to, at half its weight, and says so', async () => {
  await using memory = (await live(none)).memory;
  await memory.rememberMany([
    { id: 'snake', content: 'Python is what the scripts are written in', sessionId: 's' },
    { id: 'other', content: 'Nothing of the kind', sessionId: 's' },
  ]);
  const { hits, trace } = await memory.recall('Pyhton', { strategy: 'bm25' });
  expect(trace.spelling).toEqual([{ word: 'Pyhton', standIns: [{ term: 'python', weight: 0.5 }] }]);
  expect(hits.map((hit) => hit.memory.id)).toEqual(['snake']);
  const right = await memory.recall('Python', { strategy: 'bm25' });
  expect(right.trace.spelling).toBeUndefined();
  expect(hits[0]?.score.value).toBeLessThan((right.hits[0]?.score.value ?? 0) / 2 + 1e-9);
  const tree = hits[0]?.explain();
  if (!tree) throw new Error('there is no hit');
  verifyExplanation(tree);
  expect(formatExplanation(tree, 'text')).toContain('Pyhton → python 1');
  const hybrid = (await memory.recall('Pyhton scripts')).hits;
  expect(hybrid.map((hit) => hit.memory.id)).toContain('other');
  for (const hit of hybrid) verifyExplanation(hit.explain());
});

test('letters are counted as they are written, not those of the stem', async () => {
  await using memory = (await live(none)).memory;
  await memory.remember('Drinks coffee without sugar', { id: 'coffee' });
  const { hits } = await memory.recall('cofee', { strategy: 'bm25' });
  expect(hits.map((hit) => hit.memory.id)).toEqual(['coffee']);
  const tree = hits[0]?.explain();
  if (!tree) throw new Error('there is no hit');
  verifyExplanation(tree);
});

test('near words come before the frequent, those before others; at most three, beginnings last', async () => {
  await using memory = (await live(none)).memory;
  for (const [at, content] of [
    'planet',
    'planed',
    'planed',
    'planee',
    'plane sight',
    'planetarium',
  ].entries())
    await memory.remember(content, { id: `m${at}`, scope: at === 2 ? 'project:a' : 'global' });
  const termsFor = async (query: string, scope = 'project:a') =>
    (await memory.recall(query, { strategy: 'bm25', scope })).trace.spelling?.[0]?.standIns.map(
      ({ term }) => term,
    );
  expect(await termsFor('planex')).toEqual(['plane', 'planet']);
  expect(await termsFor('planetar')).toEqual(['planetarium']);
  expect(await termsFor('sigh')).toEqual(['sight']);
  for (const short of ['sig', 'plnt', 'planx1', 'sight7']) expect(await termsFor(short)).toBeUndefined();
});

test.each([
  ['a Korean noun without its particle', '저는 커피를 좋아해요', '서울에 살아요', '커피', '커피를'],
  [
    'a Chinese word that is joined to the next one in its sentence',
    '我的猫叫小白',
    '我住在上海',
    '猫',
    '猫叫',
  ],
])('%s is found', async (_, content, other, query, term) => {
  await using memory = (await live({ ...none, language: 'simple' })).memory;
  await memory.remember(content, { id: 'meant' });
  await memory.remember(other);
  const { hits, trace } = await memory.recall(query, { strategy: 'bm25' });
  expect(hits.map((hit) => hit.memory.id)).toEqual(['meant']);
  expect(trace.spelling).toEqual([{ word: query, standIns: [{ term, weight: 0.25 }] }]);
  for (const hit of hits) verifyExplanation(hit.explain());
});

test('a word that is only where the recall cannot see neither shows nor hides anything', async () => {
  await using memory = (await live(none)).memory;
  await memory.remember('The pythons are asleep', { id: 'hidden', scope: 'project:b' });
  await memory.remember('A pythoness foretells', { id: 'seen', scope: 'project:a' });
  const spelled = async (query: string, scope: string) =>
    (await memory.recall(query, { strategy: 'bm25', scope })).trace.spelling;
  expect(await spelled('pyhton', 'project:a')).toBeUndefined();
  expect(await spelled('pyhton', 'project:b')).toEqual([
    { word: 'pyhton', standIns: [{ term: 'python', weight: 0.5 }] },
  ]);
  // The word itself is known elsewhere: here it is the beginning of another all the same.
  expect((await spelled('python', 'project:a'))?.[0]?.word).toBe('python');
  expect(await spelled('python', 'project:b')).toBeUndefined();
  await memory.forget('hidden');
  expect((await spelled('python', 'project:a'))?.[0]?.standIns).toHaveLength(1);
  expect(await spelled('pyhton', 'project:b')).toBeUndefined();
});

test('what was forgotten is not looked for, though its number is given to another word', async () => {
  const { memory, cleanUp } = await liveOnDisk(none);
  await memory.remember('stays here', { id: 'kept' });
  await memory.remember('kangaroo', { id: 'gone' });
  const spelled = async (query: string) => (await memory.recall(query, { strategy: 'bm25' })).trace.spelling;
  expect(await spelled('kangarou')).toHaveLength(1);
  await memory.forget('gone');
  expect(await spelled('kangarou')).toBeUndefined();
  await memory.remember('giraffe');
  expect(await spelled('girafe')).toHaveLength(1);
  expect(await spelled('kangarou')).toBeUndefined();
  await memory.close();
  await cleanUp();
});
