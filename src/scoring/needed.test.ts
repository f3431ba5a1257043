import { expect, test } from 'vitest';
import { neededChanges } from './needed.ts';
import { type ProfileDefinition, resolveProfile } from './profile.ts';
import { defineProfile, score } from './score.ts';
import type { SignalName, Signals } from './signals.ts';

/** What a signal would have to be alone, where the score is its share of `cap`. */
function changeOf(name: SignalName, cap: number, signals: Signals, threshold: number) {
  const definition: ProfileDefinition = {
    name: 'mine',
    description: 'One signal alone.',
    score: { op: 'capped', of: { op: 'signal', name }, cap },
  };
  const [change] = neededChanges(resolveProfile(defineProfile(definition)), signals, 0, threshold);
  return change;
}

test.each([
  ['accessCount', 3, 27],
  ['sessionCount', 0, 27],
  ['revisionCount', 1, 27],
] as const)('of %s the least whole number is named that suffices', (name, from, to) => {
  expect(changeOf(name, 100, { [name]: from }, 0.2670001)).toEqual({ signal: name, from, to });
  // More than the threshold, and not as much.
  expect(changeOf(name, 100, { [name]: from }, 0.27)?.to).toBe(28);
  expect(changeOf(name, 100, { [name]: 26 }, 0.26)?.to).toBe(27);
});

test.each(['authorNamed', 'saidByUser'] as const)('%s is 0 or 1, and nothing in between', (name) => {
  expect(changeOf(name, 1, { [name]: 0 }, 0.8)).toEqual({ signal: name, from: 0, to: 1 });
  expect(changeOf(name, 1, {}, 0.8)).toEqual({ signal: name, from: undefined, to: 1 });
  expect(changeOf(name, 2, { [name]: 0 }, 0.8)).toBeUndefined();
});

test('another signal may have any value of its range', () => {
  expect(changeOf('confidence', 1, { confidence: 0.1 }, 0.8)?.to).toBeCloseTo(0.8, 5);
});

test('a change that fails a requirement is not returned, but a nearer one that meets it is', () => {
  const profile = (below: number) =>
    resolveProfile(
      defineProfile({
        name: 'mine',
        description: 'Importance, of what is not too important.',
        require: [{ signal: 'importance', below }],
        score: { op: 'signal', name: 'importance' },
      }),
    );
  expect(neededChanges(profile(0.5), { importance: 0.2 }, 0, 0.6)).toEqual([]);
  const [change] = neededChanges(profile(0.5), { importance: 0.2 }, 0, 0.3);
  expect(change?.to).toBeCloseTo(0.3, 5);
});

test('a moment that fails a requirement on its age is not returned', () => {
  const day = 86_400_000;
  const now = 100 * day;
  const profile = resolveProfile(
    defineProfile({
      name: 'settled',
      description: 'The latest of what is a week old.',
      require: [{ passed: 'createdAt', by: 7 * day }],
      score: { op: 'decay', age: { op: 'age', of: 'createdAt' }, halfLife: 14 },
    }),
  );
  const old = { createdAt: now - 30 * day };
  // What was created a week ago scores as much, and no more.
  expect(neededChanges(profile, old, now, 2 ** -0.5)).toEqual([]);
  const [change] = neededChanges(profile, old, now, 2 ** -1);
  expect(change?.signal).toBe('createdAt');
  expect((now - change!.to) / day).toBeCloseTo(14, 3);
});

test('a moment is a whole number of milliseconds', () => {
  const profile = resolveProfile(
    defineProfile({
      name: 'young',
      description: 'The latest.',
      score: { op: 'decay', age: { op: 'age', of: 'updatedAt' }, halfLife: 7 },
    }),
  );
  const [change] = neededChanges(profile, { updatedAt: 0 }, 100 * 86_400_000, 0.3);
  expect(Number.isInteger(change?.to)).toBe(true);
});

test.each([
  ['of a moment a millisecond ago', { updatedAt: -1 }, 1e-12],
  ['of a moment a tenth of a second ago', { updatedAt: -100 }, 1e-10],
  ['of a value next to the greatest', { updatedAt: -1, importance: 1 - 2 ** -52 }, 0],
])('halving ends where no number lies in between: %s', (_, given, below) => {
  const now = Date.UTC(2026, 0, 1);
  let reads = 0;
  const signals: Signals = {
    importance: 1,
    ...given,
    updatedAt: now + given.updatedAt,
    // Read once a trial: what does not end would hold up the whole process.
    get confidence() {
      if (++reads > 10_000) throw new Error('it does not end');
      return 0.5;
    },
  };
  const profile = defineProfile({
    name: 'young',
    description: 'The latest of what matters.',
    score: {
      op: 'product',
      of: [
        { op: 'signal', name: 'importance' },
        { op: 'decay', age: { op: 'age', of: 'updatedAt' }, halfLife: 7 },
      ],
    },
  });
  const threshold = score(profile, signals, { now }) + below;
  const changes = neededChanges(resolveProfile(profile), signals, now, threshold);
  for (const { signal, to } of changes) {
    expect(score(profile, { ...signals, [signal]: to }, { now })).toBeGreaterThan(threshold);
  }
  expect(changes.map(({ signal }) => signal)).toContain('updatedAt');
});
