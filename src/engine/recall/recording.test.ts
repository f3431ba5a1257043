import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SalienceError } from '../../domain/errors.ts';
import { DEFAULT_SETTINGS } from '../../domain/settings.ts';
import { formatInstant } from '../../domain/time.ts';
import { openMemory } from '../../open.ts';
import type { Reranker } from '../../providers/reranker.ts';
import { withSearch } from '../../search/residence.ts';
import { overtaken } from '../../store/moment.ts';
import { coreOfState, keepSpace } from '../../store/state-space.ts';
import type { Store } from '../../store/store.ts';
import { createSqliteStore } from '../../stores/sqlite/index.ts';
import { day, live, liveOnDisk } from '../../testing/live-memory.ts';
import { arbitraryStep, attempt, type Step } from '../../testing/random-steps.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';
import { scaledRuns } from '../../testing/runs.ts';
import { expectCode, replace, write } from '../../testing/store-contract/harness.ts';
import type { MemoryEngine } from '../memory-engine.ts';

const on = { recordRecalls: { days: 30, texts: true } } as const;
const plain = { embedder: 'none' } as const;

async function tea(options: Parameters<typeof live>[0] = on) {
  const lived = await live({ ...plain, ...options });
  await lived.memory.rememberMany([
    { id: 'tea', content: 'Anna drinks green tea', tags: ['drink'] },
    { id: 'coffee', content: 'Ben drinks coffee' },
  ]);
  return lived;
}

const idOf = (answer: { readonly trace: { readonly recallId?: string | undefined } }): string => {
  if (answer.trace.recallId === undefined) throw new Error('it was not recorded');
  return answer.trace.recallId;
};

describe('what is recorded', () => {
  test('nothing by default, and the trace does not mention it', async () => {
    const { memory, space } = await tea({});
    const { trace } = await memory.recall('tea');
    expect(trace.recallId).toBeUndefined();
    expect(trace.stages.some(({ name }) => name === 'record')).toBe(false);
    expect(await space.recordings({ limit: 10 })).toEqual([]);
    expect(await memory.recalls()).toEqual([]);
  });

  test('one row per recall: the query, the options, the place in the log, and the hits', async () => {
    const { memory, clock } = await tea();
    const { hits, trace } = await memory.recall('green tea', {
      limit: 1,
      tags: ['drink'],
      sessionId: 's',
      now: '2026-05-01',
    });
    expect(trace.stages.at(-1)).toMatchObject({ name: 'record', survivors: 1 });
    expect(await memory.recalls()).toEqual([
      {
        recallId: trace.recallId,
        verb: 'recall',
        at: formatInstant(clock.now()),
        now: '2026-05-01T00:00:00.000Z',
        strategy: 'hybrid',
        profileHash: trace.profileHash,
        sessionId: 's',
        query: 'green tea',
        queryHash: expect.stringMatching(/^[0-9a-f]{16}$/),
        terms: 2,
        options: { limit: 1, tags: ['drink'], sessionId: 's' },
        hits: hits.map(({ memory: { id }, score }) => ({ id, score: score.value })),
        sequence: trace.sequence,
        usage: 0,
        completeness: 'exact',
        arms: trace.arms,
        durationMs: expect.any(Number),
        redacted: false,
      },
    ]);
  });

  test('without texts a hash and a count stand for the query, and no replay is possible', async () => {
    const { memory } = await tea({ recordRecalls: {} });
    const id = idOf(await memory.recall('green tea'));
    const [recorded] = await memory.recalls();
    expect(recorded).toMatchObject({ terms: 2, queryHash: expect.any(String) });
    expect(recorded?.query).toBeUndefined();
    const error = await expectCode(memory.replay(id), 'unsupported');
    expect(error.message).toContain('Set texts to true in the setting recordRecalls');
    // What took no query lacks nothing.
    const ambient = idOf(await memory.recall(undefined, { strategy: 'ambient' }));
    expect(await memory.replay(ambient)).toMatchObject({ equal: true, reasons: [] });
  });

  test('recalls with track: false are not recorded, nor those that must not or cannot be stored', async () => {
    const { memory, space } = await tea();
    await memory.recall('tea', { track: false });
    await memory.context('tea', { maxTokens: 100, track: false });
    await memory.explain('tea', { query: 'tea' });
    await memory.bootstrap();
    await memory.startSession();
    expect(await space.recordings({ limit: 10 })).toEqual([]);
    for (const [query, reason] of [
      ['<private>her PIN</private> tea', /private part/],
      // Six characters of JSON each.
      [`tea ${'\u0001'.repeat(11_000)}`, /take \d+ characters as JSON; at most 65536/],
    ] as const) {
      const { hits, trace } = await memory.recall(query);
      expect(hits).not.toEqual([]);
      expect(trace.recallId).toBeUndefined();
      expect(trace.stages.at(-1)).toMatchObject({
        name: 'record',
        survivors: 0,
        reason: expect.stringMatching(reason),
      });
    }
    await memory.rememberMany(Array.from({ length: 1001 }, (_, at) => ({ content: `milk number ${at}` })));
    const many = (limit: number) => memory.recall('milk', { strategy: 'bm25', limit });
    expect((await many(1000)).trace.recallId).toBeDefined();
    expect((await many(1001)).trace.stages.at(-1)?.reason).toMatch(/^1001 hits are more than the 1000/);
  });

  test('a recall that cannot be recorded answers all the same, and says so', async () => {
    const inner = createReferenceStore();
    const record = async () => {
      throw new Error('the disk is full');
    };
    const store: typeof inner = {
      ...inner,
      openSpace: async (name, options) => ({ ...(await inner.openSpace(name, options)), record }),
    };
    const { memory } = await tea({ ...on, store });
    const { hits, trace } = await memory.recall('tea');
    expect(hits.map(({ memory: { id } }) => id)).toContain('tea');
    expect(trace.recallId).toBeUndefined();
    expect(trace.stages.at(-1)).toMatchObject({ name: 'record', survivors: 0, reason: 'the disk is full' });
    await store.close();
  });

  test('a space that is open for reading says that it could not', async () => {
    const { memory, reopen, cleanUp } = await liveOnDisk({ ...plain, ...on });
    try {
      await memory.remember('Anna drinks tea', { id: 'tea' });
      const reader = await reopen({ readOnly: true, recordRecalls: undefined });
      const { trace } = await reader.recall('tea');
      expect(trace.stages.at(-1)).toMatchObject({ reason: 'the space is open for reading only' });
      await reader.close();
      await memory.close();
    } finally {
      await cleanUp();
    }
  });
});

describe('a recall that was overtaken while it read', () => {
  test('is recorded with the place that its last attempt read at', async () => {
    const kept = keepSpace('default', { ...DEFAULT_SETTINGS, ...on });
    const core = coreOfState(kept);
    let overtakenBy: (() => Promise<void>) | undefined;
    const space = withSearch({
      ...core,
      snapshot: (work) =>
        core.snapshot(async (rows) => {
          const result = await work(rows);
          const overtaking = overtakenBy;
          if (!overtaking) return result;
          overtakenBy = undefined;
          await overtaking();
          throw overtaken('default');
        }),
    });
    const store: Store = { ...createReferenceStore(), openSpace: async () => space };
    const { memory } = await tea({ ...on, store });
    for (const asOf of [undefined, { known: '2030-01-01' }]) {
      const writer = withSearch(core);
      const [told] = await writer.get(['tea']);
      if (!told) throw new Error('tea is not there');
      overtakenBy = () => write(writer, [replace({ ...told, content: 'Anna drinks black tea' })], {}, {});
      const { trace } = await memory.recall('tea', { asOf });
      expect(overtakenBy).toBeUndefined();
      expect(trace.stages.at(-1)).toMatchObject({ name: 'record', survivors: 1 });
      const [recorded] = await memory.recalls({ limit: 1 });
      expect(recorded?.sequence).toBe((await writer.place()).sequence);
      expect(await memory.replay(idOf({ trace }))).toMatchObject({ equal: true, reasons: [] });
      const [recording] = await space.recordings({ limit: 1 });
      expect(recording?.details).toMatchObject({ moved: false });
    }
  });
});

describe('how long it is kept', () => {
  test('as many days as the setting says, to the instant; maintenance removes the rest', async () => {
    const { memory, space, clock } = await tea({ recordRecalls: { days: 2 } });
    await memory.recall('tea');
    clock.advance(2 * day);
    await memory.recall('tea');
    expect(await memory.recalls()).toHaveLength(2);
    clock.advance(1);
    expect((await memory.recalls()).map(({ recallId }) => recallId)).toEqual(['2']);
    await expectCode(memory.replay('1'), 'not_found');
    await memory.maintain({ dryRun: true });
    expect(await space.recordings({ limit: 10 })).toHaveLength(2);
    await memory.maintain();
    expect(await space.recordings({ limit: 10 })).toHaveLength(1);
  });

  test('never more than a new setting allows, also one that undo brings back', async () => {
    const { memory, space, clock } = await tea({});
    const count = async () => (await space.recordings({ limit: 10 })).length;
    await memory.configure(on);
    await memory.recall('tea');
    await memory.undo();
    expect((await memory.configure()).recordRecalls).toBe('off');
    expect(await count()).toBe(0);
    await memory.configure(on);
    await memory.recall('tea');
    clock.advance(3 * day);
    await memory.recall('coffee');
    await memory.configure({ recordRecalls: { days: 2, texts: true } });
    expect((await memory.recalls()).map(({ query }) => query)).toEqual(['coffee']);
    await memory.configure({ fading: 'retention' });
    expect(await count()).toBe(1);
    await memory.configure({ recordRecalls: 'off' });
    expect(await count()).toBe(0);
  });

  test('is removed by the same call again, where the first one failed after it had changed the setting', async () => {
    const reference = createReferenceStore();
    let fails = false;
    const store: Store = {
      ...reference,
      async openSpace(...args) {
        const space = await reference.openSpace(...args);
        return {
          ...space,
          async record(...row) {
            if (fails) throw new SalienceError('store_failed', 'the connection ended');
            return space.record(...row);
          },
        };
      },
    };
    const { memory } = await tea({ ...on, store });
    await memory.recall('tea');
    const withoutTexts = { recordRecalls: { days: 30, texts: false } };
    fails = true;
    await expectCode(memory.configure(withoutTexts), 'store_failed');
    fails = false;
    await memory.configure(withoutTexts);
    expect((await memory.recalls()).map(({ query }) => query)).toEqual([undefined]);
  });

  test.each([
    [{ days: 0 }, 'recordRecalls.days: 0 must be a whole number from 1 to 365'],
    [{ days: 366 }, 'recordRecalls.days: 366'],
    [{ texts: 'yes' }, 'recordRecalls.texts: "yes" must be true or false'],
    [{ text: true }, 'did you mean "texts"?'],
    ['on', 'recordRecalls: expected "off" or an object'],
  ])('%o is refused', async (recordRecalls, message) => {
    const { memory } = await tea({});
    const error = await expectCode(memory.configure({ recordRecalls } as never), 'invalid_argument');
    expect(error.message).toContain(message);
  });

  test('opening a space with another setting is an error that names both', async () => {
    const { memory, reopen, cleanUp } = await liveOnDisk({ ...plain, ...on });
    try {
      await memory.close();
      const error = await expectCode(reopen({ recordRecalls: 'off' }), 'settings_mismatch');
      expect(error.message).toContain('has recordRecalls {"days":30,"texts":true} and is opened with "off"');
    } finally {
      await cleanUp();
    }
  });
});

describe('a replay', () => {
  test('writes nothing, and gives what was answered before everything that came after', async () => {
    const { memory, space } = await tea();
    const answer = await memory.recall('who drinks green tea', { strategy: 'retention' });
    await memory.recall('green tea', { strategy: 'retention' });
    await memory.update('tea', { content: 'Anna drinks white wine' });
    await memory.remember('Tea, green tea and more tea');
    const before = [await memory.list(), await space.usage(), await space.recordings({ limit: 9 })];
    const replayed = await memory.replay(idOf(answer));
    expect(replayed).toMatchObject({ equal: true, reasons: [] });
    expect(replayed.hits.map(({ memory: { content } }) => content)).toContain('Anna drinks green tea');
    expect([await memory.list(), await space.usage(), await space.recordings({ limit: 9 })]).toEqual(before);
  });

  test('of a recall that returned relations compares the memories, which alone were recorded', async () => {
    const { memory } = await live({ ...plain, ...on });
    await memory.rememberMany([
      { title: 'Anna', content: 'Anna', type: 'entity' },
      { title: 'Acme', content: 'Acme', type: 'entity' },
    ]);
    await memory.relate('Anna', 'works_at', 'Acme');
    const { hits, trace } = await memory.recall('where does Anna work', {
      strategy: 'lexical',
      include: ['edges'],
    });
    expect(hits.some(({ relation }) => relation !== undefined)).toBe(true);
    const replayed = await memory.replay(idOf({ trace }));
    expect(replayed).toMatchObject({ equal: true, reasons: [] });
    expect(replayed.hits.map(({ memory: { id } }) => id)).toEqual(replayed.recorded.map(({ id }) => id));
  });

  test('of an unknown, removed or invalid id is refused', async () => {
    const { memory } = await tea();
    await expectCode(memory.replay('7'), 'not_found');
    await expectCode(memory.replay('seven'), 'invalid_argument');
    await expectCode(memory.recalls({ before: '-1' }), 'invalid_argument');
    await expectCode(memory.recalls({ limit: 0 }), 'invalid_argument');
  });

  test('names what was forgotten: a forgotten hit prevents a replay, another memory makes it differ', async () => {
    const { memory } = await tea();
    await memory.remember('Green things grow', { id: 'other', scope: 'project:x' });
    const within = idOf(await memory.recall('green tea', { scope: 'global', tags: ['drink'] }));
    const hit = idOf(await memory.recall('coffee', { tags: [] }));
    await memory.forget('coffee');
    const error = await expectCode(memory.replay(hit), 'redacted');
    expect(error.message).toContain('was forgotten since');
    const [redacted] = await memory.recalls({ limit: 1 });
    expect(redacted).toMatchObject({ recallId: hit, redacted: true, options: {} });
    expect(redacted?.query ?? redacted?.queryHash ?? redacted?.terms).toBeUndefined();
    await memory.forget('other');
    const replayed = await memory.replay(within);
    expect(replayed.equal).toBe(false);
    expect(replayed.reasons[0]).toMatchObject({
      reason: 'forgotten',
      message: expect.stringMatching(/^2 of/),
    });
  });

  test('names a model that ordered the hits, and asks none', async () => {
    let asked = 0;
    const reranker: Reranker = {
      model: 'the other way round',
      async rerank(_, passages) {
        asked++;
        return { results: passages.map((__, at) => ({ index: at, score: at / 10 })) };
      },
    };
    const { memory } = await tea({ ...on, reranker });
    const answer = await memory.recall('who drinks tea', { rerank: true });
    expect([answer.hits.length, asked]).toEqual([2, 1]);
    const { equal, reasons, hits } = await memory.replay(idOf(answer));
    expect(asked).toBe(1);
    expect(equal).toBe(false);
    expect(reasons.map(({ reason }) => reason)).toEqual(['reranked']);
    const ids = (all: readonly { readonly memory: { readonly id: string } }[]) =>
      all.map(({ memory: { id } }) => id);
    expect(ids(hits)).toEqual(ids(answer.hits).toReversed());
  });

  test('names another formula of the same name', async () => {
    const profiles = (value: number) => [
      {
        name: 'mine',
        extends: 'bm25',
        description: 'A share of the words.',
        score: {
          op: 'product' as const,
          of: [
            { op: 'signal' as const, name: 'lexical' as const },
            { op: 'constant' as const, value },
          ],
        },
      },
    ];
    const store = createSqliteStore({ directory: ':memory:' });
    const { memory, clock } = await tea({ ...on, store, profiles: profiles(0.5) as never });
    const id = idOf(await memory.recall('tea', { strategy: 'mine' }));
    expect((await memory.replay(id)).equal).toBe(true);
    const again = await openMemory({
      ...plain,
      path: ':memory:',
      space: 'default',
      store,
      clock: () => clock.now(),
      profiles: profiles(0.4) as never,
    });
    const { equal, reasons } = await again.replay(id);
    expect(equal).toBe(false);
    expect(reasons.map(({ reason }) => reason)).toEqual(['profile']);
    await store.close();
  });

  test('names another embedder and analyzer', async () => {
    const lived = await liveOnDisk({ ...plain, ...on });
    try {
      const { memory } = lived;
      await memory.remember('Anna drinks teas', { id: 'tea' });
      const id = idOf(await memory.recall('drinking tea'));
      await memory.close();
      const again = await lived.reopen({ embedder: 'builtin', language: 'german', reindex: true });
      const { equal, reasons } = await again.replay(id);
      expect(equal).toBe(false);
      expect(reasons.map(({ reason }) => reason)).toEqual(
        expect.arrayContaining(['embedder', 'analyzer', 'arms']),
      );
      await again.close();
    } finally {
      await lived.cleanUp();
    }
  });
});

/** Something that is asked and recorded. */
type Question = (memory: MemoryEngine, start: number) => Promise<unknown>;

const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });
const query = fc.constantFrom('who drinks coffee', 'train to Lisbon', 'green tea at home', '?', 'Anna');
const chosen = fc.record({
  strategy: fc.constantFrom('hybrid', 'retention', 'five-factor', 'bm25', 'balanced'),
  limit: optional(fc.integer({ min: 1, max: 5 })),
  scope: optional(fc.constantFrom('global', 'project:a', 'project:a/part:b')),
  deep: fc.boolean(),
  sessionId: optional(fc.constantFrom('s', 'x')),
  types: optional(fc.constant(['fact', 'plan'])),
  association: optional(fc.constantFrom('none' as const, 'direct' as const, 'propagated' as const)),
  minScore: optional(fc.constantFrom(0.05, 0.2)),
});
const daysBack = optional(fc.integer({ min: -5, max: 40 }));

const question: fc.Arbitrary<{ readonly title: string; readonly ask: Question }> = fc.oneof(
  fc.tuple(query, chosen, daysBack, fc.boolean()).map(([text, options, back, valid]) => ({
    title: `recall ${JSON.stringify([text, options, back, valid])}`,
    ask: (memory: MemoryEngine, now: number) => {
      const moment = back === undefined ? undefined : formatInstant(now - back * day);
      const asOf = moment === undefined ? undefined : valid ? { valid: moment } : { known: moment };
      return memory.recall(text, { ...options, asOf });
    },
  })),
  fc.tuple(query, chosen, optional(fc.constantFrom('s', 't'))).map(([text, options, exceptSession]) => ({
    title: `context ${JSON.stringify([text, options, exceptSession])}`,
    ask: (memory: MemoryEngine) => {
      const { limit: _, ...rest } = options;
      return memory.context(text, { ...rest, exceptSession, maxTokens: 60 });
    },
  })),
  fc.constant({
    title: 'ambient',
    ask: (memory: MemoryEngine) => memory.recall(undefined, { strategy: 'ambient' }),
  }),
);

/** What was done, what was asked then, and how long nothing happened. */
type Lived = readonly (readonly [
  Step,
  { readonly title: string; readonly ask: Question } | undefined,
  number,
])[];

describe('every recorded recall', () => {
  const lived = (forgetting: boolean) =>
    fc.array(
      fc.tuple(
        arbitraryStep({ forgetting }),
        optional(question),
        // At one instant, too: the order of the logs counts, not the clock.
        fc.constantFrom(0, 0, 1, 3_600_000, 3 * day),
      ),
      { minLength: 5, maxLength: 16 },
    );

  const run = async (all: Lived, options: Parameters<typeof live>[0]) => {
    const { memory, clock } = await live({ ...options, recordRecalls: { days: 365, texts: true } });
    const titles: string[] = [];
    for (const [step, asked, pause] of all) {
      await attempt(memory, step);
      titles.push(step.title);
      if (asked) {
        titles.push(asked.title);
        await attempt(memory, { title: asked.title, run: () => asked.ask(memory, clock.now()) });
      }
      clock.advance(pause);
    }
    const recalls = await memory.recalls({ limit: 1000 });
    const replays = [];
    for (const { recallId, redacted } of recalls) {
      if (redacted) {
        await expectCode(memory.replay(recallId), 'redacted');
        continue;
      }
      replays.push(await memory.replay(recallId));
    }
    return { replays, titles: titles.join('\n') };
  };

  test.each([
    ['with words alone', plain, createReferenceStore],
    ['with vectors, in a space that fades', { fading: 'retention' }, createReferenceStore],
    ['from SQLite', plain, () => createSqliteStore({ directory: ':memory:' })],
  ] as const)(
    'replays equal to the bit, %s',
    async (_, options, createStore) => {
      let equal = 0;
      await fc.assert(
        fc.asyncProperty(lived(false), async (all) => {
          await using store = createStore();
          const { replays, titles } = await run(all, { ...options, store });
          for (const replayed of replays) {
            // Verdicts on pairs that changed nothing else have no number: at one instant their order is not known.
            const named = replayed.reasons.some(({ reason }) => reason === 'pairs');
            expect(replayed.equal || named, `${titles}\n${JSON.stringify(replayed.reasons)}`).toBe(true);
            if (replayed.equal) equal++;
          }
        }),
        { numRuns: 25, seed: 1 },
      );
      expect(equal).toBeGreaterThan(20);
    },
    300_000,
  );

  test('replays equal to the bit or says why, where memories are forgotten', async () => {
    await fc.assert(
      fc.asyncProperty(lived(true), async (all) => {
        await using store = createSqliteStore({ directory: ':memory:' });
        const { replays, titles } = await run(all, { ...plain, store });
        for (const { equal, reasons } of replays) {
          const told = reasons.map(({ reason }) => reason);
          expect(
            equal ? told.length === 0 : told.length > 0 && !told.includes('unknown'),
            `${titles}\n${told}`,
          ).toBe(true);
        }
      }),
      { numRuns: scaledRuns(30) },
    );
  });
});
