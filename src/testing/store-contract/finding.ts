import fc from 'fast-check';
import { expect } from 'vitest';
import { relationId } from '../../domain/relation.ts';
import { normalisedContent } from '../../domain/statement.ts';
import type { FindBy, SpaceReader } from '../../store/store.ts';
import { stubContent } from '../../store/tiers.ts';
import { type ContractTest, expectCode, insert, onSpace, replace, start, write } from './harness.ts';

const ids = async (reader: SpaceReader, by: FindBy, ...values: readonly string[]) =>
  (await reader.find(by, values)).map(({ id }) => id);

export const findingTests: readonly ContractTest[] = [
  onSpace(
    'a text that cannot be stored finds nothing, nor does its truncated or changed form',
    async (space) => {
      const known = { topicKey: 'a', sessionId: 'a', tags: ['a'], scope: 'a', author: 'a', content: 'a' };
      await write(space, [
        insert({ id: 'a', ...known }),
        insert({ id: '\ufffd', tags: ['\ufffd'] }),
        insert({ id: 'b' }),
      ]);
      await write(space, [
        { kind: 'link', link: { ids: ['a', 'b'], kind: 'stated', weight: 1, at: start } },
        { kind: 'link', link: { ids: ['b', '\ufffd'], kind: 'stated', weight: 1, at: start } },
      ]);
      for (const text of ['a\0', 'a\0b', '\0', '\ud800', '\udc00']) {
        expect(await space.get([text, 'b', text])).toMatchObject([undefined, { id: 'b' }, undefined]);
        expect(await space.links([text])).toEqual([]);
        expect(await space.linksAmong([text, 'b'])).toEqual([]);
        expect(await space.history(text)).toEqual([]);
        expect(await space.votes(text)).toEqual([]);
        expect(await space.session(text)).toBeUndefined();
        expect(await space.standing([text])).toEqual([undefined]);
        for (const by of [
          'content',
          'topicKey',
          'sessionId',
          'names',
          'ends',
          'supersedes',
          'derivedFrom',
        ] as const)
          expect(await ids(space, by, text)).toEqual([]);
        for (const filter of [{ tags: [text] }, { types: [text] }])
          expect((await space.list({ filter, limit: 5 })).memories).toEqual([]);
      }
    },
  ),
  onSpace('equal texts are found, and nothing that only begins or ends like them', async (space) => {
    const beginning = 'x'.repeat(64);
    await write(space, [
      insert({ id: 'short', content: beginning }),
      insert({ id: 'one', content: `${beginning}1` }),
      insert({ id: 'two', content: `${beginning}2` }),
      insert({ id: 'again', content: `${beginning}2`, scope: 'project:a' }),
      insert({ id: 'long', content: `${beginning}2 and more` }),
      insert({ id: 'upper', content: `${beginning}2`.toUpperCase() }),
    ]);
    expect(await ids(space, 'content', `${beginning}2`)).toEqual(['two', 'again']);
    expect(await ids(space, 'content', `${beginning}1`, beginning, `${beginning}1`)).toEqual([
      'short',
      'one',
    ]);
    expect(await ids(space, 'content', 'x', `${beginning}3`, '')).toEqual([]);
    expect(await ids(space, 'content')).toEqual([]);
  }),
  onSpace('an id that cannot be stored finds nothing and changes nothing', async (space) => {
    await write(space, [
      insert({ id: 'tea', content: 'tea', tags: ['hot'], topicKey: 'drink', sessionId: 'day' }),
      insert({ id: 'cup\ufffd', content: 'cup', tags: ['set\ufffd'] }),
    ]);
    await write(space, [{ kind: 'vote', id: 'tea', vote: { voter: 'ann', vote: 1 } }]);
    const before = await space.get(['tea', 'cup\ufffd']);
    for (const [id, tag] of [
      ['tea\0', 'hot\0'],
      ['tea\0x', 'hot\0x'],
      ['cup\ud800', 'set\udc00'],
    ] as const) {
      expect(await space.get([id])).toEqual([undefined]);
      expect(await space.history(id)).toEqual([]);
      expect(await space.links([id])).toEqual([]);
      expect(await space.votes(id)).toEqual([]);
      expect(await space.session(id)).toBeUndefined();
      expect(await space.standing([id])).toEqual([undefined]);
      for (const by of ['content', 'topicKey', 'sessionId'] as const)
        expect(await ids(space, by, id, `drink${id.slice(3)}`, `day${id.slice(3)}`)).toEqual([]);
      const { memories } = await space.list({ filter: { tags: [tag] }, limit: 9 });
      expect(memories).toEqual([]);
      for (const change of [
        { kind: 'redact', id } as const,
        { kind: 'remove', id } as const,
        replace({ id, content: 'other' }),
      ])
        await expectCode(write(space, [change]), 'not_found');
    }
    expect(await space.get(['tea', 'cup\ufffd'])).toEqual(before);
  }),
  onSpace('different texts are told apart, and topics and sessions by their code points', async (space) => {
    const texts = ['Zoë', 'Zoe', '東京', '𠮷野家', '"quoted"\n\\', "it's", '1', '1.0', 'null', '👩‍👧'];
    await write(
      space,
      texts.map((content, at) => insert({ id: `m${at}`, content, topicKey: content, sessionId: content })),
    );
    for (const [at, text] of texts.entries()) {
      for (const by of ['content', 'topicKey', 'sessionId'] as const) {
        expect(await ids(space, by, text)).toEqual([`m${at}`]);
      }
    }
    expect(await ids(space, 'content', ...texts)).toHaveLength(texts.length);
  }),
  onSpace('a content is found however it is spaced or composed', async (space) => {
    const forms = ['Zoë  likes tea', ' Zoe\u0308 likes\n tea', 'Zoë\u00a0likes\ttea\u2028'];
    await write(
      space,
      [...forms, 'Zoë likes tea!', 'zoë likes tea', 'Zoë likestea'].map((content, at) =>
        insert({ id: `m${at}`, content }),
      ),
    );
    for (const form of forms) expect(await ids(space, 'content', form)).toEqual(['m0', 'm1', 'm2']);
    await write(space, [replace({ id: 'm1', content: 'Zoë likes milk' })]);
    expect(await ids(space, 'content', 'Zoë likes tea')).toEqual(['m0', 'm2']);
    expect(await ids(space, 'content', ' Zoë likes  milk')).toEqual(['m1']);
    for (const by of ['topicKey', 'sessionId'] as const) {
      await write(space, [insert({ id: by, content: 'x', [by]: 'Zoe\u0308 ' })]);
      expect(await ids(space, by, 'Zoë ', 'Zoe\u0308')).toEqual([]);
      expect(await ids(space, by, 'Zoe\u0308 ')).toEqual([by]);
    }
    expect(await space.check()).toEqual([]);
  }),
  onSpace('entities are found by their names, and what states relations by their ends', async (space) => {
    const stated = (from: string, to: string) => ({ from, name: 'knows', to, weight: 1, confidence: 1 });
    await write(space, [
      insert({ id: 'a', type: 'entity', title: 'Zoë  Lee', aliases: ['ZOE', '東京'] }),
      insert({ id: 'b', type: 'entity', title: 'zoe', relations: [stated('a', 'c'), stated('a', 'b')] }),
      insert({ id: 'c', type: 'person', title: 'Zoe', relations: [stated('c', 'none')] }),
      insert({ id: 'd', type: 'entity', aliases: ['zoe', 'Zoe'] }),
      insert({ id: 'e', type: 'entity', title: ' ', relations: [] }),
    ]);
    expect(await ids(space, 'names', 'Zoe', 'zoe')).toEqual(['a', 'b', 'd']);
    expect(await ids(space, 'names', 'zoe\u0308 LEE ')).toEqual(['a']);
    expect(await ids(space, 'names', '東京')).toEqual(['a']);
    expect(await ids(space, 'names', 'Zoë', '', ' ')).toEqual([]);
    expect(await ids(space, 'names')).toEqual([]);
    expect(await ids(space, 'ends', 'a')).toEqual(['b']);
    expect(await ids(space, 'ends', 'c', 'a', 'none')).toEqual(['b', 'c']);
    expect(await ids(space, 'ends', 'A', 'd')).toEqual([]);
    expect(await ids(space, 'relations', relationId(stated('a', 'b')))).toEqual(['b']);
    expect(await ids(space, 'relations', relationId(stated('b', 'a')), 'a')).toEqual([]);
    await write(space, [
      replace({ id: 'a', type: 'entity', title: 'Ann' }),
      replace({ id: 'b', type: 'fact', relations: [stated('a', 'c'), stated('a', 'b')] }),
      replace({ id: 'c', type: 'entity', title: 'Zoe', relations: [stated('c', 'd')] }),
    ]);
    expect(await ids(space, 'names', 'Zoe', 'Zoë Lee')).toEqual(['c', 'd']);
    expect(await ids(space, 'ends', 'a', 'none')).toEqual(['b']);
    expect(await ids(space, 'ends', 'd')).toEqual(['c']);
    const seen = async (query: Parameters<SpaceReader['stated']>[0]) =>
      (await space.stated(query))
        .map(
          ({ memory: { id, type }, relation }) => `${id} ${type} ${relationId(relation)} ${relation.weight}`,
        )
        .sort();
    expect(await seen({ ends: ['d', 'a', 'c'] })).toEqual([
      `b fact ${relationId(stated('a', 'b'))} 1`,
      `b fact ${relationId(stated('a', 'c'))} 1`,
      `c entity ${relationId(stated('c', 'd'))} 1`,
    ]);
    expect(await seen({ ends: ['b'] })).toEqual([`b fact ${relationId(stated('a', 'b'))} 1`]);
    expect(await seen({ subjects: [{ from: 'c', name: 'knows' }] })).toHaveLength(1);
    expect(await seen({ subjects: [{ from: 'c', name: 'likes' }] })).toEqual([]);
    expect(await seen({ ends: [] })).toEqual([]);
    const [first, none, second] = await space.standing(['d', 'none', 'a']);
    expect([first?.id, none, second?.title, second?.scope]).toEqual(['d', undefined, 'Ann', 'global']);
    await write(space, [{ kind: 'remove', id: 'c' }]);
    expect(await ids(space, 'ends', 'd')).toEqual([]);
    expect(await ids(space, 'names', 'Zoe')).toEqual(['d']);
    expect(await space.check()).toEqual([]);
  }),
  onSpace('the standing of a memory has all of its fields, alone and beside a relation', async (space) => {
    const relations = [{ from: 'a', name: 'knows', to: 'b', weight: 1, confidence: 1 }];
    const standing = {
      scope: 'project:a',
      type: 'entity',
      title: 'Ann',
      kind: 'person',
      tier: 'cold',
      core: true,
      createdAt: start + 1,
      validFrom: start + 2,
      validUntil: start + 3,
      expiresAt: start + 4,
      invalidatedAt: start + 5,
      consolidatedAt: start + 6,
    } as const;
    await write(space, [insert({ id: 'plain' }), insert({ id: 'a', ordinal: 7, ...standing, relations })]);
    const expected = { id: 'a', ordinal: 7, ...standing };
    expect(await space.standing(['a', 'none', 'plain'])).toMatchObject([
      expected,
      undefined,
      { id: 'plain', scope: 'global', tier: 'hot', core: false, createdAt: start },
    ]);
    for (const query of [{ ends: ['b'] }, { subjects: [{ from: 'a', name: 'knows' }] }])
      expect(await space.stated(query)).toMatchObject([{ memory: expected, relation: relations[0] }]);
    const changed = { scope: 'global', tier: 'hot', invalidatedAt: start + 9 } as const;
    await write(space, [replace({ id: 'a', ordinal: 7, ...standing, relations, ...changed })]);
    expect(await space.standing(['a'])).toMatchObject([{ ...expected, ...changed }]);
    expect(await space.stated({ ends: ['a'] })).toMatchObject([{ memory: { ...expected, ...changed } }]);
  }),
  onSpace('a stub is found by its full text, as long as it is one', async (space) => {
    const full = `Saw a grey heron ${'and watched it for a while '.repeat(20)}`;
    const stub = { id: 'a', content: stubContent(full), tier: 'stub' } as const;
    await write(space, [insert({ id: 'a', content: full })]);
    await write(space, [replace(stub)]);
    expect(await ids(space, 'content', ` ${full}`)).toEqual(['a']);
    expect(await ids(space, 'content', stub.content)).toEqual([]);
    await write(space, [replace({ ...stub, tags: ['bird'] })]);
    expect(await ids(space, 'content', full)).toEqual(['a']);
    // Remove it and insert it again, as an undo does.
    await write(space, [{ kind: 'remove', id: 'a' }]);
    await write(space, [insert({ ...stub, id: 'a' })]);
    expect(await ids(space, 'content', full)).toEqual(['a']);
    await write(space, [replace({ id: 'a', content: 'Saw a stork' })]);
    expect(await ids(space, 'content', full)).toEqual([]);
    // If the log has no full text of a stub, the text of the stub itself counts.
    await write(space, [insert({ ...stub, id: 'b' })]);
    expect(await ids(space, 'content', stub.content)).toEqual(['b']);
    expect(await ids(space, 'content', full)).toEqual([]);
    expect(await space.check()).toEqual([]);
  }),
  onSpace('what is found is in the order of creation, then of insertion', async (space) => {
    const same = { content: 'same', topicKey: 'k', sessionId: 's' };
    await write(space, [
      insert({ ...same, id: 'late', createdAt: start + 2 }),
      insert({ ...same, id: '\u{1f600}', createdAt: start + 1 }),
      insert({ ...same, id: '\uffee', createdAt: start + 1 }),
      insert({ ...same, id: 'early', createdAt: start }),
      insert({ id: 'other', content: 'another text' }),
    ]);
    for (const by of ['content', 'topicKey', 'sessionId'] as const) {
      expect(await ids(space, by, same[by])).toEqual(['early', '\u{1f600}', '\uffee', 'late']);
    }
  }),
  onSpace('hundreds of memories found at once are in that order too', async (space) => {
    const numbers = Array.from({ length: 600 }, (_, at) => at);
    const texts = numbers.map((at) => `text ${at}`);
    // Two of them were created at each moment, and the later moments were written first.
    const createdAt = (at: number) => start - (at % 300) * 1000;
    await write(
      space,
      numbers.map((at) => insert({ id: `m${at}`, content: `text ${at}`, createdAt: createdAt(at) })),
    );
    const expected = numbers.toSorted((a, b) => createdAt(a) - createdAt(b) || a - b).map((at) => `m${at}`);
    expect(await ids(space, 'content', ...texts, 'nowhere')).toEqual(expected);
    expect(await ids(space, 'content', ...texts.toReversed(), ...texts)).toEqual(expected);
  }),
  onSpace('a memory derived from others is found by each of them, once', async (space) => {
    await write(space, [
      insert({ id: 'a' }),
      insert({ id: 'b', derivedFrom: ['a', 'gone'], createdAt: start + 1 }),
      insert({ id: 'c', derivedFrom: ['a'], createdAt: start + 2 }),
    ]);
    expect(await ids(space, 'derivedFrom', 'a', 'gone', 'a')).toEqual(['b', 'c']);
    expect(await ids(space, 'derivedFrom', 'gone')).toEqual(['b']);
    expect(await ids(space, 'derivedFrom', 'c')).toEqual([]);
    expect(await ids(space, 'derivedFrom')).toEqual([]);
  }),
  onSpace(
    'what supersedes is found by each memory it supersedes, there or not, and after it changed',
    async (space) => {
      await write(space, [
        insert({ id: 'b', supersedes: ['a', 'gone'], createdAt: start + 1 }),
        insert({ id: 'a' }),
        insert({ id: 'c', supersedes: ['a'], createdAt: start + 2 }),
      ]);
      expect(await ids(space, 'supersedes', 'a', 'gone', 'a')).toEqual(['b', 'c']);
      expect(await ids(space, 'supersedes', 'gone')).toEqual(['b']);
      await write(space, [replace({ id: 'b', supersedes: ['c'], createdAt: start + 1 })]);
      expect(await ids(space, 'supersedes', 'a')).toEqual(['c']);
      expect(await ids(space, 'supersedes', 'c', 'gone')).toEqual(['b']);
      await write(space, [{ kind: 'remove', id: 'b' }]);
      expect(await ids(space, 'supersedes', 'c')).toEqual([]);
      expect(await space.check()).toEqual([]);
    },
  ),
  onSpace('a changed or removed memory is found by what it is now, inside of a write too', async (space) => {
    await write(space, [insert({ id: 'a', content: 'old', topicKey: 'k', sessionId: 's' })]);
    await write(space, [replace({ id: 'a', content: 'new', topicKey: 'l' })]);
    const seen = await space.write({ verb: 'remember', at: start }, async (reader) => ({
      changes: [],
      result: [
        await ids(reader, 'content', 'old', 'new'),
        await ids(reader, 'topicKey', 'k'),
        await ids(reader, 'topicKey', 'l'),
        await ids(reader, 'sessionId', 's'),
      ],
    }));
    expect(seen).toEqual([['a'], [], ['a'], []]);
    await write(space, [{ kind: 'remove', id: 'a' }]);
    expect(await ids(space, 'content', 'new')).toEqual([]);
  }),
  onSpace('around a memory are those created just before and after it, oldest first', async (space) => {
    const times = [5, 3, 3, 3, 9, 1, 7];
    await write(
      space,
      // Neither sessions nor visibility matter.
      times.map((offset, at) =>
        insert({
          id: `m${at}`,
          createdAt: start + offset,
          sessionId: at % 2 ? 'session' : undefined,
          tier: at % 3 ? 'hot' : 'cold',
        }),
      ),
    );
    const order = ['m5', 'm1', 'm2', 'm3', 'm0', 'm6', 'm4'];
    const around = async (at: number, count: number) => {
      const id = order[at] as string;
      const [memory] = await space.get([id]);
      const { before, after } = await space.around(memory as NonNullable<typeof memory>, count);
      return [before.map((each) => each.id), after.map((each) => each.id)];
    };
    for (const [at] of order.entries()) {
      for (const count of [0, 1, 2, 5, 100]) {
        expect(await around(at, count)).toEqual([
          order.slice(Math.max(0, at - count), at),
          order.slice(at + 1, at + 1 + count),
        ]);
      }
    }
    // `around` also works for the place of a memory that does not exist.
    const { before, after } = await space.around({ id: 'gone', createdAt: start + 3, ordinal: 3.5 }, 1);
    expect([before, after].map(([memory]) => memory?.id)).toEqual(['m2', 'm3']);
  }),
  onSpace('a memory that several of thousands of keys find is returned once, in order', async (space) => {
    await write(space, [
      insert({ id: 'first' }),
      insert({ id: 'late', createdAt: start + 9, supersedes: ['first', 'second'] }),
      insert({ id: 'second', createdAt: start + 1 }),
      insert({ id: 'early', createdAt: start + 5, supersedes: ['second'] }),
      insert({ id: 'other', topicKey: 'tea', createdAt: start + 2 }),
    ]);
    const between = Array.from({ length: 3000 }, (_, at) => `nothing ${at}`);
    expect(await ids(space, 'supersedes', 'second', ...between, 'first')).toEqual(['early', 'late']);
    expect(await ids(space, 'supersedes', 'first', ...between, 'second')).toEqual(['early', 'late']);
    expect(await ids(space, 'topicKey', ...between, 'tea')).toEqual(['other']);
  }),
  onSpace('any look-up returns the same as a naive one', async (space) => {
    const word = fc.constantFrom('tea', 'tea ', 'Tea', 'x'.repeat(70), `${'x'.repeat(70)}y`, '東京', 'é');
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ content: word, topicKey: word, age: fc.nat(3) }), { maxLength: 8 }),
        fc.array(word, { maxLength: 4 }),
        async (statements, wanted) => {
          await write(
            space,
            statements.map(({ content, topicKey, age }) =>
              insert({ id: `m${count++}`, content, topicKey, createdAt: start + age }),
            ),
          );
          const { memories } = await space.list({ filter: {}, limit: 10_000 });
          for (const by of ['content', 'topicKey'] as const) {
            const expected = memories
              .filter((memory) =>
                by === 'content'
                  ? wanted.map(normalisedContent).includes(normalisedContent(memory.content))
                  : wanted.includes(memory[by] ?? ''),
              )
              .toSorted((a, b) => a.createdAt - b.createdAt || a.ordinal - b.ordinal);
            expect(await space.find(by, wanted)).toEqual(expected);
          }
        },
      ),
      { numRuns: 30 },
    );
  }),
];
