import { describe, expect, test } from 'vitest';
import { liveFading as live } from '../../testing/live-memory.ts';

describe('maintenance', () => {
  test('what is at its floor for a week becomes cold, by days and not by runs', async () => {
    const { memory, pass } = await live({ embedder: 'none' });
    await memory.rememberMany([
      { id: 'event', content: 'Saw a heron by the river', type: 'event', importance: 0 },
      { id: 'steps', content: 'How to fold a crane', type: 'procedure', importance: 0 },
    ]);
    for (let run = 0; run < 20; run++) expect((await memory.maintain()).cooled).toEqual([]);
    // S .1, B 1, β 45: e^(−t/4.5) reaches .02 after 17.6 days.
    pass(24);
    expect((await memory.maintain()).cooled).toEqual([]);
    pass(1);
    expect(await memory.maintain({ dryRun: true })).toMatchObject({ dryRun: true, cooled: ['event'] });
    expect((await memory.get('event'))?.tier).toBe('hot');
    expect((await memory.maintain()).cooled).toEqual(['event']);
    expect(await memory.get('event')).toMatchObject({ tier: 'cold', coldSince: '2026-01-26T00:00:00.000Z' });
    expect((await memory.maintain()).cooled).toEqual([]);
    expect((await memory.recall('heron')).hits).toEqual([]);
    expect((await memory.recall('heron river', { deep: true })).hits[0]).toMatchObject({
      viaDeepRecall: true,
    });
    pass(179);
    expect((await memory.maintain()).archived).toEqual([]);
    pass(1);
    expect((await memory.maintain()).archived).toEqual(['event']);
    expect(await memory.get('event')).toMatchObject({
      tier: 'stub',
      content: '[archived] Saw a heron by the river',
    });
    expect((await memory.recall('heron', { deep: true })).hits.map((hit) => hit.memory.id)).not.toContain(
      'event',
    );
    expect((await memory.history('event')).at(-1)?.before?.content).toBe('Saw a heron by the river');
    await memory.undo();
    expect(await memory.get('event')).toMatchObject({ tier: 'cold', content: 'Saw a heron by the river' });
  });

  test('what has expired is forgotten, core memories excepted', async () => {
    const { memory, space, clock, pass } = await live();
    await memory.remember('The wifi password is swordfish', { id: 'wifi', expiresAt: '2026-01-10' });
    await memory.remember('The spare key is in the cellar', { id: 'core', expiresAt: '2026-01-10' });
    const [core] = await space.get(['core']);
    await space.write({ verb: 'maintain', at: clock.now() }, async () => ({
      changes: [{ kind: 'replace', memory: { ...core!, core: true } }],
      result: undefined,
    }));
    pass(8);
    expect((await memory.maintain()).expired).toEqual([]);
    pass(1);
    expect((await memory.maintain()).expired).toEqual(['wifi']);
    expect(await memory.get('wifi')).toBeUndefined();
    pass(400);
    expect(await memory.maintain()).toMatchObject({ expired: [], cooled: [] });
    expect(await memory.get('core')).toMatchObject({ tier: 'hot' });
    expect((await memory.history('wifi')).every(({ redacted }) => redacted)).toBe(true);
  });

  test('a dry run names everything that expiry will erase, with what was made from it', async () => {
    const { memory, pass } = await live({ embedder: 'none' });
    await memory.remember('The voucher is worth ten euros', { id: 'removed' });
    await memory.undo();
    const { sessionId } = await memory.startSession();
    await memory.remember('The voucher is worth ten euros', { id: 'voucher', sessionId, ttl: '7d' });
    await memory.remember('The shop opens at nine', { id: 'shop', sessionId });
    pass(2);
    await memory.startSession();
    const [summary] = (await memory.list({ types: ['summary'] })).memories;
    pass(6);
    const { expired } = await memory.maintain({ dryRun: true });
    expect([...expired].sort()).toEqual([summary!.id, 'removed', 'voucher'].sort());
    expect(await memory.get(summary!.id)).toBeDefined();
    expect((await memory.maintain()).expired).toEqual(expired);
    expect(await memory.get(summary!.id)).toBeUndefined();
  });

  test('consolidates five similar faded memories on request, and undo reverts it', async () => {
    const { memory, pass } = await live();
    const visits = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'].map((weekday, at) => ({
      id: `visit${at}`,
      content: `Went for a long run along the river on ${weekday}`,
      type: 'event',
      importance: 0.2 + at / 100,
    }));
    await memory.rememberMany([
      ...visits,
      { id: 'other', content: 'The tax return is due in May', type: 'event' },
    ]);
    pass(20);
    expect((await memory.maintain()).consolidated).toEqual([]);
    expect((await memory.maintain({ consolidate: true, dryRun: true })).consolidated).toHaveLength(1);
    const { consolidated } = await memory.maintain({ consolidate: true });
    expect(consolidated).toHaveLength(1);
    const consolidation = await memory.get(consolidated[0]!.id!);
    expect(consolidation).toMatchObject({
      type: 'event',
      source: 'consolidated',
      importance: expect.closeTo(0.24, 12),
      tier: 'hot',
    });
    for (const { id, content } of visits) {
      expect(consolidation?.content).toContain(content);
      expect((await memory.get(id))?.tier).toBe('cold');
      expect(await memory.links(id)).toContainEqual(
        expect.objectContaining({ id: consolidation?.id, kind: 'consolidation', weight: 0.8 }),
      );
    }
    expect((await memory.maintain({ consolidate: true })).consolidated).toEqual([]);
    // Deep recall finds the originals although they are cold.
    const deep = await memory.recall('run on Wednesday', { deep: true, strategy: 'lexical' });
    expect(deep.hits.map((hit) => hit.memory.id)).toContain('visit2');
    expect(await memory.get('visit2')).toMatchObject({
      coldSince: '2026-01-21T00:00:00.000Z',
      consolidatedAt: '2026-01-21T00:00:00.000Z',
    });
    await memory.undo();
    expect(await memory.get(consolidation!.id)).toBeUndefined();
    expect(await memory.get('visit2')).toMatchObject({
      tier: 'hot',
      coldSince: undefined,
      consolidatedAt: undefined,
    });
    expect((await memory.links('visit2')).filter(({ kind }) => kind === 'consolidation')).toEqual([]);
  });

  test('what is consolidated is as important as the most important, whoever judged the others', async () => {
    const { memory, pass } = await live();
    const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'];
    await memory.rememberMany(
      weekdays.map((weekday, at) => ({
        id: `visit${at}`,
        content: `Went for a long run along the river on ${weekday}`,
        type: 'event',
        importance: at === 3 ? 0.9 : 0.2,
      })),
    );
    await memory.setImportance('visit0', 0.1);
    pass(20);
    const { consolidated } = await memory.maintain({
      consolidate: weekdays.map((_, at) => `visit${at}`),
      fade: false,
    });
    expect(await memory.get(consolidated[0]!.id!)).toMatchObject({
      importance: 0.9,
      importanceSource: 'caller',
    });
  });

  test.each(['builtin', 'none'] as const)(
    'refuses ids to consolidate that do not exist, with embedder %s, and changes nothing',
    async (embedder) => {
      const { memory, pass } = await live({ embedder });
      await memory.remember('Saw a heron by the river', { id: 'event', type: 'event', importance: 0 });
      pass(24);
      await memory.maintain();
      pass(1);
      for (const dryRun of [true, false]) {
        await expect(
          memory.maintain({ consolidate: ['event', 'lost', 'gone'], dryRun }),
        ).rejects.toMatchObject({
          code: 'not_found',
          message: 'memories "lost", "gone" do not exist in space "default"; nothing was changed',
          details: { ids: ['lost', 'gone'] },
        });
      }
      await expect(memory.maintain({ consolidate: ['lost'] })).rejects.toThrow(
        'memory "lost" does not exist in space "default"',
      );
      expect((await memory.get('event'))?.tier).toBe('hot');
      expect((await memory.maintain({ consolidate: ['event'] })).cooled).toEqual(['event']);
    },
  );
});
