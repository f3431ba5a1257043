import { describe, expect, test } from 'vitest';
import type { MemoryRecord } from '../../domain/memory.ts';
import type { Link, NewUsage } from '../../store/store.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';
import { sampleIndexed, sampleMemory } from '../../testing/sample-memory.ts';
import { decideUse, reinforced } from './reinforce.ts';

const day = 86_400_000;
const created = Date.UTC(2026, 0, 1);
const at = created + 7 * day;
const use = { at, direct: true, sessionId: undefined };
const memory = sampleMemory({ id: 'm', createdAt: created, stability: 0.25 });

describe('a memory after it was returned', () => {
  test.each([
    ['at once', 0, 0],
    ['after half a week', 3.5, 0.05],
    ['after a week', 7, 0.1],
    ['after two weeks', 14, 0.2],
    ['after longer: no more than after two', 15, 0.2],
  ])('gains by its spacing: %s', (_, days, gain) => {
    const after = reinforced(memory, { ...use, at: created + days * day });
    expect(after.stability).toBeCloseTo(0.25 + gain, 12);
    expect(after).toMatchObject({ accessCount: 1, lastAccessedAt: created + days * day });
  });

  test('counts its spacing from the last access, gains less as an associate, and never passes 1', () => {
    const seen = { ...memory, lastAccessedAt: at - 3.5 * day };
    expect(reinforced(seen, use).stability).toBeCloseTo(0.3, 12);
    expect(reinforced(memory, { ...use, direct: false }).stability).toBeCloseTo(0.28, 12);
    expect(reinforced({ ...memory, stability: 0.95 }, use).stability).toBe(1);
    expect(reinforced({ ...memory, stability: 0.95 }, use, { ...rates, direct: 0.5 }).stability).toBe(1);
  });

  test('is hot again, but for a stub, whose text is gone', () => {
    expect(reinforced({ ...memory, tier: 'cold', coldSince: created }, use).tier).toBe('hot');
    expect(reinforced({ ...memory, tier: 'stub' }, use).tier).toBe('stub');
  });

  test('knows the sessions that used it, each once', () => {
    const once = reinforced(memory, { ...use, sessionId: 's1' });
    expect(once.sessions).toEqual(['s1']);
    expect(reinforced(once, { ...use, sessionId: 's1' }).sessions).toEqual(['s1']);
    expect(reinforced(once, { ...use, sessionId: 's2' }).sessions).toEqual(['s1', 's2']);
    expect(reinforced(once, use).sessions).toEqual(['s1']);
  });

  test('keeps its last access when the clock was set back', () => {
    const later = { ...memory, lastAccessedAt: at + day };
    expect(reinforced(later, use)).toMatchObject({
      accessCount: 1,
      lastAccessedAt: at + day,
      stability: 0.25,
    });
  });

  test('is warm again, unless it was consolidated into another one', () => {
    const cold = { ...memory, tier: 'cold', coldSince: created } as const;
    expect(reinforced(cold, use)).toMatchObject({ tier: 'hot', coldSince: undefined });
    expect(reinforced({ ...cold, consolidatedAt: created }, use)).toMatchObject({
      tier: 'cold',
      coldSince: created,
    });
  });

  const proved = { ...memory, accessCount: 9, stability: 0.75, sessions: ['s1', 's2', 's3'] };
  const rates = {
    direct: 0.1,
    associative: 0.03,
    link: 0.1,
    coreAccessCount: 10,
    coreStability: 0.85,
    coreSessions: 3,
  };
  test.each([
    ['ten uses, .85 and three sessions are enough', proved, true],
    ['nine uses are not', { ...proved, accessCount: 8 }, false],
    ['less than .85 is not', { ...proved, stability: 0.7499 }, false],
    ['two sessions are not', { ...proved, sessions: ['s1', 's2'] }, false],
    ['what is core stays core', { ...memory, core: true }, true],
  ])('is core once it has proved itself: %s', (_, before, core) => {
    expect(reinforced(before, use).core).toBe(core);
  });
});

describe('what one use makes of the memories as they are now', () => {
  const usage: NewUsage = {
    at,
    strategy: 'retention',
    effect: 'reinforce',
    queryHash: 'hash',
    sessionId: 's1',
    used: [
      { id: 'b', direct: true },
      { id: 'gone', direct: true },
      { id: 'a', direct: true },
      { id: 'c', direct: false },
    ],
  };

  async function decide(
    given: Partial<NewUsage>,
    links: readonly Link[] = [],
    dynamics: Partial<MemoryRecord> = {},
  ) {
    await using store = createReferenceStore();
    const space = await store.openSpace('alice');
    await space.write({ verb: 'remember', at: created }, async () => ({
      changes: ['a', 'b', 'c'].map((id) => {
        const each = sampleMemory({ id, createdAt: created, stability: 0.25, ...dynamics });
        return { kind: 'insert', memory: each, indexed: sampleIndexed(each) } as const;
      }),
      result: undefined,
    }));
    if (links.length > 0) {
      await space.write({ verb: 'link', at: created }, async () => ({
        changes: links.map((link) => ({ kind: 'link', link }) as const),
        result: undefined,
      }));
    }
    return await decideUse(space, { ...usage, ...given });
  }

  test('counting counts and touching touches: nothing else, and no links', async () => {
    const counted = await decide({ effect: 'count' });
    expect(counted.memories.map(({ id }) => id)).toEqual(['b', 'a', 'c']);
    for (const each of counted.memories) {
      expect(each).toMatchObject({
        accessCount: 1,
        lastAccessedAt: undefined,
        stability: 0.25,
        sessions: [],
      });
    }
    const touched = await decide({ effect: 'touch' });
    expect(touched.memories).toHaveLength(3);
    for (const each of touched.memories) {
      expect(each).toMatchObject({ accessCount: 0, lastAccessedAt: at, stability: 0.25, sessions: [] });
    }
    expect([counted.links, touched.links]).toEqual([[], []]);
  });

  test('a clock that was set back moves no access and no link back', async () => {
    for (const effect of ['touch', 'reinforce'] as const) {
      const { memories } = await decide({ effect }, [], { lastAccessedAt: at + day });
      expect(memories.map(({ lastAccessedAt }) => lastAccessedAt)).toEqual([at + day, at + day, at + day]);
    }
    const later: Link = { ids: ['a', 'b'], kind: 'co-retrieval', weight: 0.5, at: at + day };
    expect((await decide({}, [later])).links).toEqual([{ ...later, weight: 0.6 }]);
  });

  test('direct hits and associates are reinforced by their own rates, even if others between them are gone', async () => {
    const { memories } = await decide({});
    const stabilities = new Map(memories.map(({ id, stability }) => [id, stability]));
    expect([...stabilities.keys()]).toEqual(['b', 'a', 'c']);
    expect(stabilities.get('a')).toBeCloseTo(0.35, 12);
    expect(stabilities.get('b')).toBeCloseTo(0.35, 12);
    expect(stabilities.get('c')).toBeCloseTo(0.28, 12);
    for (const { sessions } of memories) expect(sessions).toEqual(['s1']);
  });

  test('each pair of direct hits is linked, and no associate', async () => {
    const { links } = await decide({});
    expect(links).toEqual([{ ids: ['a', 'b'], kind: 'co-retrieval', weight: 0.1, at }]);
  });

  test('a link grows from what is left of it, up to 1; links of other kinds do not count', async () => {
    const old = (weight: number, kind: Link['kind'] = 'co-retrieval'): Link => ({
      ids: ['a', 'b'],
      kind,
      weight,
      at: at - 90 * day,
    });
    expect((await decide({}, [old(0.5)])).links[0]?.weight).toBeCloseTo(0.5 / Math.E + 0.1, 12);
    expect((await decide({}, [{ ...old(0.95), at }])).links[0]?.weight).toBe(1);
    expect((await decide({}, [old(0.9, 'stated')])).links[0]?.weight).toBe(0.1);
  });
});
