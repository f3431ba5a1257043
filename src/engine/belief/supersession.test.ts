import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SpaceReader } from '../../store/store.ts';
import { day, live } from '../../testing/live-memory.ts';
import { sampleMemory } from '../../testing/sample-memory.ts';
import { expectCode } from '../../testing/store-contract/harness.ts';
import type { MemoryEngine } from '../memory-engine.ts';
import type { RecallOptions } from '../types.ts';
import { checkSupersession } from './supersession.ts';

const plain = { embedder: 'none' } as const;

async function found(memory: MemoryEngine, options: RecallOptions = {}): Promise<readonly string[]> {
  const { hits } = await memory.recall('Anna lives', { strategy: 'bm25', limit: 100, ...options });
  return hits.map((hit) => hit.memory.id).toSorted();
}

/** Berlin, then Paris, then Rome. */
async function movedTwice() {
  const lived = await live(plain);
  const { memory, pass } = lived;
  await memory.remember('Anna lives in Berlin', { id: 'berlin' });
  pass(1);
  await memory.remember('Anna lives in Paris', { id: 'paris', supersedes: 'berlin' });
  pass(1);
  await memory.remember('Anna lives in Rome', { id: 'rome', supersedes: ['paris'] });
  return lived;
}

describe('what is believed', () => {
  test('a chain shows its newest memory; a deep recall returns the older ones at half their score', async () => {
    const { memory } = await movedTwice();
    expect(await found(memory)).toEqual(['rome']);
    const deep = await memory.recall('Anna lives', { strategy: 'bm25', deep: true });
    const full = await memory.recall('Anna lives', { strategy: 'bm25', deep: true, deepRecallPenalty: 1 });
    expect(deep.hits).toHaveLength(3);
    for (const { memory: each, score, viaDeepRecall } of deep.hits) {
      const whole = full.hits.find((hit) => hit.memory.id === each.id)?.score.value as number;
      expect(score.value).toBe(each.id === 'rome' ? whole : whole / 2);
      expect(viaDeepRecall).toBe(each.id !== 'rome');
    }
    const { outcome, message } = await memory.whyNot('berlin', { query: 'Anna lives', strategy: 'bm25' });
    expect(outcome).toBe('excluded');
    expect(message).toContain('supersedes it');
  });

  test('a memory inherits the importance of those that it supersedes, by every way of superseding', async () => {
    const { memory } = await live(plain);
    await memory.remember('Anna is allergic to nuts', { id: 'old', importance: 0.9 });
    await memory.remember('Anna is allergic to nuts and eggs', {
      id: 'new',
      supersedes: 'old',
      importance: 0.2,
    });
    expect(await memory.get('new')).toMatchObject({ importance: 0.9, stability: 0.1 + 0.3 * 0.9 });
    await memory.rememberMany([
      { id: 'first', content: 'The code is 1', importance: 0.8 },
      { id: 'second', content: 'The code is 2' },
    ]);
    await memory.remember('The code is 2', { supersedes: 'first' });
    expect((await memory.get('second'))?.importance).toBe(0.8);
    await memory.remember('Anna is allergic to nothing', { id: 'last', supersedes: ['new'] });
    expect((await memory.get('last'))?.importance).toBe(0.9);
    await memory.setImportance('last', 0.3);
    await memory.remember('Anna is allergic to nothing', { supersedes: ['first'] });
    expect((await memory.get('last'))?.importance).toBe(0.3);
  });

  test('each scope sees what is visible there, whatever was recalled before', async () => {
    const { memory } = await live(plain);
    await memory.remember('Anna lives in Berlin', { id: 'all' });
    await memory.remember('Anna lives in Paris', { id: 'a', scope: 'project:a', supersedes: 'all' });
    await memory.remember('Anna lives in Rome', { id: 'b', scope: 'project:b', supersedes: 'all' });
    for (let round = 0; round < 2; round++) {
      expect(await found(memory, { scope: 'global' })).toEqual(['all']);
      expect(await found(memory, { scope: 'project:a' })).toEqual(['a']);
      expect(await found(memory, { scope: 'project:b' })).toEqual(['b']);
      expect(await found(memory, { scope: 'project:c' })).toEqual(['all']);
      expect(await found(memory)).toEqual(['a', 'b']);
    }
  });

  test('the older memory is believed again once the newer one expires, is invalidated or forgotten', async () => {
    const { memory, pass } = await live(plain);
    await memory.remember('Anna lives in Berlin', { id: 'old' });
    await memory.remember('Anna lives in Paris', { id: 'visit', supersedes: 'old', ttl: '7d' });
    expect(await found(memory)).toEqual(['visit']);
    pass(7);
    expect(await found(memory)).toEqual(['old']);
    await memory.remember('Anna lives in Rome', { id: 'rumour', supersedes: 'old' });
    expect(await found(memory)).toEqual(['rumour']);
    await memory.invalidate('rumour', 'only a rumour');
    expect(await found(memory)).toEqual(['old']);
    await memory.reinstate('rumour');
    expect(await found(memory)).toEqual(['rumour']);
    await memory.forget('rumour');
    expect(await found(memory)).toEqual(['old']);
    await memory.remember('Anna lives in Oslo', { supersedes: 'old' });
    await memory.undo();
    expect(await found(memory)).toEqual(['old']);
  });

  test('forgetting the middle of a chain leaves no gap; the error says that this cannot be undone', async () => {
    const { memory } = await movedTwice();
    await memory.forget('paris');
    expect(await found(memory)).toEqual(['rome']);
    expect((await memory.get('rome'))?.supersedes).toEqual(['berlin']);
    const [made] = (await memory.history('rome')).filter(({ memoryId }) => memoryId === 'rome');
    const error = await expectCode(memory.undo({ operation: made?.operation }), 'cannot_undo');
    expect(error.message).toContain('forgot another memory');
    await memory.forget('rome');
    expect(await found(memory)).toEqual(['berlin']);
  });

  test('expiry leaves no gap either, however many memories expire at once', async () => {
    const { memory, pass } = await live(plain);
    const count = 400;
    // A ladder: each step supersedes both of the step below, so that there are 2^200 ways down.
    await memory.rememberMany(
      Array.from({ length: count }, (_, at) => ({
        id: `m${at}`,
        content: `Anna lives in house ${at}`,
        supersedes: at < 2 ? [] : at % 2 === 0 ? [`m${at - 2}`, `m${at - 1}`] : [`m${at - 3}`, `m${at - 2}`],
        ...(at >= 2 && at < count - 2 ? { expiresAt: '2026-01-03' } : {}),
      })),
    );
    pass(3);
    const { expired } = await memory.maintain();
    expect(expired).toHaveLength(count - 4);
    expect(await found(memory)).toEqual([`m${count - 2}`, `m${count - 1}`]);
    expect((await memory.get(`m${count - 1}`))?.supersedes.toSorted()).toEqual(['m0', 'm1']);
  });
});

describe('what may not supersede', () => {
  test('an unknown id, one of another space, and the memory itself; nothing is written then', async () => {
    const { memory } = await movedTwice();
    const before = await memory.stats();
    const other = await live({ ...plain, space: 'bob' });
    await other.memory.remember('Anna lives in Bonn', { id: 'bonn' });
    await expectCode(memory.remember('Anna lives in Bern', { supersedes: 'bonn' }), 'not_found');
    await expectCode(memory.remember('Anna lives in Bern', { supersedes: ['rome', 'x'] }), 'not_found');
    await expectCode(
      memory.remember('Anna lives in Bern', { id: 'me', supersedes: 'me' }),
      'invalid_argument',
    );
    const many = await expectCode(
      memory.rememberMany([
        { content: 'Anna lives in Rome' },
        { content: 'Anna lives in Bern', supersedes: 'x' },
      ]),
      'not_found',
    );
    expect(many.message).toMatch(/^memory 2 of 2: memory "x" does not exist/);
    expect(many.details).toMatchObject({ id: 'x', index: 1 });
    expect(await memory.stats()).toEqual(before);
  });

  test('is refused before anything is embedded', async () => {
    let asked = 0;
    const embed = async (texts: readonly string[]) => {
      asked++;
      return texts.map(() => Float32Array.of(1, 0));
    };
    const calibration = { floor: 0.2, ceiling: 0.9, minRelevance: 0.2 };
    const thresholds = { conflict: 0.75, birthLink: 0.4, consolidation: 0.7, similarPair: 0.85 };
    const { memory } = await live({
      embedder: { model: 'counts', dimensions: 2, calibration, thresholds, embed },
    });
    await memory.remember('Anna lives in Berlin', { id: 'a' });
    const before = asked;
    await expectCode(memory.remember('Anna lives in Bern', { supersedes: 'x' }), 'not_found');
    const a = await memory.get('a');
    const circle = { ...(a as NonNullable<typeof a>), id: 'b', supersedes: ['b'] };
    await expectCode(memory.importMemories([circle]), 'invalid_argument');
    expect(asked).toBe(before);
  });

  test('a cycle: by a known statement, within a batch, by a restored export, by a resolved conflict', async () => {
    const { memory, space, clock } = await movedTwice();
    const before = await memory.stats();
    // Said again, Berlin would take the place of what took its place. It is superseded, and so a new statement.
    const again = await memory.remember('Anna lives in Berlin', { supersedes: 'rome' });
    expect(again.outcome).toBe('created');
    expect(await found(memory)).toEqual([again.id]);
    await memory.undo();
    // Rome itself is known word for word.
    const below = memory.remember('Anna lives in Rome', { supersedes: 'rome' });
    expect(await below).toMatchObject({ id: 'rome', outcome: 'deduplicated' });
    await expectCode(
      memory.rememberMany([
        { id: 'x', content: 'one', supersedes: 'y' },
        { id: 'y', content: 'two', supersedes: ['z', 'rome'] },
        { id: 'z', content: 'three', supersedes: 'x' },
      ]),
      'invalid_argument',
    );
    const exported = await memory.list();
    const copy = await live(plain);
    const cyclic = exported.memories.map((each) =>
      each.id === 'berlin' ? { ...each, supersedes: ['rome'] } : each,
    );
    await expectCode(copy.memory.importMemories(cyclic), 'invalid_argument');
    expect((await copy.memory.stats()).memories).toBe(0);
    // An export may lack what a memory superseded.
    await copy.memory.importMemories(exported.memories.filter(({ id }) => id !== 'paris'));
    expect(await found(copy.memory)).toEqual(['berlin', 'rome']);
    await expectCode(
      copy.memory.remember('Anna lives in Nice', { id: 'paris', supersedes: 'rome' }),
      'invalid_argument',
    );
    await space.write({ verb: 'maintain', at: clock.now() }, async () => ({
      changes: [
        { kind: 'queue-pair', pair: { older: 'rome', newer: 'berlin', kind: 'update', similarity: 0.9 } },
      ],
      result: undefined,
    }));
    const [conflict] = await memory.conflicts();
    await expectCode(memory.resolve(conflict?.conflictId as string, 'supersede'), 'invalid_argument');
    expect(await memory.stats()).toMatchObject({ memories: before.memories, pendingPairs: 1 });
    expect(await found(memory)).toEqual(['rome']);
  });

  test('an undo that would restore a cycle is refused, and changes nothing', async () => {
    const { memory, space, clock } = await live(plain);
    await memory.remember('Anna lives in Berlin', { id: 'a' });
    await memory.remember('Anna lives somewhere', { id: 'o', scope: 'project:x' });
    await memory.remember('Anna lives in Paris', { id: 'b', scope: 'project:x', supersedes: 'a' });
    await space.write({ verb: 'maintain', at: clock.now() }, async () => ({
      changes: [{ kind: 'queue-pair', pair: { older: 'o', newer: 'b', kind: 'update', similarity: 0.9 } }],
      result: undefined,
    }));
    const [conflict] = await memory.conflicts();
    const b = await memory.get('b');
    await memory.resolve(conflict?.conflictId as string, 'update');
    const resolved = (await memory.history('o')).find(({ verb }) => verb === 'resolve');
    // Meanwhile b is gone, and what supersedes it comes from an export.
    await memory.importMemories([
      { ...(b as NonNullable<typeof b>), id: 'c', scope: 'global', supersedes: ['b'] },
    ]);
    expect(await memory.remember('Anna lives in Berlin', { supersedes: 'c' })).toMatchObject({
      id: 'a',
      outcome: 'updated',
    });
    const before = await memory.list();
    const error = await expectCode(memory.undo({ operation: resolved?.operation }), 'invalid_argument');
    expect(error.message).toContain('supersede itself');
    expect(await memory.list()).toEqual(before);
  });
});

describe('what may supersede what', () => {
  type Chains = Readonly<Record<string, readonly string[]>>;
  const memoriesOf = (chains: Chains) =>
    Object.entries(chains).map(([id, supersedes]) => sampleMemory({ id, supersedes: [...supersedes] }));

  /** What the check of `written` says, where these are stored, and how many memories it read. */
  async function checked(stored: Chains, written: Chains, lenient = false) {
    const all = memoriesOf(stored);
    let read = 0;
    const reader: Pick<SpaceReader, 'get' | 'find'> = {
      async get(ids) {
        read += ids.length;
        return ids.map((id) => all.find((memory) => memory.id === id));
      },
      async find(_, values) {
        const newer = all.filter(({ supersedes }) => supersedes.some((id) => values.includes(id)));
        read += newer.length;
        return newer;
      },
    };
    let refused: string | undefined;
    const failure = (error: unknown, at: number) => {
      refused = `${Object.keys(written)[at]}: ${(error as Error).message}`;
      return error;
    };
    await checkSupersession(reader as SpaceReader, memoriesOf(written), 'default', {
      lenient,
      failure,
    }).catch(() => undefined);
    return { refused, read };
  }

  /** The same by walking down from each, one after the other. */
  function naively(stored: Chains, written: Chains, lenient: boolean): string | undefined {
    const chains = { ...stored, ...written };
    for (const [id, below] of Object.entries(written)) {
      if (below.includes(id)) return `${id}: supersedes: memory "${id}" cannot supersede itself`;
      if (!lenient && below.some((each) => !(each in chains))) return `${id}: missing`;
      const reached = new Set(below);
      for (const each of reached) for (const next of chains[each] ?? []) reached.add(next);
      if (reached.has(id)) return `${id}: supersedes: memory "${id}" would supersede itself by a chain`;
    }
    return undefined;
  }

  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const below = fc.uniqueArray(fc.constantFrom(...ids), { maxLength: 2 });

  test('the first memory in a cycle, or with an unknown id, is refused, whichever of them are stored', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom(...ids), below),
        fc.dictionary(fc.constantFrom(...ids), below),
        fc.boolean(),
        async (drawn, written, lenient) => {
          // What is stored has no cycle of its own.
          const stored = Object.fromEntries(
            Object.entries(drawn).map(([id, older]) => [id, older.filter((each) => each > id)]),
          );
          const { refused } = await checked(stored, written, lenient);
          const expected = naively(stored, written, lenient);
          if (expected === undefined) expect(refused).toBeUndefined();
          else if (expected.endsWith('missing'))
            expect(refused).toMatch(new RegExp(`^${expected[0]}: memory .* does not exist`));
          else expect(refused?.startsWith(expected)).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('a long chain is read once for a whole batch, and not at all for memories that nothing supersedes', async () => {
    const chain = (from: number, to: number): Chains =>
      Object.fromEntries(
        Array.from({ length: to - from }, (_, at) => [
          `m${from + at}`,
          at + from === 0 ? [] : [`m${from + at - 1}`],
        ]),
      );
    const batch = await checked(chain(0, 300), chain(300, 600));
    expect(batch.refused).toBeUndefined();
    expect(batch.read).toBeLessThanOrEqual(2 * 600);
    const one = await checked(chain(0, 600), chain(600, 601));
    expect(one).toEqual({ refused: undefined, read: 1 });
  });
});

describe('how it is shown', () => {
  test('the effective weight of a superseded memory is at most 0.1; the stored one stays', async () => {
    const { memory, pass } = await live(plain);
    await memory.remember('Anna lives in Berlin', { id: 'old', weight: 0.7 });
    pass(1);
    await memory.remember('Anna lives in Paris', {
      id: 'new',
      supersedes: 'old',
      scope: 'project:a',
      validUntil: '2026-01-09',
    });
    const weights = async (scope?: string) => {
      const one = await memory.get('old', { scope });
      const { memories } = await memory.list({ scope });
      const listed = memories.find(({ id }) => id === 'old');
      expect(listed?.effectiveWeight).toBe(one?.effectiveWeight);
      expect([one?.weight, one?.updatedAt]).toEqual([0.7, '2026-01-01T00:00:00.000Z']);
      return one?.effectiveWeight;
    };
    expect(await weights()).toBe(0.1);
    expect(await weights('project:a')).toBe(0.1);
    expect(await weights('global')).toBe(0.7);
    expect((await memory.get('old', { asOf: { valid: '2026-01-01' } }))?.effectiveWeight).toBe(0.7);
    expect((await memory.get('old', { asOf: { valid: '2026-01-05' } }))?.effectiveWeight).toBe(0.1);
    expect((await memory.get('old', { asOf: { known: '2026-01-01' } }))?.effectiveWeight).toBe(0.7);
    pass(10);
    expect(await weights('project:a')).toBe(0.7);
    const light = await memory.remember('Anna lives in Oslo', { weight: 0.1, id: 'light' });
    await memory.remember('Anna lives in Bergen', { supersedes: light.id });
    expect((await memory.get('light'))?.effectiveWeight).toBe(0.1);
  });

  test('the history of one memory is that of its whole chain, oldest first', async () => {
    const { memory } = await movedTwice();
    await memory.update('berlin', { importance: 1 });
    for (const id of ['berlin', 'paris', 'rome']) {
      const history = await memory.history(id);
      expect(history.map(({ memoryId, verb }) => [memoryId, verb])).toEqual([
        ['berlin', 'remember'],
        ['paris', 'remember'],
        ['rome', 'remember'],
        ['berlin', 'update'],
      ]);
      expect(history[3]?.before).toMatchObject({ importance: 0.5, weight: 1, effectiveWeight: 0.1 });
    }
    expect(await memory.history('nothing')).toEqual([]);
  });

  test('beliefs about a topic: all memories, which are believed where, and why the others are not', async () => {
    const { memory, clock } = await live(plain);
    const about = { topicKey: 'home' };
    await memory.remember('Anna lives in Berlin', { id: 'berlin', ...about });
    clock.advance(1);
    await memory.remember('Anna lives in Paris', { id: 'paris', scope: 'project:a', supersedes: 'berlin' });
    clock.advance(1);
    await memory.remember('Anna lives in Rome', {
      id: 'rome',
      scope: 'project:b',
      supersedes: 'berlin',
      ...about,
    });
    clock.advance(1);
    await memory.remember('Anna lives in Oslo', {
      id: 'oslo',
      expiresAt: new Date(clock.now() + day),
      scope: 'project:c',
      ...about,
    });
    clock.advance(2 * day);
    const from = async (scope?: string) =>
      (await memory.beliefs('home', { scope })).map(({ memory: each, because, believed, supersededBy }) => {
        expect(believed).toBe(because === undefined);
        return [each.id, because, supersededBy];
      });
    expect(await from()).toEqual([
      ['berlin', 'superseded', ['paris', 'rome']],
      ['paris', undefined, []],
      ['rome', undefined, []],
      ['oslo', 'expired', []],
    ]);
    expect(await from('global')).toEqual([['berlin', undefined, []]]);
    // Nothing of a sibling is told, not even its id.
    expect(await from('project:a')).toEqual([
      ['berlin', 'superseded', ['paris']],
      ['paris', undefined, []],
    ]);
    expect(await memory.beliefs('nothing')).toEqual([]);
    await expectCode(memory.beliefs(' '), 'invalid_argument');
  });
});
