import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Explanation,
  openMemory,
  type ProfileDefinition,
  type RecallOptions,
  type RememberInput,
} from '../../index.ts';
import type { Store } from '../../store/store.ts';
import { createSqliteStore } from '../../stores/sqlite/index.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';
import { scaledRuns } from '../../testing/runs.ts';
import { verifyExplanation } from '../../testing/verify-explanation.ts';
import type { MemoryEngine } from '../memory-engine.ts';

const now = Date.UTC(2026, 5, 1);
const daysAgo = (days: number) => new Date(now - days * 86_400_000);

/** What a query finds of a memory, each signal by itself. */
const seen: ProfileDefinition = {
  name: 'seen',
  description: 'What a query finds of a memory, each signal by itself.',
  score: {
    op: 'mean',
    terms: (
      ['lexical', 'contextLexical', 'sessionLexical', 'authorNamed', 'dateMatch', 'saidByUser'] as const
    ).map((name) => ({ of: { op: 'signal', name, missing: 0.5 } })),
  },
};

const queries = ['What did Ann say of coffee in May?', 'coffee or tea, Ben', 'beans', 'cofffee, beanss'];
const stores: readonly (readonly [string, () => Store])[] = [
  ['the index', () => createSqliteStore({ directory: ':memory:' })],
  ['the naive search', createReferenceStore],
];

async function holding(store: Store, memories: readonly RememberInput[]): Promise<MemoryEngine> {
  const memory = await openMemory({
    path: 'test',
    space: 'test',
    store,
    embedder: 'none',
    clock: () => now,
    profiles: [seen],
  });
  await memory.rememberMany(memories);
  return memory;
}

/** All that a memory is beside its words. */
const circumstances = fc.record({
  sessionId: fc.constantFrom('s', 't', undefined),
  author: fc.constantFrom('Ann', 'Ben', 'Ann Lee', undefined),
  role: fc.constantFrom('user', 'assistant', undefined),
  type: fc.constantFrom('fact', 'event', 'decision'),
  days: fc.integer({ min: 1, max: 40 }),
});
const content = fc.constantFrom(
  'Coffee, says Ann',
  'Who likes tea?',
  'beans',
  'coffee beans, coffee',
  'Nothing',
);

const imported = (
  id: string,
  text: string,
  scope: string,
  { days, ...rest }: { readonly days: number } & Partial<RememberInput>,
): RememberInput =>
  JSON.parse(JSON.stringify({ id, content: text, scope, createdAt: daysAgo(days), ...rest }));

describe.each(stores)('by %s', (_, makeStore) => {
  test('what a scope does not see changes no bit, with the statistics of words as they are', async () => {
    const visible = fc.record({ content, scope: fc.constantFrom('global', 'project:a'), as: circumstances });
    const hidden = fc.record({
      content,
      scope: fc.constantFrom('project:b', 'project:a/part:c'),
      before: circumstances,
      after: circumstances,
      // Where it stands among what is visible, in the order of writing.
      place: fc.nat(6),
      otherPlace: fc.nat(6),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(visible, { minLength: 1, maxLength: 6 }),
        fc.array(hidden, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(...queries),
        async (shown, unseen, query) => {
          const own = shown.map(({ content, scope, as }, at) =>
            imported(`v${at}`, `${content} own${at}`, scope, as),
          );
          const among = (others: readonly (readonly [number, RememberInput])[]) =>
            [...own.map((each, at) => [at + 0.5, each] as const), ...others]
              .sort(([a], [b]) => a - b)
              .map(([, each]) => each);
          const befores = unseen.map((each, at) => {
            return [
              each.place,
              imported(`h${at}`, `${each.content} other${at}`, each.scope, each.before),
            ] as const;
          });
          const afters = unseen.map((each, at) => {
            const scope = each.scope === 'project:b' ? 'project:c' : each.scope;
            return [
              each.otherPlace,
              imported(`g${at}`, `${each.content} other${at}`, scope, each.after),
            ] as const;
          });
          await using one = await holding(makeStore(), among(befores));
          await using other = await holding(makeStore(), among(afters));
          const options = { query, scope: 'project:a', strategy: 'seen' };
          for (const { id } of own) {
            const before = await one.explain(id as string, options);
            expect(await other.explain(id as string, options)).toEqual(before);
            expect(JSON.stringify(before)).not.toMatch(/"[hg]\d"/);
            verifyExplanation(before.explanation);
          }
        },
      ),
      { numRuns: scaledRuns(150) },
    );
  });

  test('what is forgotten, rewritten or added where a scope does not see shows in statistics alone', async () => {
    await using memory = await holding(makeStore(), [
      imported('v0', 'Coffee, says Ann', 'project:a', { days: 3, sessionId: 's' }),
      imported('h0', 'beans', 'project:b', { days: 2, sessionId: 's', author: 'Ann', role: 'assistant' }),
      imported('v1', 'Who likes tea?', 'project:a', { days: 1, sessionId: 's' }),
    ]);
    const words = async () => {
      const { explanation } = await memory.explain('v0', {
        query: 'beans, Ann',
        scope: 'project:a',
        strategy: 'seen',
      });
      return explanation.inputs.map(withoutStatistics);
    };
    const before = await words();
    expect(JSON.stringify(before)).toContain('"id":"v1"');
    await memory.update('h0', { content: 'coffee coffee Ann' });
    expect(await words()).toEqual(before);
    await memory.forget('h0');
    expect(await words()).toEqual(before);
    await memory.remember('beans', { id: 'h1', scope: 'project:b', sessionId: 's', author: 'Ann' });
    expect(await words()).toEqual(before);
  });

  test('a filter removes hits, and changes no score', async () => {
    const entry = fc.record({
      content,
      scope: fc.constantFrom('global', 'project:a'),
      as: circumstances,
      tags: fc.subarray(['x', 'y']),
      metadata: fc.constantFrom({ lang: 'de' }, { lang: 'en', level: 2 }),
    });
    const filter = fc.oneof<fc.Arbitrary<RecallOptions>[]>(
      fc.record({ types: fc.subarray(['fact', 'event', 'decision'], { minLength: 1 }) }),
      fc.record({ typesExclude: fc.subarray(['fact', 'event', 'decision'], { minLength: 1 }) }),
      fc.record({ tags: fc.subarray(['x', 'y'], { minLength: 1 }) }),
      fc.record({
        metadata: fc.constantFrom<NonNullable<RecallOptions['metadata']>>(
          { lang: 'de' },
          { level: { atLeast: 2 } },
        ),
      }),
      fc.record({ inScope: fc.constantFrom('global', 'project:*') }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { minLength: 2, maxLength: 10 }),
        filter,
        fc.constantFrom(...queries),
        fc.constantFrom('seen', 'hybrid', 'lexical', 'bm25'),
        async (entries, narrowed, query, strategy) => {
          await using memory = await holding(
            makeStore(),
            entries.map(({ content, scope, as, tags, metadata }, at) =>
              imported(`m${at}`, `${content} own${at}`, scope, { ...as, tags, metadata }),
            ),
          );
          const options = { scope: 'project:a', strategy, limit: 100, track: false };
          const scoresOf = async (more: RecallOptions) =>
            new Map(
              (await memory.recall(query, { ...options, ...more })).hits.map((hit) => {
                verifyExplanation(hit.explain());
                return [hit.memory.id, { score: hit.score.value, explanation: hit.explain() }];
              }),
            );
          const all = await scoresOf({});
          const some = await scoresOf(narrowed);
          for (const [id, hit] of some) expect(hit).toEqual(all.get(id));
        },
      ),
      { numRuns: scaledRuns(150) },
    );
  });
});

/** A leaf without the statistics of the whole space, and without what follows from them. */
function withoutStatistics({ detail }: Explanation): unknown {
  const { words, ...rest } = detail;
  if (!words) return rest;
  const { among, length, neighbours, terms } = words;
  const counts = terms.map(({ term, count, around, frequency }) => ({ term, count, around, frequency }));
  return { ...rest, among, length, neighbours, terms: counts };
}
