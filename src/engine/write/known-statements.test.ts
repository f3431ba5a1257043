import { describe, expect, test } from 'vitest';
import { live } from '../../testing/live-memory.ts';
import { expectCode } from '../../testing/store-contract/harness.ts';

const plain = { embedder: 'none' } as const;

describe('the same statement', () => {
  test('word for word, in its scope, of its type, is one memory', async () => {
    const { memory, pass } = await live(plain);
    await memory.remember('Anna likes tea', { id: 'a' });
    pass(1);
    const before = await memory.get('a');
    const { sequence } = await memory.stats();
    expect(await memory.remember('Anna likes tea', { importance: 1, tags: ['x'] })).toMatchObject({
      id: 'a',
      outcome: 'deduplicated',
    });
    expect(await memory.get('a')).toEqual(before);
    expect((await memory.stats()).sequence).toBe(sequence);
    for (const [content, options] of [
      ['Anna likes Tea', {}],
      ['Anna likes tea', { type: 'preference' }],
      ['Anna likes tea', { scope: 'project:a' }],
    ] as const) {
      expect((await memory.remember(content, options)).outcome).toBe('created');
    }
    expect((await memory.stats()).memories).toBe(4);
  });

  test('names the fields that were given otherwise, and stay as before', async () => {
    const { memory, pass } = await live(plain);
    const given = {
      type: 'plan',
      tags: ['x', 'y'],
      importance: 0.9,
      metadata: { a: 1, b: [2] },
      topicKey: 'voucher',
      ttl: '30d',
    };
    await memory.remember('A voucher for tea', given);
    const again = (options: object) => memory.remember('A voucher  for tea', { type: 'plan', ...options });
    const known = { outcome: 'deduplicated', id: expect.any(String) };
    const alike = { title: 'Tea', tags: ['x', 'y'], importance: 0.9, metadata: { b: [2], a: 1 } };
    expect(await again({})).toStrictEqual(known);
    expect(await again(alike)).toStrictEqual(known);
    pass(1);
    const before = await memory.list();
    expect(
      await again({ ...given, ttl: '31d', topicKey: 'other', importance: 0.5, tags: ['x'], role: 'user' }),
    ).toStrictEqual({ ...known, differs: ['tags', 'importance', 'role', 'validUntil', 'topicKey'] });
    expect(await memory.list()).toEqual(before);
    expect(await memory.rememberMany([{ content: 'A voucher for tea', type: 'plan', weight: 0.5 }])).toEqual([
      { ...known, differs: ['weight'] },
    ]);
    // Relations are added to those that it has.
    const relations = [{ from: 'Ada', name: 'likes', to: 'tea' }];
    const two = [...relations, { from: 'Ada', name: 'likes', to: 'cake' }];
    await memory.remember('Ada likes tea and cake', { relations: two });
    expect(await memory.remember('Ada likes tea and cake', { relations })).toStrictEqual(known);
    // It may supersede more than before, and its fields stay too.
    const old = await memory.remember('Tea is cheap');
    const added = await memory.remember('Tea is cheap', { supersedes: 'n0', confidence: 0.1 });
    expect(added).toMatchObject({ id: old.id, outcome: 'updated', differs: ['confidence'] });
  });

  test('takes a topic if it had none, with all other fields that are given', async () => {
    const { memory } = await live(plain);
    await memory.remember('city: Rome', { id: 'a', metadata: { from: 'a letter' }, tags: ['x'] });
    const metadata = { value: 'Rome' };
    expect(
      await memory.remember('city: Rome', { topicKey: 'city', metadata, importance: 0.9 }),
    ).toMatchObject({
      id: 'a',
      outcome: 'updated',
    });
    expect(await memory.get('a')).toMatchObject({
      topicKey: 'city',
      metadata,
      importance: 0.9,
      tags: ['x'],
      revisionCount: 2,
    });
    const before = await memory.get('a');
    await memory.remember('city: Rome', { topicKey: 'town', metadata: { value: 'another' } });
    expect(await memory.get('a')).toEqual(before);
  });

  test('is one memory whatever its title, its spaces and its form of Unicode', async () => {
    const { memory, pass } = await live();
    await memory.remember('Zoë likes  green tea', { id: 'a', title: 'Drinks', tags: ['x'] });
    pass(1);
    const before = await memory.get('a');
    for (const [content, title] of [
      ['Zoë likes green tea', undefined],
      [' Zoe\u0308 likes\n green tea ', 'Drinks'],
      ['Zoë likes  green tea', 'Another title'],
    ] as const) {
      const answer = await memory.remember(content, title === undefined ? {} : { title });
      expect(answer).toEqual({ id: 'a', outcome: 'deduplicated' });
    }
    expect(await memory.get('a')).toEqual(before);
    const batch = await memory.rememberMany([{ content: 'Bo  sings' }, { content: 'Bo sings', title: 'Bo' }]);
    expect(batch.map(({ outcome }) => outcome)).toEqual(['created', 'deduplicated']);
    expect(await memory.conflicts()).toEqual([]);
  });

  test('stays invalidated with different white space too', async () => {
    const { memory } = await live(plain);
    await memory.remember('The sky is green', { id: 'sky' });
    await memory.invalidate('sky', 'it is blue');
    expect(await memory.remember(' The sky  is green', { title: 'Sky' })).toMatchObject({
      id: 'sky',
      inactive: { reason: 'it is blue' },
    });
    await memory.forget('sky');
    expect(await memory.remember('The sky\nis green')).toMatchObject({
      outcome: 'created',
      inactive: { since: expect.any(String) },
    });
  });

  test('is new if the known one is no longer valid, but not if that is cold or not yet valid', async () => {
    const { memory, pass, space, clock } = await live(plain);
    await memory.remember('Over', { id: 'over', expiresAt: '2026-01-02' });
    await memory.remember('Ended', { id: 'ended', validUntil: '2026-01-02' });
    await memory.remember('Replaced', { id: 'replaced' });
    await memory.remember('Something else', { supersedes: 'replaced' });
    await memory.remember('To come', { id: 'to come', validFrom: '2027-01-01' });
    await memory.remember('Cold', { id: 'cold' });
    const [cold] = await space.get(['cold']);
    await space.write({ verb: 'maintain', at: clock.now() }, async () => ({
      changes: [{ kind: 'replace', memory: { ...cold!, tier: 'cold', coldSince: clock.now() } }],
      result: undefined,
    }));
    pass(2);
    for (const content of ['Over', 'Ended', 'Replaced']) {
      expect((await memory.remember(content)).outcome, content).toBe('created');
    }
    for (const [content, id] of [
      ['To come', 'to come'],
      ['Cold', 'cold'],
    ] as const) {
      const again = await memory.remember(content, { importance: 0.9 });
      expect(again).toMatchObject({ outcome: 'deduplicated', id, differs: ['importance'] });
    }
  });

  test('supersedes additional memories from now on', async () => {
    const { memory } = await live(plain);
    await memory.remember('Anna lives in Berlin', { id: 'old' });
    await memory.remember('Anna lives in Paris', { id: 'new' });
    const again = await memory.remember('Anna lives in Paris', { supersedes: ['old'] });
    expect(again).toMatchObject({ id: 'new', outcome: 'updated' });
    expect(await memory.get('new')).toMatchObject({ supersedes: ['old'], revisionCount: 2 });
    expect((await memory.remember('Anna lives in Paris', { supersedes: ['old'] })).outcome).toBe(
      'deduplicated',
    );
    await memory.undo();
    expect((await memory.get('new'))?.supersedes).toEqual([]);
  });

  test('is still known if only a sibling scope supersedes it', async () => {
    const { memory } = await live(plain);
    await memory.remember('Anna likes tea', { id: 'shared', topicKey: 'drink' });
    await memory.remember('Anna hates tea', { scope: 'project:a', supersedes: 'shared' });
    expect(await memory.remember('Anna likes tea')).toMatchObject({ id: 'shared', outcome: 'deduplicated' });
    expect(await memory.remember('Anna loves tea', { topicKey: 'drink' })).toMatchObject({
      id: 'shared',
      outcome: 'updated',
    });
  });
});

test('refuses a content without visible characters as empty', async () => {
  const { memory } = await live(plain);
  for (const content of ['\u200b', ' \u200d\ufeff ', '\u2060\u00ad']) {
    await expectCode(memory.remember(content), 'invalid_argument');
  }
  expect((await memory.stats()).memories).toBe(0);
});

describe('the same topic', () => {
  test('takes the next statement in the same memory; other fields stay', async () => {
    const { memory, clock, pass } = await live(plain);
    await memory.remember('Anna likes tea', {
      id: 'a',
      topicKey: 'drink',
      type: 'preference',
      tags: ['x'],
      metadata: { sure: true },
      importance: 0.9,
      sourceRef: 'letter',
    });
    await memory.recall('tea', { strategy: 'retention', sessionId: 's' });
    const before = await memory.get('a');
    pass(1);
    expect(
      await memory.remember('Anna likes coffee', { topicKey: 'drink', confidence: 0.4, id: 'ignored' }),
    ).toMatchObject({
      id: 'a',
      outcome: 'updated',
    });
    expect(await memory.get('a')).toEqual({
      ...before,
      content: 'Anna likes coffee',
      confidence: 0.4,
      updatedAt: new Date(clock.now()).toISOString(),
      textChangedAt: new Date(clock.now()).toISOString(),
      revisionCount: 2,
    });
    expect((await memory.history('a')).map(({ verb, before: was }) => [verb, was?.content])).toEqual([
      ['remember', undefined],
      ['remember', 'Anna likes tea'],
    ]);
    expect((await memory.recall('tea')).hits).toEqual([]);
    await memory.undo();
    expect((await memory.get('a'))?.content).toBe('Anna likes tea');
  });

  test('loses author and validity with the old wording', async () => {
    const { memory } = await live(plain);
    const of = {
      author: 'Ann',
      role: 'user',
      validFrom: '2025-01-01',
      validUntil: '2027-01-01',
      ttl: '30d',
    } as const;
    await memory.remember('The pet is a cat', { id: 'pet', topicKey: 'pet', title: 'Pet', ...of });
    const cat = await memory.get('pet');
    // Said again with a word more about it.
    await memory.remember('The  pet is a cat', { topicKey: 'pet', confidence: 0.9 });
    const { author, role, validFrom, validUntil, expiresAt } = cat!;
    expect(await memory.get('pet')).toMatchObject({ author, role, validFrom, validUntil, expiresAt });
    await memory.remember('The pet is a dog', { topicKey: 'pet' });
    const dog = await memory.get('pet');
    expect(dog).toMatchObject({ content: 'The pet is a dog', title: 'Pet', confidence: 0.9 });
    for (const name of ['author', 'role', 'validFrom', 'validUntil', 'expiresAt'] as const)
      expect([name, cat![name] !== undefined, dog![name]]).toEqual([name, true, undefined]);
    await memory.remember('The pet is a fish', { topicKey: 'pet', author: 'Ben', ttl: '1d' });
    const fish = await memory.get('pet');
    expect([fish?.author, fish?.role, fish?.expiresAt]).toEqual(['Ben', undefined, expect.any(String)]);
    await memory.undo();
    await memory.undo();
    expect(await memory.get('pet')).toMatchObject({ author, role, validFrom, validUntil, expiresAt });
  });

  test('loses relations with the old wording, unless the new statement has some', async () => {
    const { memory } = await live(plain);
    await memory.rememberMany(
      ['Ada', 'Acme', 'Beta'].map((title) => ({ type: 'entity', title, content: title, id: title })),
    );
    const works = (to: string) => ({ topicKey: 'job', relations: [{ from: 'Ada', name: 'works_at', to }] });
    const employers = async () => (await memory.neighbours('Ada')).relations.map(({ to }) => to);
    await memory.remember('Ada works at Acme', works('Acme'));
    expect(await employers()).toEqual(['Acme']);
    await memory.remember('Ada works at Beta', works('Beta'));
    expect(await employers()).toEqual(['Beta']);
    await memory.remember('Ada is retired', { topicKey: 'job' });
    expect(await employers()).toEqual([]);
  });

  test('is another memory in another scope, with another key, or if the old one is no longer valid', async () => {
    const { memory, pass } = await live(plain);
    await memory.remember('Anna likes tea', { topicKey: 'drink', expiresAt: '2026-01-02' });
    for (const options of [{ topicKey: 'drink', scope: 'project:a' }, { topicKey: 'Drink' }]) {
      expect((await memory.remember('Anna likes milk', options)).outcome).toBe('created');
    }
    pass(2);
    expect((await memory.remember('Anna likes coffee', { topicKey: 'drink' })).outcome).toBe('created');
  });

  test('counts before equal words', async () => {
    const { memory } = await live(plain);
    await memory.remember('Anna likes tea', { id: 'words' });
    await memory.remember('Anna likes milk', { id: 'topic', topicKey: 'drink' });
    expect(await memory.remember('Anna likes tea', { topicKey: 'drink' })).toMatchObject({
      id: 'topic',
      outcome: 'updated',
    });
  });

  test('applies to later statements of the same batch', async () => {
    const { memory } = await live(plain);
    const outcomes = await memory.rememberMany([
      { id: 'a', content: 'Anna likes tea', topicKey: 'drink' },
      { content: 'Anna likes milk', topicKey: 'drink' },
      { content: 'Anna likes milk' },
      { id: 'b', content: 'Ben likes tea' },
      { content: 'Ben likes tea' },
      { content: 'Ben likes tea', supersedes: 'a' },
    ]);
    expect(outcomes.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['a', 'created'],
      ['a', 'updated'],
      ['a', 'deduplicated'],
      ['b', 'created'],
      ['b', 'deduplicated'],
      ['b', 'updated'],
    ]);
    expect(await memory.get('a')).toMatchObject({ content: 'Anna likes milk', revisionCount: 2 });
    expect(await memory.get('b')).toMatchObject({ supersedes: ['a'], revisionCount: 2 });
    expect((await memory.recall('milk tea', { strategy: 'bm25' })).hits.map((hit) => hit.memory.id)).toEqual([
      'b',
    ]);
    await memory.undo();
    expect((await memory.stats()).memories).toBe(0);
  });

  test('leaves the memory unchanged if a statement does not fit', async () => {
    const { memory } = await live(plain);
    await memory.remember('Anna likes tea', { id: 'a', topicKey: 'drink', validFrom: '2026-06-01' });
    const before = await memory.get('a');
    await expectCode(
      memory.remember('Anna likes tea', { topicKey: 'drink', validUntil: '2026-05-01' }),
      'invalid_argument',
    );
    await expectCode(
      memory.remember('No', { topicKey: 'drink', validFrom: '2026-06-01', validUntil: '2026-05-01' }),
      'invalid_argument',
    );
    await expectCode(memory.remember('No', { topicKey: 'drink', type: 'summary' }), 'invalid_argument');
    expect(await memory.get('a')).toEqual(before);
  });
});
