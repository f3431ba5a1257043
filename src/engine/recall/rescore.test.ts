import { describe, expect, test } from 'vitest';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import { rescore } from '../../scoring/rescore.ts';
import { score } from '../../scoring/score.ts';
import { day, live } from '../../testing/live-memory.ts';
import { verifyExplanation } from '../../testing/verify-explanation.ts';

async function filled() {
  const lived = await live();
  const { memory } = lived;
  for (const [index, content] of [
    'The coffee machine is broken',
    'Warranty papers of the coffee machine are in the blue folder',
    'The blue folder was moved to the attic',
    'Attic light needs a new bulb',
    'Coffee is bought on Mondays',
  ].entries()) {
    await memory.remember(content, { id: `m${index}`, importance: index / 5 });
    lived.clock.advance(day);
  }
  await memory.link('m0', 'm2', { weight: 0.9 });
  await memory.link('m2', 'm3', { weight: 0.9 });
  return lived;
}

describe('known hits scored again', () => {
  test.each([
    ['hybrid', { 'weights.similarity': 40, 'weights.context': 1 }],
    ['hybrid', { 'weights.similarity': 0 }],
    ['retention', { alpha: 3 }],
    ['balanced', { 'weights.importance': 4, recencyHalfLifeDays: 1 }],
  ] as const)('%s %o: as a recall with these parameters has them', async (strategy, parameters) => {
    const { memory, clock } = await filled();
    const described = (await memory.strategies()).find(({ name }) => name === strategy)!;
    const usual = Object.fromEntries(described.parameters.map((each) => [each.name, each.default]));
    const options = { strategy, limit: 10, track: false } as const;
    const before = await memory.recall('coffee machine', options);
    const exact = await memory.recall('coffee machine', { ...options, parameters });
    const again = rescore(
      before.hits,
      resolveProfile(described.profile, { ...usual, ...parameters }),
      clock.now(),
    );
    // Which memories are among the best, and which are raised by links, only a recall can say.
    const raised = new Map(exact.hits.map((hit) => [hit.memory.id, hit.explain().op]));
    const comparable = again.filter(({ hit }) => raised.get(hit.memory.id) === hit.explain().op);
    const compared = new Set(comparable.map(({ hit }) => hit.memory.id));
    expect(compared.size).toBeGreaterThan(2);
    expect(comparable.map(({ hit, explanation }) => [hit.memory.id, explanation.value])).toEqual(
      exact.hits
        .filter(({ memory: { id } }) => compared.has(id))
        .map(({ memory: { id }, score: { value } }) => [id, value]),
    );
  });

  test('a hit that links have raised follows the one that passes its score on', async () => {
    const { memory, clock } = await filled();
    const options = { limit: 10, track: false } as const;
    const parameters = { 'weights.similarity': 3 };
    const { hits } = await memory.recall('machine broken', options);
    const raised = hits.find((hit) => hit.explain().op === 'max')!;
    const exact = await memory.recall('machine broken', { ...options, parameters });
    const resolved = resolveProfile(builtinProfile('hybrid'), parameters);
    const found = rescore(hits, resolved, clock.now()).find(({ hit }) => hit === raised)?.explanation;
    expect(found?.value).not.toBe(raised.score.value);
    const same = exact.hits.find(({ memory: { id } }) => id === raised.memory.id);
    expect(found?.value).toBe(same?.score.value);
    verifyExplanation(found!);
    // Without the hit that it depends on, it keeps what that one passed on.
    const [alone] = rescore([raised], resolved, clock.now());
    expect(alone?.explanation.value).toBe(raised.score.value);
  });

  test('the signals of a hit give its score', async () => {
    const { memory, clock } = await filled();
    const { hits } = await memory.recall('coffee', { strategy: 'balanced', track: false });
    expect(hits.length).toBeGreaterThan(3);
    for (const hit of hits) {
      expect(score('balanced', hit.signals, { now: clock.now() })).toBe(hit.score.value);
    }
  });

  test('what cannot be scored keeps its score', async () => {
    const { memory, clock } = await filled();
    const { hits } = await memory.recall('coffee', { limit: 2, track: false });
    const { createdAt, ...others } = hits[0]!.signals;
    const blind = { ...hits[0]!, signals: { ...others, updatedAt: undefined } };
    const [again] = rescore([blind], resolveProfile(builtinProfile('balanced')), clock.now());
    expect(again?.explanation.value).toBe(hits[0]!.score.value);
  });
});
