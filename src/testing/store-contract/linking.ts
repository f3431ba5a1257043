import fc from 'fast-check';
import { expect } from 'vitest';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import { type Change, LINK_KINDS, type Link, type LinkKind } from '../../store/store.ts';
import { createReferenceStore } from '../reference-store/index.ts';
import {
  type ContractTest,
  everything,
  expectCode,
  getOne,
  insert,
  latestUndoable,
  onSpace,
  replace,
  start,
  use,
  write,
} from './harness.ts';

const linkOf = (
  ids: readonly [string, string],
  kind: LinkKind = 'stated',
  weight = 0.5,
  at: number = start,
): Link => ({ ids, kind, weight, at });
const profile = resolveProfile(builtinProfile('bm25'));
const setting = (...link: Parameters<typeof linkOf>): Change => ({ kind: 'link', link: linkOf(...link) });

export const linkTests: readonly ContractTest[] = [
  onSpace('a link comes back as it was made, from both ends, and once', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' }), insert({ id: 'c' })]);
    const weights = [0, 1, 2 ** -60, 0.1 + 0.2, Number.MIN_VALUE] as const;
    await write(
      space,
      LINK_KINDS.map((kind, at) => setting(['b', 'a'], kind, weights[at] as number, start - at)),
      { verb: 'link' },
    );
    await write(space, [setting(['b', 'c'])], { verb: 'link' });
    const expected = LINK_KINDS.map((kind, at) =>
      linkOf(['a', 'b'], kind, weights[at] as number, start - at),
    ).toSorted((left, right) => (left.kind < right.kind ? -1 : 1));
    expect(await space.links(['a'])).toStrictEqual(expected);
    expect(await space.links(['b', 'a', 'x', 'b'])).toStrictEqual([...expected, linkOf(['b', 'c'])]);
    expect(await space.links(['c'])).toStrictEqual([linkOf(['b', 'c'])]);
    expect(await space.links(['x'])).toEqual([]);
    expect(await space.linksAmong(['a'])).toEqual([]);
    expect(await space.linksAmong(['b', 'a', 'x'])).toStrictEqual(
      expected.filter(({ ids }) => ids.join() === 'a,b'),
    );
    expect(await space.links([])).toEqual([]);
    expect(await space.check()).toEqual([]);
  }),
  onSpace('the ends are in code-unit order, whichever was written first', async (space) => {
    const [high, low] = ['\uff5e', '\u{1f600}'];
    await write(space, [insert({ id: high }), insert({ id: low }), setting([high, low], 'stated', 0.1)]);
    await write(space, [setting([low, high], 'stated', 0.2)]);
    expect(await space.links([high])).toStrictEqual([linkOf([low, high], 'stated', 0.2)]);
  }),
  onSpace('a change of a link is an event of its first memory, with what it was before', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' })]);
    await write(space, [setting(['b', 'a'], 'stated', 0.25, start + 1)], { verb: 'link' });
    await write(space, [setting(['a', 'b'], 'stated', 0.75, start - 9), setting(['a', 'b'], 'birth', 0.1)], {
      verb: 'link',
    });
    await write(space, [{ kind: 'unlink', ids: ['b', 'a'], kinds: ['stated', 'consolidation'] }], {
      verb: 'unlink',
    });
    expect(await space.links(['a'])).toStrictEqual([linkOf(['a', 'b'], 'birth', 0.1)]);
    await write(space, [setting(['a', 'b'])], { verb: 'link' });
    await write(space, [{ kind: 'unlink', ids: ['a', 'b'] }], { verb: 'unlink' });
    expect(await space.links(['a'])).toEqual([]);
    const ids = ['a', 'b'] as const;
    const stated = { ids, kind: 'stated' } as const;
    const birth = { ids, kind: 'birth' } as const;
    const events = (await space.history('a')).slice(1);
    expect(events.map(({ verb, operation, link }) => [verb, operation, link])).toStrictEqual([
      ['link', 3, { link: stated, before: undefined }],
      ['link', 4, { link: stated, before: { weight: 0.25, at: start + 1 } }],
      ['link', 4, { link: birth, before: undefined }],
      ['unlink', 6, { link: stated, before: { weight: 0.75, at: start - 9 } }],
      ['link', 7, { link: stated, before: undefined }],
      ['unlink', 8, { link: birth, before: { weight: 0.1, at: start } }],
      ['unlink', 8, { link: stated, before: { weight: 0.5, at: start } }],
    ]);
    expect(events.every(({ before, redacted }) => before === undefined && !redacted)).toBe(true);
    expect(await space.history('b')).toHaveLength(1);
    expect((await space.operation(4)).map(({ memoryId }) => memoryId)).toEqual(['a', 'a']);
    expect((await space.history('a'))[0]?.link).toBeUndefined();
  }),
  onSpace('what the log keeps restores the links as they were', async (space) => {
    await write(space, [
      insert({ id: 'a' }),
      insert({ id: 'b' }),
      setting(['a', 'b'], 'stated', 0.3, start - 5),
    ]);
    const before = await space.links(['a']);
    await write(space, [
      setting(['a', 'b'], 'stated', 1),
      { kind: 'unlink', ids: ['a', 'b'] },
      setting(['a', 'b'], 'consolidation', 0.8),
      setting(['a', 'b'], 'stated', 0.9),
    ]);
    const events = (await latestUndoable(space)).toReversed();
    const changes = events.flatMap(({ link }): Change[] => {
      if (!link) return [];
      const { ids, kind } = link.link;
      return [
        link.before
          ? { kind: 'link', link: { ids, kind, ...link.before } }
          : { kind: 'unlink', ids, kinds: [kind] },
      ];
    });
    expect(changes).toHaveLength(4);
    await write(space, changes, { verb: 'undo', undoes: events[0]?.operation as number });
    expect(await space.links(['a'])).toStrictEqual(before);
  }),
  onSpace('unlinking what is not linked leaves no trace', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' }), setting(['a', 'b'])]);
    const before = await everything(space);
    await write(space, [{ kind: 'unlink', ids: ['a', 'b'], kinds: [] }], { verb: 'unlink' });
    await write(space, [{ kind: 'unlink', ids: ['a', 'b'], kinds: ['birth'] }], { verb: 'unlink' });
    await write(space, [{ kind: 'unlink', ids: ['a', 'x'] }], { verb: 'unlink' });
    expect(await everything(space)).toEqual(before);
  }),
  ...(
    [
      ['an end that is missing', 'not_found', setting(['a', 'x'])],
      ['a memory and itself', 'invalid_argument', setting(['a', 'a'])],
      ['a weight above 1', 'invalid_argument', setting(['a', 'b'], 'stated', 1.01)],
      ['a weight that is not a number', 'invalid_argument', setting(['a', 'b'], 'stated', Number.NaN)],
    ] as const
  ).map(([title, code, bad]) =>
    onSpace(`a link with ${title} in the middle of a write changes nothing`, async (space) => {
      await write(space, [insert({ id: 'a' }), insert({ id: 'b' })]);
      const before = await everything(space);
      await expectCode(write(space, [setting(['a', 'b'], 'birth'), bad, insert({ id: 'c' })]), code);
      expect(await everything(space)).toEqual(before);
    }),
  ),
  onSpace(
    'neighbours in the session they were made in are linked, by creation, then insertion',
    async (space) => {
      const at = (id: string, createdAt: number, sessionId?: string) =>
        insert({ id, createdAt: start + createdAt, sessionId: 'another by now', bornIn: sessionId });
      await write(space, [
        at('third', 3, 's'),
        at('first', 1, 's'),
        at('other', 2, 't'),
        at('second-a', 2, 's'),
        at('second-b', 2, 's'),
        at('none', 2),
        at('other-2', 9, 't'),
      ]);
      const sequence = (a: string, b: string, later: number): Link =>
        linkOf([a, b], 'sequence', 0.5, start + later);
      expect(await space.links(['first'])).toStrictEqual([sequence('first', 'second-a', 2)]);
      expect(await space.links(['second-b'])).toStrictEqual([
        sequence('second-a', 'second-b', 2),
        sequence('second-b', 'third', 3),
      ]);
      expect(await space.links(['none'])).toEqual([]);
      expect(await space.links(['second-a', 'second-b', 'other'])).toStrictEqual([
        sequence('first', 'second-a', 2),
        sequence('other', 'other-2', 9),
        sequence('second-a', 'second-b', 2),
        sequence('second-b', 'third', 3),
      ]);
      // Links of sessions follow from the memories: `unlink` does not remove them, and without the middle memory the ends are linked.
      await write(space, [{ kind: 'unlink', ids: ['second-a', 'second-b'] }]);
      expect(await space.links(['second-a'])).toHaveLength(2);
      await write(space, [{ kind: 'remove', id: 'second-b' }]);
      expect(await space.links(['third'])).toStrictEqual([sequence('second-a', 'third', 3)]);
      // A stored link replaces the one that follows from the session.
      await write(space, [setting(['second-a', 'third'], 'sequence', 0.9, start)]);
      expect(await space.links(['third'])).toStrictEqual([linkOf(['second-a', 'third'], 'sequence', 0.9)]);
      await write(space, [replace({ id: 'second-a', sessionId: 't', createdAt: start + 5 })]);
      expect((await space.links(['other'])).map(({ ids }) => ids)).toEqual([['other', 'second-a']]);
    },
  ),
  onSpace('equal instants in a session: by the order of insertion', async (space) => {
    const ids = ['\u{1f600}', '\uff5e', 'a'];
    await write(
      space,
      ids.map((id) => insert({ id, sessionId: 's' })),
    );
    expect((await space.links(['\uff5e'])).map((link) => link.ids)).toEqual([
      ['a', '\uff5e'],
      ['\u{1f600}', '\uff5e'],
    ]);
    expect((await space.links(['a'])).map((link) => link.ids)).toEqual([['a', '\uff5e']]);
  }),
  onSpace('the links of a memory go with it', async (space) => {
    const ids = ['a', 'b', 'c', 'd'];
    await write(
      space,
      ids.map((id) => insert({ id })),
    );
    await write(space, [setting(['a', 'b']), setting(['b', 'c']), setting(['c', 'd'])]);
    await write(space, [{ kind: 'remove', id: 'b' }], { verb: 'undo' });
    expect(await space.links(ids)).toStrictEqual([linkOf(['c', 'd'])]);
    // The log keeps the removed links, for `asKnown`.
    const before = { weight: 0.5, at: start };
    const taken = (await space.operation(8)).map(({ memoryId, link }) => [memoryId, link]);
    expect(taken).toStrictEqual([
      ['a', { link: { ids: ['a', 'b'], kind: 'stated' }, before }],
      ['b', { link: { ids: ['b', 'c'], kind: 'stated' }, before }],
      ['b', undefined],
    ]);
    await write(space, [{ kind: 'redact', id: 'd' }], { verb: 'forget' });
    expect(await space.links(ids)).toEqual([]);
    await write(space, [insert({ id: 'b' }), insert({ id: 'd' })]);
    expect(await space.links(ids)).toEqual([]);
    expect(await space.check()).toEqual([]);
  }),
  onSpace('forgetting either end redacts the events of a link', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' }), insert({ id: 'c' })]);
    await write(space, [setting(['a', 'b'])], { verb: 'link' });
    await write(space, [setting(['a', 'c'])], { verb: 'link' });
    await write(space, [{ kind: 'redact', id: 'b' }], { verb: 'forget' });
    expect((await space.history('a')).map(({ link, redacted }) => [link?.link.ids, redacted])).toEqual([
      [undefined, false],
      [undefined, true],
      [['a', 'c'], false],
    ]);
    await expectCode(write(space, [], { verb: 'undo', undoes: 4 }), 'cannot_undo');
    await write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' });
    expect((await space.history('a')).every(({ link, redacted }) => !link && redacted)).toBe(true);
  }),
  onSpace('a link with a forgotten memory is no later change of the other one', async (space) => {
    for (const forgotten of ['a', 'c']) {
      const other = `b${forgotten}`;
      await write(space, [insert({ id: forgotten })]);
      await write(space, [insert({ id: other })]);
      await write(space, [replace({ id: other, content: 'new' })], { verb: 'update' });
      await write(space, [setting([forgotten, other])], { verb: 'link' });
      await write(space, [{ kind: 'redact', id: forgotten }], { verb: 'forget' });
      const operations = await space.operations({ limit: 5, ids: 1 });
      expect(operations.map(({ problem }) => problem)).toEqual([
        'redacted',
        'redacted',
        undefined,
        'changed',
        'redacted',
      ]);
    }
  }),
  onSpace('a snapshot sees every link, whichever handle wrote or used it', async (space, store) => {
    const other = await store.openSpace('alice');
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' }), insert({ id: 'c' })]);
    const weights = () =>
      space.snapshot(async (snapshot) => {
        // After a search, the index answers. It must follow what is written.
        await snapshot.search({ profile, query: { terms: ['tea'] }, filter: {}, now: start, limit: 1 });
        const links = await snapshot.links(['a', 'b', 'c']);
        return links.map(({ ids, weight }) => `${ids.join('')} ${weight}`).sort();
      });
    expect(await weights()).toEqual([]);
    await write(other, [setting(['a', 'b'], 'stated', 0.5)]);
    expect(await weights()).toEqual(['ab 0.5']);
    await write(other, [setting(['b', 'c'], 'stated', 0.25)]);
    expect(await weights()).toEqual(['ab 0.5', 'bc 0.25']);
    await use(other, ['a', 'b'], undefined, {}, [linkOf(['a', 'b'], 'stated', 0.75)]);
    expect(await weights()).toEqual(['ab 0.75', 'bc 0.25']);
    await write(other, [{ kind: 'unlink', ids: ['a', 'b'] }]);
    expect(await weights()).toEqual(['bc 0.25']);
    await write(other, [{ kind: 'remove', id: 'c' }]);
    expect(await weights()).toEqual([]);
  }),
  onSpace('a decision sees the links that it decides on', async (space, store) => {
    const other = await store.openSpace('alice');
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' }), setting(['a', 'b'], 'stated', 0)]);
    const strengthen = (index: number) =>
      (index % 2 ? space : other).write({ verb: 'link', at: start }, async (reader) => {
        const [link] = await reader.links(['a']);
        const weight = Math.min(1, (link?.weight ?? 0) + 1 / 16);
        return { changes: [setting(['a', 'b'], 'stated', weight)], result: undefined };
      });
    await Promise.all(Array.from({ length: 10 }, (_, index) => strengthen(index)));
    expect((await space.links(['a']))[0]?.weight).toBe(10 / 16);
    expect((await getOne(other, 'a'))?.revisionCount).toBe(1);
  }),
  {
    title: 'any links and sessions equal the obvious computation',
    async run({ store }) {
      const ids = ['a', 'b', 'c', 'd', '\uff5e', '\u{1f600}'];
      const id = fc.constantFrom(...ids);
      const pair = fc.tuple(id, id).filter(([a, b]) => a !== b);
      const kind = fc.constantFrom(...LINK_KINDS);
      const change: fc.Arbitrary<Change> = fc.oneof(
        fc.record({
          kind: fc.constant('link' as const),
          link: fc.record({
            ids: pair,
            kind,
            weight: fc.double({ min: 0, max: 1, noNaN: true }).map((weight) => weight + 0),
            at: fc.integer(),
          }),
        }),
        fc.record({
          kind: fc.constant('unlink' as const),
          ids: pair,
          kinds: fc.option(fc.uniqueArray(kind), { nil: undefined }),
        }),
        fc
          .record({
            id,
            createdAt: fc.integer({ min: 0, max: 3 }),
            sessionId: fc.constantFrom(undefined, 's', 't'),
          })
          .map(replace),
      );
      let run = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 8 }),
          fc.array(id),
          async (writes, asked) => {
            await using reference = createReferenceStore();
            const oracle = await reference.openSpace('oracle');
            await using space = await store.openSpace(`run-${run++}`);
            for (const each of [oracle, space]) {
              await write(
                each,
                ids.map((one) => insert({ id: one })),
              );
              for (const changes of writes) await write(each, changes);
            }
            expect(await space.links(asked)).toStrictEqual(await oracle.links(asked));
            for (const one of ids) {
              expect(await space.links([one])).toStrictEqual(await oracle.links([one]));
              expect(await space.history(one)).toStrictEqual(await oracle.history(one));
            }
          },
        ),
        { numRuns: 30 },
      );
    },
  },
];
