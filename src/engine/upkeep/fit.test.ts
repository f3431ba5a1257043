import { describe, expect, test } from 'vitest';
import type { ProfileDefinition } from '../../index.ts';
import { angleEmbedder } from '../../testing/angle-embedder.ts';
import { live } from '../../testing/live-memory.ts';
import type { FitResult } from './fit.ts';

const profile: ProfileDefinition = {
  name: 'two',
  description: 'Words and importance.',
  parameters: {
    'weights.words': { kind: 'number', default: 4, min: 0 },
    'weights.importance': { kind: 'number', default: 1, min: 0 },
  },
  score: {
    op: 'mean',
    terms: [
      { weight: { op: 'param', name: 'weights.words' }, of: { op: 'signal', name: 'lexical' } },
      { weight: { op: 'param', name: 'weights.importance' }, of: { op: 'signal', name: 'importance' } },
    ],
  },
};
const WORDS = 'apple bread candle dough ember flour garlic honey iron jam kettle lemon'.split(' ');

/** For each word a short memory that matters little and a long one that matters: the second is the right answer. */
async function filled() {
  const lived = await live({ profiles: [profile], embedder: 'none' });
  await lived.memory.rememberMany(
    WORDS.flatMap((word, at) => [
      { id: `short-${at}`, content: `the ${word}`, importance: 0.1 },
      {
        id: `long-${at}`,
        content: `where Ann keeps the good ${word} of the house in winter`,
        importance: 0.9,
      },
    ]),
  );
  const questions = WORDS.map((word, at) => ({ query: `the ${word}`, relevant: [`long-${at}`] }));
  return { ...lived, questions };
}

describe('fit', () => {
  test('finds parameters that put the right answers first, and is sure of it', async () => {
    const { memory, questions } = await filled();
    const { sequence } = await memory.stats();
    const { fitted, share, questions: count } = await memory.fit(questions, { strategy: 'two' });
    expect([share, count]).toEqual([1, WORDS.length]);
    expect(fitted?.problems).toEqual([]);
    const { before, after, certain } = fitted!.heldOut['ndcg@10'];
    expect(before).toBeLessThan(0.7);
    expect(after).toBe(1);
    expect(certain).toBe(true);
    expect(fitted!.placebo.difference).toBeLessThan(0.3);
    const parameters = Object.fromEntries(fitted!.parameters.map((each) => [each.name, each.after]));
    for (const { query, relevant } of questions) {
      const { hits } = await memory.recall(query, { strategy: 'two', parameters, track: false });
      expect(hits[0]?.memory.id).toBe(relevant[0]);
    }
    // It has written nothing.
    expect((await memory.stats()).sequence).toBe(sequence);
  });

  test('comes to the same in steps', async () => {
    const { memory, questions } = await filled();
    const whole = await memory.fit(questions, { strategy: 'two' });
    const shares: number[] = [];
    let result: FitResult | undefined;
    do {
      // As a face hands it on.
      const state = result && JSON.parse(JSON.stringify(result.state));
      result = await memory.fit(questions, { strategy: 'two', steps: 3, state });
      shares.push(result.share);
    } while (!result.fitted);
    expect(result).toEqual(whole);
    expect(shares.length).toBe(4);
    expect(shares).toEqual([...new Set(shares)].sort());
  });

  test.each([
    ['no list', { 'part 1': 'high' }],
    ['too few', { 'part 1': [1] }],
    ['no numbers', { 'part 1': [1, '2'] }],
    ['not finite', { 'part 1': [1, null] }],
    ['no object', [[1, 2], 3]],
    ['out of range', { 'part 1': [1, -5] }],
  ])('refuses a state whose values are %s', async (_, values) => {
    const { memory, questions } = await filled();
    const { state } = await memory.fit(questions, { strategy: 'two', steps: 1 });
    for (const arm of ['relevant', 'placebo'] as const) {
      const changed = { ...state, fitted: { ...state.fitted, [arm]: values } };
      await expect(memory.fit(questions, { strategy: 'two', state: changed as never })).rejects.toMatchObject(
        { code: 'invalid_argument', details: { field: 'state' } },
      );
    }
  });

  test('goes on from no state of another task', async () => {
    const { memory, questions } = await filled();
    const { state } = await memory.fit(questions, { strategy: 'two', steps: 1 });
    const refused = { code: 'invalid_argument', message: expect.stringContaining('another task') };
    await expect(memory.fit(questions.slice(1), { strategy: 'two', state })).rejects.toMatchObject(refused);
    await memory.update('long-0', { content: 'the apple' });
    await expect(memory.fit(questions, { strategy: 'two', state })).rejects.toMatchObject(refused);
  });

  test('refuses an id that no memory has: it would count as one that is never found', async () => {
    const { memory, questions } = await filled();
    const misspelt = [...questions, { query: 'the mug', relevant: ['long-1', 'lnog-2'] }];
    await expect(memory.fit(misspelt, { strategy: 'two', steps: 1 })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('memory "lnog-2" does not exist'),
      details: { field: `questions[${WORDS.length}].relevant` },
    });
  });

  test.each([
    [[], {}, /2 to 1000 questions/],
    [[{ query: 'a', relevant: ['x'] }], {}, /2 to 1000 questions/],
    [[{ query: 'a', relevant: [] }, 1], {}, /questions\[0\].relevant: name at least one/],
    [[{ query: 'a', relevant: ['x'] }, 1], {}, /questions\[1\]/],
    [[{ query: 'a', relevant: ['x'], more: 1 }, 1], {}, /more/],
    [undefined, { strategy: 'three' }, /unknown strategy "three"/],
    [undefined, { parameters: ['weights.gold'] }, /unknown numeric parameter "weights.gold"/],
    [undefined, { parameters: [] }, /name at least one numeric parameter/],
    [undefined, { objective: 'mrr' }, /objective: "mrr" is not one of/],
    [undefined, { steps: 0 }, /steps/],
    [undefined, { seed: -1 }, /seed/],
    [undefined, { state: {} }, /not a state that an earlier fit of these parameters returned/],
  ])('refuses %j %j', async (questions, options, message) => {
    const filledSpace = await filled();
    const asked = filledSpace.memory.fit((questions ?? filledSpace.questions) as never, options as never);
    await expect(asked).rejects.toThrow(message);
  });

  test('does not fit half a formula where the embedder fails', async () => {
    const known = angleEmbedder({ near: 10, far: 80, first: 0, second: 5 });
    let fails = false;
    const embed: typeof known.embed = (...given) =>
      fails ? Promise.reject(new Error('no connection')) : known.embed(...given);
    const { memory } = await live({ embedder: { ...known, embed } });
    await memory.remember('near', { id: 'near' });
    await memory.remember('far', { id: 'far' });
    fails = true;
    const questions = ['first', 'second'].map((query) => ({ query, relevant: ['near'] }));
    await expect(memory.fit(questions)).rejects.toMatchObject({
      code: 'embedder_failed',
      message: expect.stringMatching(/^questions\[0\]\.query: the vector search failed: .*no connection/),
    });
    fails = false;
    expect((await memory.fit(questions)).share).toBe(1);
  });

  test('ends when it is aborted', async () => {
    const { memory, questions } = await filled();
    const controller = new AbortController();
    const asked = memory.fit(questions, { strategy: 'two', signal: controller.signal });
    setImmediate(() => controller.abort());
    await expect(asked).rejects.toMatchObject({ code: 'aborted' });
  });
});
