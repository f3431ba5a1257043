import { describe, expect, test } from 'vitest';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import { signalsOf } from '../../scoring/signals.ts';
import type { SimilarPair, SpaceReader } from '../../store/store.ts';
import { sampleMemory } from '../../testing/sample-memory.ts';
import { strategyOf } from './strategy.ts';
import { possibleUpdates } from './updates.ts';

const now = Date.UTC(2026, 0, 1);
const profile = resolveProfile(builtinProfile('hybrid'));
const settings = strategyOf(builtinProfile('hybrid')).association!;

const hit = (id: string, conflict: number) => {
  const memory = sampleMemory({ id });
  return {
    memory,
    signals: { ...signalsOf(memory), superseded: false, conflict, similarity: 0.8, lexical: 0.6 },
  };
};
const pair = (older: string, newer: string, fields: Partial<SimilarPair> = {}): SimilarPair => ({
  older,
  newer,
  attempts: 0,
  kind: 'update',
  similarity: 0.9,
  sequence: 1,
  at: now,
  resolution: undefined,
  ...fields,
});

/** A store that knows these pairs, and which ids it was asked for. */
function knowing(pairs: readonly SimilarPair[]) {
  const asked: (readonly string[])[] = [];
  const reader = {
    async knownPairs(ids: readonly string[]) {
      asked.push(ids);
      return pairs;
    },
  } as unknown as SpaceReader;
  return { reader, asked };
}

describe('what may be an update of a direct hit', () => {
  test('are the pairs that wait to be judged, with the score of the older memory without the conflict', async () => {
    const { reader, asked } = knowing([
      pair('old', 'new', { similarity: 0.7 }),
      pair('old', 'other', { kind: 'similar' }),
      pair('old', 'judged', { resolution: 'keep-both' }),
      pair('elsewhere', 'newer'),
    ]);
    const found = await possibleUpdates(
      reader,
      [hit('old', 0.7), hit('calm', 0)],
      { profile, now },
      settings,
    );
    const [calm] = await possibleUpdates(
      knowing([pair('calm', 'new')]).reader,
      [hit('calm', 1e-9)],
      { profile, now },
      settings,
    );
    expect(found).toEqual([{ newer: 'new', older: 'old', similarity: 0.7, score: calm!.score }]);
    expect(asked).toEqual([['old']]);
  });

  test('nothing is read where no hit has a conflict, nor by a strategy without propagation', async () => {
    const { reader, asked } = knowing([pair('old', 'new')]);
    expect(await possibleUpdates(reader, [hit('old', 0)], { profile, now }, settings)).toEqual([]);
    const contradicted = [hit('old', 0.5)];
    const still = { ...settings, updateRise: 0 };
    expect(await possibleUpdates(reader, contradicted, { profile, now }, still)).toEqual([]);
    const retention = strategyOf(builtinProfile('retention')).association!;
    expect(await possibleUpdates(reader, contradicted, { profile, now }, retention)).toEqual([]);
    expect(asked).toEqual([]);
    expect(await possibleUpdates(reader, contradicted, { profile, now }, settings)).toHaveLength(1);
  });
});
