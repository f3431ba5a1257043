import { expect, it } from 'vitest';
import { openMemory } from '../../open.ts';
import { BUILTIN_PROFILE_NAMES } from '../../scoring/index.ts';
import { angleEmbedder } from '../../testing/angle-embedder.ts';

it('lists every built-in strategy with parameters that a recall takes as they are listed', async () => {
  await using memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none' });
  await memory.remember('Prefers dark roast coffee');
  const strategies = await memory.strategies();
  expect(strategies.map(({ name }) => name).sort()).toEqual([...BUILTIN_PROFILE_NAMES].sort());
  for (const { name, takesQuery, parameters } of strategies.filter(({ name }) => name !== 'vector')) {
    const given = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.default]));
    const query = takesQuery ? 'coffee' : undefined;
    const plain = await memory.recall(query, { strategy: name, track: false });
    const listed = await memory.recall(query, { strategy: name, track: false, parameters: given });
    expect(listed.trace.profileHash, name).toBe(plain.trace.profileHash);
  }
  expect(strategies.find(({ name }) => name === 'balanced')).toMatchObject({ limit: 20, associates: false });
  expect(strategies.find(({ name }) => name === 'ambient')).toMatchObject({ takesQuery: false });
});

it('lists strategies of the user, and what the embedder measured as their default', async () => {
  await using memory = await openMemory({
    path: ':memory:',
    space: 'alice',
    embedder: { ...angleEmbedder({}), calibration: { floor: 0.2, ceiling: 0.7 } },
    profiles: [{ name: 'fresh', description: 'newest first', extends: 'hybrid' }],
  });
  const fresh = (await memory.strategies()).find(({ name }) => name === 'fresh');
  expect(fresh).toMatchObject({ description: 'newest first', takesFloor: true });
  const floor = fresh?.parameters.find(({ name }) => name === 'similarityFloor');
  expect(floor).toMatchObject({ kind: 'number', default: 0.2 });
});
