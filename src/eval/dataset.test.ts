import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDataset } from './dataset.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-dataset-'));
});
afterAll(() => rm(directory, { recursive: true }));

const memory = { kind: 'memory', space: 'a', id: 'm1', content: 'Hi', createdAt: '2023-05-08T13:57:00Z' };
const query = {
  kind: 'query',
  space: 'a',
  id: 'q1',
  query: 'who?',
  now: '2023-10-23T12:00:00+02:00',
  type: 'temporal',
  relevant: ['m1'],
};

async function write(name: string, lines: readonly unknown[], zip = false): Promise<string> {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  const path = join(directory, name);
  await writeFile(path, zip ? gzipSync(text) : text);
  return path;
}

test('reads memories and queries by space, in order, wherever a query stands', async () => {
  const path = await write(
    'small-dev.jsonl.gz',
    [
      { ...query, stale: ['m2'], mustNot: ['m2'], weight: 2.5 },
      { ...memory, role: 'user', author: 'Ann', extra: { deep: [1] }, session: 'S1', type: 'fact' },
      '',
      { ...memory, id: 'm2' },
      { ...memory, space: 'b/c' },
      { ...query, space: 'b/c', relevant: [], 'unknown extra field': 1 },
    ],
    true,
  );
  const dataset = await readDataset(path);
  expect(dataset.name).toBe('small-dev');
  expect([...dataset.spaces.keys()]).toEqual(['a', 'b/c']);
  expect(dataset.spaces.get('a')).toEqual({
    memories: [
      {
        id: 'm1',
        content: 'Hi',
        createdAt: Date.UTC(2023, 4, 8, 13, 57),
        session: 'S1',
        type: 'fact',
        role: 'user',
        author: 'Ann',
        metadata: { extra: { deep: [1] } },
      },
      {
        id: 'm2',
        content: 'Hi',
        createdAt: Date.UTC(2023, 4, 8, 13, 57),
        session: undefined,
        type: undefined,
        role: undefined,
        author: undefined,
        metadata: {},
      },
    ],
    queries: [
      {
        id: 'q1',
        query: 'who?',
        now: Date.UTC(2023, 9, 23, 10),
        type: 'temporal',
        relevant: ['m1'],
        stale: ['m2'],
        mustNot: ['m2'],
        weight: 2.5,
      },
    ],
  });
  expect(dataset.spaces.get('b/c')!.queries[0]).toMatchObject({ relevant: [], stale: [] });
});

const without = (entry: object, field: string) => ({ ...entry, [field]: undefined });
test.each<[string, readonly unknown[], number, RegExp]>([
  ['truncated JSON', [memory, '{"kind":"mem'], 2, /is not valid JSON/],
  ['another kind', [{ ...memory, kind: 'note' }], 1, /kind/],
  ['no object', ['[1]'], 1, /is wrong/],
  ['no content', [without(memory, 'content')], 1, /"content"/],
  ['blank content', [{ ...memory, content: ' ' }], 1, /"content": must not be blank/],
  ['half a surrogate pair', [{ ...memory, content: '\ud800' }], 1, /surrogate/],
  ['a number as id', [{ ...memory, id: 7 }], 1, /"id"/],
  ['a long id', [{ ...memory, id: 'x'.repeat(129) }], 1, /"id".*128/],
  ['a bad space', [{ ...memory, space: '../x' }], 1, /"space": space "..\/x" is not a valid name: use 1–200/],
  ['a number as space', [{ ...memory, space: 7 }], 1, /"space": expected a string/],
  [
    'several missing fields',
    [{ kind: 'memory', content: 'a' }],
    1,
    /has no "space", "id", "createdAt": a memory needs "space", "id", "content", "createdAt"$/,
  ],
  ['no time', [without(memory, 'createdAt')], 1, /"createdAt"/],
  [
    'an impossible time',
    [{ ...memory, createdAt: '2023-02-31' }],
    1,
    /"createdAt": "2023-02-31" is not a time/,
  ],
  ['no moment of asking', [memory, without(query, 'now')], 2, /"now"/],
  ['no type of query', [memory, without(query, 'type')], 2, /"type"/],
  ['no judgement', [memory, without(query, 'relevant')], 2, /"relevant"/],
  ['a judgement twice', [memory, { ...query, relevant: ['m1', 'm1'] }], 2, /"relevant": names an id twice/],
  ['stale is no list', [memory, { ...query, stale: 'm1' }], 2, /"stale"/],
  ['mustNot is no list', [memory, { ...query, mustNot: 'm1' }], 2, /"mustNot"/],
  ['an unknown forbidden memory', [memory, { ...query, mustNot: ['m9'] }], 2, /judges the memory "m9"/],
  ['relevant and forbidden', [memory, { ...query, mustNot: ['m1'] }], 2, /as relevant and as mustNot/],
  ['a weight of 0', [memory, { ...query, weight: 0 }], 2, /"weight": expected a number above 0/],
  [
    'a weight of infinity',
    [memory, JSON.stringify({ ...query, weight: 7 }).replace('"weight":7', '"weight":1e400')],
    2,
    /"weight": .*at most 1,000,000/,
  ],
  ['a weight in words', [memory, { ...query, weight: 'much' }], 2, /"weight"/],
  ['a long type', [{ ...memory, type: 'x'.repeat(65) }], 1, /"type": 65 characters are too many; at most 64/],
  [
    'a long session',
    [memory, { ...memory, id: 'm2', session: 'x'.repeat(201) }],
    2,
    /"session": 201 .*at most 200/,
  ],
  ['a long author', [{ ...memory, author: 'x'.repeat(201) }], 1, /"author": 201 .*at most 200/],
  [
    'a control character',
    [{ ...memory, content: 'a\u0007b' }],
    1,
    /"content": the text has a control character/,
  ],
  ['a NUL in a session', [{ ...memory, session: 'a\0b' }], 1, /"session": the text holds a NUL/],
  ['nothing to see', [{ ...memory, content: '\u200b' }], 1, /"content": .*nothing in it can be seen/],
  [
    'an infinite number',
    [JSON.stringify({ ...memory, extra: { deep: [7] } }).replace('[7]', '[1e999]')],
    1,
    /"extra\.deep\[0\]": Infinity cannot be kept as JSON/,
  ],
  ['a blank role', [{ ...memory, role: ' ' }], 1, /"role": must not be blank/],
  ['an unknown relevant memory', [query, { ...memory, space: 'b' }], 1, /judges the memory "m1"/],
  ['an unknown stale memory', [memory, { ...query, stale: ['m9'] }], 2, /judges the memory "m9"/],
  ['relevant and stale', [memory, { ...query, stale: ['m1'] }], 2, /as relevant and as stale/],
  ['a memory twice', [memory, '', memory], 3, /repeats the id "m1" of an earlier memory/],
  ['a query twice', [memory, query, query], 3, /repeats the id "q1" of an earlier query/],
])('%s is an error with its line', async (_, lines, number, message) => {
  const path = await write('bad.jsonl', lines);
  await expect(readDataset(path)).rejects.toMatchObject({
    code: 'unreadable_file',
    message: expect.stringMatching(message),
    details: { file: path, line: number },
  });
});

const data = process.env['SALIENCE_DATA'];
test.skipIf(!data).each([
  ['locomo-dev', 5, 2760, 997],
  ['beam-dev', 20, 5732, 395],
  ['cranfield', 1, 1398, 225],
])(
  'reads %s whole (skipped unless SALIENCE_DATA names its folder)',
  async (name, spaces, memories, queries) => {
    const dataset = await readDataset(join(data!, `${name}.jsonl.gz`));
    const all = [...dataset.spaces.values()];
    expect(dataset.name).toBe(name);
    expect(all).toHaveLength(spaces);
    expect(all.flatMap((space) => space.memories)).toHaveLength(memories);
    expect(all.flatMap((space) => space.queries)).toHaveLength(queries);
  },
);
