import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import { containsText } from '../../store/substring.ts';
import { insert, searchIn, start, write } from '../../testing/store-contract/harness.ts';
import { createSqliteStore } from './index.ts';

/** What means something to LIKE or to JSON, and letters that become others in lower case. */
const arbitraryPart = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'B', 'k', 'i', 'ss', ' ', '%', '_', '~', '"', '\\', '"]') },
  { weight: 1, arbitrary: fc.constantFrom('\u212a', 'İ', 'ẞ', 'É', '東') },
);
const arbitraryText = fc.array(arbitraryPart, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
const arbitraryWanted = fc
  .array(arbitraryPart, { minLength: 1, maxLength: 2 })
  .map((parts) => parts.join(''));

const arbitraryTexts = fc.record({
  title: fc.option(arbitraryText, { nil: undefined }),
  content: arbitraryText,
  tags: fc.uniqueArray(arbitraryText, { maxLength: 2 }),
});

test('a text is found wherever it stands, as if every memory were read', async () => {
  let found = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryTexts, { minLength: 1, maxLength: 8 }),
      fc.array(arbitraryWanted, { minLength: 1, maxLength: 12 }),
      async (memories, wanted) => {
        await using store = createSqliteStore({ directory: ':memory:' });
        const space = await store.openSpace('alice');
        await write(
          space,
          memories.map((texts, at) => insert({ id: `m${at}`, ...texts })),
        );
        for (const substring of wanted) {
          const profile = resolveProfile(builtinProfile('bm25'));
          const { hits } = await searchIn(space, {
            profile,
            query: { terms: [], substring },
            filter: {},
            now: start,
            limit: 100,
          });
          const expected = memories.flatMap((texts, at) =>
            containsText(texts, substring) ? [`m${at}`] : [],
          );
          expect(hits.map(({ memory }) => memory.id).sort()).toEqual(expected);
          found += expected.length;
        }
      },
    ),
    { numRuns: 600, seed: 1 },
  );
  expect(found).toBeGreaterThan(100);
});

test('a text is looked for in all rows of a space that has many', async () => {
  await using store = createSqliteStore({ directory: ':memory:' });
  const space = await store.openSpace('alice');
  const contents = new Map([1, 1023, 1024, 2048, 2500].map((row) => [row, 'so it IS']));
  contents.set(2000, 'so it \u0130s');
  await write(
    space,
    Array.from({ length: 2500 }, (_, at) =>
      insert({ id: `m${at + 1}`, content: contents.get(at + 1) ?? 'so it was' }),
    ),
  );
  const profile = resolveProfile(builtinProfile('bm25'));
  // The second one is no text that LIKE finds.
  for (const [substring, expected] of [
    ['it is', ['m1', 'm1023', 'm1024', 'm2048', 'm2500']],
    ['IT \u0130S', ['m2000']],
  ] as const) {
    const query = { terms: [], substring };
    const { hits } = await searchIn(space, { profile, query, filter: {}, now: start, limit: 100 });
    expect(new Set(hits.map(({ memory }) => memory.id))).toEqual(new Set(expected));
  }
});
