import fc from 'fast-check';
import { expect } from 'vitest';
import type { MemoryRecord } from '../../domain/memory.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import type { Change, IndexedText, Link, PastSpace, SpaceStore } from '../../store/store.ts';
import { sampleIndexed } from '../sample-memory.ts';
import {
  type ContractTest,
  expectCode,
  getOne,
  insert,
  inspectIn,
  onSpace,
  replace,
  searchIn,
  start,
  use,
  write,
} from './harness.ts';

/** Derives a vector from the length of the text, so that different texts have different vectors. */
const vectorOf = ({ content }: Pick<MemoryRecord, 'content'>) => [1, content.length, 0];
const derive = async (memories: readonly MemoryRecord[]): Promise<readonly IndexedText[]> =>
  memories.map((memory) => sampleIndexed(memory, vectorOf(memory)));
const at = (space: SpaceStore, known: number): Promise<PastSpace> => space.asKnown(known, derive);
const known = (fields: Partial<MemoryRecord> & { readonly id: string }): Change =>
  insert(fields, vectorOf({ content: fields.content ?? `content of ${fields.id}` }));
const changed = (fields: Partial<MemoryRecord> & { readonly id: string }): Change =>
  replace(fields, vectorOf({ content: fields.content ?? `content of ${fields.id}` }));
const link = (a: string, b: string, weight = 0.5, kind: Link['kind'] = 'stated'): Link => ({
  ids: [a, b],
  kind,
  weight,
  at: start,
});

const hybrid = resolveProfile(builtinProfile('hybrid'));
const query = { terms: ['content', 'tea'], vector: Float32Array.of(1, 0, 0) };

/** Returns all that can be read of a space at a moment, to be compared as a whole. */
async function answers(space: SpaceStore, now: number): Promise<unknown> {
  const { memories } = await space.list({ filter: {}, limit: 1000 });
  const ids = memories.map(({ id }) => id);
  const { hits, eligible, total } = await searchIn(space, {
    profile: hybrid,
    query,
    filter: {},
    now,
    limit: 100,
  });
  const { bytes: _, path: __, name: ___, schemaVersion: ____, terms: _____, ...info } = await space.info();
  return {
    memories,
    found: hits.map(({ memory, score, signals }) => [memory.id, score, signals]),
    eligible,
    total,
    inspected: await inspectIn(space, ids, { profile: hybrid, query, filter: { deep: true }, now }),
    links: await space.links(ids),
    pairs: (await space.pendingPairs(100)).map(({ resolution: ____, ...pair }) => pair),
    histories: await Promise.all(ids.map((id) => space.history(id))),
    usage: await space.usage(),
    info,
  };
}

export const lookingBackTests: readonly ContractTest[] = [
  onSpace('a link that nothing changed since is there, and a later one is not', async (space) => {
    await write(space, [known({ id: 'a' }), known({ id: 'b' }), known({ id: 'c' })]);
    await write(space, [{ kind: 'link', link: link('a', 'b') }], { verb: 'link', at: start + 1 });
    await write(space, [{ kind: 'link', link: link('b', 'c') }], { verb: 'link', at: start + 3 });
    const links = async (moment: number) =>
      (await (await at(space, moment)).links(['a', 'b', 'c'])).map(({ ids }) => ids.join(''));
    expect([await links(start), await links(start + 2)]).toEqual([[], ['ab']]);
    expect((await links(start + 3)).sort()).toEqual(['ab', 'bc']);
  }),
  onSpace('whoever is handed a memory of the past cannot change it', async (space) => {
    await write(space, [known({ id: 'same', tags: ['tea'] }), known({ id: 'new', tags: ['tea'] })]);
    await write(space, [changed({ id: 'new', content: 'another text' })], { at: start + 10 });
    const past = await at(space, start + 5);
    for (const id of ['same', 'new']) {
      const memory = await getOne(past, id);
      expect([memory?.tags, Object.isFrozen(memory), Object.isFrozen(memory?.tags)]).toEqual([
        ['tea'],
        true,
        true,
      ]);
    }
  }),
  onSpace('each moment is as it was then: writes, uses, links, pairs and what supersedes', async (space) => {
    const steps: readonly (() => Promise<unknown>)[] = [
      () => write(space, [known({ id: 'a', content: 'green tea' }), known({ id: 'b' })], { at: start + 1 }),
      () => write(space, [changed({ id: 'a', content: 'black tea', tags: ['x'] })], { at: start + 2 }),
      () =>
        use(space, ['a', 'b'], () => ({ stability: 0.9, accessCount: 3 }), { at: start + 3 }, [
          link('a', 'b', 0.1, 'co-retrieval'),
        ]),
      () => write(space, [{ kind: 'link', link: link('a', 'b') }], { at: start + 4, verb: 'link' }),
      () => write(space, [known({ id: 'c', supersedes: ['a'], sessionId: 's' })], { at: start + 5 }),
      () => use(space, ['c'], () => ({ accessCount: 1, core: true }), { at: start + 6 }),
      () =>
        write(
          space,
          [
            { kind: 'queue-pair', pair: { older: 'b', newer: 'c', kind: 'update', similarity: 0.9 } },
            changed({ id: 'c', supersedes: ['a'], sessionId: 's', importance: 1 }),
          ],
          { at: start + 7 },
        ),
      () =>
        write(
          space,
          [{ kind: 'settle-pair', sequence: 1, resolution: 'keep-both' }, changed({ id: 'b', tier: 'cold' })],
          { at: start + 8 },
        ),
      () => write(space, [{ kind: 'unlink', ids: ['a', 'b'] }], { at: start + 9, verb: 'unlink' }),
      () => write(space, [{ kind: 'remove', id: 'c' }], { at: start + 10 }),
      () => write(space, [known({ id: 'c', content: 'tea again', sessionId: 's' })], { at: start + 11 }),
      () => use(space, ['b'], () => ({ tier: 'hot', lastAccessedAt: start + 12 }), { at: start + 12 }),
    ];
    const recorded: unknown[] = [];
    for (const [index, step] of steps.entries()) {
      await step();
      recorded.push(await answers(space, start + 100 + index));
    }
    for (const [index, expected] of recorded.entries()) {
      const past = await at(space, start + 1 + index);
      expect(past.redacted).toBe(0);
      expect(await answers(past, start + 100 + index), `moment ${index + 1}`).toEqual(expected);
      await past.close();
    }
    // Looking back has changed nothing.
    expect(await answers(space, start + 111)).toEqual(recorded.at(-1));
  }),
  onSpace('between two moments it is as at the earlier one, and after the last as now', async (space) => {
    await write(space, [known({ id: 'a' })], { at: start + 10 });
    await write(space, [changed({ id: 'a', content: 'new' })], { at: start + 20 });
    expect((await getOne(await at(space, start + 19), 'a'))?.content).toBe('content of a');
    expect((await getOne(await at(space, start + 20), 'a'))?.content).toBe('new');
    expect((await getOne(await at(space, start + 1e9), 'a'))?.content).toBe('new');
  }),
  onSpace('before the first write nothing was known, and that is an error', async (space) => {
    await expectCode(at(space, start), 'invalid_argument');
    await write(space, [known({ id: 'a' })], { at: start + 10 });
    const error = await expectCode(at(space, start + 9), 'invalid_argument');
    expect(error.message).toContain(new Date(start + 10).toISOString());
    expect((await at(space, start + 10)).redacted).toBe(0);
  }),
  onSpace('only texts that are others now are derived again, outside of any write', async (space) => {
    await write(
      space,
      ['a', 'b', 'c'].map((id) => known({ id })),
      { at: start + 1 },
    );
    await write(space, [changed({ id: 'a', content: 'new' }), { kind: 'remove', id: 'b' }], {
      at: start + 2,
    });
    await write(space, [replace({ id: 'c', tags: ['tag'] }, [0, 0, 1])], { at: start + 3 });
    const asked: string[] = [];
    const past = await space.asKnown(start + 1, async (memories) => {
      asked.push(...memories.map(({ id }) => id));
      // If `derive` ran inside a write, this write would wait for it forever.
      await write(space, [known({ id: `meanwhile ${asked.length}` })], { at: start + 4 });
      return derive(memories);
    });
    expect(asked.toSorted()).toEqual(['a', 'b', 'c']);
    expect((await past.list({ filter: {}, limit: 9 })).memories).toHaveLength(3);
    asked.length = 0;
    await space.asKnown(start + 3, async (memories) => {
      asked.push(...memories.map(({ id }) => id));
      return derive(memories);
    });
    expect(asked).toEqual([]);
  }),
  onSpace('what was forgotten since is missing, and counted where it was known', async (space) => {
    await write(space, [known({ id: 'a' }), known({ id: 'b' })], { at: start + 1 });
    await write(space, [known({ id: 'secret' })], { at: start + 2 });
    await write(
      space,
      [
        { kind: 'link', link: link('a', 'secret') },
        { kind: 'link', link: link('b', 'secret') },
      ],
      { at: start + 3 },
    );
    await use(space, ['a', 'secret'], () => ({ accessCount: 1 }), { at: start + 4 }, [
      link('a', 'secret', 0.1, 'co-retrieval'),
    ]);
    await write(space, [{ kind: 'redact', id: 'secret' }], { at: start + 5, verb: 'forget' });
    await write(space, [changed({ id: 'a', content: 'new' })], { at: start + 6 });
    const counts: number[] = [];
    for (let moment = 1; moment <= 6; moment++) {
      const past = await at(space, start + moment);
      counts.push(past.redacted);
      expect(await getOne(past, 'secret')).toBeUndefined();
      // The memories that it was linked with were not forgotten.
      expect(await past.get(['a', 'b'])).toMatchObject([
        { content: moment < 6 ? 'content of a' : 'new', accessCount: moment < 4 ? 0 : moment === 6 ? 0 : 1 },
        { content: 'content of b' },
      ]);
      expect(await past.links(['a', 'b', 'secret'])).toEqual([]);
    }
    expect(counts).toEqual([0, 1, 1, 1, 0, 0]);
  }),
  onSpace('an id that was used again after forgetting is two memories', async (space) => {
    await write(space, [known({ id: 'b' })], { at: start });
    await write(space, [known({ id: 'a', content: 'first' })], { at: start + 1 });
    await write(space, [{ kind: 'redact', id: 'a' }], { at: start + 2, verb: 'forget' });
    await write(space, [known({ id: 'a', content: 'second' })], { at: start + 3 });
    const seen: unknown[] = [];
    for (const moment of [0, 1, 2, 3]) {
      const past = await at(space, start + moment);
      seen.push([(await getOne(past, 'a'))?.content, past.redacted]);
    }
    expect(seen).toEqual([
      [undefined, 0],
      [undefined, 1],
      [undefined, 0],
      ['second', 0],
    ]);
  }),
  onSpace('the past can be read and not written', async (space) => {
    await write(space, [known({ id: 'a' })], { at: start });
    const past = await at(space, start);
    await expectCode(write(past, [known({ id: 'b' })]), 'store_read_only');
    await expectCode(use(past, ['a']), 'store_read_only');
    await past.close();
    await expectCode(past.get(['a']), 'closed');
    expect(await getOne(space, 'a')).toBeDefined();
  }),
  onSpace('any moment of any past equals what was seen then', async (_, store) => {
    const id = fc.integer({ min: 0, max: 5 }).map((each) => `m${each}`);
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('put' as const),
        id,
        content: fc.constantFrom('tea', 'content', 'tea tea'),
        supersedes: fc.option(id, { nil: undefined }),
        session: fc.option(fc.constantFrom('s', 't'), { nil: undefined }),
      }),
      fc.record({ kind: fc.constant('remove' as const), id }),
      fc.record({ kind: fc.constant('use' as const), id, other: id }),
      fc.record({ kind: fc.constant('link' as const), id, other: id }),
      fc.record({ kind: fc.constant('unlink' as const), id, other: id }),
      fc.record({ kind: fc.constant('pair' as const), id, other: id }),
      fc.record({ kind: fc.constant('settle' as const), id }),
    );
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 14 }), async (steps) => {
        const space = await store.openSpace(`past ${count++}`);
        await write(space, [known({ id: 'm0' })], { at: start });
        const recorded: unknown[] = [];
        for (const [index, each] of steps.entries()) {
          const moment = { at: start + index + 1 };
          const other = 'other' in each ? each.other : 'm0';
          const [present, second] = await space.get([each.id, other]);
          const both = present && second && each.id !== other;
          switch (each.kind) {
            case 'put': {
              const fields = {
                id: each.id,
                content: each.content,
                sessionId: each.session,
                supersedes:
                  each.supersedes !== undefined && each.supersedes < each.id ? [each.supersedes] : [],
              };
              await write(space, [present ? changed(fields) : known(fields)], moment);
              break;
            }
            case 'remove':
              if (present) await write(space, [{ kind: 'remove', id: each.id }], moment);
              break;
            case 'use':
              if (both)
                await use(
                  space,
                  [each.id, other],
                  ({ accessCount }) => ({ accessCount: accessCount + 1 }),
                  moment,
                  [link(each.id, other, 0.1 * (index + 1) > 1 ? 1 : 0.1 * (index + 1), 'co-retrieval')],
                );
              break;
            case 'link':
              if (both) await write(space, [{ kind: 'link', link: link(each.id, other, 0.8) }], moment);
              break;
            case 'unlink':
              if (each.id !== other) await write(space, [{ kind: 'unlink', ids: [each.id, other] }], moment);
              break;
            case 'pair':
              if (both)
                await write(
                  space,
                  [
                    {
                      kind: 'queue-pair',
                      pair: { older: each.id, newer: other, kind: 'update', similarity: 0.5 },
                    },
                  ],
                  moment,
                );
              break;
            case 'settle': {
              const [pair] = await space.pendingPairs(1);
              if (pair)
                await write(
                  space,
                  [{ kind: 'settle-pair', sequence: pair.sequence, resolution: 'keep-both' }],
                  moment,
                );
            }
          }
          recorded.push(await answers(space, start + 50));
        }
        for (const [index, expected] of recorded.entries()) {
          const past = await at(space, start + index + 1);
          expect(await answers(past, start + 50)).toEqual(expected);
        }
        await space.close();
      }),
      { numRuns: 25 },
    );
  }),
];
