import fc from 'fast-check';
import type { MemoryEngine } from '../../src/index.ts';
import { answersOf, MOST_RECALLS } from '../../src/testing/answers.ts';
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
    title: `edge ${JSON.stringify({ id, ...given }, (_, value) => (Object.is(value, -0) ? '-0' : value))}`,
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

/** What a history must have drawn now and then, by what the title of a step shows of it. */
export const DRAWN = [
  '"id":"é"',
  '"id":"e\u0301"',
  '"id":"\u{1fad6}"',
  '"id":"\u{10fffd}"',
  `"id":"x' OR '1'='1"`,
  '"importance":"-0"',
  '"importance":5e-324',
  '"importance":2.2250738585072014e-308',
  '"n":9007199254740992',
  '"z":"-0"',
] as const;

const idsOf = async (memory: MemoryEngine) =>
  (await memory.list({ limit: 1000 })).memories.map(({ id }) => id);

/** What may be asked beside recalls and lists, as they are and as they were. */
const QUESTIONS = {
  async explained(memory: MemoryEngine) {
    const { hits, trace } = await memory.recall('coffee in Lisbon', {
      deep: true,
      include: ['edges'],
      track: false,
    });
    return { trace, explained: hits.map((hit) => hit.explain()) };
  },
  async whyNot(memory: MemoryEngine) {
    const some = (await idsOf(memory)).slice(0, 3);
    return Promise.all(some.map((id) => memory.whyNot(id, { query: 'green tea' })));
  },
  context: async (memory: MemoryEngine) =>
    (await memory.context('what does Anna drink?', { maxTokens: 300, track: false })).items,
  histories: async (memory: MemoryEngine) =>
    Promise.all((await idsOf(memory)).map((id) => memory.history(id))),
  operations: (memory: MemoryEngine) => memory.operations({ limit: 50 }),
  entities: (memory: MemoryEngine) => memory.entities(),
  async replays(memory: MemoryEngine) {
    const recalls = await memory.recalls({ limit: 5 });
    return Promise.all(recalls.map(({ recallId }) => memory.replay(recallId).catch(String)));
  },
} satisfies Readonly<Record<string, (memory: MemoryEngine) => Promise<unknown>>>;

/** What one history is asked: `recalls` now, `past` as of then, by number, and questions beside them. */
export interface Asked {
  readonly recalls: readonly number[];
  readonly past: readonly number[];
  readonly questions: readonly (keyof typeof QUESTIONS)[];
}

const numbers = [...Array(MOST_RECALLS).keys()];
const names = Object.keys(QUESTIONS) as (keyof typeof QUESTIONS)[];

/** All that can be asked. */
export const EVERYTHING: Asked = { recalls: numbers, past: numbers, questions: names };

/** Some of it, so that over many histories nothing is left out, and no history takes long. */
export const someOfIt: fc.Arbitrary<Asked> = fc.record({
  recalls: fc.subarray(numbers, { minLength: 3, maxLength: 5 }),
  past: fc.subarray(numbers, { maxLength: 3 }),
  questions: fc.subarray(names, { minLength: 1, maxLength: 2 }),
});

/** The answers as plain data, without times that were measured. */
export async function answersTo(
  memory: MemoryEngine,
  { recalls, past, questions }: Asked,
  known: Date,
): Promise<unknown> {
  const answers: Record<string, unknown> = {
    now: await answersOf(memory, undefined, recalls),
    past: past.length > 0 && (await answersOf(memory, { known }, past).catch(String)),
  };
  for (const name of questions) answers[name] = await QUESTIONS[name](memory);
  return plain(answers);
}

const OWN: ReadonlySet<string> = new Set(['durationMs', 'totalMs', 'erased']);

/** Without times that were measured, and without what a store says of itself: how far it erases. */
export function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null, (key, each: unknown) => (OWN.has(key) ? undefined : each)));
}
