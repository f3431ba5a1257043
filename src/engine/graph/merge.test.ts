import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Memory, type MemoryEngine, openMemory, SalienceError } from '../../index.ts';
import { day, entity, opened, start } from '../../testing/entities.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';

async function twoAnns(memory: MemoryEngine): Promise<void> {
  await memory.rememberMany([
    entity('ann', 'Ann Smith', { kind: 'person', aliases: ['Ann'] }),
    entity('annie', 'Annie', { aliases: ['Ann', 'A. Smith'], importance: 0.9 }),
    entity('bob', 'Bob'),
    entity('acme', 'Acme'),
  ]);
  await memory.relate('annie', 'works_at', 'acme');
  await memory.relate('bob', 'knows', 'annie');
  await memory.relate('annie', 'knows', 'ann');
  await memory.remember('Annie and Bob have lunch', {
    id: 'lunch',
    relations: [
      { from: 'annie', name: 'eats_with', to: 'bob' },
      { from: 'ann', name: 'eats_with', to: 'bob' },
    ],
  });
}

const triples = async (memory: MemoryEngine, of: string, options: object = {}) =>
  (await memory.neighbours(of, options)).relations.map(({ from, name, to }) => `${from} ${name} ${to}`);

const ids = (memories: readonly Memory[]) => memories.map(({ id }) => id).sort();

describe('two merged entities', () => {
  it('have all names and relations of both; the other one is no longer listed', async () => {
    const { memory, clock } = await opened();
    await twoAnns(memory);
    clock.advance(day);
    const { entity: ann, merged, statements } = await memory.mergeEntities('Annie', 'Ann Smith');
    expect(ann).toMatchObject({
      id: 'ann',
      title: 'Ann Smith',
      aliases: ['Ann', 'Annie', 'A. Smith'],
      kind: 'person',
      importance: 0.9,
      supersedes: ['annie'],
      // Its text is what it was.
      textChangedAt: ann.createdAt,
    });
    expect([merged, statements.length]).toEqual(['annie', 4]);
    expect(ids(await memory.entities(undefined, { limit: 100 }))).toEqual(['acme', 'ann', 'bob']);
    expect(await triples(memory, 'annie')).toEqual([]);
    expect(await triples(memory, 'A. Smith')).toEqual([
      'ann eats_with bob',
      'ann works_at acme',
      'bob knows ann',
    ]);
    const before = { asOf: { known: new Date(start + day - 1), valid: new Date(start + day - 1) } };
    expect(ids(await memory.entities(undefined, { ...before, limit: 100 }))).toEqual([
      'acme',
      'ann',
      'annie',
      'bob',
    ]);
    expect(await triples(memory, 'Annie', before)).toContain('annie knows ann');
    // What said that the two know each other says nothing any more.
    const { hits } = await memory.recall('Annie knows Ann Smith', { strategy: 'bm25' });
    expect(hits.map((hit) => hit.memory.content)).not.toContain('Annie knows Ann Smith');
    const [operation] = await memory.operations();
    expect(operation).toMatchObject({ verb: 'mergeEntities', memories: 5 });
    await memory.undo();
    expect(await triples(memory, 'annie')).toContain('annie knows ann');
    expect(await memory.check()).toEqual([]);
  });

  it('have a relation that one statement gave to both, with the longest period and the highest weight', async () => {
    const { memory } = await opened();
    await twoAnns(memory);
    const shares = { name: 'shares_a_flat_with', to: 'bob' };
    await memory.remember('Ann shares a flat with Bob; before Annie did too', {
      id: 'flat',
      relations: [
        { ...shares, from: 'ann', weight: 0.9, confidence: 0.5 },
        { ...shares, from: 'annie', weight: 0.2, validUntil: new Date(start - day) },
        { ...shares, from: 'annie', validFrom: '2020-01-01', validUntil: '2021-01-01' },
        { ...shares, from: 'ann', validFrom: '2020-01-01', validUntil: '2022-01-01' },
      ],
    });
    await memory.mergeEntities('Annie', 'Ann Smith');
    expect((await memory.get('flat'))?.relations).toEqual([
      { ...shares, from: 'ann', weight: 0.9, confidence: 0.8 },
      {
        ...shares,
        from: 'ann',
        weight: 1,
        confidence: 0.8,
        validFrom: '2020-01-01T00:00:00.000Z',
        validUntil: '2022-01-01T00:00:00.000Z',
      },
    ]);
    expect(await triples(memory, 'Ann Smith', { relations: ['shares a flat with'] })).toHaveLength(1);
  });

  it('have the kind of the other one only if the one that stays has none, and were updated by the merge', async () => {
    const { memory, clock } = await opened();
    await memory.rememberMany([
      entity('a', 'Alpha'),
      entity('b', 'Beta', { kind: 'product' }),
      entity('c', 'Gamma', { kind: 'person' }),
    ]);
    clock.advance(2 * day);
    const { entity: first } = await memory.mergeEntities('Beta', 'Alpha');
    expect([first.id, first.kind, first.updatedAt]).toEqual([
      'a',
      'product',
      new Date(start + 2 * day).toISOString(),
    ]);
    // An earlier moment, as of a command with --now, does not set the time back.
    const { entity: second } = await memory.mergeEntities('Gamma', 'Alpha', { now: new Date(start + day) });
    expect([second.id, second.kind, second.updatedAt]).toEqual(['a', 'product', first.updatedAt]);
  });

  it('may supersede a memory that an import did not bring along', async () => {
    const { memory: all } = await opened();
    await all.rememberMany([entity('first', 'Anne'), entity('annie', 'Annie')]);
    await all.rememberMany([entity('ann', 'Ann', { supersedes: ['first'] })]);
    const { memory } = await opened();
    await memory.importMemories(
      (await all.list()).memories.filter(({ id }) => id === 'ann' || id === 'annie'),
    );
    const { entity: merged } = await memory.mergeEntities('annie', 'ann');
    expect(merged).toMatchObject({ id: 'ann', aliases: ['Annie'], supersedes: ['first', 'annie'] });
  });

  it('must be believed entities of one scope', async () => {
    const { memory } = await opened();
    await twoAnns(memory);
    await memory.remember('Ann of the project', {
      ...{ id: 'other', type: 'entity', title: 'Ann Other', scope: 'project:a' },
    });
    await memory.remember('no entity', { id: 'fact' });
    const fails = (from: string, into: string, field: string, words: string) =>
      expect(memory.mergeEntities(from, into)).rejects.toMatchObject({
        code: 'invalid_argument',
        message: expect.stringContaining(words),
        details: { field },
      });
    await fails('other', 'ann', 'into', 'different scopes');
    await fails('ann', 'Ann Smith', 'into', 'with itself');
    await fails('fact', 'ann', 'from', 'is not an entity but a fact');
    await fails('ann', 'fact', 'into', 'is not an entity');
    await memory.mergeEntities('annie', 'ann');
    await fails('annie', 'bob', 'from', 'is part of "ann" already');
    await fails('bob', 'annie', 'into', 'is part of "ann" already');
    await memory.invalidate('bob', 'nobody');
    await fails('bob', 'ann', 'from', 'is not believed any more');
    const names = (count: number, by: string) => Array.from({ length: count }, (_, at) => `${by}${at}`);
    await memory.rememberMany([
      entity('x', 'X', { aliases: names(60, 'x') }),
      entity('y', 'Y', { aliases: names(4, 'y') }),
    ]);
    await fails('x', 'y', 'into', '65 other names, of at most 64');
  });

  it('are forgotten together', async () => {
    const { memory } = await opened();
    await twoAnns(memory);
    await memory.mergeEntities('annie', 'ann');
    const { forgotten } = await memory.forget('ann');
    expect(forgotten).toContain('annie');
    expect((await memory.get('lunch'))?.relations).toBeUndefined();
    expect(await memory.check()).toEqual([]);
  });

  it('keep the names of a part that is forgotten alone, and forget lists the entity that has them', async () => {
    const { memory } = await opened();
    await memory.rememberMany([
      entity('nick', 'Nick Gray', { aliases: ['Nicky'] }),
      entity('nicholas', 'Nicholas Gray'),
      entity('chief', 'The chief'),
      entity('bob', 'Bob'),
    ]);
    await memory.mergeEntities('nick', 'nicholas');
    await memory.mergeEntities('nicholas', 'chief');
    const { forgotten, mayStillSay } = await memory.forget('nick');
    expect(forgotten).toEqual(['nick']);
    expect([...mayStillSay].sort()).toEqual(['chief', 'nicholas']);
    await memory.update('chief', { aliases: [] });
    // Its history still has the names.
    expect((await memory.forget('nicholas')).mayStillSay).toEqual(['chief']);
    expect(await memory.check()).toEqual([]);
  });

  it('leave sentences that name the other one, and forget lists them', async () => {
    const { memory } = await opened();
    await memory.rememberMany([
      entity('annie', 'Annie Poe'),
      entity('ann', 'Ann Gray'),
      entity('bob', 'Bob'),
    ]);
    const { relation } = await memory.relate('annie', 'knows', 'bob');
    const [id] = relation.statements as [string];
    await memory.relate('bob', 'knows', 'ann');
    await memory.mergeEntities('annie', 'ann');
    expect((await memory.get(id))?.content).toContain('Annie Poe');
    const { forgotten, mayStillSay } = await memory.forget('annie');
    expect(forgotten).toEqual(['annie']);
    expect([...mayStillSay].sort()).toEqual(['ann', id].sort());
  });

  it.each([
    ['undone', (memory: MemoryEngine) => memory.undo()],
    ['split', (memory: MemoryEngine) => memory.splitEntity('ann', 'Annie Poe')],
  ])(
    'whose merge was %s are listed when the other one is forgotten: their history has its names',
    async (_, back) => {
      const { memory } = await opened();
      await memory.rememberMany([
        entity('annie', 'Annie Poe'),
        entity('ann', 'Ann Gray'),
        entity('bob', 'Bob'),
      ]);
      await memory.mergeEntities('annie', 'ann');
      await back(memory);
      expect((await memory.forget('bob')).mayStillSay).toEqual([]);
      expect((await memory.forget('annie', { dryRun: true })).mayStillSay).toEqual(['ann']);
      expect((await memory.forget('annie')).mayStillSay).toEqual(['ann']);
      await memory.forget('ann');
      expect(await memory.check()).toEqual([]);
    },
  );

  it('are listed by forget, however many merges followed', async () => {
    const { memory } = await opened();
    const names = [entity('annie', 'Annie Poe'), entity('ann', 'Ann Gray')];
    await memory.rememberMany([...names, entity('bob', 'Bob'), entity('rob', 'Rob')]);
    const mergeAndUndo = async (from: string, into: string) => {
      await memory.mergeEntities(from, into);
      await memory.undo();
    };
    await mergeAndUndo('annie', 'ann');
    for (let time = 0; time < 101; time++) await mergeAndUndo('bob', 'rob');
    expect((await memory.forget('annie')).mayStillSay).toEqual(['ann']);
  });

  it.each([
    ['supersede', 'annie', 'about Annie'],
    ['update', 'ann', 'about Annie'],
  ] as const)(
    'are merged where a conflict of the two is resolved by %s',
    async (resolution, kept, content) => {
      const clock = createFakeClock(start);
      await using memory = await openMemory({
        path: ':memory:',
        space: 'alice',
        clock: clock.now,
        conflictThreshold: 0.01,
      });
      await memory.remember('about Ann', { id: 'ann', type: 'entity', title: 'Ann Smith' });
      await memory.remember('Makes engines', { id: 'acme', type: 'entity', title: 'Acme' });
      await memory.relate('ann', 'works_at', 'acme');
      const { conflicts = [] } = await memory.remember('about Annie', {
        ...{ id: 'annie', type: 'entity', title: 'Annie Smith' },
      });
      const conflict = conflicts.find(({ id }) => id === 'ann');
      await memory.resolve(conflict?.conflictId ?? 'none', resolution);
      expect(await memory.get(kept)).toMatchObject({ content });
      expect(await triples(memory, 'Ann Smith')).toEqual([`${kept} works_at acme`]);
      expect(await triples(memory, 'Annie Smith')).toEqual([`${kept} works_at acme`]);
      await memory.undo();
      expect(await triples(memory, 'Ann Smith')).toEqual(['ann works_at acme']);
      expect(await memory.check()).toEqual([]);
    },
  );
});

describe('a split entity', () => {
  it('gives the other one its names, and the statements that name only that one', async () => {
    const { memory } = await opened();
    await memory.rememberMany([
      entity('jo', 'Jordan Miller', { aliases: ['Jordan Brown', 'Browny', 'JM'], kind: 'person' }),
      entity('acme', 'Acme'),
    ]);
    const by = (id: string, content: string, name: string) =>
      memory.remember(content, { id, relations: [{ from: 'jo', name, to: 'acme' }] });
    await by('one', 'Jordan Brown works at Acme', 'works_at');
    await by('two', 'Jordan Miller left Acme', 'left');
    await by('both', 'Jordan Brown and Jordan Miller founded Acme', 'founded');
    const {
      entity: first,
      split,
      statements,
    } = await memory.splitEntity('JM', 'jordan brown', {
      aliases: ['Browny'],
    });
    expect(first).toMatchObject({ id: 'jo', title: 'Jordan Miller', aliases: ['JM'] });
    expect(split).toMatchObject({ title: 'Jordan Brown', aliases: ['Browny'], kind: 'person' });
    expect(split.content).toBe('Jordan Brown');
    expect(statements).toEqual(['one']);
    expect(await triples(memory, 'Browny')).toEqual([`${split.id} works_at acme`]);
    expect(await triples(memory, 'jo')).toEqual(['jo founded acme', 'jo left acme']);
    await memory.undo();
    expect(await memory.get(split.id)).toBeUndefined();
    expect(await triples(memory, 'jo')).toHaveLength(3);
    const told = { statements: ['two'], kind: 'ship', content: 'A boat' };
    const again = await memory.splitEntity('jo', 'Jordan Miller', told);
    expect(again.statements).toEqual(['two']);
    expect(again.split).toMatchObject({ kind: 'ship', content: 'A boat' });
    expect((await memory.recall('boat', { strategy: 'bm25' })).hits[0]?.memory.id).toBe(again.split.id);
    await expect(memory.splitEntity('jo', 'x', { statements: ['two'] })).rejects.toThrow(
      'states no relation of "jo"',
    );
    expect(await memory.check()).toEqual([]);
  });

  it('restores a merged entity under its id', async () => {
    const { memory } = await opened();
    await twoAnns(memory);
    await memory.mergeEntities('annie', 'ann');
    // What was written since does not stand in the way, as it does for undo.
    await memory.update('ann', { content: 'A plumber' });
    await expect(memory.splitEntity('ann', 'Annie', { content: 'x' })).rejects.toThrow(
      'comes back as it was',
    );
    const { entity: ann, split, statements } = await memory.splitEntity('ann', 'annie');
    expect(split).toMatchObject({ id: 'annie', title: 'Annie', aliases: ['Ann', 'A. Smith'] });
    expect(ann).toMatchObject({ content: 'A plumber', supersedes: [] });
    expect(ann.aliases).toBeUndefined();
    expect(statements).toContain('lunch');
    expect(await triples(memory, 'Annie')).toContain('bob knows annie');
    expect(await memory.check()).toEqual([]);
  });

  it('restores an entity that was merged through another one, and leaves its name to no other entity', async () => {
    const { memory } = await opened();
    await memory.rememberMany([
      entity('ada', 'Ada Lovelace'),
      entity('countess', 'Countess of Lovelace'),
      entity('byron', 'Miss Byron', { aliases: ['Augusta'] }),
      entity('acme', 'Acme'),
    ]);
    await memory.relate('byron', 'knows', 'acme');
    await memory.mergeEntities('byron', 'countess');
    await memory.mergeEntities('countess', 'ada');
    const { entity: ada, split, statements } = await memory.splitEntity('ada', 'miss byron');
    expect(split).toMatchObject({ id: 'byron', title: 'Miss Byron', aliases: ['Augusta'] });
    expect(ada).toMatchObject({ aliases: ['Countess of Lovelace'], supersedes: ['countess'] });
    expect(statements).toHaveLength(1);
    expect(await triples(memory, 'Augusta')).toEqual(['byron knows acme']);
    const { split: countess } = await memory.splitEntity('ada', 'Countess of Lovelace');
    expect(countess).toMatchObject({ id: 'countess', supersedes: [] });
    expect(countess.aliases).toBeUndefined();
    expect(ids(await memory.entities())).toEqual(['acme', 'ada', 'byron', 'countess']);
    await memory.undo();
    await memory.undo();
    expect(ids(await memory.entities())).toEqual(['acme', 'ada']);
    expect(await triples(memory, 'Augusta')).toEqual(['ada knows acme']);
    expect(await memory.check()).toEqual([]);
  });

  it('loses the relations that the other one stated, except those that it had stated before', async () => {
    const { memory } = await opened();
    const stating = (id: string, ...all: readonly string[]) =>
      all.map((name) => ({ from: id, name, to: 'acme' }));
    await memory.rememberMany([
      entity('ann', 'Ann Smith', { relations: stating('ann', 'founded') }),
      entity('annie', 'Annie', { relations: stating('annie', 'founded', 'works_at') }),
      entity('acme', 'Acme'),
    ]);
    await memory.mergeEntities('annie', 'ann');
    expect(await triples(memory, 'ann')).toEqual(['ann founded acme', 'ann works_at acme']);
    await memory.splitEntity('ann', 'Annie');
    expect(await triples(memory, 'ann')).toEqual(['ann founded acme']);
    expect(await triples(memory, 'annie')).toEqual(['annie founded acme', 'annie works_at acme']);
    expect(await memory.check()).toEqual([]);
  });
});

describe('the values of a single-valued relation of two merged entities', () => {
  const places = ['rome', 'oslo', 'bern', 'kyiv', 'bonn'];
  const two = async () => {
    const { memory, clock } = await opened();
    await memory.rememberMany([
      entity('ada', 'Ada'),
      entity('ann', 'Ann'),
      ...places.map((id) => entity(id, id.toUpperCase())),
    ]);
    return { memory, clock };
  };
  const said = async (memory: MemoryEngine, of: string, valid?: string) => {
    const { hits } = await memory.recall('lives in', {
      ...{ strategy: 'bm25', types: ['fact'], limit: 50, track: false },
      ...(valid ? { asOf: { valid } } : {}),
    });
    const facts = hits.filter(({ memory: { relations } }) => relations?.some(({ from }) => from === of));
    return [...new Set(facts.map(({ memory: { content } }) => content.slice(-4).toLowerCase()))].sort();
  };
  const held = async (memory: MemoryEngine, of: string, valid?: string) =>
    (await memory.neighbours(of, valid ? { asOf: { valid } } : {})).relations.map(({ to }) => to).sort();

  it('are recalled as if all were told of one: only the one that began last, until they are split', async () => {
    const { memory } = await two();
    await memory.relate('ada', 'lives_in', 'bern', { validFrom: '2020-01-01' });
    await memory.relate('ann', 'lives_in', 'rome', { validFrom: '2022-01-01' });
    const before = await everything(memory);
    await memory.mergeEntities('ann', 'ada');
    expect(await said(memory, 'ada')).toEqual(['rome']);
    expect(await said(memory, 'ada', '2021-01-01')).toEqual(['bern']);
    await memory.undo();
    expect(await everything(memory)).toBe(before);
    await memory.mergeEntities('ann', 'ada');
    // It supersedes Rome, which had superseded Bern.
    await memory.relate('ada', 'lives_in', 'oslo', { validFrom: '2024-01-01' });
    await memory.splitEntity('ada', 'Ann');
    expect([await said(memory, 'ada'), await said(memory, 'ann')]).toEqual([['oslo'], ['rome']]);
    expect(await memory.check()).toEqual([]);
  });

  it('end together, whichever of the two has the later one', async () => {
    const { memory, clock } = await two();
    await memory.relate('ada', 'lives_in', 'rome', { validFrom: '2022-01-01' });
    await memory.relate('ann', 'lives_in', 'bern', { validFrom: '2020-01-01' });
    await memory.mergeEntities('ann', 'ada');
    expect(await said(memory, 'ada')).toEqual(['rome']);
    await memory.unrelate('ada', 'lives_in', 'rome');
    clock.advance(day);
    expect([await said(memory, 'ada'), await held(memory, 'ada')]).toEqual([[], []]);
  });

  it('agree with neighbours at any time, and with what they were once the two are split', async () => {
    const year = fc.integer({ min: 2000, max: 2020 });
    const value = fc.record({
      of: fc.constantFrom('ada', 'ann'),
      from: year,
      length: fc.integer({ min: 0, max: 25 }),
    });
    let both = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 2, maxLength: 5 }), async (values) => {
        const { memory } = await two();
        for (const [at, { of, from, length }] of values.entries()) {
          await memory.relate(of, 'lives_in', places[at] as string, {
            validFrom: `${from}-01-01`,
            // A length of 0 has no end.
            ...(length === 0 ? {} : { validUntil: `${from + length}-01-01` }),
          });
        }
        const times = Array.from({ length: 24 }, (_, at) => `${1999 + 2 * at}-06-01`);
        const seen = (of: string) => Promise.all(times.map((at) => said(memory, of, at)));
        const before = [await seen('ada'), await seen('ann')];
        await memory.mergeEntities('ann', 'ada');
        const together = await seen('ada');
        expect(together).toEqual(await Promise.all(times.map((at) => held(memory, 'ada', at))));
        if (times.some((_, at) => before.every((each) => each[at]?.length === 1))) both++;
        await memory.splitEntity('ada', 'Ann');
        expect([await seen('ada'), await seen('ann')]).toEqual(before);
        expect(await memory.check()).toEqual([]);
        await memory.close();
      }),
      { numRuns: 15, seed: 1 },
    );
    expect(both).toBeGreaterThan(5);
  });
});

describe('a relation between two merged entities', () => {
  it('is back once they are split, with what stated it', async () => {
    const { memory } = await opened();
    await memory.rememberMany([
      entity('ada', 'Ada', { relations: [{ from: 'ada', name: 'trusts', to: 'ann' }] }),
      entity('ann', 'Ann'),
      entity('bob', 'Bob'),
    ]);
    const knows = await memory.relate('ada', 'knows', 'ann', { validUntil: '2030-01-01' });
    const knew = await memory.relate('ann', 'taught', 'ada', { validUntil: '2020-01-01' });
    await memory.remember('Every month Ann lends money to both', {
      id: 'own',
      relations: ['ada', 'bob'].map((to) => ({ from: 'ann', name: 'lends_to', to })),
    });
    const statements = [...knows.relation.statements, ...knew.relation.statements] as [string, string];
    const states = () =>
      Promise.all(
        [...statements, 'own'].map(async (id) => {
          const { relations, derivedFrom, validUntil, invalidatedAt } = (await memory.get(id))!;
          return { relations, derivedFrom, validUntil, invalidatedAt };
        }),
      );
    const before = [await states(), await triples(memory, 'ada')];
    await memory.mergeEntities('ann', 'ada');
    expect(await triples(memory, 'ada')).toEqual(['ada lends_to bob']);
    // What was over by then ended when it did.
    expect((await memory.get(statements[1]))?.validUntil).toBe('2020-01-01T00:00:00.000Z');
    const { statements: moved } = await memory.splitEntity('ada', 'Ann');
    expect([...moved].sort()).toEqual([...statements, 'own'].sort());
    const sorted = (all: Awaited<ReturnType<typeof states>>) =>
      all.map(({ relations = [], ...rest }) => ({
        ...rest,
        relations: relations.toSorted((a, b) => (a.to < b.to ? -1 : 1)),
      }));
    expect([sorted(await states()), await triples(memory, 'ada')]).toEqual([
      sorted(before[0] as Awaited<ReturnType<typeof states>>),
      before[1],
    ]);
    expect(await memory.check()).toEqual([]);
  });

  it('stays ended if its sentence was changed after the merge', async () => {
    const { memory } = await opened();
    await memory.rememberMany([entity('ada', 'Ada'), entity('ann', 'Ann'), entity('eve', 'Eve')]);
    const { relation } = await memory.relate('ada', 'knows', 'ann');
    const [id] = relation.statements as [string];
    await memory.mergeEntities('ann', 'ada');
    await memory.mergeEntities('ada', 'eve');
    await memory.invalidate(id, 'It was never true');
    await memory.splitEntity('eve', 'Ann');
    expect(await memory.get(id)).toMatchObject({
      invalidReason: 'It was never true',
      // Ada is part of Eve.
      relations: [{ from: 'eve', name: 'knows', to: 'ann' }],
      derivedFrom: ['eve', 'ann'],
    });
    expect(await triples(memory, 'ann')).toEqual([]);
  });
});

const entities = ['a', 'b', 'c', 'd', 'e', 'f'];
const names = ['knows', 'works_at', 'lives_in'];

/** What one may do to a graph; what is not possible is refused, and changes nothing. */
const arbitraryStep = (forgetting: boolean) => {
  const one = fc.constantFrom(...entities);
  const some = fc.tuple(one, fc.constantFrom(...names), one);
  return fc.oneof(
    { weight: 6, arbitrary: some.map((given) => ['relate', ...given] as const) },
    { weight: 2, arbitrary: some.map((given) => ['unrelate', ...given] as const) },
    { weight: 4, arbitrary: fc.tuple(one, one).map((given) => ['mergeEntities', ...given] as const) },
    { weight: 2, arbitrary: fc.tuple(one, one).map((given) => ['splitEntity', ...given] as const) },
    ...(forgetting ? [{ weight: 1, arbitrary: one.map((id) => ['forget', id] as const) }] : []),
  );
};

type Step = readonly string[];

/** Whether it did anything. */
async function did(memory: MemoryEngine, [verb, ...given]: Step): Promise<boolean> {
  const before = (await memory.stats()).sequence;
  const name = verb as 'mergeEntities';
  // The name of an entity that was split off is its id in capitals.
  const [a = '', b = ''] = given;
  try {
    if (verb === 'splitEntity') await memory.splitEntity(a, b.toUpperCase());
    else await (memory[name] as (...all: readonly string[]) => Promise<unknown>)(...given);
  } catch (error) {
    if (!SalienceError.isInstance(error)) throw error;
    expect(['invalid_argument', 'not_found']).toContain(error.code);
  }
  return (await memory.stats()).sequence > before;
}

async function stateOf(memory: MemoryEngine, options: object = {}) {
  const all = await memory.entities(undefined, { limit: 1000, ...options });
  const around = await Promise.all(all.map(({ id }) => memory.neighbours(id, { depth: 2, ...options })));
  // What looking is from does not matter; what is left of a weight does.
  return JSON.stringify([
    all.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    around.map((each) => each.relations),
  ]);
}

async function everything(memory: MemoryEngine): Promise<string> {
  const { memories } = await memory.list({ limit: 1000 });
  return JSON.stringify(memories.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
}

interface Edge {
  readonly from: string;
  readonly name: string;
  readonly to: string;
}

/** The relations that hold, worked out one by one from the memories. */
async function naiveEdges(memory: MemoryEngine, now: number): Promise<readonly Edge[]> {
  const { memories } = await memory.list({ limit: 1000, sort: 'inserted' });
  const replaced = new Set(memories.flatMap(({ supersedes }) => supersedes));
  const holds = (from?: string, until?: string) =>
    Date.parse(from ?? '1970-01-01') <= now && now <= Date.parse(until ?? '9999-01-01');
  const believed = memories.filter(
    ({ id, validFrom, validUntil }) => !replaced.has(id) && holds(validFrom, validUntil),
  );
  const visible = new Set(believed.map(({ id }) => id));
  const stated = believed.flatMap((each) =>
    (each.relations ?? [])
      .filter(({ validFrom, validUntil }) => holds(validFrom, validUntil))
      .map((relation) => ({
        relation,
        begin: Date.parse(relation.validFrom ?? each.validFrom ?? each.createdAt),
      })),
  );
  const latest = new Map<string, { to: string; begin: number }>();
  for (const { relation, begin } of stated) {
    const key = `${relation.from} ${relation.name}`;
    const known = latest.get(key);
    if (relation.name === 'lives_in' && (!known || begin >= known.begin))
      latest.set(key, { to: relation.to, begin });
  }
  const edges = new Map<string, Edge>();
  for (const { relation } of stated) {
    const { from, name, to } = relation;
    const holdsNow = (latest.get(`${from} ${name}`)?.to ?? to) === to;
    if (holdsNow && visible.has(from) && visible.has(to))
      edges.set(`${from} ${name} ${to}`, { from, name, to });
  }
  return [...edges.values()];
}

function naiveDepths(edges: readonly Edge[], of: string, most: number): ReadonlyMap<string, number> {
  const depths = new Map([[of, 0]]);
  for (let depth = 1; depth <= most; depth++) {
    const reached = [...depths].filter(([, at]) => at === depth - 1).map(([id]) => id);
    for (const { from, to } of edges) {
      if (reached.includes(from) && !depths.has(to)) depths.set(to, depth);
      if (reached.includes(to) && !depths.has(from)) depths.set(from, depth);
    }
  }
  return depths;
}

/** All ways to walk from one to another in as few relations as can be, at most four. */
function naivePaths(edges: readonly Edge[], from: string, to: string): readonly string[] {
  if (from === to) return [from];
  let paths: readonly (readonly string[])[] = [[from]];
  for (let length = 1; length <= 4; length++) {
    paths = paths.flatMap((path) =>
      edges.flatMap((edge) => {
        const last = path[path.length - 1];
        const next = edge.from === last ? edge.to : edge.to === last ? edge.from : undefined;
        if (next === undefined || path.includes(next)) return [];
        return [[...path, `${edge.from}/${edge.name}/${edge.to}`, next]];
      }),
    );
    const found = paths.filter((path) => path[path.length - 1] === to);
    if (found.length > 0) return found.map((path) => path.join(' ')).sort();
  }
  return [];
}

async function drawn() {
  const { memory, clock } = await opened();
  await memory.rememberMany(entities.map((id) => entity(id, id.toUpperCase(), { aliases: [`${id}-1`] })));
  clock.advance(day);
  return { memory, clock };
}

describe('any operations on a graph', () => {
  it('can be undone to the exact state before, and a look back shows what was visible', async () => {
    let merged = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitraryStep(false), { minLength: 4, maxLength: 14 }),
        async (steps: readonly Step[]) => {
          const { memory, clock } = await drawn();
          const seen = [];
          const stood = [await everything(memory)];
          for (const step of steps) {
            if (!(await did(memory, step))) continue;
            if (step[0] === 'mergeEntities') merged++;
            clock.advance(1000);
            const at = new Date(clock.now());
            seen.push({ at, state: await stateOf(memory) });
            stood.push(await everything(memory));
            clock.advance(1000);
          }
          for (const { at, state } of seen)
            expect(await stateOf(memory, { asOf: { known: at, valid: at } })).toBe(state);
          expect(await memory.check()).toEqual([]);
          stood.pop();
          while (stood.length > 0) {
            await memory.undo();
            expect(await everything(memory)).toBe(stood.pop());
          }
        },
      ),
      { numRuns: 30, seed: 1 },
    );
    expect(merged).toBeGreaterThan(10);
  });

  it('agree with a walk over the relations', async () => {
    let joined = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitraryStep(true), { minLength: 8, maxLength: 24 }),
        async (steps: readonly Step[]) => {
          const { memory, clock } = await drawn();
          for (const step of steps) {
            await did(memory, step);
            clock.advance(1000);
          }
          const edges = await naiveEdges(memory, clock.now());
          const all = ids(await memory.entities(undefined, { limit: 1000 }));
          for (const id of all) {
            const depths = naiveDepths(edges, id, 2);
            const around = await memory.neighbours(id, { depth: 2 });
            expect(around.neighbours.map((each) => [each.id, each.depth])).toEqual(
              [...depths].filter(([each]) => each !== id).sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1)),
            );
            for (const other of all) {
              const expected = naivePaths(edges, id, other);
              const found = await memory.paths(id, other, { limit: 100 });
              joined += found.filter((path) => path.relations.length > 0).length;
              const spelled = found.map((path) =>
                path.ids
                  .flatMap((each, at) => {
                    const by = path.relations[at - 1];
                    return by ? [`${by.from}/${by.name}/${by.to}`, each] : [each];
                  })
                  .join(' '),
              );
              expect(spelled.sort()).toEqual(expected.slice(0, 100));
            }
          }
          expect(await memory.check()).toEqual([]);
        },
      ),
      { numRuns: 30, seed: 1 },
    );
    expect(joined).toBeGreaterThan(50);
  });
});
