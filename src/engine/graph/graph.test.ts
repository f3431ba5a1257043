import { describe, expect, it } from 'vitest';
import type { MemoryEngine } from '../../index.ts';
import { day, entity, opened, people, start, triples } from '../../testing/entities.ts';

describe('an entity', () => {
  it('takes new statements under any of its names, and keeps all names', async () => {
    const { memory } = await opened();
    await people(memory);
    const again = await memory.remember('Wrote the first program', {
      type: 'entity',
      title: 'COUNTESS',
      aliases: ['Ada', 'A. Lovelace'],
    });
    expect(again).toMatchObject({ id: 'ada', outcome: 'updated' });
    const ada = await memory.get('ada');
    expect(ada).toMatchObject({
      title: 'Ada Lovelace',
      content: 'Wrote the first program',
      aliases: ['Ada', 'Countess', 'A. Lovelace'],
      kind: 'person',
      revisionCount: 2,
    });
    const known = await memory.remember('Wrote the first program', { type: 'entity', title: 'Ada' });
    expect(known).toMatchObject({ id: 'ada', outcome: 'deduplicated' });
    await memory.undo();
    expect((await memory.get('ada'))?.content).toBe('about Ada Lovelace');
  });

  it('is a different entity in another scope, of another kind, or without a common name', async () => {
    const { memory } = await opened();
    await people(memory);
    const outcomes = [];
    for (const more of [{ scope: 'project:a' }, { kind: 'ship' }, { title: 'Ada Byron' }]) {
      const { outcome } = await memory.remember('about Ada Lovelace', {
        type: 'entity',
        title: 'Ada',
        ...more,
      });
      outcomes.push(outcome);
    }
    expect(outcomes).toEqual(['created', 'created', 'created']);
  });

  it('is neither of two entities that share its name', async () => {
    const { memory } = await opened();
    await memory.rememberMany([
      entity('a', 'Jordan', { kind: 'person' }),
      entity('b', 'Jordan', { kind: 'place' }),
    ]);
    expect((await memory.remember('new', { type: 'entity', title: 'Jordan' })).outcome).toBe('created');
    await expect(memory.neighbours('jordan')).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('names 3 entities'),
    });
    await expect(memory.neighbours('Nobody')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is named by its title before another one is by an alias', async () => {
    const { memory } = await opened();
    await memory.rememberMany([
      entity('ship', 'HMS Ada', { aliases: ['Ada'], kind: 'ship' }),
      entity('ada', 'Ada', { kind: 'person' }),
    ]);
    await memory.relate('ADA', 'lives in', 'hms ada');
    const { relations } = await memory.neighbours('ada');
    expect(relations.map(({ from, to }) => [from, to])).toEqual([['ada', 'ship']]);
  });

  it('is among the twenty that are listed unless another limit is given', async () => {
    const { memory } = await opened();
    await memory.rememberMany(Array.from({ length: 21 }, (_, at) => entity(`e${at}`, `Place ${at}`)));
    expect(await memory.entities()).toHaveLength(20);
    expect(await memory.entities(undefined, { limit: 21 })).toHaveLength(21);
    expect(await memory.entities(undefined, { limit: 22 })).toHaveLength(21);
  });

  it('is found first by name, then by its content, and listed by kind', async () => {
    const { memory } = await opened();
    await people(memory);
    await memory.remember('Acme pays Ada', { id: 'fact' });
    const ids = async (...given: Parameters<MemoryEngine['entities']>) =>
      (await memory.entities(...given)).map(({ id }) => id);
    expect((await ids('countess'))[0]).toBe('ada');
    expect(await ids('lovelace')).toEqual(['ada']);
    expect(await ids(undefined, { kind: 'place' })).toEqual(['rome', 'paris']);
    expect(await ids(undefined, { limit: 2 })).toHaveLength(2);
    expect(await ids('about', { kind: 'organisation' })).toEqual(['acme']);
    await memory.invalidate('paris', 'wrong');
    expect(await ids('Paris')).toEqual([]);
    expect(await ids(undefined, { kind: 'place' })).toEqual(['rome']);
  });

  it('is found by its content while it is valid at the moment that is asked about', async () => {
    const { memory } = await opened();
    await memory.rememberMany([
      entity('old', 'Globex', { content: 'A company that makes rockets', validUntil: '2026-01-31' }),
      entity('new', 'Initech', { content: 'A company that makes printers', validFrom: '2026-02-01' }),
    ]);
    const ids = async (valid: string, query?: string) =>
      (await memory.entities(query, { asOf: { valid } })).map(({ id }) => id);
    for (const query of ['company that makes', undefined]) {
      expect(await ids('2026-01-31', query)).toEqual(['old']);
      expect(await ids('2026-02-01', query)).toEqual(['new']);
    }
  });
});

describe('a relation', () => {
  it('is stated by one generated sentence', async () => {
    const { memory } = await opened();
    await people(memory);
    const { relation, sentence, outcome } = await memory.relate('Ada', 'works at', 'ACME', { weight: 0.5 });
    expect(sentence).toBe('Ada Lovelace works at Acme');
    expect(outcome).toBe('created');
    expect(relation).toEqual({
      id: 'relation:ada/works_at/acme',
      from: 'ada',
      name: 'works_at',
      to: 'acme',
      weight: 0.5,
      confidence: 0.8,
      statements: ['new1'],
    });
    expect(await memory.get('new1')).toMatchObject({
      content: 'Ada Lovelace works at Acme',
      type: 'fact',
      derivedFrom: ['ada', 'acme'],
    });
    const again = await memory.relate('ada', 'worksAt', 'acme', { weight: 0.7 });
    expect(again).toMatchObject({ outcome: 'updated', relation: { weight: 0.7, statements: ['new1'] } });
    expect((await memory.relate('ada', 'works_at', 'acme', { weight: 0.7 })).outcome).toBe('deduplicated');
    const { relations, neighbours } = await memory.neighbours('acme');
    expect(relations).toEqual([again.relation]);
    expect(neighbours.map(({ id, depth }) => [id, depth])).toEqual([['ada', 1]]);
  });

  it('is stated by known memories or by a given sentence, and holds while one of them is believed', async () => {
    const { memory } = await opened();
    await people(memory);
    await memory.remember('Bob said that Ada is at Acme', { id: 'said' });
    expect(await memory.relate('Ada', 'works_at', 'Acme', { statedBy: ['said'] })).toMatchObject({
      outcome: 'updated',
      relation: { statements: ['said'] },
    });
    await memory.relate('Ada', 'works_at', 'Acme', { content: 'She runs the lab of Acme', weight: 0.2 });
    expect((await memory.neighbours('Ada')).relations).toMatchObject([
      { weight: 1, statements: ['said', 'new1'] },
    ]);
    await memory.invalidate('said', 'gossip');
    expect((await memory.neighbours('Ada')).relations).toMatchObject([{ weight: 0.2, statements: ['new1'] }]);
    await memory.invalidate('new1', 'too');
    expect(await triples(memory, 'Ada')).toEqual([]);
    await memory.undo();
    expect(await triples(memory, 'Ada')).toEqual(['ada works_at acme']);
    await expect(memory.relate('Ada', 'knows', 'Bob', { statedBy: ['none'] })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(memory.relate('Ada', 'knows', 'Countess')).rejects.toThrow(
      /^to: a memory cannot be related to itself$/,
    );
    for (const [field, options] of Object.entries({
      weight: { weight: 0 },
      confidence: { confidence: 2 },
      validUntil: { validFrom: '2026-01-02', validUntil: '2026-01-01' },
    }))
      await expect(memory.relate('Ada', 'knows', 'Bob', options)).rejects.toMatchObject({
        details: { field },
      });
    await expect(memory.relate('Ada', '!', 'Bob')).rejects.toMatchObject({ details: { field: 'name' } });
    await expect(
      memory.relate('Ada', 'knows', 'Bob', { statedBy: ['said'], content: 'x' }),
    ).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('that was invalidated stays inactive when it is stated again, and says why', async () => {
    const { memory } = await opened();
    await people(memory);
    await memory.relate('Ada', 'works_at', 'Acme');
    await memory.invalidate('new1', 'a mistake');
    const inactive = { since: (await memory.get('new1'))?.invalidatedAt, reason: 'a mistake' };
    const again = await memory.relate('Ada', 'works_at', 'Acme');
    expect(again).toMatchObject({ outcome: 'deduplicated', relation: { statements: ['new1'] }, inactive });
    expect(await triples(memory, 'Ada')).toEqual([]);
    const named = await memory.relate('Ada', 'works_at', 'Acme', { statedBy: ['new1'] });
    expect(named.inactive).toEqual(inactive);
    await memory.remember('Ada is at Acme every day', { id: 'said' });
    const both = await memory.relate('Ada', 'works_at', 'Acme', { statedBy: ['new1', 'said'] });
    expect(both.inactive).toBeUndefined();
    await memory.reinstate('new1');
    expect((await memory.relate('Ada', 'works_at', 'Acme')).inactive).toBeUndefined();
    expect(await triples(memory, 'Ada')).toEqual(['ada works_at acme']);
  });

  it('ends with its generated sentence; undo reverts that', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    await memory.relate('Ada', 'works_at', 'Acme');
    await memory.remember('Ada, of Acme, is tall', {
      id: 'said',
      relations: [{ from: 'ada', name: 'works_at', to: 'acme' }],
    });
    clock.advance(10 * day);
    expect(await memory.unrelate('Ada', 'works_at', 'Acme')).toEqual({
      sentence: 'Ada Lovelace works at Acme',
      id: 'relation:ada/works_at/acme',
      statements: ['new1', 'said'],
    });
    expect(await triples(memory, 'Ada')).toEqual([]);
    expect((await memory.get('new1'))?.validUntil).toBe(new Date(start + 10 * day - 1).toISOString());
    // What says more than that goes on being true.
    expect((await memory.get('said'))?.validUntil).toBeUndefined();
    for (const asOf of [{ known: new Date(start + day) }, { valid: new Date(start + day) }])
      expect(await triples(memory, 'Ada', { asOf })).toEqual(['ada works_at acme']);
    await expect(memory.unrelate('Ada', 'works_at', 'Acme')).rejects.toMatchObject({ code: 'not_found' });
    await memory.undo();
    expect(await triples(memory, 'Ada')).toEqual(['ada works_at acme']);
    await memory.unrelate('Ada', 'works_at', 'Acme');
    clock.advance(10 * day);
    // Valid again from now on, and not in between.
    await memory.relate('Ada', 'works_at', 'Acme', { validFrom: new Date(start + 20 * day) });
    expect(await triples(memory, 'Ada')).toEqual(['ada works_at acme']);
    expect(await triples(memory, 'Ada', { asOf: { valid: new Date(start + 15 * day) } })).toEqual([]);
  });

  it('ends in one scope only if that is asked for: statements of other scopes stay', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    for (const scope of ['global', 'project:a']) await memory.relate('Ada', 'knows', 'Bob', { scope });
    clock.advance(day);
    const knows = (scope: string) => triples(memory, 'Ada', { scope, relations: ['knows'] });
    const { statements } = await memory.unrelate('Ada', 'knows', 'Bob', { scope: 'project:a' });
    expect(statements).toEqual(['new2']);
    expect((await memory.get('new1'))?.validUntil).toBeUndefined();
    expect((await memory.get('new2'))?.validUntil).toBe(new Date(start + day - 1).toISOString());
    await expect(memory.unrelate('Ada', 'knows', 'Bob', { scope: 'project:a' })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('no memory in scope "project:a" states'),
    });
    expect(await knows('global')).toEqual(['ada knows bob']);
    expect((await memory.unrelate('Ada', 'knows', 'Bob')).statements).toEqual(['new1']);
    expect(await knows('global')).toEqual([]);
  });

  it('ends where it still holds at the moment of the end, and nowhere else', async () => {
    const { memory } = await opened();
    await people(memory);
    const until = Date.UTC(2025, 0, 1);
    const memoryOf = async () => (await memory.get('new1'))!;
    await memory.relate('Ada', 'works_at', 'Acme', { validFrom: '2020-01-01', validUntil: new Date(until) });
    const end = (endedAt: number) =>
      memory.unrelate('Ada', 'works_at', 'Acme', { endedAt: new Date(endedAt) });
    // `validUntil` is the last moment at which it holds.
    await expect(end(until + 1)).rejects.toMatchObject({ code: 'not_found' });
    await end(until);
    const { validUntil, relations } = await memoryOf();
    expect(validUntil).toBe(new Date(until - 1).toISOString());
    expect(relations).toMatchObject([{ validUntil }]);
  });

  it('ends nothing that a person replaced with its sentence but another relation, or own words', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    await memory.relate('Ada', 'works_at', 'Acme');
    await memory.relate('Ada', 'lives_in', 'Paris', { content: 'Her home is Paris', scope: 'project:a' });
    clock.advance(day);
    await memory.relate('Ada', 'lives_in', 'Rome');
    const again = await memory.remember('Ada Lovelace lives in Rome', { supersedes: ['new1', 'new2'] });
    expect(again).toMatchObject({ id: 'new3', outcome: 'updated' });
    clock.advance(day);
    await memory.unrelate('Ada', 'lives_in', 'Rome');
    for (const id of ['new1', 'new2']) expect((await memory.get(id))?.validUntil).toBeUndefined();
  });

  it('that one memory states for two periods ends only in the one that holds', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    const acme = { from: 'ada', name: 'works_at', to: 'acme' };
    await memory.remember('She has worked at Acme twice', {
      id: 'twice',
      relations: [
        { ...acme, validFrom: '2010-01-01', validUntil: '2012-01-01' },
        { ...acme, validFrom: '2020-01-01' },
      ],
    });
    clock.advance(day);
    await memory.unrelate('Ada', 'works_at', 'Acme');
    expect((await memory.get('twice'))?.relations).toMatchObject([
      { validUntil: '2012-01-01T00:00:00.000Z' },
      { validUntil: new Date(start + day - 1).toISOString() },
    ]);
  });

  it('that was ended before it began can be stated again; one that was invalidated cannot', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    const june = { validFrom: '2026-06-01' };
    await memory.relate('Ada', 'works_at', 'Acme', { validFrom: '2026-05-01' });
    await memory.unrelate('Ada', 'works_at', 'Acme');
    clock.advance(day);
    const again = await memory.relate('Ada', 'works_at', 'Acme', june);
    expect(again).toMatchObject({ outcome: 'created' });
    expect(again.inactive).toBeUndefined();
    expect(await triples(memory, 'Ada', { asOf: { valid: '2026-05-15' } })).toEqual([]);
    expect(await triples(memory, 'Ada', { asOf: { valid: '2026-06-15' } })).toEqual(['ada works_at acme']);
    await memory.invalidate(again.relation.statements[0]!, 'She declined');
    expect(await memory.relate('Ada', 'works_at', 'Acme', june)).toMatchObject({
      inactive: { reason: 'She declined' },
    });
  });

  it('stated again with another period holds for both, and so does its sentence', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    const { relation } = await memory.relate('Ada', 'works_at', 'Acme', { validFrom: '2025-01-01' });
    const id = relation.statements[0]!;
    const holds = async (valid: string) => {
      const asked = { strategy: 'bm25', types: ['fact'], track: false, asOf: { valid } } as const;
      const { hits } = await memory.recall('Ada works at', asked);
      const known = await triples(memory, 'Ada', { asOf: { valid } });
      expect(hits.map((hit) => hit.memory.id)).toEqual(known.length > 0 ? [id] : []);
      return known.length > 0;
    };
    expect(await holds('2021-01-01')).toBe(false);
    const again = { validFrom: '2020-01-01', validUntil: '2027-01-01' };
    expect((await memory.relate('Ada', 'works_at', 'Acme', again)).outcome).toBe('updated');
    expect(await holds('2021-01-01')).toBe(true);
    expect(await holds('2028-01-01')).toBe(true);
    await memory.relate('Ada', 'works_at', 'Acme', { validFrom: '2025-01-01', validUntil: '2026-06-01' });
    expect(await holds('2026-12-01')).toBe(true);
    expect(await holds('2028-01-01')).toBe(false);
    await memory.undo();
    expect(await holds('2028-01-01')).toBe(true);
    // What says how sure it is, and nothing of time, leaves the period of the sentence alone.
    await memory.update(id, { validUntil: '2026-02-01' });
    await memory.relate('Ada', 'works_at', 'Acme', { validFrom: '2025-01-01', confidence: 0.9 });
    expect(await holds('2026-03-01')).toBe(false);
    clock.advance(day);
    await memory.undo();
    await memory.undo();
    expect(await holds('2026-03-01')).toBe(true);
  });

  it('stated for two periods with a gap has a sentence for each: none is believed in the gap', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    const facts = async (valid?: string) => {
      const asOf = valid === undefined ? {} : { asOf: { valid } };
      const asked = { strategy: 'bm25', types: ['fact'], track: false, ...asOf } as const;
      const { hits } = await memory.recall('Ada lives in', asked);
      expect(await triples(memory, 'Ada', asOf)).toEqual(
        hits.map((hit) => hit.memory.content.replace('Ada Lovelace lives in', 'ada lives_in').toLowerCase()),
      );
      return hits.map((hit) => hit.memory.content);
    };
    await memory.relate('Ada', 'lives_in', 'Rome', { validFrom: '2020-01-01' });
    const planned = await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: '2027-01-01' });
    const past = { validFrom: '2022-01-01', validUntil: '2023-01-01' };
    const told = await memory.relate('Ada', 'lives_in', 'Paris', past);
    expect(told.outcome).toBe('created');
    expect(await facts()).toEqual(['Ada Lovelace lives in Rome']);
    expect(await facts('2022-06-01')).toEqual(['Ada Lovelace lives in Paris']);
    expect(await facts('2024-06-01')).toEqual(['Ada Lovelace lives in Rome']);
    expect(await facts('2027-06-01')).toEqual(['Ada Lovelace lives in Paris']);
    // A time that meets one of them is that of its sentence.
    clock.advance(day);
    const sooner = await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: '2026-12-01' });
    expect(sooner).toMatchObject({ outcome: 'updated' });
    expect((await memory.get(planned.relation.statements[0]!))?.validFrom).toBe('2026-12-01T00:00:00.000Z');
    expect(await facts('2026-12-02')).toEqual(['Ada Lovelace lives in Paris']);
    // Of several the one that it meets, not the latest.
    const first = { validFrom: '2032-01-01', validUntil: '2033-01-01' };
    const second = { validFrom: '2035-01-01', validUntil: '2036-01-01' };
    const spoken: string[] = [];
    for (const period of [first, second])
      spoken.push((await memory.relate('Ada', 'works_at', 'Acme', period)).relation.statements[0]!);
    expect(new Set(spoken).size).toBe(2);
    const longer = await memory.relate('Ada', 'works_at', 'Acme', { ...first, validUntil: '2034-01-01' });
    expect(longer).toMatchObject({ outcome: 'updated', relation: { statements: [spoken[0]] } });
  });

  it('stated by its own sentence in statedBy, with another period, holds for that period', async () => {
    const { memory } = await opened();
    await people(memory);
    const { relation } = await memory.relate('Ada', 'works_at', 'Acme', { validFrom: '2025-06-01' });
    await memory.relate('Ada', 'works_at', 'Acme', {
      statedBy: relation.statements,
      validFrom: '2025-01-01',
    });
    expect(await triples(memory, 'Ada', { asOf: { valid: '2025-03-01' } })).toEqual(['ada works_at acme']);
  });

  it('is visible only where both of its ends are', async () => {
    const { memory } = await opened();
    await people(memory);
    await memory.remember('hidden', { type: 'entity', title: 'Eve', id: 'eve', scope: 'project:secret' });
    await memory.relate('ada', 'knows', 'bob');
    await memory.remember('Ada knows Eve', { relations: [{ from: 'ada', name: 'knows', to: 'eve' }] });
    expect(await triples(memory, 'Ada', { scope: 'global' })).toEqual(['ada knows bob']);
    expect(await triples(memory, 'Ada')).toEqual(['ada knows bob', 'ada knows eve']);
    await expect(memory.neighbours('eve', { scope: 'global' })).rejects.toMatchObject({ code: 'not_found' });
    await memory.update('bob', { validUntil: '2020-01-01' });
    expect(await triples(memory, 'Ada', { scope: 'global' })).toEqual([]);
  });

  it('is removed when an end or its only statement is forgotten; own words stay without it', async () => {
    const { memory } = await opened();
    await people(memory);
    await memory.relate('ada', 'knows', 'bob');
    await memory.remember('We met Bob and Ada in Rome', {
      id: 'said',
      relations: [
        { from: 'bob', name: 'visited', to: 'rome' },
        { from: 'ada', name: 'visited', to: 'rome' },
      ],
    });
    const { forgotten, mayStillSay } = await memory.forget('bob');
    expect(forgotten).toEqual(['bob', 'new1']);
    expect(mayStillSay).toEqual(['said']);
    expect(await triples(memory, 'Ada')).toEqual(['ada visited rome']);
    expect((await memory.get('said'))?.relations).toHaveLength(1);
    await memory.forget('said');
    expect(await triples(memory, 'Ada')).toEqual([]);
    expect(await memory.check()).toEqual([]);
  });

  it('survives an export, and the consolidation of its statements', async () => {
    const { memory } = await opened();
    await people(memory);
    await memory.relate('ada', 'knows', 'bob', { validFrom: '2020-01-01', weight: 0.3 });
    const { memories } = await memory.list({ limit: 100 });
    const { memory: copy } = await opened();
    await copy.importMemories(memories);
    expect((await copy.neighbours('Ada')).relations).toEqual((await memory.neighbours('Ada')).relations);
    expect(await copy.check()).toEqual([]);
  });
});

describe('walks', () => {
  async function chain(): Promise<MemoryEngine> {
    const { memory } = await opened();
    await memory.rememberMany(['a', 'b', 'c', 'd', 'e'].map((id) => entity(id, id)));
    for (const [from, name, to] of [
      ['a', 'knows', 'b'],
      ['c', 'knows', 'b'],
      ['c', 'knows', 'd'],
      ['a', 'likes', 'd'],
      ['d', 'likes', 'e'],
    ] as const)
      await memory.relate(from, name, to);
    return memory;
  }

  it('go as far as asked, along relations in either direction', async () => {
    const memory = await chain();
    const at = async (options: object) => {
      const { neighbours, relations, truncated } = await memory.neighbours('a', options);
      return [neighbours.map(({ id, depth }) => `${id}${depth}`).join(' '), relations.length, truncated];
    };
    expect(await at({})).toEqual(['b1 d1', 2, undefined]);
    expect(await at({ depth: 2 })).toEqual(['b1 d1 c2 e2', 5, undefined]);
    expect(await at({ depth: 3, relations: ['knows'] })).toEqual(['b1 c2 d3', 3, undefined]);
    expect(await at({ depth: 2, limit: 3 })).toEqual(['b1 d1 c2', 4, true]);
    await expect(memory.neighbours('a', { depth: 4 })).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('see what was written since the last one', async () => {
    const memory = await chain();
    const reached = async () =>
      (await memory.neighbours('a', { depth: 2 })).neighbours.map(({ id }) => id).join('');
    expect(await reached()).toBe('bdce');
    const { relation } = await memory.relate('a', 'knows', 'e');
    expect(await reached()).toBe('bdec');
    await memory.remember('no longer', { supersedes: relation.statements });
    expect(await reached()).toBe('bdce');
    await memory.undo();
    expect(await reached()).toBe('bdec');
    await memory.forget('b');
    expect(await reached()).toBe('dec');
    await memory.update('d', { scope: 'project:x' });
    const { neighbours } = await memory.neighbours('a', { depth: 2, scope: 'global' });
    expect(neighbours.map(({ id }) => id)).toEqual(['e']);
  });

  it('follow links on request, but only to visible memories', async () => {
    const memory = await chain();
    const long = 'x'.repeat(300);
    await memory.remember(long, { id: 'note' });
    await memory.remember('elsewhere', { id: 'far', scope: 'project:x' });
    await memory.link('e', 'note', { weight: 0.9 });
    await memory.link('note', 'far', { weight: 0.5 });
    const reached = async (options: object) =>
      (await memory.neighbours('e', { depth: 3, ...options })).neighbours.map(({ id }) => id);
    expect(await reached({})).not.toContain('note');
    expect((await memory.neighbours('e')).links).toBeUndefined();
    expect(await reached({ links: true })).toEqual(expect.arrayContaining(['note', 'far']));
    expect(await reached({ links: true, scope: 'global' })).not.toContain('far');
    const around = await memory.neighbours('note', { links: true, texts: true });
    const stated = around.links?.filter(({ kind }) => kind === 'stated');
    expect(stated).toMatchObject([
      { ids: ['e', 'note'], weight: 0.9 },
      { ids: ['far', 'note'], weight: 0.5 },
    ]);
    const back = await memory.neighbours('e', { links: true, texts: true });
    const note = back.neighbours.find(({ id }) => id === 'note');
    expect(note).toMatchObject({ depth: 1, type: 'fact' });
    expect(note?.text?.length).toBeLessThanOrEqual(200);
    await memory.invalidate('note', 'wrong');
    expect(await reached({ links: true })).not.toContain('note');
  });

  it('find all shortest paths, but none that is too long', async () => {
    const memory = await chain();
    const found = async (from: string, to: string, options: object = {}) =>
      (await memory.paths(from, to, options)).map(({ ids }) => ids.join(''));
    expect(await found('a', 'c')).toEqual(['abc', 'adc']);
    expect(await found('a', 'c', { limit: 1 })).toEqual(['abc']);
    expect(await found('e', 'b')).toEqual(['edab', 'edcb']);
    expect(await found('e', 'b', { maxLength: 2 })).toEqual([]);
    expect(await found('a', 'd', { relations: ['knows'] })).toEqual(['abcd']);
    expect(await found('a', 'a')).toEqual(['a']);
    await memory.relate('a', 'knows', 'd');
    const both = await memory.paths('d', 'a');
    expect(both.map(({ relations }) => relations.map(({ name }) => name))).toEqual([['knows'], ['likes']]);
  });
});
