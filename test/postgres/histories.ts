import fc from 'fast-check';
import type { MemoryEngine } from '../../src/index.ts';
import { answersOf } from '../../src/testing/answers.ts';
import { arbitraryStep, type Step } from '../../src/testing/random-steps.ts';

/** Ids and values that databases are apt to compare, order or round in ways of their own. */
const edge: fc.Arbitrary<Step> = fc
  .record({
    id: fc.constantFrom(
      'é',
      'e\u0301',
      'Z',
      'a',
      '\u{1fad6}',
      '\u{ff5e}',
      '\u{10fffd}',
      "x' OR '1'='1",
      '"; --',
      '\\',
    ),
    importance: fc.constantFrom(-0, 5e-324, 2.2250738585072014e-308, 0.1 + 0.2, 1 - 2 ** -53),
    metadata: fc.constantFrom<object>(
      { n: 2 ** 53, z: -0, deep: { '\u{1fad6}': [null, 1e-7] } },
      { n: '\ud800', k: '\u0000' },
      { ['k'.repeat(3000)]: 'v'.repeat(3000) },
      {},
    ),
    content: fc.constantFrom(
      'Anna drinks coffee in Lisbon',
      'Ana bebe café em Lisboa \u{1fad6}',
      '東京でお茶を飲む',
    ),
    title: fc.constantFrom(undefined, '\u{1fad6} and ~'),
    sessionId: fc.constantFrom(undefined, 's\u{10fffd}'),
  })
  .map(({ id, content, ...given }) => ({
    title: `edge ${JSON.stringify({ id, ...given })}`,
    run: (memory: MemoryEngine) => memory.remember(content, { id, ...given } as object),
  }));

const graph: fc.Arbitrary<Step> = fc
  .tuple(fc.constantFrom('Anna', 'Ben'), fc.constantFrom('Lisbon', 'Porto'), fc.boolean())
  .map(([from, to, ends]) => ({
    title: `${ends ? 'unrelate' : 'relate'} ${from} ${to}`,
    async run(memory: MemoryEngine) {
      for (const title of [from, to])
        await memory.remember(title, { type: 'entity', title, topicKey: `entity/${title}` });
      return ends ? memory.unrelate(from, 'lives in', to) : memory.relate(from, 'lives in', to);
    },
  }));

/** Steps of a history, as no one database would choose them. */
export const step = fc.oneof(
  { weight: 6, arbitrary: arbitraryStep({ forgetting: true }) },
  { weight: 2, arbitrary: edge },
  { weight: 1, arbitrary: graph },
);

/** All that may be asked, as plain data without times that were measured. */
export async function everythingOf(memory: MemoryEngine, known: Date): Promise<unknown> {
  const answers = await answersOf(memory);
  const { hits, trace } = await memory.recall('coffee in Lisbon', {
    deep: true,
    include: ['edges'],
    track: false,
  });
  const ids = answers.memories.map(({ id }) => id);
  const some = ids.slice(0, 3);
  return plain({
    answers,
    past: await answersOf(memory, { known }).catch(String),
    explained: hits.map((hit) => hit.explain()),
    trace,
    whyNot: await Promise.all(some.map((id) => memory.whyNot(id, { query: 'green tea' }))),
    context: (await memory.context('what does Anna drink?', { maxTokens: 300, track: false })).items,
    histories: await Promise.all(ids.map((id) => memory.history(id))),
    operations: await memory.operations({ limit: 50 }),
    entities: await memory.entities(),
    replays: await Promise.all(
      (await memory.recalls({ limit: 5 })).map(({ recallId }) => memory.replay(recallId).catch(String)),
    ),
  });
}

const OWN: ReadonlySet<string> = new Set(['durationMs', 'totalMs', 'erased']);

/** Without times that were measured, and without what a store says of itself: how far it erases. */
export function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null, (key, each: unknown) => (OWN.has(key) ? undefined : each)));
}
