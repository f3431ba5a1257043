import { describe, expect, it } from 'vitest';
import type { MemoryEngine } from '../../index.ts';
import { day, opened, people, start, triples } from '../../testing/entities.ts';
import { seededRandom } from '../../testing/seeded-random.ts';

describe('a relation', () => {
  it('that is single-valued has the value that began last', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: '2020-01-01' });
    await memory.relate('Ada', 'knows', 'Bob');
    clock.advance(day);
    await memory.relate('Ada', 'lives_in', 'Rome', { validFrom: '2025-01-01' });
    await memory.relate('Ada', 'knows', 'Acme');
    expect(await triples(memory, 'Ada')).toEqual(['ada knows acme', 'ada knows bob', 'ada lives_in rome']);
    // From the other end too, where only one of the two is looked at.
    expect(await triples(memory, 'Paris')).toEqual([]);
    expect(await triples(memory, 'Rome')).toEqual(['ada lives_in rome']);
    expect(await triples(memory, 'Ada', { relations: ['lives in'], asOf: { valid: '2022-01-01' } })).toEqual([
      'ada lives_in paris',
    ]);
    expect(await triples(memory, 'Paris', { asOf: { valid: '2022-01-01' } })).toHaveLength(1);
    // The sentence that said so is hidden by the later one, and true in its time.
    const said = async (options: object = {}) =>
      (await memory.recall('Ada lives in', { strategy: 'bm25', ...options })).hits
        .map((hit) => hit.memory.content)
        .filter((content) => content.includes('lives'));
    expect(await said()).toEqual(['Ada Lovelace lives in Rome']);
    expect(await said({ asOf: { valid: '2022-01-01' } })).toEqual(['Ada Lovelace lives in Paris']);
    await memory.configure({ singleValued: ['knows'] });
    expect(await triples(memory, 'Ada', { relations: ['knows'] })).toEqual(['ada knows acme']);
    expect((await memory.configure()).singleValued).toEqual(['knows']);
  });

  it.each<
    [string, object, (memory: MemoryEngine, id: string, pass: (days: number) => void) => Promise<unknown>]
  >([
    ['was over long ago', { validFrom: '2010-01-01', validUntil: '2012-01-01' }, async () => {}],
    ['is invalidated', {}, (memory, id) => memory.invalidate(id, 'She does not')],
    ['is forgotten', {}, (memory, id) => memory.forget(id)],
    ['ends', { validUntil: new Date(start + 30 * day) }, async (_, __, pass) => pass(60)],
    [
      'was ended before it began',
      { validFrom: new Date(start + 60 * day) },
      async (memory, _, pass) => {
        await memory.unrelate('Ada', 'lives_in', 'Rome');
        pass(90);
      },
    ],
  ])(
    'of a name with one value at a time is the earlier one again where the later %s',
    async (_, later, end) => {
      const { memory, clock } = await opened();
      await people(memory);
      await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: '2005-01-01' });
      clock.advance(day);
      const { relation } = await memory.relate('Ada', 'lives_in', 'Rome', later);
      await end(memory, relation.statements[0]!, (days) => clock.advance(days * day));
      expect(await triples(memory, 'Ada')).toEqual(['ada lives_in paris']);
      const { hits } = await memory.recall('Ada lives in', { strategy: 'bm25', types: ['fact'] });
      expect(hits.map((hit) => hit.memory.content)).toEqual(['Ada Lovelace lives in Paris']);
      await memory.undo();
    },
  );

  it('that is single-valued has no value once the current one has ended; undo restores it', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    const facts = async () =>
      (await memory.recall('Ada lives in', { strategy: 'bm25', types: ['fact'] })).hits.map(
        (hit) => hit.memory.content,
      );
    for (const place of ['Paris', 'Rome', 'Acme']) {
      await memory.relate('Ada', 'lives_in', place);
      clock.advance(day);
    }
    expect(await facts()).toEqual(['Ada Lovelace lives in Acme']);
    await memory.unrelate('Ada', 'lives_in', 'Acme');
    // From that very moment on.
    for (const days of [0, 1]) {
      clock.advance(days * day);
      expect(await facts()).toEqual([]);
      expect(await triples(memory, 'Ada')).toEqual([]);
    }
    await memory.undo();
    expect(await facts()).toEqual(['Ada Lovelace lives in Acme']);
  });

  it.each<[how: string, say: (memory: MemoryEngine) => Promise<unknown>]>([
    [
      'in own words',
      (memory) => memory.relate('Ada', 'lives_in', 'Paris', { content: 'She has moved to Paris' }),
    ],
    [
      'among other things',
      (memory) =>
        memory.remember('She lives in Paris, and knows Bob', {
          relations: [
            { from: 'ada', name: 'lives_in', to: 'paris' },
            { from: 'ada', name: 'knows', to: 'bob' },
          ],
        }),
    ],
  ])(
    'of a name with one value at a time has none once the current one has ended, where the earlier one was told %s',
    async (_, say) => {
      const { memory, clock } = await opened();
      await people(memory);
      await say(memory);
      await memory.relate('Ada', 'lives_in', 'Acme', { scope: 'project:a', validFrom: '2005-01-01' });
      clock.advance(day);
      await memory.relate('Ada', 'lives_in', 'Rome');
      clock.advance(day);
      const lives = (options: object = {}) => triples(memory, 'Ada', { relations: ['lives_in'], ...options });
      expect(await lives()).toEqual(['ada lives_in rome']);
      await memory.unrelate('Ada', 'lives_in', 'Rome');
      clock.advance(day);
      // From another scope nobody has said that it ended.
      expect(await lives()).toEqual(['ada lives_in acme']);
      expect(await lives({ scope: 'global' })).toEqual([]);
      expect(await lives({ scope: 'global', asOf: { valid: new Date(start) } })).toHaveLength(1);
      // What was said stays.
      const { hits } = await memory.recall('Paris', { strategy: 'bm25', types: ['fact'] });
      expect(hits).toHaveLength(1);
      await memory.undo();
      await memory.invalidate(
        (await memory.neighbours('Ada')).relations.find(({ to }) => to === 'rome')!.statements[0]!,
        'no',
      );
      expect(await lives({ scope: 'global' })).toHaveLength(1);
    },
  );

  it('ends alone where its name may have several values at a time', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    for (const known of ['Bob', 'Acme']) {
      await memory.relate('Ada', 'knows', known);
      clock.advance(day);
    }
    await memory.unrelate('Ada', 'knows', 'Acme');
    clock.advance(day);
    expect(await triples(memory, 'Ada')).toEqual(['ada knows bob']);
  });

  it('that is single-valued ends together with the earlier value that the same memory states', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    await memory.remember('She moved to Paris, and later to Rome', {
      id: 'moves',
      relations: [
        { from: 'ada', name: 'lives_in', to: 'paris', validFrom: '2015-01-01' },
        { from: 'ada', name: 'lives_in', to: 'rome', validFrom: '2020-01-01' },
      ],
    });
    clock.advance(day);
    await memory.unrelate('Ada', 'lives_in', 'Rome');
    const validUntil = new Date(start + day - 1).toISOString();
    expect((await memory.get('moves'))?.relations).toMatchObject([
      { to: 'paris', validUntil },
      { to: 'rome', validUntil },
    ]);
    expect(await triples(memory, 'Ada')).toEqual([]);
  });

  it('that is single-valued ends no earlier value that was over before, and none for a later period', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    const paris = { from: 'ada', name: 'lives_in', to: 'paris' };
    await memory.relate('Ada', 'lives_in', 'Acme', { validFrom: '2010-01-01', validUntil: '2018-01-01' });
    await memory.remember('She often lives in Paris', {
      id: 'often',
      relations: [
        { ...paris, validFrom: '2012-01-01', validUntil: '2027-01-01' },
        { ...paris, validFrom: '2030-01-01' },
      ],
    });
    const acme = (await memory.get('new1'))!;
    const { relation } = await memory.relate('Ada', 'lives_in', 'Rome', { validFrom: '2015-01-01' });
    expect((await memory.get(relation.statements[0]!))?.supersedes).toEqual(['new1']);
    clock.advance(day);
    await memory.unrelate('Ada', 'lives_in', 'Rome');
    const untouched = (await memory.get('new1'))!;
    expect([untouched.validUntil, untouched.relations]).toEqual([acme.validUntil, acme.relations]);
    expect((await memory.get('often'))?.relations).toMatchObject([
      { validFrom: '2012-01-01T00:00:00.000Z', validUntil: new Date(start + day - 1).toISOString() },
      { validFrom: '2030-01-01T00:00:00.000Z' },
    ]);
    expect(await triples(memory, 'Ada')).toEqual([]);
    expect(await triples(memory, 'Ada', { asOf: { valid: '2031-01-01' } })).toEqual(['ada lives_in paris']);
  });

  it('that is single-valued keeps the earlier value if it is ended before the memory that states it is valid', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    await memory.relate('Ada', 'lives_in', 'Paris', { content: 'She lives in Paris' });
    await memory.remember('She will live in Rome', {
      validFrom: new Date(start + 30 * day),
      relations: [{ from: 'ada', name: 'lives_in', to: 'rome' }],
    });
    clock.advance(day);
    await memory.unrelate('Ada', 'lives_in', 'Rome');
    clock.advance(60 * day);
    expect(await triples(memory, 'Ada')).toEqual(['ada lives_in paris']);
  });

  it('that is single-valued ends its earlier sentence even if that is invalidated: reinstated, it does not hold again', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    await memory.relate('Ada', 'lives_in', 'Paris');
    clock.advance(day);
    await memory.relate('Ada', 'lives_in', 'Rome');
    clock.advance(day);
    await memory.invalidate('new1', 'no');
    await memory.unrelate('Ada', 'lives_in', 'Rome');
    await memory.reinstate('new1');
    expect((await memory.get('new1'))?.validUntil).toBe(new Date(start + 2 * day - 1).toISOString());
    expect(await triples(memory, 'Ada')).toEqual([]);
  });

  it('that is single-valued has its latest value alone, also where the one between was invalidated before', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    for (const [place, id] of [
      ['Paris', 'new1'],
      ['Rome', 'new2'],
      ['Acme', 'new3'],
    ] as const) {
      const { relation } = await memory.relate('Ada', 'lives_in', place);
      expect(relation.statements).toEqual([id]);
      if (place === 'Rome') await memory.invalidate(id, 'no');
      clock.advance(day);
    }
    const { hits } = await memory.recall('Ada lives in', { strategy: 'bm25', types: ['fact'] });
    expect(hits.map((hit) => hit.memory.content)).toEqual(['Ada Lovelace lives in Acme']);
    expect(await triples(memory, 'Ada')).toEqual(['ada lives_in acme']);
  });

  it.each([undefined, 'She lives in Paris'])(
    'that is single-valued keeps the earlier value if it is ended as it begins (%s)',
    async (content) => {
      const { memory, clock } = await opened();
      await people(memory);
      const begin = new Date(start + 30 * day);
      await memory.relate('Ada', 'lives_in', 'Paris', { content });
      await memory.relate('Ada', 'lives_in', 'Rome', { validFrom: begin });
      clock.advance(day);
      await memory.unrelate('Ada', 'lives_in', 'Rome', { endedAt: begin });
      clock.advance(60 * day);
      expect(await triples(memory, 'Ada')).toEqual(['ada lives_in paris']);
      const { hits } = await memory.recall('Ada lives in', { strategy: 'bm25', types: ['fact'] });
      expect(hits).toHaveLength(1);
    },
  );

  it('that is single-valued has none either where an earlier value is hidden by one that ends with the current one', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    const undated = await memory.relate('Ada', 'lives_in', 'Paris');
    clock.advance(day);
    await memory.relate('Ada', 'lives_in', 'Acme');
    clock.advance(day);
    await memory.relate('Ada', 'lives_in', 'Rome', {
      content: 'She has moved to Rome',
      validFrom: '2027-01-01',
    });
    clock.set(Date.UTC(2028, 0, 1));
    await memory.unrelate('Ada', 'lives_in', 'Rome');
    clock.advance(day);
    expect(await triples(memory, 'Ada')).toEqual([]);
    const { hits } = await memory.recall('Ada lives in', { strategy: 'bm25', types: ['fact'] });
    expect(hits.map((hit) => hit.memory.content)).not.toContain('Ada Lovelace lives in Paris');
    await memory.undo();
    expect(await triples(memory, 'Ada')).toEqual(['ada lives_in rome']);
    expect((await memory.get(undated.relation.statements[0]!))?.validUntil).toBeUndefined();
  });

  it('of an earlier value holds in a later period that its sentence states too, after the current value has ended', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: '2020-01-01', validUntil: '2027-01-01' });
    const { relation } = await memory.relate('Ada', 'lives_in', 'Paris', {
      ...{ validFrom: '2026-06-01', validUntil: '2030-01-01' },
    });
    await memory.relate('Ada', 'lives_in', 'Rome', { validFrom: '2022-01-01', validUntil: '2026-03-01' });
    await memory.unrelate('Ada', 'lives_in', 'Rome');
    clock.advance(day);
    expect(relation.statements).toHaveLength(1);
    for (const [at, expected] of [
      ['2021-01-01', ['ada lives_in paris']],
      ['2026-02-01', []],
      ['2028-01-01', ['ada lives_in paris']],
    ] as const) {
      expect(await triples(memory, 'Ada', { asOf: { valid: at } })).toEqual(expected);
    }
    expect((await memory.get(relation.statements[0]!))?.validUntil).toBe('2030-01-01T00:00:00.000Z');
  });

  it('that is single-valued has the later value, even if two writes read before either is written', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    await memory.relate('Ada', 'lives_in', 'Paris');
    clock.advance(day);
    const [rome] = await Promise.all([
      memory.relate('Ada', 'lives_in', 'Rome'),
      memory.relate('Ada', 'lives_in', 'Acme', { now: new Date(clock.now() + 1) }),
    ]);
    clock.advance(day);
    const { hits } = await memory.recall('Ada lives in', { strategy: 'bm25', types: ['fact'] });
    expect(hits.map((hit) => hit.memory.content)).toEqual(['Ada Lovelace lives in Acme']);
    expect(hits[0]?.memory.supersedes).toContain(rome.relation.statements[0]);
  });

  describe('that is single-valued, stated after a later value', () => {
    const facts = async (memory: MemoryEngine, options: object = {}) => {
      const asked = { strategy: 'bm25', types: ['fact'], track: false, ...options } as const;
      const { hits } = await memory.recall('Ada lives in', asked);
      return hits.map((hit) => hit.memory.content.replace('Ada Lovelace lives in ', ''));
    };

    it('is not recalled together with it, and undo leaves the later value unchanged', async () => {
      const { memory, clock } = await opened();
      await people(memory);
      const rome = (await memory.relate('Ada', 'lives_in', 'Rome')).relation.statements[0]!;
      clock.advance(day);
      const before = await memory.get(rome);
      const paris = (await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: '2020-01-01' })).relation
        .statements[0]!;
      expect(await triples(memory, 'Ada')).toEqual(['ada lives_in rome']);
      expect(await facts(memory)).toEqual(['Rome']);
      expect((await memory.get(rome))?.supersedes).toEqual([paris]);
      await memory.undo();
      expect(await memory.get(rome)).toEqual(before);
      expect(await memory.get(paris)).toBeUndefined();
    });

    it('is current again if the later value is invalidated, but not if the later value has ended', async () => {
      const { memory, clock } = await opened();
      await people(memory);
      const rome = (await memory.relate('Ada', 'lives_in', 'Rome')).relation.statements[0]!;
      clock.advance(day);
      await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: '2020-01-01' });
      await memory.invalidate(rome, 'She never did');
      expect(await facts(memory)).toEqual(['Paris']);
      await memory.undo();
      await memory.unrelate('Ada', 'lives_in', 'Paris');
      clock.advance(day);
      expect(await facts(memory)).toEqual(['Rome']);
      await memory.undo();
      await memory.unrelate('Ada', 'lives_in', 'Rome');
      clock.advance(day);
      expect(await facts(memory)).toEqual([]);
      expect(await triples(memory, 'Ada')).toEqual([]);
    });

    it('is superseded by the nearest later value, and by further ones if the nearer ones end before them', async () => {
      const { memory } = await opened();
      await people(memory);
      await memory.relate('Ada', 'lives_in', 'Rome', { validFrom: '2021-01-01', validUntil: '2022-01-01' });
      await memory.relate('Ada', 'lives_in', 'Acme', { validFrom: '2024-01-01' });
      await memory.relate('Ada', 'lives_in', 'Bob', { validFrom: '2025-01-01' });
      const paris = (await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: '2020-01-01' })).relation
        .statements[0]!;
      const superseding = (await memory.list()).memories.filter((each) => each.supersedes.includes(paris));
      expect(superseding.map(({ content }) => content).sort()).toEqual([
        'Ada Lovelace lives in Acme',
        'Ada Lovelace lives in Rome',
      ]);
      for (const [at, place] of [
        ['2020-06-01', 'Paris'],
        ['2021-06-01', 'Rome'],
        ['2023-06-01', 'Paris'],
        ['2024-06-01', 'Acme'],
        ['2025-06-01', 'Bob'],
      ]) {
        expect(await facts(memory, { asOf: { valid: at } })).toEqual([place]);
      }
    });

    it('is not superseded if the later value has another scope, begins after its end, or is in own words', async () => {
      const { memory } = await opened();
      await people(memory);
      const later = [
        await memory.relate('Ada', 'lives_in', 'Rome', { scope: 'project:a' }),
        await memory.relate('Ada', 'lives_in', 'Acme', { validFrom: '2023-01-01' }),
        await memory.relate('Ada', 'lives_in', 'Bob', {
          content: 'She moved in with Bob',
          validFrom: '2021-01-01',
        }),
      ].map(({ relation }) => relation.statements[0]!);
      const before = await Promise.all(later.map((id) => memory.get(id)));
      await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: '2020-01-01', validUntil: '2022-01-01' });
      expect(await Promise.all(later.map((id) => memory.get(id)))).toEqual(before);
    });

    it('can be stated again although the later value supersedes it: there is no cycle', async () => {
      const { memory, clock } = await opened();
      await people(memory);
      await memory.relate('Ada', 'lives_in', 'Paris');
      clock.advance(day);
      await memory.relate('Ada', 'lives_in', 'Rome', { validUntil: new Date(start + 5 * day) });
      clock.advance(9 * day);
      await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: new Date(start + 4 * day) });
      expect(await facts(memory)).toEqual(['Paris']);
      expect(await triples(memory, 'Ada')).toEqual(['ada lives_in paris']);
    });

    it('agrees with neighbours if one of the two was invalidated meanwhile and is reinstated', async () => {
      for (const [first, second] of [
        ['2020-01-01', '2024-01-01'],
        ['2024-01-01', '2020-01-01'],
      ]) {
        const { memory } = await opened();
        await people(memory);
        const rome = await memory.relate('Ada', 'lives_in', 'Rome', { validFrom: first });
        const [id] = rome.relation.statements as [string];
        await memory.invalidate(id, 'It was somebody else');
        await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: second });
        expect(await facts(memory)).toEqual(['Paris']);
        await memory.reinstate(id);
        const place = first === '2024-01-01' ? 'Rome' : 'Paris';
        expect(await facts(memory)).toEqual([place]);
        expect(await triples(memory, 'Ada')).toEqual([`ada lives_in ${place.toLowerCase()}`]);
      }
    });

    it('agrees with neighbours, in whatever order values are stated', async () => {
      const next = seededRandom(75);
      const integer = (below: number) => Math.floor(next() * below);
      for (let round = 0; round < 30; round++) {
        const { memory, clock } = await opened();
        await people(memory);
        for (let told = 0; told < 6; told++) {
          clock.advance(integer(3) * day);
          const validFrom = next() < 0.6 ? new Date(start + (integer(20) - 10) * day) : undefined;
          const place = ['Paris', 'Rome', 'Acme', 'Bob'][integer(4)]!;
          await memory.relate('Ada', 'lives_in', place, { validFrom });
          for (const now of [clock.now(), clock.now() + 15 * day]) {
            const at = { now: new Date(now) };
            const { relations } = await memory.neighbours('Ada', at);
            const places = (await facts(memory, at)).map((each) => each.toLowerCase());
            expect([...new Set(places)]).toEqual(relations.map(({ to }) => to));
          }
        }
        await memory.close();
      }
    });
  });

  it('that is single-valued returns to an earlier value after another one, however early it is told', async () => {
    const months = ['2026-03-15', '2026-05-15', '2026-07-15'];
    const told = [
      ['Paris', '2026-03-01'],
      ['Rome', '2026-05-01'],
      ['Paris', '2026-07-01'],
    ] as const;
    for (const order of [
      [0, 1, 2],
      [1, 0, 2],
      [2, 1, 0],
      [1, 2, 0],
    ]) {
      const { memory, clock } = await opened();
      await people(memory);
      for (const at of order) {
        const [place, validFrom] = told[at]!;
        await memory.relate('Ada', 'lives_in', place, { validFrom });
        clock.advance(day);
      }
      for (const [at, valid] of months.entries()) {
        const asked = { strategy: 'bm25', types: ['fact'], track: false, asOf: { valid } } as const;
        const { hits } = await memory.recall('Ada lives in', asked);
        const place = told[at]![0];
        expect(hits.map((hit) => hit.memory.content)).toEqual([`Ada Lovelace lives in ${place}`]);
        expect(await triples(memory, 'Ada', { asOf: { valid } })).toEqual([
          `ada lives_in ${place.toLowerCase()}`,
        ]);
      }
      await memory.close();
    }
  });

  it('stated again for longer supersedes the same values for all of the new period', async () => {
    const { memory } = await opened();
    await people(memory);
    const facts = async (valid: string) => {
      const asked = { strategy: 'bm25', types: ['fact'], track: false, asOf: { valid } } as const;
      return (await memory.recall('Ada lives in', asked)).hits.map((hit) => hit.memory.content);
    };
    await memory.relate('Ada', 'lives_in', 'Rome', { validFrom: '2020-01-01' });
    await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: '2021-01-01', validUntil: '2022-01-01' });
    await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: '2021-01-01' });
    expect(await triples(memory, 'Ada')).toEqual(['ada lives_in paris']);
    expect(await facts('2025-01-01')).toEqual(['Ada Lovelace lives in Paris']);
  });

  it('stated by a known memory supersedes the sentence of the earlier value; undo restores that', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    const facts = async () => {
      const asked = { strategy: 'bm25', types: ['fact'], track: false } as const;
      return (await memory.recall('Ada lives in moved', asked)).hits.map((hit) => hit.memory.content);
    };
    await memory.relate('Ada', 'lives_in', 'Paris');
    clock.advance(day);
    const { id } = await memory.remember('Ada moved to Rome', { type: 'fact' });
    await memory.relate('Ada', 'lives_in', 'Rome', { statedBy: [id] });
    expect(await triples(memory, 'Ada')).toEqual(['ada lives_in rome']);
    expect(await facts()).toEqual(['Ada moved to Rome']);
    await memory.undo();
    expect(await triples(memory, 'Ada')).toEqual(['ada lives_in paris']);
    expect((await facts()).toSorted()).toEqual(['Ada Lovelace lives in Paris', 'Ada moved to Rome']);
  });

  it.each([
    [
      'known',
      async (memory: MemoryEngine, text: string) => ({ statedBy: [(await memory.remember(text)).id] }),
    ],
    ['new', async (_: MemoryEngine, content: string) => ({ content })],
  ])('of a time that %s words name leaves the earlier value before and after it', async (_, statedIn) => {
    const { memory, clock } = await opened();
    await people(memory);
    await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: '2020-01-01' });
    const summer = {
      validFrom: new Date(start + 10 * day).toISOString(),
      validUntil: new Date(start + 20 * day).toISOString(),
    };
    await memory.relate('Ada', 'lives_in', 'Rome', {
      ...(await statedIn(memory, 'Ada spends the summer in Rome')),
      ...summer,
    });
    const lives = async (): Promise<unknown> => {
      const { hits } = await memory.recall('Ada Lovelace lives in Paris', { strategy: 'bm25', track: false });
      const isSaid = hits.some((hit) => hit.memory.content === 'Ada Lovelace lives in Paris');
      return [...(await triples(memory, 'Ada')), isSaid];
    };
    expect(await lives()).toEqual(['ada lives_in paris', true]);
    clock.advance(15 * day);
    expect(await lives()).toEqual(['ada lives_in rome', true]);
    clock.advance(15 * day);
    expect(await lives()).toEqual(['ada lives_in paris', true]);
    // Told again without an end, once it has begun.
    await memory.relate('Ada', 'lives_in', 'Rome', await statedIn(memory, 'Ada has moved to Rome'));
    expect(await lives()).toEqual(['ada lives_in rome', false]);
  });

  it.each([
    ['that has begun', 1, undefined, undefined, false],
    ['that begins later', 2, undefined, undefined, true],
    ['that ends with them', 1, 9, 9, false],
    ['that ends before them', 1, 8, 9, true],
    ['that ends with the earlier value', 1, 12, undefined, false],
    ['that ends before the earlier value', 1, 11, undefined, true],
  ])('in words, %s', async (_, begins, ends, end, isLeft) => {
    const { memory, clock } = await opened();
    await people(memory);
    const at = (days: number | undefined) =>
      days === undefined ? undefined : new Date(start + days * day).toISOString();
    await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: '2020-01-01', validUntil: at(12) });
    clock.advance(day);
    const { id } = await memory.remember('Ada is in Rome', { validUntil: at(end) });
    await memory.relate('Ada', 'lives_in', 'Rome', {
      statedBy: [id],
      validFrom: at(begins),
      validUntil: at(ends),
    });
    const { hits } = await memory.recall('Ada Lovelace lives in Paris', {
      strategy: 'bm25',
      types: ['fact'],
    });
    expect(hits.map((hit) => hit.memory.content).includes('Ada Lovelace lives in Paris')).toBe(isLeft);
  });

  it('stated by several memories is superseded by none of them', async () => {
    const { memory, clock } = await opened();
    await people(memory);
    const { relation } = await memory.relate('Ada', 'lives_in', 'Paris');
    clock.advance(day);
    const { id } = await memory.remember('Ada moved to Rome', { type: 'fact' });
    const sentence = relation.statements[0]!;
    await memory.relate('Ada', 'lives_in', 'Rome', { statedBy: [id, sentence] });
    expect((await memory.get(id))?.supersedes).toEqual([]);
    expect((await memory.get(sentence))?.relations).toHaveLength(2);
  });

  it('that is single-valued has the earlier value where the later one is not visible', async () => {
    const { memory } = await opened();
    await people(memory);
    await memory.relate('Ada', 'lives_in', 'Paris', { validFrom: '2020-01-01' });
    await memory.relate('Ada', 'lives_in', 'Rome', { validFrom: '2025-01-01', scope: 'project:secret' });
    expect(await triples(memory, 'Ada', { scope: 'global' })).toEqual(['ada lives_in paris']);
    expect(await triples(memory, 'Ada', { scope: 'project:secret' })).toEqual(['ada lives_in rome']);
    expect((await memory.get('new1'))?.validUntil).toBeUndefined();
  });
});
