import { expect, it } from 'vitest';
import { openMemory } from '../../open.ts';
import {
  BUILTIN_PROFILE_NAMES,
  builtinDefinition,
  defineProfile,
  type Profile,
} from '../../scoring/index.ts';
import { angleEmbedder } from '../../testing/angle-embedder.ts';

const now = new Date('2026-11-20T12:00:00Z');

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

it('keeps what a definition sets where an embedder would fill it in, and recalls by it', async () => {
  await using memory = await openMemory({
    path: ':memory:',
    space: 'alice',
    embedder: { ...angleEmbedder({ near: 60, asked: 0 }), calibration: { floor: 0.2, ceiling: 0.7 } },
    profiles: [
      { name: 'strict', description: 'only what is near', extends: 'hybrid', set: { similarityFloor: 0.6 } },
      {
        name: 'looser',
        description: 'what is farther too',
        extends: 'hybrid',
        set: { similarityFloor: 0.1 },
      },
    ],
  });
  const strategies = await memory.strategies();
  const defaultsOf = (strategy: string) =>
    ['similarityFloor', 'similaritySpan'].map(
      (name) =>
        strategies
          .find((each) => each.name === strategy)
          ?.parameters.find((parameter) => parameter.name === name)?.default,
    );
  expect(defaultsOf('hybrid')).toEqual([0.2, 0.7 - 0.2]);
  expect(defaultsOf('strict')).toEqual([0.6, 0.7 - 0.2]);
  expect(defaultsOf('looser')).toEqual([0.1, 0.7 - 0.2]);
  await memory.remember('near');
  const calibrated = async (strategy: string) =>
    (await memory.recall('asked', { strategy, track: false })).hits.map(
      ({ features }) => features['calibrated'],
    );
  // A cosine of 0.5, of which 0.2 is the floor and 0.7 the ceiling, is 0.6 of the way.
  expect(await calibrated('hybrid')).toEqual([expect.closeTo(0.6, 5)]);
  expect(await calibrated('strict')).toEqual([]);
  expect(await calibrated('looser')).toEqual([expect.closeTo(0.8, 5)]);
});

it('answers that a caller changes, or a definition, change no later answer', async () => {
  const definition = {
    name: 'mine',
    description: 'words, and what is new',
    score: {
      op: 'sum' as const,
      terms: [
        { weight: 0.6, of: { op: 'signal' as const, name: 'lexical' as const } },
        {
          weight: 0.4,
          of: {
            op: 'decay' as const,
            curve: 'exponential' as const,
            age: { op: 'age' as const, of: { latest: ['createdAt' as const, 'lastAccessedAt' as const] } },
            halfLife: 30,
          },
        },
      ],
    },
  };
  await using memory = await openMemory({
    path: ':memory:',
    space: 'alice',
    embedder: 'none',
    profiles: [definition],
  });
  await memory.remember('Prefers dark roast coffee');
  const scores = async () => {
    const { hits } = await memory.recall('dark coffee', { strategy: 'mine', now, track: false });
    return hits.map(({ score, explain }) => ({
      score: score.value,
      explanation: structuredClone(explain()),
    }));
  };
  const before = await scores();
  const { hits } = await memory.recall('dark coffee', { strategy: 'mine', now, track: false });
  type Changeable = { detail: { weights?: number[]; clocks?: string[] }; inputs: Changeable[] };
  const spoil = ({ detail, inputs }: Changeable) => {
    detail.weights?.fill(0);
    detail.clocks?.fill('updatedAt');
    inputs.forEach(spoil);
  };
  for (const hit of hits) spoil(hit.explain() as unknown as Changeable);
  expect(await scores()).toEqual(before);
  definition.score.terms[0]!.weight = 0;
  expect(await scores()).toEqual(before);
  const profiles = (await memory.strategies()).map(({ profile }) => profile);
  for (const profile of [...profiles, builtinDefinition('hybrid')]) {
    for (const inner of [
      profile,
      profile.score,
      profile.parts,
      profile.parameters,
      ...Object.values(profile.parts ?? {}),
    ])
      expect(Object.isFrozen(inner ?? 0), profile.name).toBe(true);
  }
});

it('settings that are answered cannot be changed, and those that were handed in can', async () => {
  await using memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none' });
  const fading = { mode: 'retention' as const, daysCold: 90 };
  const singleValued = ['works_at'];
  const first = await memory.configure();
  const changed = await memory.configure({ fading, singleValued });
  for (const settings of [first, changed, await memory.configure(), (await memory.stats()).settings])
    for (const inner of [settings, settings.fading, settings.singleValued])
      expect(Object.isFrozen(inner)).toBe(true);
  fading.daysCold = 30;
  singleValued.push('lives_in');
  expect(await memory.configure()).toMatchObject({ fading: { daysCold: 90 }, singleValued: ['works_at'] });
});

it('takes a profile that was defined before as it takes its definition', async () => {
  const definition = {
    name: 'even',
    description: 'As balanced, evenly.',
    extends: 'balanced',
    set: { weights: { semantic: 1, recency: 1, importance: 1 } },
    require: [{ signal: 'importance', above: 0 }],
  } as const;
  const described = async (profile: typeof definition | Profile) => {
    await using memory = await openMemory({
      path: ':memory:',
      space: 'alice',
      embedder: 'none',
      profiles: [profile],
    });
    return (await memory.strategies()).find(({ name }) => name === 'even');
  };
  const defined = defineProfile(definition);
  expect(defineProfile(defined)).toBe(defined);
  expect(await described(defined)).toEqual(await described(definition));
  expect(await described(defined)).toMatchObject({ profile: { require: definition.require } });
  // A copy may have been changed: it is checked as a definition.
  expect(() => defineProfile({ ...defined })).toThrow(/unknown key "lineage"/);
});
