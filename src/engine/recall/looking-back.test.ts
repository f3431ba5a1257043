import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startScript } from '../../../test/processes/start-script.ts';
import { formatInstant } from '../../domain/time.ts';
import { type Answers, answersOf } from '../../testing/answers.ts';
import { day, live, liveOnDisk } from '../../testing/live-memory.ts';
import { arbitraryStep, attempt, type Step } from '../../testing/random-steps.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';
import { scaledRuns } from '../../testing/runs.ts';
import { expectCode } from '../../testing/store-contract/harness.ts';

/** A moment, and what was answered at it. */
interface Moment {
  readonly known: string;
  readonly answers: Answers;
  readonly step: string;
}

const pauses = fc.constantFrom(1, 3_600_000, day, 20 * day);
const steps = (forgetting: boolean, most: number) =>
  fc.array(fc.tuple(arbitraryStep({ forgetting }), pauses), { minLength: 6, maxLength: most });

/** Does the steps on a file, and writes down after each what is answered. */
async function lived(all: readonly (readonly [Step, number])[]) {
  const given = await liveOnDisk();
  const { memory, clock } = given;
  await memory.remember('Anna drinks coffee in Lisbon', { id: 'm0' });
  const moments: Moment[] = [];
  for (const [step, pause] of all) {
    await attempt(memory, step);
    moments.push({ known: formatInstant(clock.now()), answers: await answersOf(memory), step: step.title });
    clock.advance(pause);
  }
  clock.advance(500 * day);
  return { ...given, moments };
}

/** What is left of answers when memories are gone: of scores nothing can be said, the texts of others count less. */
function without(answers: Answers, kept: ReadonlySet<string>): readonly unknown[] {
  return answers.memories
    .filter(({ id }) => kept.has(id))
    .map((memory) => ({ ...memory, effectiveWeight: undefined }));
}

describe('what was known', () => {
  test('every moment of any past answers as it did then, bit for bit, and after reopening too', async () => {
    await fc.assert(
      fc.asyncProperty(steps(false, 14), async (all) => {
        const { memory, moments, cleanUp, reopen } = await lived(all);
        try {
          const now = await answersOf(memory);
          for (const { known, answers, step } of moments) {
            expect(await answersOf(memory, { known }), step).toEqual(answers);
          }
          expect(await answersOf(memory)).toEqual(now);
          await memory.close();
          const again = await reopen();
          const { known, answers } = moments[Math.floor(moments.length / 2)] as Moment;
          expect(await answersOf(again, { known })).toEqual(answers);
          await again.close();
        } finally {
          await memory.close();
          await cleanUp();
        }
      }),
      { numRuns: scaledRuns(12) },
    );
  });

  test('past what was forgotten the rest is as it was, and the gap is reported', async () => {
    let gaps = 0;
    await fc.assert(
      fc.asyncProperty(steps(true, 16), async (all) => {
        const { memory, moments, cleanUp } = await lived(all);
        try {
          const { memories } = await memory.list();
          for (const { id } of memories.filter((_, at) => at % 3 === 1)) await memory.forget(id);
          for (const { known, answers, step } of moments) {
            const then = await answersOf(memory, { known });
            if (then.redacted === 0) {
              expect(then, step).toEqual(answers);
              continue;
            }
            gaps += 1;
            const kept = new Set(then.memories.map(({ id }) => id));
            const missing = answers.memories.filter(({ id }) => !kept.has(id));
            expect(missing.length, step).toBeLessThanOrEqual(then.redacted);
            expect(without(then, kept), step).toEqual(without(answers, kept));
            for (const { id } of missing) {
              await expectCode(memory.get(id, { asOf: { known } }), 'redacted');
            }
          }
        } finally {
          await memory.close();
          await cleanUp();
        }
      }),
      { numRuns: scaledRuns(12), seed: 1 },
    );
    // Otherwise the test has shown nothing.
    expect(gaps).toBeGreaterThan(0);
  });

  test('another process on another day gives the same answers', async () => {
    const sampled = fc.sample(steps(true, 24), { seed: 20_260_401, numRuns: scaledRuns(4) });
    for (const all of sampled) {
      const { memory, directory, moments, cleanUp } = await lived(all);
      const here: Answers[] = [];
      for (const { known } of moments) here.push(await answersOf(memory, { known }));
      await memory.close();
      const script = startScript(
        'looking-back.mjs',
        directory,
        JSON.stringify(moments.map(({ known }) => known)),
      );
      const there: unknown[] = [];
      for await (const line of script.lines) there.push(JSON.parse(line));
      expect(await script.ended).toEqual({ code: 0, signal: null, errors: '' });
      expect(there).toEqual(here);
      await cleanUp();
    }
  });

  test('whoever gives up meanwhile gets no answer, whatever the store', async () => {
    const { memory, pass } = await live({ store: createReferenceStore() });
    await memory.remember('Anna drinks tea', { id: 'a' });
    pass(1);
    const controller = new AbortController();
    const { signal } = controller;
    const looked = memory.get('a', { asOf: { known: '2026-01-01T12:00:00Z' }, signal });
    controller.abort();
    await expectCode(looked, 'aborted');
  });

  test('recalls and contexts say of which time they are, and how much of it was forgotten since', async () => {
    const { memory, pass } = await live();
    await memory.rememberMany([
      { content: 'Anna drinks tea', id: 'a' },
      { content: 'Ben drinks tea', id: 'b' },
    ]);
    pass(1);
    await memory.forget('b');
    pass(1);
    const asOf = { known: '2026-01-01T00:00:00Z' };
    const said = { known: '2026-01-01T00:00:00.000Z', valid: undefined, redacted: 1 };
    expect((await memory.recall('tea', { asOf })).trace.asOf).toEqual(said);
    expect((await memory.context('tea', { asOf, maxTokens: 500 })).trace.asOf).toEqual(said);
  });

  test('nothing is learnt from looking back, and nothing before the first write is known', async () => {
    const { memory, pass } = await live();
    await expectCode(memory.recall('tea', { asOf: { known: '2026-01-01' } }), 'invalid_argument');
    pass(1);
    await memory.remember('Anna drinks tea', { id: 'a' });
    pass(1);
    const { trace, hits } = await memory.recall('tea', {
      strategy: 'retention',
      asOf: { known: '2026-01-02' },
    });
    expect(hits).toHaveLength(1);
    expect(trace.asOf).toEqual({ known: '2026-01-02T00:00:00.000Z', valid: undefined, redacted: 0 });
    expect((await memory.get('a'))?.accessCount).toBe(0);
    const early = { asOf: { known: '2026-01-01' } };
    await expectCode(memory.recall('tea', early), 'invalid_argument');
    await expectCode(memory.list(early), 'invalid_argument');
    await expectCode(memory.get('a', early), 'invalid_argument');
    await expectCode(memory.recall('tea', { asOf: { when: '2026-01-02' } as object }), 'invalid_argument');
    await expectCode(memory.recall('tea', { asOf: { known: 'yesterday' } }), 'invalid_time');
  });

  test('explain and whyNot look back as recalls do', async () => {
    const { memory, pass } = await live();
    await memory.remember('Anna drinks tea', { id: 'a' });
    pass(1);
    await memory.update('a', { content: 'Anna drinks milk' });
    const options = { strategy: 'lexical', asOf: { known: '2026-01-01T12:00:00Z' } } as const;
    const { hits } = await memory.recall('tea', options);
    expect((await memory.explain('a', { query: 'tea', ...options })).score).toBe(hits[0]?.score.value);
    expect((await memory.whyNot('a', { query: 'tea', ...options })).outcome).toBe('returned');
    expect((await memory.whyNot('a', { query: 'tea', strategy: 'lexical' })).outcome).toBe('requirement');
  });
});

describe('what was true', () => {
  test('validity is that of the moment; what is known, and how old it is, that of now', async () => {
    const { memory, pass } = await live({ embedder: 'none' });
    await memory.remember('Anna lives in Berlin', { id: 'berlin', validFrom: '2020-01-01' });
    await memory.remember('Anna lives in Paris', {
      id: 'paris',
      validFrom: '2023-01-01',
      supersedes: 'berlin',
    });
    await memory.remember('Anna lives on a boat', {
      id: 'boat',
      validFrom: '2021-05-01',
      validUntil: '2021-06-01',
    });
    await memory.remember('Anna lives in Atlantis', { id: 'wrong' });
    await memory.invalidate('wrong', 'there is none');
    pass(1);
    const ids = async (valid?: string) => {
      const { hits } = await memory.recall('Anna lives', { strategy: 'bm25', asOf: { valid } });
      return hits.map((hit) => hit.memory.id).toSorted();
    };
    expect(await ids()).toEqual(['paris']);
    expect(await ids('2022-01-01')).toEqual(['berlin']);
    expect(await ids('2021-05-15')).toEqual(['berlin', 'boat']);
    expect(await ids('2019-01-01')).toEqual([]);
    expect(await ids('2024-01-01')).toEqual(['paris']);
  });

  test('both at once: what was then held to be true of another moment', async () => {
    const { memory, pass } = await live({ embedder: 'none' });
    await memory.remember('Anna lives in Berlin', { id: 'berlin', validFrom: '2020-01-01' });
    pass(10);
    await memory.remember('Anna lives in Paris', {
      id: 'paris',
      validFrom: '2023-01-01',
      supersedes: 'berlin',
    });
    const ids = async (known: string, valid: string) => {
      const { hits } = await memory.recall('Anna lives', { strategy: 'bm25', asOf: { known, valid } });
      return hits.map((hit) => hit.memory.id);
    };
    expect(await ids('2026-01-05', '2024-01-01')).toEqual(['berlin']);
    expect(await ids('2026-01-12', '2024-01-01')).toEqual(['paris']);
    expect(await ids('2026-01-12', '2022-01-01')).toEqual(['berlin']);
  });
});
