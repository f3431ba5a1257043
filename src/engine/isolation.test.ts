import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openMemory } from '../open.ts';
import type { Store } from '../store/store.ts';
import { createSqliteStore } from '../stores/sqlite/index.ts';
import { answersOf } from '../testing/answers.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { day, live, liveOnDisk } from '../testing/live-memory.ts';
import { arbitraryStep, attempt, type Step } from '../testing/random-steps.ts';
import { createReferenceStore } from '../testing/reference-store/index.ts';
import type { MemoryEngine } from './memory-engine.ts';

/** As many steps are taken in a space at most; as often the clock moves on. */
const MOST = 14;
const some = (most: number, options = {}) =>
  fc.array(arbitraryStep({ forgetting: true, ...options }), { minLength: 4, maxLength: most });

/** Everything that is seen in a space, recalls that teach it included. */
async function seenIn(memory: MemoryEngine): Promise<unknown> {
  const { memories } = await memory.list({ limit: 1000 });
  return {
    answers: await answersOf(memory),
    conflicts: await memory.conflicts(),
    stats: { ...(await memory.stats()), bytes: 0, path: '' },
    histories: await Promise.all(memories.map(({ id }) => memory.history(id))),
    beliefs: await memory.beliefs('drink'),
    links: await Promise.all(memories.map(({ id }) => memory.links(id))),
  };
}

/** The answers of alice, with or without what happens to bob in between. */
async function aliceBeside(
  bobs: readonly Step[],
  alices: readonly Step[],
  open: (space: string) => Promise<MemoryEngine>,
  pass: () => void,
): Promise<readonly unknown[]> {
  const alice = await open('alice');
  const bob = await open('bob');
  const seen: unknown[] = [];
  for (let at = 0; at < MOST; at++) {
    const [forBob, forAlice] = [bobs[at], alices[at]];
    if (forBob) await attempt(bob, forBob);
    if (forAlice) seen.push(await attempt(alice, forAlice));
    pass();
  }
  seen.push(await seenIn(alice));
  await alice.close();
  await bob.close();
  return JSON.parse(
    JSON.stringify(seen, (key, value: unknown) => (/Ms$/.test(key) ? 0 : value)),
  ) as unknown[];
}

function opener(store: Store, clock: { now: () => number }) {
  return (space: string) => {
    let ids = 0;
    const newId = () => `${space[0]}${ids++}`;
    return openMemory({ path: 'test', space, store, clock: () => clock.now(), newId });
  };
}

test('whatever happens in one space, no bit of any answer in another changes', async () => {
  await fc.assert(
    fc.asyncProperty(some(MOST), some(MOST), async (alices, bobs) => {
      const answers: (readonly unknown[])[] = [];
      for (const beside of [[], bobs]) {
        const clock = createFakeClock();
        const store = createReferenceStore();
        answers.push(await aliceBeside(beside, alices, opener(store, clock), () => clock.advance(day)));
      }
      expect(answers[1]).toEqual(answers[0]);
    }),
    { numRuns: 20 },
  );
});

test('nor when both are files of one directory', async () => {
  await fc.assert(
    fc.asyncProperty(some(10), some(10), async (alices, bobs) => {
      const answers: (readonly unknown[])[] = [];
      for (const beside of [[], bobs]) {
        const { memory, directory, clock, cleanUp, pass } = await liveOnDisk({ space: 'unused' });
        await memory.close();
        const store = createSqliteStore({ directory, synchronous: 'normal' });
        answers.push(await aliceBeside(beside, alices, opener(store, clock), () => pass(1)));
        await store.close();
        await cleanUp();
      }
      expect(answers[1]).toEqual(answers[0]);
    }),
    { numRuns: 8 },
  );
});

/** How many hits were looked at: a loop over none proves nothing. */
let compared = 0;

/** What can be told apart from a scope, without statistics: which memories there are, and how they stand. */
async function statesFrom(memory: MemoryEngine, scope: string): Promise<unknown> {
  const known = new Set<string>();
  const { memories } = await memory.list({ scope, limit: 1000 });
  for (const { id } of memories) known.add(id);
  const hits: unknown[] = [];
  for (const strategy of ['ambient', 'hybrid', 'vector', 'lexical'] as const) {
    const query = strategy === 'ambient' ? undefined : 'Anna drinks coffee';
    const answer = await memory.recall(query, {
      strategy,
      scope,
      limit: 1000,
      track: false,
      association: 'direct',
    });
    compared += answer.hits.length;
    for (const hit of answer.hits) expect(known, 'a memory of elsewhere').toContain(hit.memory.id);
    hits.push(
      answer.hits
        .filter((hit) => !hit.isAssociative)
        .map((hit) => [
          hit.memory.id,
          hit.memory.effectiveWeight,
          hit.features['conflict'],
          hit.features['superseded'],
        ])
        .toSorted(),
    );
  }
  const deep = await memory.recall(undefined, {
    strategy: 'ambient',
    scope,
    limit: 1000,
    track: false,
    deep: true,
  });
  const scores = deep.hits.map((hit) => [hit.memory.id, hit.score.value]);
  const beliefs = await memory.beliefs('drink', { scope });
  return { memories, hits, scores, beliefs };
}

test('nothing in a sibling scope appears, nor does it hide, release or contest anything', async () => {
  const home = some(12, { scopes: ['global', 'project:a'] });
  // Without what is about the whole space, and without uses: those teach the ancestors too, which all share.
  const local = /^(remember|batch|update|link|unlink|invalidate|reinstate|forget)/;
  const elsewhere = some(16, { scopes: ['project:b', 'project:a/part:b'] });
  await fc.assert(
    fc.asyncProperty(home, elsewhere, async (steps, others) => {
      const { memory, pass } = await live();
      await memory.remember('Anna drinks coffee in Lisbon', { id: 'root', topicKey: 'drink' });
      for (const step of steps) {
        await attempt(memory, step);
        pass(1);
      }
      const before = await statesFrom(memory, 'project:a');
      for (const step of others.filter(({ title }) => local.test(title))) await attempt(memory, step);
      // They may supersede what they see, and say the same or nearly the same.
      const { memories } = await memory.list({ scope: 'global', limit: 1000 });
      for (const { id, content } of memories) {
        await attempt(memory, {
          title: 'supersede',
          run: (each) => each.remember(content, { scope: 'project:b', supersedes: id, topicKey: 'drink' }),
        });
      }
      expect(await statesFrom(memory, 'project:a')).toEqual(before);
    }),
    { numRuns: 40, seed: 1 },
  );
  expect(compared).toBeGreaterThan(100);
});

test('a statement is new, known or of a known topic by its own scope alone', async () => {
  const outcomes = async (beside: boolean) => {
    const { memory } = await live({ embedder: 'none' });
    await memory.remember('Anna drinks tea', { id: 'g', topicKey: 'drink' });
    if (beside) {
      await memory.remember('Anna drinks tea', {
        scope: 'project:b',
        topicKey: 'drink',
        supersedes: 'g',
        id: 'b1',
      });
      await memory.remember('Anna drinks milk', { scope: 'project:b', id: 'b2' });
      await memory.invalidate('b2', 'wrong');
    }
    const seen: unknown[] = [];
    for (const [content, more] of [
      ['Anna drinks tea', {}],
      ['Anna drinks milk', { scope: 'project:a', id: 'a' }],
      ['Anna drinks water', { topicKey: 'drink' }],
    ] as const) {
      seen.push(await memory.remember(content, more));
    }
    return seen;
  };
  expect(await outcomes(true)).toEqual(await outcomes(false));
});

test('no path, chain or score leads through a memory that cannot be seen', async () => {
  const answers = async (beside: boolean) => {
    const { memory } = await live({ embedder: 'none' });
    await memory.remember('Anna drinks coffee', { id: 'hit' });
    await memory.remember('Coffee and nothing else', { id: 'second', scope: 'project:a' });
    await memory.remember('A mill', { id: 'far', scope: 'project:a' });
    await memory.link('hit', 'far', { weight: 0.5 });
    if (beside) {
      await memory.remember('A secret', { id: 'hidden', scope: 'project:b' });
      for (const id of ['hit', 'second', 'far']) await memory.link('hidden', id, { weight: 1 });
    }
    const { hits, evidenceChains } = await memory.recall(undefined, {
      strategy: 'ambient',
      scope: 'project:a',
      limit: 2,
      association: { mode: 'propagated', propagation: 1, minimum: 0.01 },
    });
    return { hits: hits.map((hit) => [hit.memory.id, hit.score.value, hit.path]), evidenceChains };
  };
  const alone = await answers(false);
  expect(alone.hits).toHaveLength(2);
  expect(await answers(true)).toEqual(alone);
});
