import { describe, expect, it, test } from 'vitest';
import { importAll, readContent, readSorted } from '../../test/import/import-text.ts';
import { live } from '../testing/live-memory.ts';
import { importItems } from './import.ts';
import type { ImportItem } from './item.ts';

const graph = [
  {
    type: 'entity',
    name: 'Ann Gray',
    entityType: 'person',
    observations: ['Plays the cello', 'Born in Leeds'],
  },
  { type: 'entity', name: 'Northern Strings', entityType: 'orchestra', observations: [] },
  { type: 'relation', from: 'Ann Gray', to: 'Northern Strings', relationType: 'plays_in' },
];
const lines = (values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).join('\n');

test('entities, observations and relations are one memory each', async () => {
  const { inputs, unusable } = await readSorted('memory.jsonl', lines(graph), { tags: ['old'] });
  expect(unusable).toEqual([]);
  expect(inputs).toMatchObject([
    { type: 'entity', title: 'Ann Gray', kind: 'person', content: 'Ann Gray (person)' },
    {
      type: 'fact',
      title: 'Ann Gray',
      content: 'Plays the cello',
      tags: ['person', 'old'],
      source: 'imported',
      sourceRef: 'mcp-memory:entity/Ann Gray',
    },
    { type: 'fact', title: 'Ann Gray', content: 'Born in Leeds' },
    {
      type: 'entity',
      title: 'Northern Strings',
      kind: 'orchestra',
      content: 'Northern Strings (orchestra)',
    },
    {
      type: 'fact',
      content: 'Ann Gray plays_in Northern Strings',
      metadata: { from: 'Ann Gray', relation: 'plays_in', to: 'Northern Strings' },
      sourceRef: 'mcp-memory:relation/Ann Gray/plays_in/Northern Strings',
    },
  ]);
});

test('the file is known by its lines, also by the name it had before', async () => {
  for (const name of ['memory.jsonl', 'memory.json', 'graph.ndjson']) {
    const { inputs } = await readSorted(name, lines(graph));
    expect(inputs.map(({ id }) => id.split(':')[0])).toEqual(Array(5).fill('mcp-memory'));
  }
  const broken = await readSorted('memory.jsonl', `{"type":"entity","na\n${lines(graph)}`);
  expect(broken.inputs).toHaveLength(5);
  expect(broken.unusable).toEqual(['memory.jsonl:1: is not valid JSON, or is cut off']);
});

test('what is no part of a graph is named by its line, and the rest is read', async () => {
  const { inputs, unusable } = await readSorted(
    'memory.jsonl',
    `${lines([
      graph[0],
      { type: 'entity', name: ' ', entityType: 'x', observations: [] },
      { type: 'entity', name: 'A', entityType: 'x', observations: 'one' },
      { type: 'entity', name: 'B', entityType: 'x', observations: [7, 'kept'] },
      { type: 'relation', from: 'A', relationType: 'knows' },
      { type: 'memo' },
      ['entity'],
    ])}\n{"type":"entity","name":"C","entityTy`,
  );
  expect(inputs.map(({ content }) => content)).toEqual([
    'Ann Gray (person)',
    'Plays the cello',
    'Born in Leeds',
    'B (x)',
    'kept',
  ]);
  expect(unusable).toEqual([
    'memory.jsonl:2: is an entity without a name',
    'memory.jsonl:3: is an entity without a list of observations',
    'memory.jsonl:4: observation 1 is not a string',
    'memory.jsonl:5: is a relation without from, relationType or to',
    'memory.jsonl:6: is neither an entity nor a relation',
    'memory.jsonl:7: is not a JSON object',
    'memory.jsonl:8: is not valid JSON, or is cut off',
  ]);
});

test('a second import adds only what is new', async () => {
  const more = [{ ...graph[0], observations: ['Plays the cello', 'Born in Leeds', 'Has a dog'] }, graph[2]];
  const { counts, memories } = await importAll('memory.jsonl', [lines(graph), lines(graph), lines(more)]);
  expect(counts).toMatchObject([
    { imported: 5, unchanged: 0, skipped: 0 },
    { imported: 0, updated: 0, unchanged: 5 },
    { imported: 1, updated: 0, unchanged: 4 },
  ]);
  expect(memories).toHaveLength(6);
  const [strings, ann] = memories.filter(({ type }) => type === 'entity').map(({ id }) => id);
  const stating = memories.filter(({ relations }) => relations !== undefined);
  expect(stating).toMatchObject([
    {
      content: 'Ann Gray plays_in Northern Strings',
      relations: [{ from: ann, name: 'plays_in', to: strings }],
    },
  ]);
  // Its relations are written once, whatever is imported again.
  expect(stating[0]?.revisionCount).toBe(1);
});

test('its share grows line by line', async () => {
  const { shares } = await readContent('memory.jsonl', `${lines(graph)}\n`);
  expect(shares.at(-1)).toBe(1);
  expect(shares[0]).toBeGreaterThan(0);
  expect(shares[0]).toBeLessThan(1);
});

test('what several entities have in common is a fact of each of them', async () => {
  const entity = (name: string, ...observations: string[]) => ({
    type: 'entity',
    name,
    entityType: 'person',
    observations,
  });
  const secret = 'The code is <private>12</private>';
  const file = lines([
    entity('Ann', 'Lives in Leeds', 'Lives  in Leeds', secret),
    entity('Bob', 'Lives in Leeds', secret),
    entity('Cem', 'Lives in Leeds'),
  ]);
  const { counts, memories } = await importAll('memory.jsonl', [file, file]);
  const facts = memories.filter(({ type }) => type === 'fact');
  expect(facts.map(({ title, content }) => [title, content]).sort()).toEqual([
    ['Ann', 'Lives in Leeds'],
    ['Ann', 'The code is [REDACTED]'],
    ['Bob', 'Bob: Lives in Leeds'],
    ['Bob', 'Bob: The code is [REDACTED]'],
    ['Cem', 'Cem: Lives in Leeds'],
  ]);
  expect(counts).toMatchObject([
    { imported: 8, unchanged: 1, updated: 0, skipped: 0 },
    { imported: 0, unchanged: 9, updated: 0, skipped: 0 },
  ]);
});

describe('an entity whose name the space has', () => {
  const entity = (name: string, observation: string, entityType = 'person') => ({
    type: 'entity',
    name,
    entityType,
    observations: [observation],
  });
  const cased = lines([
    entity('Ann', 'Plays the cello'),
    entity('ann', 'Lives in Leeds'),
    { type: 'relation', from: 'ann', to: 'Ann', relationType: 'is' },
  ]);

  it('in other letters in the same file, is that entity, however often the file is imported', async () => {
    const { counts, memories } = await importAll('memory.jsonl', [cased, cased, cased]);
    expect(counts[0]).toMatchObject({ imported: 4, updated: 0, unchanged: 1 });
    for (const each of counts.slice(1)) expect(each).toMatchObject({ imported: 0, updated: 0, unchanged: 5 });
    const entities = memories.filter(({ type }) => type === 'entity');
    expect(entities).toMatchObject([{ title: 'Ann', content: 'Ann (person)', revisionCount: 1 }]);
  });

  it('keeps its content, and is linked', async () => {
    const { memory } = await live({ embedder: 'none' });
    const told = { type: 'entity', title: 'Ann Gray', aliases: ['Ann'] };
    const { id } = await memory.remember('Plays the cello in Leeds', told);
    await memory.remember('A horse', { type: 'entity', title: 'Bob', kind: 'horse' });
    const graph = lines([
      entity('Ann', 'Is tall'),
      entity('Bob', 'Is small'),
      { type: 'relation', from: 'Ann', to: 'Bob', relationType: 'knows' },
    ]);
    for (const counted of [
      { imported: 4, updated: 0, unchanged: 1, linked: 3 },
      { imported: 0, updated: 0, unchanged: 5 },
    ]) {
      const { items } = await readContent('memory.jsonl', graph);
      const counts = await importItems(memory, fromList(items));
      expect(counts).toEqual({ ...counted, skipped: 0 });
    }
    expect(await memory.get(id)).toMatchObject({
      ...told,
      content: 'Plays the cello in Leeds',
      revisionCount: 1,
    });
    const { relations, neighbours } = await memory.neighbours(id);
    expect(relations.map(({ name }) => name)).toEqual(['knows']);
    expect(neighbours.map(({ name, kind }) => [name, kind])).toEqual([['Bob', 'person']]);
  });
});

async function* fromList(items: readonly ImportItem[]): AsyncGenerator<ImportItem, void> {
  yield* items;
}
