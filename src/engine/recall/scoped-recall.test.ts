import { expect, test } from 'vitest';
import { angleEmbedder, angleOf } from '../../testing/angle-embedder.ts';
import { live, liveOnDisk } from '../../testing/live-memory.ts';
import type { RecallOptions } from '../types.ts';

const query = 'state management in React';

test('the worked example of "Scoring & Recall", from remembering to the answer, on a file', async () => {
  const texts = {
    'Uses Zustand for stores': angleOf(0.92),
    'Prefer Redux for large apps': angleOf(0.95),
    'State management is complex': angleOf(0.88),
    [query]: 0,
  };
  const { memory, pass, cleanUp } = await liveOnDisk({ embedder: angleEmbedder(texts) });
  await memory.rememberMany([{ content: 'Prefer Redux for large apps', type: 'decision' }]);
  pass(55);
  await memory.rememberMany([{ content: 'Uses Zustand for stores', type: 'fact', scope: 'project:match' }]);
  pass(3);
  await memory.rememberMany([{ content: 'State management is complex', weight: 0.5, type: 'context' }]);
  pass(2);
  const { hits } = await memory.recall(query, { strategy: 'scoped', scope: 'project:match' });
  const seen = hits.map((hit) => [hit.memory.content, Math.floor(hit.score.value * 1000 + 0.5) / 1000]);
  // The document prints .349 for the last; its own factors multiply to .3485.
  expect(seen).toEqual([
    ['Uses Zustand for stores', 0.897],
    ['Prefer Redux for large apps', 0.563],
    ['State management is complex', 0.348],
  ]);
  // From the root and from another project the one of this project is not there.
  for (const scope of ['global', 'project:other', 'project:matc', 'project:match2']) {
    const from = await memory.recall(query, { strategy: 'scoped', scope });
    expect(from.hits.map((hit) => hit.memory.content)).toEqual(seen.slice(1).map(([content]) => content));
  }
  await memory.close();
  await cleanUp();
});

test('a scope sees itself and its ancestors, in every strategy and list, and never siblings or children', async () => {
  const { memory } = await live();
  const scopes = [
    'global',
    'team:a',
    'team:a/project:b',
    'team:a/project:b/x',
    'team:a/project:c',
    'team:b',
    'project:b',
  ];
  await memory.rememberMany(
    scopes.map((scope) => ({ id: scope, content: `Coffee is served in ${scope}`, scope })),
  );
  const visible: readonly (readonly [string, readonly string[]])[] = [
    ['global', ['global']],
    ['team:a', ['global', 'team:a']],
    ['team:a/project:b', ['global', 'team:a', 'team:a/project:b']],
    ['team:a/project:b/x/y', ['global', 'team:a', 'team:a/project:b', 'team:a/project:b/x']],
    ['nowhere', ['global']],
  ];
  for (const [scope, expected] of visible) {
    for (const strategy of ['hybrid', 'lexical', 'scoped', 'balanced', 'five-factor', 'retention', 'bm25']) {
      const options: RecallOptions = { strategy, scope, limit: 100, track: false, deep: true };
      const { hits } = await memory.recall('coffee', options);
      expect(hits.map((hit) => hit.memory.id).toSorted(), `${strategy} from ${scope}`).toEqual(
        expected.toSorted(),
      );
    }
    const { memories } = await memory.list({ scope });
    expect(memories.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
  }
  expect((await memory.recall('coffee', { limit: 100 })).hits).toHaveLength(scopes.length);
  expect((await memory.stats()).byScope).toEqual(Object.fromEntries(scopes.map((scope) => [scope, 1])));
});

test('inScope returns what lies in one scope, or in any of a kind, and leaves scores and succession as they are', async () => {
  const { memory } = await live();
  await memory.rememberMany([
    { id: 'everywhere', content: 'Coffee is served black' },
    { id: 'match', content: 'Coffee is served with milk', scope: 'project:match' },
    { id: 'part', content: 'Coffee is served with oat milk', scope: 'project:match/part' },
    { id: 'team', content: 'Coffee is served with sugar', scope: 'team:a' },
    { id: 'old', content: 'Coffee is served cold', scope: 'project:match' },
    { id: 'new', content: 'Coffee is served hot', supersedes: 'old' },
  ]);
  const query = 'how is coffee served';
  const found = async (options: RecallOptions) =>
    (await memory.recall(query, { association: 'none', ...options })).hits;
  const ids = async (options: RecallOptions) => (await found(options)).map((hit) => hit.memory.id).sort();
  expect(await ids({ scope: 'project:match', inScope: 'project:match' })).toEqual(['match']);
  expect(await ids({ inScope: 'global' })).toEqual(['everywhere', 'new']);
  expect(await ids({ inScope: 'project:*' })).toEqual(['match', 'part']);
  expect(await ids({ scope: 'team:a', inScope: 'project:*' })).toEqual([]);
  const [wide] = (await found({ scope: 'project:match' })).filter((hit) => hit.memory.id === 'match');
  const [narrow] = await found({ scope: 'project:match', inScope: 'project:match' });
  expect(narrow?.score.value).toBe(wide?.score.value);
  const { memories } = await memory.list({ inScope: 'project:match' });
  expect(memories.map(({ id }) => id).sort()).toEqual(['match', 'old']);
  expect(await memory.whyNot('team', { query, inScope: 'project:match' })).toMatchObject({
    outcome: 'excluded',
    stage: 'eligible',
    message: 'its scope team:a is not the one that inScope asks for',
  });
  await expect(memory.recall(query, { inScope: 'a b' })).rejects.toThrow(/invalid|not valid/);
  await memory.close();
});
