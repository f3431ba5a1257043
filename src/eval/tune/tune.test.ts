import { expect, it } from 'vitest';
import type { TuneState } from '../../fit/fit.ts';
import { randomWords, seedOf } from '../../fit/random.ts';
import { defineProfile, type ProfileDefinition } from '../../scoring/index.ts';
import type { Dataset, DatasetQuery } from '../dataset.ts';
import type { EvaluationEngine } from '../run.ts';
import { sharesOf, type TunedQuestion } from './questions.ts';
import { type TuneOptions, tune } from './tune.ts';
import { tunedProfile } from './tuned-profile.ts';

const definition: ProfileDefinition = {
  name: 'two',
  description: 'Two signals.',
  parameters: {
    'weights.a': { kind: 'number', default: 1, min: 0 },
    'weights.b': { kind: 'number', default: 4, min: 0 },
    other: { kind: 'number', default: 0.5, min: 0, max: 1 },
  },
  score: {
    op: 'mean',
    terms: [
      { weight: { op: 'param', name: 'weights.a' }, of: { op: 'signal', name: 'lexical' } },
      { weight: { op: 'param', name: 'weights.b' }, of: { op: 'signal', name: 'importance' } },
    ],
  },
};
const profile = defineProfile(definition);
const MEMORIES = 40;

/** The signals of a space's memories for a question, drawn from its name. */
function drawn(space: string, id: string) {
  const random = randomWords(seedOf(1, space, id));
  const column = () => Float64Array.from({ length: MEMORIES }, () => random() / 2 ** 32);
  return { lexical: column(), importance: column() };
}

/** Questions whose evidence is what `worth` makes greatest. */
function planted(
  spaces: number,
  worth: (a: number, b: number, noise: number) => number,
  questions = 12,
): Dataset {
  const names = Array.from({ length: spaces }, (_, at) => `s${at}`);
  const memoriesOf = (space: string) =>
    Array.from({ length: MEMORIES }, (_, at) => ({
      ...{
        id: `m${at}`,
        content: `m${at} of ${space}`,
        createdAt: 0,
        session: undefined,
        type: undefined,
        metadata: {},
      },
    }));
  return {
    name: 'planted',
    spaces: new Map(
      names.map((space) => {
        const memories = memoriesOf(space);
        const queries = Array.from({ length: questions }, (_, at): DatasetQuery => {
          const id = `q${at}`;
          const { lexical, importance } = drawn(space, id);
          const random = randomWords(seedOf(2, space, id));
          const order = [...memories.keys()]
            .map((row) => ({ row, worth: worth(lexical[row]!, importance[row]!, random() / 2 ** 32) }))
            .sort((left, right) => right.worth - left.worth);
          const relevant = order.slice(0, 3).map(({ row }) => `m${row}`);
          return { id, query: id, now: 0, type: 'plain', relevant, stale: [] };
        });
        return [space, { memories, queries }];
      }),
    ),
  };
}

/** Tells the drawn signals, and counts how often it is asked. */
function fakeEngine(change = (value: number) => value): EvaluationEngine & { asked: number } {
  const engine = {
    asked: 0,
    async open(space: string) {
      return {
        load: async () => new Map<string, string>(),
        rank: () => Promise.reject(new Error('tuning ranks without the engine')),
        async features(query: string) {
          engine.asked++;
          const { lexical, importance } = drawn(space, query);
          const ordinal = Float64Array.from({ length: MEMORIES }, (_, at) => at + 1);
          const zero = new Float64Array(MEMORIES);
          return {
            now: 0,
            parameters: { 'weights.a': 1, 'weights.b': 4, other: 0.5 },
            ids: Array.from({ length: MEMORIES }, (_, at) => `m${at}`),
            signals: { lexical: lexical.map(change), importance },
            clocks: {},
            attributes: {},
            bm25: zero,
            similarity: new Float64Array(MEMORIES).fill(Number.NaN),
            updatedAt: zero,
            ordinal,
          };
        },
        close: async () => {},
      };
    },
  };
  return engine;
}

const run = (options: Partial<TuneOptions> & Pick<TuneOptions, 'datasets'>) =>
  tune({ profile, ...options }, fakeEngine());
const fourToOne = planted(6, (a, b, noise) => 0.8 * a + 0.2 * b + 0.1 * noise);

it('finds weights that were planted, and asks the engine once for each question', async () => {
  const engine = fakeEngine();
  const result = await tune({ profile, datasets: [fourToOne] }, engine);
  expect(engine.asked).toBe(72);
  const [a, b] = result.parameters.map(({ after }) => after) as [number, number];
  expect(a / b).toBeGreaterThan(2);
  expect(a / b).toBeLessThan(8);
  expect(result.parameters.map(({ name }) => name)).toEqual(['weights.a', 'weights.b']);
  const gain = result.heldOut['ndcg@10'];
  expect(gain.after - gain.before).toBeCloseTo(gain.difference, 12);
  expect(gain.difference).toBeGreaterThan(0.2);
  expect(gain).toMatchObject({ certain: true, spaces: { n: 6 } });
  expect(Math.abs(result.placebo.difference)).toBeLessThan(0.05);
  expect(result.problems).toEqual([]);
});

it.each([
  ['evidence at random', (_a: number, _b: number, noise: number) => noise],
  ['weights that are right already', (a: number, b: number) => a + 4 * b],
])('refuses to call noise a gain: %s', async (_, worth) => {
  const { problems } = await run({ datasets: [planted(6, worth)] });
  expect(problems.join()).toMatch(/is not certain/);
});

it('measures no question by a fit that saw its space', async () => {
  // Each space wants the contrary of the others: whoever measured on what he fitted would gain.
  const [first, second] = [planted(2, (a) => a), planted(2, (_a, b) => b)];
  const torn: Dataset = {
    name: 'torn',
    spaces: new Map([
      ['s0', first.spaces.get('s0')!],
      ['s1', second.spaces.get('s1')!],
    ]),
  };
  const { heldOut, folds, problems } = await run({ datasets: [torn] });
  expect(folds.map(({ name, questions }) => [name, questions])).toEqual([
    ['0/s0', 12],
    ['0/s1', 12],
  ]);
  const ratios = folds.map(({ values: [a = 0, b = 0] }) => a / b);
  expect(ratios[0]).toBeLessThan(1 / 8);
  expect(ratios[1]).toBeGreaterThan(8);
  expect(heldOut['ndcg@10'].difference).toBeLessThan(0);
  expect(heldOut['ndcg@10'].certain).toBe(true);
  expect(problems).toEqual([
    expect.stringMatching(/^the held-out difference of −0\.\d{4} is a certain loss; keep/),
  ]);
});

/** The spaces of a dataset under other names, with other questions about other ids, its lines in another order. */
function renamed({ spaces }: Dataset, name: string, queryOf = (query: string) => query): Dataset {
  return {
    name,
    spaces: new Map(
      [...spaces].map(([space, { memories, queries }]) => [
        `${name}-${space}`,
        {
          memories: memories.toReversed(),
          queries: queries.map((each) => ({ ...each, query: queryOf(each.query) })),
        },
      ]),
    ),
  };
}

it('holds spaces of the same memories out together, whichever dataset and name they have', async () => {
  const one = planted(2, (a) => a);
  const { folds, spaces } = await run({ datasets: [one, renamed(one, 'again', (query) => `${query}?`)] });
  expect(spaces).toBe(2);
  expect(folds.map(({ name, questions }) => [name, questions])).toEqual([
    ['0/s0', 24],
    ['0/s1', 24],
  ]);
});

it('holds questions about one memory out together, also where spaces of the same memories give it other ids', async () => {
  const about = (name: string, idOf: (at: number) => string): Dataset => {
    const { memories } = planted(1, (a) => a).spaces.get('s0')!;
    const queries = Array.from({ length: 11 }, (_, at): DatasetQuery => {
      const id = `${name}-${at}`;
      return { id, query: id, now: 0, type: 'plain', relevant: [idOf(at)], stale: [] };
    });
    const held = memories.map((each, at) => ({ ...each, id: idOf(at) }));
    return { name, spaces: new Map([['s0', { memories: held, queries }]]) };
  };
  const datasets = [about('one', (at) => `m${at}`), about('other', (at) => `m${MEMORIES - 1 - at}`)];
  const { folds, spaces } = await run({ datasets });
  expect(spaces).toBe(1);
  // Each memory is asked for twice, so that no part may have an odd number of questions.
  expect(folds.map(({ questions }) => questions).sort()).toEqual([4, 4, 4, 4, 6]);
});

it('reports progress before it loads the first space, which may take long', async () => {
  const engine = fakeEngine();
  const askedAt: (readonly [share: number, opened: number])[] = [];
  let opened = 0;
  const counting: EvaluationEngine = {
    ...engine,
    open(space) {
      opened++;
      return engine.open(space);
    },
  };
  const onProgress = (share: number) => askedAt.push([share, opened]);
  await tune({ profile, datasets: [planted(2, (a) => a, 2)], onProgress }, counting);
  expect(askedAt.slice(0, 2)).toEqual([
    [0, 0],
    [0.125, 1],
  ]);
});

it('refuses a question that is asked of the same memories twice, before it asks the engine anything', async () => {
  const engine = fakeEngine();
  const one = planted(1, (a) => a);
  await expect(tune({ profile, datasets: [one, renamed(one, 'again')] }, engine)).rejects.toMatchObject({
    code: 'invalid_argument',
    message:
      'datasets: spaces s0 of planted and again-s0 of again hold the same memories and ask the same question, "q0"; leave one of them out',
  });
  expect(engine.asked).toBe(0);
});

it('refuses it within one dataset too', async () => {
  const one = planted(1, (a) => a);
  const spaces = new Map([...one.spaces, ['copy', one.spaces.get('s0')!]]);
  await expect(tune({ profile, datasets: [{ ...one, spaces }] }, fakeEngine())).rejects.toThrow(
    /spaces s0 of planted and copy of planted hold the same memories/,
  );
});

it('holds out together what says the same, however often and with whatever white space', async () => {
  const one = planted(2, (a) => a);
  const spaces = [...one.spaces].map(([name, { memories, queries }]) => {
    const copied = memories.map((memory) => ({
      ...memory,
      content: ` ${memory.content.replace(' ', '\n')}`,
    }));
    const again = [...copied, { ...copied[0]!, id: 'again' }];
    const asked = queries.map((query) => ({ ...query, query: `${query.query} ` }));
    return [name, { memories: again, queries: asked }] as const;
  });
  const copy: Dataset = { name: 'copy', spaces: new Map(spaces) };
  await expect(run({ datasets: [one, copy] })).rejects.toThrow(
    'datasets: spaces s0 of planted and s0 of copy hold the same memories and ask the same question, "q0 "; leave one of them out',
  );
});

it.each([['hybrid'], [definition]])('refuses what is no checked profile', async (wrong) => {
  await expect(run({ datasets: [fourToOne], profile: wrong as never })).rejects.toMatchObject({
    code: 'invalid_argument',
    details: { field: 'profile' },
  });
});

it('holds a store of some weeks later out together with the earlier one, and refuses its questions twice', async () => {
  const later = (queryOf: (query: string) => string): Dataset => {
    const [space] = planted(1, (a) => a).spaces.values();
    const [known] = space!.memories;
    const queries = space!.queries.map((each) => ({ ...each, query: queryOf(each.query) }));
    const memories = [...space!.memories, { ...known!, id: 'new', content: 'said since' }];
    return { name: 'later', spaces: new Map([['s0', { memories, queries }]]) };
  };
  const one = planted(2, (a) => a);
  const { folds, spaces } = await run({ datasets: [one, later((query) => `${query}?`)] });
  expect(spaces).toBe(2);
  expect(folds.map(({ name, questions }) => [name, questions])).toEqual([
    ['0/s0', 24],
    ['0/s1', 12],
  ]);
  const engine = fakeEngine();
  await expect(tune({ profile, datasets: [one, later((query) => query)] }, engine)).rejects.toThrow(
    'datasets: spaces s0 of planted and s0 of later hold mostly the same memories and ask the same question, "q0"; leave one of them out',
  );
  expect(engine.asked).toBe(0);
});

it('lets spaces that share less than half of their memories ask the same question', async () => {
  const one = planted(2, (a) => a);
  const greeted = [...one.spaces].map(([name, { memories, queries }]) => {
    const said = memories.map((each, at) => (at < MEMORIES / 2 ? { ...each, content: `hello ${at}` } : each));
    return [name, { memories: said, queries }] as const;
  });
  const { spaces } = await run({ datasets: [{ ...one, spaces: new Map(greeted) }] });
  expect(spaces).toBe(2);
});

it('counts a memory that the store keeps as another one as that one, and closes what it opened', async () => {
  const data = planted(3, (a) => a);
  // Each space says once more what m0 says, and that is the answer of the questions.
  const repeated: Dataset = {
    ...data,
    spaces: new Map(
      [...data.spaces].map(([space, { memories, queries }]) => {
        const again = { ...memories[0]!, id: 'again' };
        const relevant = (ids: readonly string[]) => ids.map((id) => (id === 'm0' ? 'again' : id));
        return [
          space,
          {
            memories: [...memories, again],
            queries: queries.map((each) => ({ ...each, relevant: relevant(each.relevant) })),
          },
        ];
      }),
    ),
  };
  const engine = fakeEngine();
  let open = 0;
  const keepingOne: EvaluationEngine = {
    async open(space) {
      open++;
      const opened = await engine.open(space);
      return {
        ...opened,
        load: async () => new Map([['again', 'm0']]),
        async close() {
          open--;
        },
      };
    },
  };
  const { datasets: _, ...plain } = await run({ datasets: [data] });
  expect(await tune({ profile, datasets: [repeated] }, keepingOne)).toMatchObject(plain);
  expect(open).toBe(0);
});

it('refuses a state of wrong numbers before it asks the engine anything', async () => {
  const engine = fakeEngine();
  const fitted = { relevant: { s0: [1, Number.NaN] }, placebo: {} };
  const state: TuneState = { kind: 'tune', version: 1, task: '', fitted };
  await expect(tune({ profile, datasets: [fourToOne], state }, engine)).rejects.toMatchObject({
    code: 'invalid_argument',
    details: { field: 'state' },
  });
  expect(engine.asked).toBe(0);
});

it('goes on from a state as if it had never stopped, and only with the same task', async () => {
  const whole = await run({ datasets: [fourToOne] });
  const states: TuneState[] = [];
  const controller = new AbortController();
  const stopped = run({
    datasets: [fourToOne],
    signal: controller.signal,
    onState: async (state) => {
      states.push(JSON.parse(JSON.stringify(state)) as TuneState);
      if (states.length === 4) controller.abort();
    },
  });
  await expect(stopped).rejects.toMatchObject({ code: 'aborted' });
  expect(Object.keys(states.at(-1)?.fitted.relevant ?? {})).toHaveLength(4);
  let folds = 0;
  const onState = async () => void folds++;
  const state = states.at(-1);
  expect(await run({ datasets: [fourToOne], state, onState })).toEqual(whole);
  expect(folds).toBe(8);
  await expect(run({ datasets: [fourToOne], state, seed: 2 })).rejects.toThrow(/another task/);
  const elsewhere = fakeEngine((value) => 1 - value);
  const other = tune({ profile, datasets: [fourToOne], state }, elsewhere);
  await expect(other, 'an engine that finds other signals').rejects.toThrow(/another task/);
});

it('takes fifths of the questions where there is one space', async () => {
  const { folds, spaces, heldOut } = await run({ datasets: [planted(1, (a) => a, 23)] });
  expect(spaces).toBe(1);
  expect(folds.map(({ questions }) => questions).sort()).toEqual([4, 4, 5, 5, 5]);
  expect(heldOut['ndcg@10'].spaces).toBeUndefined();
});

it('tunes the parameters that are named, by the objective that is named', async () => {
  const options = { datasets: [fourToOne], parameters: ['weights.b'], objective: 'recall@10' } as const;
  const { parameters, heldOut } = await run(options);
  expect(parameters).toEqual([{ name: 'weights.b', before: 4, after: expect.any(Number) }]);
  expect(parameters[0]?.after).toBeLessThan(1);
  const { mean, 'ndcg@10': ndcg, 'recall@10': recall } = heldOut;
  expect(mean.after).toBeCloseTo((ndcg.after + recall.after) / 2, 12);
});

it.each([
  [{ parameters: ['weights.c'] }, /unknown numeric parameter "weights.c"/],
  [{ parameters: [] }, /name at least one numeric parameter/],
  [{ parameters: ['other', 'other'] }, /each once/],
  [{ objective: 'mrr' as never }, /objective: "mrr" is not one of/],
  [{ balance: 'spaces' as never }, /balance: "spaces" is not one of/],
  [{ seed: -1 }, /seed: -1 must be a whole number from 0 to 4294967295/],
  [{ datasets: [planted(1, (a) => a, 1)] }, /at least two questions/],
])('refuses %j', async (options, message) => {
  await expect(run({ datasets: [fourToOne], ...options })).rejects.toThrow(message);
});

it('lets each dataset, and in it each type, count the same', () => {
  const question = (dataset: number, type: string, weight = 1) =>
    ({ dataset, type, weight }) as unknown as TunedQuestion;
  const questions = [question(0, 'x'), question(0, 'x', 3), question(0, 'y'), question(1, 'x')];
  expect(sharesOf(questions, 'types')).toEqual([1 / 8, 3 / 8, 1 / 2, 1]);
  expect(sharesOf(questions, 'datasets')).toEqual([1 / 5, 3 / 5, 1 / 5, 1]);
  expect(sharesOf(questions, 'questions')).toEqual([1 / 6, 3 / 6, 1 / 6, 1 / 6]);
});

it('writes a profile that says where it comes from', async () => {
  const result = await run({ datasets: [fourToOne] });
  const about = { version: '1.2.3', now: Date.UTC(2026, 4, 6) };
  const own = tunedProfile(result, { ...about, definition });
  const parameters = defineProfile(own).parameters;
  expect(parameters['weights.a']).toMatchObject({ default: result.parameters[0]?.after });
  expect(own).toMatchObject({ name: 'two-tuned', score: definition.score });
  expect(own.source).toMatch(
    /^Tuned from two by salience 1\.2\.3 on 2026-05-06\. Data: planted \(sha256 [0-9a-f]{16}\); 72 questions in 6 spaces, balanced by types; seed 1\. Held out ndcg@10: 0\.\d{4} → 0\.\d{4}, \+0\.\d{4} \[\+/,
  );
  const builtin = tunedProfile({ ...result, profile: 'hybrid' }, about);
  expect(builtin).toMatchObject({ name: 'hybrid-tuned', extends: 'hybrid' });
  expect(Object.keys(builtin.set ?? {})).toEqual(['weights.a', 'weights.b']);
});

it('writes a profile that can be used where its definition sets a tuned parameter in a group', async () => {
  const grouped: ProfileDefinition = { ...definition, set: { weights: { a: 2, b: 4 }, other: 0.25 } };
  const result = await run({ datasets: [fourToOne], profile: defineProfile(grouped) });
  const own = tunedProfile(result, { version: '1.2.3', now: 0, definition: grouped });
  const parameters = defineProfile(own).parameters;
  for (const { name, after } of result.parameters) expect(parameters[name]).toMatchObject({ default: after });
  expect(parameters['other']).toMatchObject({ default: 0.25 });
});
