import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatInstant } from '../../domain/time.ts';
import { day, live } from '../../testing/live-memory.ts';

/** Days from the recall to when a memory ended, and to the moment whose truth is asked for. */
const days = fc.constantFrom(-20, -10, -9, 0, 1, 10);
/** A millisecond decides. */
const slip = fc.constantFrom(-1, 0, 1);

test('a deep recall judges what has ended by the moment that it asks about (drawn)', async () => {
  await fc.assert(
    fc.asyncProperty(
      days,
      slip,
      fc.option(days, { nil: undefined }),
      fc.boolean(),
      async (end, by, at, plan) => {
        const { memory, clock } = await live({ embedder: 'none' });
        const now = clock.now();
        const validUntil = now + end * day + by;
        const validAt = at === undefined ? now : now + at * day;
        await memory.remember('Trains daily', {
          id: 'm',
          type: plan ? 'plan' : 'fact',
          createdAt: formatInstant(now - 30 * day),
          validFrom: formatInstant(now - 30 * day),
          validUntil: formatInstant(validUntil),
        });
        const asOf = at === undefined ? undefined : { valid: formatInstant(validAt) };
        const options = { strategy: 'bm25', track: false, deep: true, includeExpired: true, asOf } as const;
        const { hits } = await memory.recall('trains', options);
        const fresh = await memory.recall('trains', { ...options, deep: false });
        const ended = validUntil < validAt;
        if (ended && !plan) {
          expect(hits).toEqual([]);
          return;
        }
        // What may have ended is there at its full score where the recall is not deep.
        const own = fresh.hits[0]!.score.value;
        expect(hits).toMatchObject([{ viaDeepRecall: ended, score: { value: ended ? own / 2 : own } }]);
        const { score } = await memory.explain('m', { query: 'trains', ...options });
        expect(score).toBe(hits[0]!.score.value);
      },
    ),
    { numRuns: 100 },
  );
});
