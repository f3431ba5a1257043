import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { importAll, readSorted } from '../../test/import/import-text.ts';
import type { Memory } from '../index.ts';
import { live } from '../testing/live-memory.ts';
import { scaledRuns } from '../testing/runs.ts';
import { importItems } from './import.ts';
import type { ImportItem } from './item.ts';
import { readJsonLine } from './json-lines.ts';

const lines = (...values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
async function* readText(text: string): AsyncGenerator<ImportItem, void> {
  for (const [index, line] of text.split('\n').entries()) {
    if (line !== '') yield readJsonLine(line, `line ${index + 1}`, `f#L${index + 1}`, {}) as ImportItem;
  }
}
const none = { imported: 0, updated: 0, unchanged: 0, skipped: 0 };
const about = { topicKey: 'deploy/day', scope: 'project:shop' };
const thursday = { ...about, content: 'Deploys on Thursday', createdAt: '2025-01-01' };
const friday = { ...about, content: 'Deploys on Friday', createdAt: '2025-02-01' };
const monday = { ...about, content: 'Deploys on Monday', createdAt: '2025-03-01' };

describe('several statements about one memory in one source', () => {
  const said = (id: string, content: string, more = {}) => ({ id, content, ...more });
  /** So many lines that the next one is in another batch. */
  const many = Array.from({ length: 1500 }, (_, at) => said(`n${at}`, `Number ${at % 10}`));
  const topic = { topicKey: 'day' };
  const at = (day: string) => ({ createdAt: '2025-01-01', updatedAt: `2025-02-${day}` });

  it.each<[string, readonly object[], string]>([
    ['two', [said('a', 'One'), said('b', 'B'), said('a', 'Two')], 'Two'],
    ['three', [said('a', 'One'), said('a', 'Two'), said('a', 'Three')], 'Three'],
    ['the first again', [said('a', 'One'), said('a', 'Two'), said('a', 'One')], 'One'],
    ['far from each other', [said('a', 'One'), ...many, said('a', 'Two')], 'Two'],
    ['with a topic', [said('a', 'One', topic), said('a', 'Two', topic), said('a', 'Three')], 'Three'],
    ['by its topic, far from each other', [said('a', 'One', topic), ...many, said('b', 'Two', topic)], 'Two'],
    ['of one moment', [said('a', 'One', at('01')), said('a', 'Two', at('01'))], 'Two'],
    ['of a later moment', [said('a', 'One', at('01')), said('a', 'Two', at('02'))], 'Two'],
    ['of an earlier moment', [said('a', 'One', at('02')), said('a', 'Two', at('01'))], 'One'],
    ['and dated, the last without a date', [said('a', 'One', at('02')), said('a', 'Two')], 'Two'],
    ['and the last dated like what is stored', [said('a', 'Two'), said('a', 'One', at('03'))], 'Two'],
    ['and dated, the first without a date', [said('a', 'One'), said('a', 'Two', at('02'))], 'One'],
  ])('%s: the last holds, and a second import changes nothing', async (_, values, content) => {
    const stored = lines(said('a', 'Zero', at('03')));
    const file = lines(...values);
    for (const before of ['', ...(content === 'One' ? [] : [stored])]) {
      const { memory } = await live({ embedder: 'none' });
      const bring = (text: string) => importItems(memory, readText(text));
      await bring(before);
      const counts = await bring(file);
      expect(counts).toMatchObject({ skipped: 0 });
      const { imported, updated, unchanged, differs = 0 } = counts;
      expect(imported + updated + unchanged + differs).toBe(values.length);
      const first = await memory.get('a');
      if (before === '') expect(first).toMatchObject({ content });
      expect(await bring(file)).toMatchObject({ imported: 0, updated: 0, skipped: 0 });
      expect(await memory.get('a')).toEqual(first);
    }
  });

  it('hold by their own order with --update too, whatever is stored', async () => {
    const [one, two, three] = ['01', '02', '03'].map((day) => said('a', `Of ${day}`, at(day)));
    for (const values of [
      [one, two],
      [two, one],
      [one, two, ...many, one],
    ] as object[][]) {
      for (const before of [[], [two], [three]] as object[][]) {
        const { memory } = await live({ embedder: 'none' });
        await importItems(memory, readText(lines(...before)));
        const bring = () => importItems(memory, readText(lines(...values)), { update: true });
        const { imported, updated, unchanged } = await bring();
        expect(imported + updated + unchanged).toBe(values.length);
        expect(await memory.get('a')).toMatchObject({ content: 'Of 02' });
        expect(await bring()).toEqual({ ...none, unchanged: values.length });
      }
    }
  });
});

describe('the relations of a line', () => {
  const works = { from: 'ann', name: 'works at', to: 'acme' };
  const ended = { ...works, validUntil: '2026-01-01' };
  const knows = { from: 'ann', name: 'knows', to: 'bob' };
  const line = (relations: readonly object[] | undefined, more = {}) =>
    lines({ id: 's', content: 'About Ann', relations, ...more });
  const started = async (first: string) => {
    const { memory, pass } = await live({ embedder: 'none' });
    for (const id of ['ann', 'acme', 'bob']) await memory.remember(id, { id, type: 'entity', title: id });
    const bring = (text: string) => importItems(memory, readText(text));
    await bring(first);
    pass(1);
    const stated = async () => (await memory.get('s'))?.relations?.map(({ name }) => name) ?? [];
    return { memory, bring, stated };
  };

  it('replace those of the memory if they changed, and a second import changes nothing', async () => {
    const { memory, bring, stated } = await started(line([works]));
    for (const [relations, names] of [
      [
        [works, knows],
        ['works_at', 'knows'],
      ],
      [[ended], ['works_at']],
      [[{ ...works, confidence: 0.3 }], ['works_at']],
    ] as const) {
      expect(await bring(line(relations))).toEqual({ ...none, updated: 1 });
      expect(await stated()).toEqual(names);
      const first = await memory.get('s');
      expect(await bring(line(relations))).toEqual({ ...none, unchanged: 1 });
      expect(await memory.get('s')).toEqual(first);
    }
  });

  it('stay ended, and beside those that were added here', async () => {
    const { memory, bring, stated } = await started(line([works]));
    await memory.unrelate('ann', 'works_at', 'acme');
    await memory.relate('ann', 'knows', 'bob', { statedBy: ['s'] });
    expect(await bring(line([works]))).toEqual({ ...none, unchanged: 1 });
    expect(await stated()).toEqual(['works_at', 'knows']);
    expect((await memory.get('s'))?.relations?.[0]?.validUntil).toBeDefined();
  });

  it('are all of them if the line was changed after the memory', async () => {
    const dated = (day: string) => ({ createdAt: '2020-01-01', updatedAt: `2020-01-${day}` });
    const { bring, stated } = await started(line([works, knows], dated('01')));
    expect(await bring(line([knows], dated('02')))).toEqual({ ...none, updated: 1 });
    expect(await stated()).toEqual(['knows']);
    expect(await bring(line([works], dated('01')))).toEqual({ ...none, differs: 1 });
  });

  it('that are invalid are reported', async () => {
    const { bring, stated } = await started(line([works]));
    expect(await bring(line([{ from: 'ann' }]))).toEqual({ ...none, skipped: 1 });
    expect(await stated()).toEqual(['works_at']);
  });
});

describe('importing statements about a topic', () => {
  it('keeps the latest statement, in any order, and a second import changes nothing', async () => {
    for (const order of [
      [thursday, friday, monday],
      [monday, thursday, friday],
      [friday, monday, thursday],
    ]) {
      const file = lines(...order);
      const { counts, memories } = await importAll('days.jsonl', [file, file, file]);
      expect(counts).toEqual([
        { ...none, imported: 1, updated: 2 },
        { ...none, unchanged: 3 },
        { ...none, unchanged: 3 },
      ]);
      expect(memories).toMatchObject([
        {
          content: 'Deploys on Monday',
          createdAt: '2025-01-01T00:00:00.000Z',
          updatedAt: '2025-03-01T00:00:00.000Z',
          revisionCount: 3,
        },
      ]);
    }
  });

  it('does not restore an older statement from an older file', async () => {
    const [older, newer] = [lines(thursday, friday), lines(monday)];
    const { counts, memories } = await importAll('days.jsonl', [older, newer, older, newer, older]);
    expect(counts).toEqual([
      { ...none, imported: 1, updated: 1 },
      { ...none, updated: 1 },
      { ...none, unchanged: 2 },
      { ...none, unchanged: 1 },
      { ...none, unchanged: 2 },
    ]);
    expect(memories).toMatchObject([{ content: 'Deploys on Monday', revisionCount: 3 }]);
  });

  it('does not restore an older statement while the current one is not valid yet', async () => {
    const { memory } = await live({ embedder: 'none' });
    const moved = { ...friday, validFrom: '2999-01-01' };
    await importItems(memory, readText(lines(moved)));
    const before = await memory.list();
    expect(await importItems(memory, readText(lines(thursday)))).toEqual({ ...none, unchanged: 1 });
    expect(await memory.list()).toEqual(before);
  });

  it('updates the memory when the source changes, with or without a new date', async () => {
    const line = { id: 'day', ...thursday };
    const { counts, memories } = await importAll('day.jsonl', [
      lines(line),
      lines({ ...line, content: 'Deploys on Wednesday' }),
      lines({ ...line, content: 'Deploys on Tuesday' }),
      lines({ ...line, content: 'Deploys on Sunday', updatedAt: '2025-05-01' }),
      lines({ ...line, content: 'Deploys on Sunday', updatedAt: '2025-05-01' }),
    ]);
    expect(counts.map(({ updated, unchanged }) => [updated, unchanged])).toEqual([
      [0, 0],
      [1, 0],
      [1, 0],
      [1, 0],
      [0, 1],
    ]);
    expect(memories).toMatchObject([
      { id: 'day', content: 'Deploys on Sunday', updatedAt: '2025-05-01T00:00:00.000Z' },
    ]);
  });

  it('keeps the last line of those without a date', async () => {
    const undated = ({ createdAt: _, ...line }: typeof thursday) => line;
    const file = lines(undated(thursday), undated(friday));
    const { counts, memories } = await importAll('days.jsonl', [file, file]);
    expect(counts).toEqual([
      { ...none, imported: 1, updated: 1 },
      { ...none, unchanged: 2 },
    ]);
    expect(memories).toMatchObject([{ content: 'Deploys on Friday', revisionCount: 2 }]);
  });

  it('keeps a topic of its own in every scope', async () => {
    const file = lines(thursday, { ...friday, scope: 'project:blog' }, { ...monday, scope: undefined });
    const { counts, memories } = await importAll('days.jsonl', [file, file]);
    expect(counts).toEqual([
      { ...none, imported: 3 },
      { ...none, unchanged: 3 },
    ]);
    expect(memories.map(({ content }) => content).sort()).toEqual(
      [thursday, friday, monday].map(({ content }) => content).sort(),
    );
  });

  it('keeps a later correction until the source says something newer', async () => {
    const { memory } = await live({ embedder: 'none' });
    const item = (content: string, updatedAt: string): ImportItem => {
      const input = { ...about, id: 'day', content, createdAt: '2025-01-01', updatedAt };
      return { kind: 'statement', where: 'a', input };
    };
    const run = (...items: readonly ImportItem[]) =>
      importItems(
        memory,
        (async function* () {
          yield* items;
        })(),
      );
    await run(item('Deploys on Thursday', '2025-01-01'));
    await memory.update('day', { content: 'Deploys on Friday, says Ann' }, { now: '2025-02-01' });
    expect(await run(item('Deploys on Thursday', '2025-01-01'))).toEqual({ ...none, unchanged: 1 });
    expect(await run(item('Deploys on Monday', '2025-03-01'))).toEqual({ ...none, updated: 1 });

    await memory.invalidate('day', 'nobody deploys');
    expect(await run(item('Deploys on Monday', '2025-03-01'))).toEqual({ ...none, unchanged: 1 });
    expect(await memory.get('day')).toMatchObject({ invalidReason: 'nobody deploys' });

    await memory.reinstate('day');
    await memory.remember('Deploys never', { scope: about.scope, id: 'twin', type: 'rule' });
    await memory.invalidate('twin', 'a joke');
    await memory.forget('twin');
    // What was said not to hold stays inactive, beside what holds about the topic.
    const refused: ImportItem = {
      kind: 'statement',
      where: 'b',
      input: { ...about, id: 'day', content: 'Deploys never', type: 'rule', updatedAt: '2099-01-01' },
    };
    expect(await run(refused)).toEqual({ ...none, imported: 1 });
    expect(await run(refused)).toEqual({ ...none, unchanged: 1 });
    const { memories } = await memory.list();
    expect(memories).toMatchObject([
      { content: 'Deploys never', invalidatedAt: expect.any(String), invalidReason: undefined },
      { id: 'day', content: 'Deploys on Monday', invalidatedAt: undefined },
    ]);
  });

  it('reports an invalid scope or key and imports the rest', async () => {
    const file = lines({ ...thursday, scope: '../x' }, { ...friday, topicKey: 7 }, monday);
    const { counts } = await importAll('days.jsonl', [file, file]);
    expect(counts).toEqual([
      { ...none, imported: 1, skipped: 2 },
      { ...none, unchanged: 1, skipped: 2 },
    ]);
  });

  it('drops the topic of a long text, whose parts would replace each other', async () => {
    const long = { sync_id: 'o', topic_key: 'notes', content: `${'word '.repeat(9000)}end` };
    const data = {
      sessions: [],
      observations: [long, { ...long, sync_id: 'p', content: 'short' }],
      prompts: [],
    };
    const { inputs } = await readSorted('export.json', data);
    expect(inputs.map(({ topicKey }) => topicKey)).toEqual([undefined, undefined, 'notes']);
  });
});

describe('private passages', () => {
  const secret = 'Xyzzy';
  const hidden = `<private>${secret}</private>`;

  it('are unchanged at a second import', async () => {
    const file = lines(
      { content: `The code is ${hidden}` },
      {
        id: 'a',
        content: 'Plain',
        title: `T ${hidden}`,
        tags: ['x', hidden],
        metadata: { k: [hidden], n: 1 },
      },
      { id: 'b', content: `Topic ${hidden}`, topicKey: `t/${hidden}` },
      { id: 'c', content: `Unclosed <private>${secret}` },
    );
    const { counts, memories } = await importAll('secrets.jsonl', [file, file]);
    expect(counts).toEqual([
      { ...none, imported: 4 },
      { ...none, unchanged: 4 },
    ]);
    expect(JSON.stringify(memories)).not.toContain(secret);
  });

  it('do not affect the id, which is the same for every secret', async () => {
    const ids = [];
    for (const each of ['1111', '2222']) {
      const text = `The alarm code is <private>${each}</private>`;
      const { inputs } = await readSorted('a.jsonl', lines({ content: text }));
      const { inputs: paragraphs } = await readSorted('a.txt', text);
      ids.push([...inputs, ...paragraphs].map(({ id }) => id));
    }
    expect(ids[0]).toHaveLength(2);
    expect(ids[1]).toEqual(ids[0]);
  });

  it('are redacted before a text is split', async () => {
    const filler = 'word '.repeat(7000);
    const long = `${filler}<private>${secret} ${filler}${secret}</private> the end`;
    const across = `One\n\n<private>${secret}\n\n${secret} here\n\n</private>\n\nTwo\n`;
    const section = `# A\n\nOne <private>${secret}\n\n# B ${secret}\n\n${secret}</private>\n\n# C\n\nThree\n`;
    const chat = [{ uuid: 'c', chat_messages: [{ uuid: 'm', sender: 'human', text: long }] }];
    for (const [name, content] of [
      ['long.txt', long],
      ['across.txt', across],
      ['long.md', long],
      ['section.md', section],
      ['claude.json', chat],
    ] as const) {
      const { inputs } = await readSorted(name, content);
      expect(inputs.length).toBeGreaterThan(0);
      const { memories } = await importAll(name, [content]);
      expect(JSON.stringify(memories), name).not.toContain(secret);
      expect(JSON.stringify(memories), name).toContain('[REDACTED]');
      expect(JSON.stringify(memories), name).toMatch(/the end|Two|Three/);
    }
  });
});

test('any statements, about any topics, in any order: a second import finds all of them unchanged', async () => {
  const day = fc.integer({ min: 1, max: 28 }).map((each) => `2025-01-${String(each).padStart(2, '0')}`);
  const statement = fc.record(
    {
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      content: fc.constantFrom('one', 'two', 'three <private>x</private>', 'four'),
      topicKey: fc.constantFrom('t', 'u'),
      scope: fc.constantFrom('global', 'project:a'),
      title: fc.constantFrom('T', 'U <private>y</private>'),
      tags: fc.subarray(['x', 'y']),
      createdAt: day,
    },
    { requiredKeys: ['content', 'createdAt', 'id'] },
  );
  // Texts of their own: what topics replace is no twin of what has no topic.
  const unique = fc.uniqueArray(statement, { selector: ({ id, createdAt }) => id + createdAt, maxLength: 8 });
  const distinct = unique.map((list) => {
    const seen = new Set<string>();
    const spoken = list.map((each) => ({ ...each, content: `${each.topicKey ?? ''} ${each.content}` }));
    return spoken.filter(({ id, createdAt, topicKey }) => {
      const keys = [id, ...(topicKey === undefined ? [] : [`${topicKey} ${createdAt}`])];
      if (keys.some((key) => seen.has(key))) return false;
      for (const key of keys) seen.add(key);
      return true;
    });
  });
  await fc.assert(
    fc.asyncProperty(distinct, async (list) => {
      const file = lines(...list);
      const { counts } = await importAll('any.jsonl', [file, file]);
      expect(counts[1]).toEqual({ ...none, unchanged: list.length });
    }),
    { numRuns: scaledRuns(300) },
  );
});

describe('an export of a memory that differs from the one in the space', () => {
  const kept = async () => {
    const { memory } = await live({ embedder: 'none' });
    await memory.remember('Anna likes tea', { id: 'a' });
    return { memory, exported: (await memory.get('a'))! };
  };
  const run = async (memory: Parameters<typeof importItems>[0], content: object, update?: boolean) => {
    const named: string[] = [];
    const item = { kind: 'record', where: 'line 1', memory: content } as ImportItem;
    const items = (async function* () {
      yield item;
    })();
    const onDiffers = (where: string, id: string) => named.push(`${where}: ${id}`);
    return { counts: await importItems(memory, items, { update, onDiffers }), named };
  };

  it('is reported and changes nothing unless it is newer', async () => {
    const { memory, exported } = await kept();
    const changed = { ...exported, content: 'Anna likes coffee' };
    const differs = { counts: { ...none, differs: 1 }, named: ['line 1: a'] };
    expect(await run(memory, changed)).toEqual(differs);
    expect(await run(memory, { ...changed, updatedAt: exported.createdAt })).toEqual(differs);
    expect(await memory.get('a')).toEqual(exported);
    expect(await run(memory, exported)).toEqual({ counts: { ...none, unchanged: 1 }, named: [] });
    const newer = { ...changed, updatedAt: '2027-01-01T00:00:00.000Z' };
    expect((await run(memory, newer)).counts).toEqual({ ...none, updated: 1 });
    expect((await memory.get('a'))?.content).toBe('Anna likes coffee');
  });

  it('removes fields that a newer export lacks, and imports its times and its invalidation', async () => {
    const { memory, clock } = await live({ embedder: 'none' });
    await memory.remember('Anna likes tea', {
      id: 'a',
      title: 'Tea',
      topicKey: 'drink',
      author: 'Ann',
      validUntil: '2026-06-01',
      tags: ['x'],
    });
    const exported = (await memory.get('a'))!;
    const { title, topicKey, author, validUntil, ...bare } = exported;
    expect([title, topicKey, author, validUntil].includes(undefined)).toBe(false);
    clock.advance(10 * 3_600_000);
    const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
    const first = { ...bare, tags: [], expiresAt: '2027-01-01', updatedAt: at(1) };
    expect((await run(memory, first)).counts).toEqual({ ...none, updated: 1 });
    const now = (await memory.get('a'))!;
    expect(now).toMatchObject({
      tags: [],
      expiresAt: '2027-01-01T00:00:00.000Z',
      updatedAt: at(1),
      revisionCount: 2,
    });
    for (const name of ['title', 'topicKey', 'author', 'validUntil'] as const)
      expect([name, now[name]]).toEqual([name, undefined]);
    expect((await run(memory, first)).counts).toEqual({ ...none, unchanged: 1 });
    // Written after that one, and before it was imported.
    const second = { ...first, content: 'Anna likes coffee', updatedAt: at(2) };
    expect((await run(memory, second)).counts).toEqual({ ...none, updated: 1 });
    expect((await run(memory, first)).counts).toEqual({ ...none, differs: 1 });
    const invalidated = { ...second, invalidatedAt: at(3), invalidReason: 'She does not' };
    expect((await run(memory, invalidated)).counts).toEqual({ ...none, updated: 1 });
    expect(await memory.get('a')).toMatchObject({
      content: 'Anna likes coffee',
      invalidReason: 'She does not',
    });
    expect((await memory.recall('coffee')).hits).toEqual([]);
    expect((await run(memory, invalidated)).counts).toEqual({ ...none, unchanged: 1 });
    // Changed here after it was invalidated there: people say which one holds.
    await memory.reinstate('a');
    await memory.update('a', { content: 'Anna likes coffee again' });
    expect((await run(memory, invalidated)).counts).toEqual({ ...none, differs: 1 });
    expect((await memory.get('a'))?.invalidatedAt).toBeUndefined();
    expect((await run(memory, invalidated, true)).counts).toEqual({ ...none, updated: 1 });
    expect((await memory.get('a'))?.invalidatedAt).toBeDefined();
  });

  it('imports source and relations of a newer export, and removes those that it lacks', async () => {
    const [{ memory: a, pass }, { memory: b }] = [
      await live({ embedder: 'none' }),
      await live({ embedder: 'none' }),
    ];
    const export_ = async (counts: object) => {
      const exported = (await a.get('s'))!;
      expect((await run(b, exported)).counts).toEqual({ ...none, ...counts });
      expect(await b.get('s')).toMatchObject({
        content: exported.content,
        sourceRef: exported.sourceRef,
        relations: exported.relations,
      });
      expect((await run(b, exported)).counts).toEqual({ ...none, unchanged: 1 });
    };
    for (const id of ['ann', 'acme']) await a.remember(id, { id, type: 'entity', title: id });
    await a.remember('Ann works at Acme', { id: 's', sourceRef: 'mail 1' });
    await export_({ imported: 1 });
    pass(1);
    const relations = [{ from: 'ann', name: 'works at', to: 'acme', validFrom: '2026-01-01' }];
    await a.update('s', { sourceRef: 'mail 2', relations });
    await export_({ updated: 1 });
    pass(1);
    await a.unrelate('ann', 'works_at', 'acme');
    expect((await a.get('s'))?.relations).toMatchObject([{ validUntil: expect.any(String) }]);
    await export_({ updated: 1 });
    pass(1);
    await a.update('s', { sourceRef: null, relations: null });
    await export_({ updated: 1 });
  });

  it('is invalidated if that happened at the time of its last change', async () => {
    const { memory, exported } = await kept();
    const invalidated = { ...exported, invalidatedAt: exported.updatedAt, invalidReason: 'wrong' };
    expect((await run(memory, invalidated)).counts).toEqual({ ...none, updated: 1 });
    expect(await memory.get('a')).toMatchObject({ invalidReason: 'wrong' });
  });

  it('is skipped and reported if the time of its invalidation is invalid, and the rest is imported', async () => {
    const { memory, exported } = await kept();
    const record = (line: number, memory: Memory): ImportItem => ({
      kind: 'record',
      where: `line ${line}`,
      memory,
    });
    async function* items() {
      yield record(1, { ...exported, invalidatedAt: 'last week' });
      yield record(2, { ...exported, id: 'b', content: 'Anna likes cake' });
    }
    const skipped: string[] = [];
    const counts = await importItems(memory, items(), {
      onSkipped: (where, reason) => skipped.push(`${where}: ${reason}`),
    });
    expect(counts).toEqual({ ...none, imported: 1, skipped: 1 });
    expect(skipped).toEqual([expect.stringMatching(/^line 1: invalidatedAt: /)]);
  });

  it('is kept over an older line and updated by a newer one', async () => {
    const first = { id: 'a', content: 'first', createdAt: '2024-01-01', updatedAt: '2024-05-01' };
    const older = { ...first, content: 'older', updatedAt: '2024-02-01' };
    const newer = { ...first, content: 'newer', updatedAt: '2024-06-01', validUntil: '2030-01-01' };
    const { counts, memories } = await importAll('a.jsonl', [
      lines(first),
      lines(older),
      lines(newer),
      lines(newer),
    ]);
    expect(counts).toEqual([
      { ...none, imported: 1 },
      { ...none, differs: 1 },
      { ...none, updated: 1 },
      { ...none, unchanged: 1 },
    ]);
    expect(memories).toMatchObject([
      { content: 'newer', updatedAt: '2024-06-01T00:00:00.000Z', validUntil: '2030-01-01T00:00:00.000Z' },
    ]);
  });

  it('is dated by its last change if it has no other date', async () => {
    const january = { id: 'a', content: 'of January', updatedAt: '2024-01-01' };
    const june = { id: 'a', content: 'of June', updatedAt: '2024-06-01' };
    const { counts, memories } = await importAll('a.jsonl', [lines(january), lines(june), lines(january)]);
    expect(counts).toEqual([
      { ...none, imported: 1 },
      { ...none, updated: 1 },
      { ...none, differs: 1 },
    ]);
    expect(memories).toMatchObject([
      { content: 'of June', createdAt: '2024-01-01T00:00:00.000Z', updatedAt: '2024-06-01T00:00:00.000Z' },
    ]);
  });

  it('never replaces a later statement of its topic if only its last change is dated', async () => {
    const old = { content: 'Deploys on Monday', topicKey: 'deploys', updatedAt: '2024-01-01' };
    const late = { content: 'Deploys on Friday', topicKey: 'deploys', updatedAt: '2024-06-01' };
    const { memories } = await importAll('a.jsonl', [lines(late, old)]);
    expect(memories).toMatchObject([{ content: 'Deploys on Friday', updatedAt: '2024-06-01T00:00:00.000Z' }]);
  });

  it('replaces the memory on request', async () => {
    const { memory, exported } = await kept();
    const changed = { ...exported, content: 'Anna likes coffee', tags: ['x'] };
    expect(await run(memory, changed, true)).toEqual({ counts: { ...none, updated: 1 }, named: [] });
    expect(await memory.get('a')).toMatchObject({
      content: 'Anna likes coffee',
      tags: ['x'],
      revisionCount: 2,
    });
    expect((await run(memory, changed, true)).counts).toEqual({ ...none, unchanged: 1 });
  });
});

it('reports what it skips in the order of the source, and a long row of it before the source ends', async () => {
  const { memory } = await live({ embedder: 'none' });
  const told: string[] = [];
  let toldBefore = 0;
  const items = async function* (): AsyncGenerator<ImportItem, void> {
    // The engine refuses the first line when it is written; the others are refused as they are read.
    yield* readText(lines({ content: 'Tea', scope: 'no scope' }));
    for (let at = 2; at <= 1500; at++) yield { kind: 'unusable', where: `line ${at}`, reason: 'is empty' };
    toldBefore = told.length;
  };
  await importItems(memory, items(), { onSkipped: (where) => told.push(where) });
  expect(told).toEqual(Array.from({ length: 1500 }, (_, at) => `line ${at + 1}`));
  expect(toldBefore).toBeGreaterThan(0);
});

it('reports a line that supersedes a memory it may not, with its place, and imports the rest', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.remember('There already', { id: 'there' });
  const line = (id: string, ...supersedes: readonly string[]): ImportItem => ({
    kind: 'statement',
    where: id,
    input: { id, content: `Statement ${id}`, supersedes },
  });
  const record = async (id: string, ...supersedes: readonly string[]): Promise<ImportItem> => ({
    kind: 'record',
    where: id,
    memory: { ...((await memory.get('there')) as Memory), id, content: `Record ${id}`, supersedes },
  });
  const items = [
    line('first'),
    line('bad', 'missing'),
    line('itself', 'itself'),
    line('one', 'other'),
    line('other', 'one'),
    line('last', 'first', 'there'),
    await record('exported', 'not exported'),
    await record('circle', 'back'),
    await record('back', 'circle'),
  ];
  const skipped: (readonly [string, string])[] = [];
  const counts = await importItems(
    memory,
    (async function* () {
      yield* items;
    })(),
    { onSkipped: (where, reason) => skipped.push([where, reason]) },
  );
  expect(counts).toEqual({ ...none, imported: 4, skipped: 5 });
  expect(skipped).toEqual([
    ['bad', 'memory "missing" does not exist in space "default"'],
    ['itself', expect.stringContaining('cannot supersede itself')],
    ['one', expect.stringContaining('by a chain of others')],
    // Without the one before there is nothing that it could supersede.
    ['other', 'memory "one" does not exist in space "default"'],
    ['circle', expect.stringContaining('by a chain of others')],
  ]);
  expect(await memory.check()).toEqual([]);
});

describe('a text of two statements, one of which changes', () => {
  const day = (at: number) => `2025-01-0${at}`;
  const numbers = Array.from({ length: 1500 }, (_, at) => ({ id: `n${at}`, content: `Number ${at}` }));

  it.each<[string, readonly object[], readonly object[]]>([
    ['without dates', [], []],
    ['dated', [{ createdAt: day(1), updatedAt: day(2) }], [{ createdAt: day(1), updatedAt: day(1) }]],
  ])('is still there, %s, near and far, in any order', async (_, [changed], [same]) => {
    const [a, b] = [
      { id: 'a', content: 'Same', ...same },
      { id: 'b', content: 'Same', ...same },
    ];
    const other = { id: 'a', content: 'Other', ...changed };
    for (const file of [
      [other, b],
      [b, other],
      [b, ...numbers, other],
      [other, ...numbers, b],
    ]) {
      const { memory } = await live({ embedder: 'none' });
      const counts: unknown[] = [];
      for (const each of [[a, b], file, file])
        counts.push(await importItems(memory, readText(lines(...each))));
      expect((await memory.get('a'))?.content).toBe('Other');
      expect((await memory.get('b'))?.content).toBe('Same');
      expect(counts).toEqual([
        { ...none, imported: 1, unchanged: 1 },
        { ...none, imported: file.length - 1, updated: 1 },
        { ...none, unchanged: file.length },
      ]);
    }
  });

  it('is not restored if the source changes the statement later', async () => {
    const said = (id: string, content: string) => ({ id, content });
    const { memory } = await live({ embedder: 'none' });
    await importItems(memory, readText(lines(said('a', 'Same'))));
    const file = lines(said('b', 'Same'), said('b', 'Later'), said('a', 'Other'));
    await importItems(memory, readText(file));
    expect((await memory.list()).memories.map(({ content }) => content).sort()).toEqual(['Later', 'Other']);
  });

  it('is stored under its own id if the first statement is superseded', async () => {
    const said = (id: string, content: string, more = {}) => ({
      id,
      content,
      createdAt: day(1),
      updatedAt: day(1),
      ...more,
    });
    const later = said('c', 'Paris', { supersedes: ['a'], createdAt: day(3), updatedAt: day(3) });
    const file = lines(said('a', 'Oslo'), said('b', 'Oslo', { createdAt: day(2), updatedAt: day(2) }), later);
    const { counts, memories } = await importAll('homes.jsonl', [file, file]);
    expect(counts).toEqual([
      { ...none, imported: 3 },
      { ...none, unchanged: 3 },
    ]);
    expect(memories.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c']);
  });

  it('is never lost, whichever statement changes, with and without topics', async () => {
    const content = fc.constantFrom('one', 'two', 'three');
    const text = fc.record({ content, day: fc.integer({ min: 1, max: 3 }) });
    const file = fc.array(text, { minLength: 4, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(file, file, fc.boolean(), fc.boolean(), async (first, second, dated, topics) => {
        const [before, after] = [first, second].map((texts, step) =>
          texts.map(({ content, day: at }, index) => ({
            id: `m${index}`,
            content,
            ...(topics ? { topicKey: `t${index}` } : {}),
            ...(dated ? { createdAt: day(1), updatedAt: day(1 + step * at) } : {}),
          })),
        );
        const { memories } = await importAll('texts.jsonl', [
          lines(...(before ?? [])),
          lines(...(after ?? [])),
        ]);
        const found = new Set(memories.map(({ content }) => content));
        expect(after?.filter(({ content }) => !found.has(content))).toEqual([]);
      }),
      { numRuns: scaledRuns(100) },
    );
  });
});
