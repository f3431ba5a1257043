import { describe, expect, it } from 'vitest';
import { MILLISECONDS_PER_DAY } from '../../domain/time.ts';
import { openMemory } from '../../index.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';

const opened = { path: ':memory:', space: 'alice', embedder: 'none' } as const;

describe('curve', () => {
  it('falls from now to the end, by at most 100 steps', async () => {
    const clock = createFakeClock();
    await using memory = await openMemory({ ...opened, clock: clock.now });
    const { id } = await memory.remember('tea', { importance: 0.2 });
    const { points, fading, coldAt } = await memory.curve(id);
    expect(points).toHaveLength(101);
    expect(Date.parse(points[0]!.at)).toBe(clock.now());
    expect(Date.parse(points[100]!.at) - clock.now()).toBe(365 * MILLISECONDS_PER_DAY);
    expect(points[0]!.retention).toBeCloseTo(1, 10);
    for (const [at, { retention }] of points.entries()) {
      expect(retention).toBeLessThanOrEqual(points[Math.max(0, at - 1)]!.retention);
    }
    expect([fading, coldAt]).toEqual(['off', undefined]);
    expect((await memory.curve(id, { days: 3 })).points).toHaveLength(4);
    for (const days of [0, 3651, 1.5])
      await expect(memory.curve(id, { days })).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(memory.curve('nobody')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('ends with the last moment that there is', async () => {
    const now = new Date('9999-12-30T12:00:00.000Z');
    await using memory = await openMemory({ ...opened, fading: { mode: 'retention' } });
    const { id } = await memory.remember('tea', { importance: 0.1, now });
    const { points, coldAt } = await memory.curve(id, { days: 3, now });
    expect(points.map(({ at }) => at)).toEqual(['9999-12-30T12:00:00.000Z', '9999-12-31T12:00:00.000Z']);
    expect(coldAt).toBeUndefined();
    // It would be cold after that.
    expect((await memory.curve(id, { days: 3650, now })).coldAt).toBeUndefined();
  });

  it.each(['exponential', 'power'] as const)(
    'says the day on which maintenance makes it cold: %s',
    async (curve) => {
      const clock = createFakeClock();
      await using memory = await openMemory({
        ...opened,
        clock: clock.now,
        fading: { mode: 'retention', curve },
      });
      const { id } = await memory.remember('tea', { importance: 0.1 });
      const found = await memory.curve(id, { days: 3650 });
      expect(found.curve).toBe(curve);
      const coldAt = Date.parse(found.coldAt!);
      const before = await memory.maintain({ now: new Date(coldAt - MILLISECONDS_PER_DAY), dryRun: true });
      expect(before.cooled).toEqual([]);
      expect((await memory.maintain({ now: new Date(coldAt) })).cooled).toEqual([id]);
      expect((await memory.curve(id, { now: new Date(coldAt) })).coldAt).toBeUndefined();
    },
  );
});
