import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Dataset, readDataset } from '../../src/eval/index.ts';
import { live } from '../../src/testing/live-memory.ts';
import { datasetOf, type Labels, withoutGone } from '../../web/views/recall/dataset.ts';

async function read(content: string): Promise<Dataset> {
  const directory = await mkdtemp(join(tmpdir(), 'salience-labels-'));
  try {
    const path = join(directory, 'questions.jsonl');
    await writeFile(path, content);
    return await readDataset(path);
  } finally {
    await rm(directory, { recursive: true });
  }
}

it('a saved dataset holds what recalls search by, in the order of the turns', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.rememberMany([
    { id: 'asked', content: 'Which mug?', sessionId: 's1' },
    { id: 'told', content: 'The red one', sessionId: 's1', title: 'Kitchen', tags: ['coffee', 'morning'] },
    { id: 'alone', content: 'Buses run at night' },
  ]);
  await memory.update('asked', { importance: 0.9 });
  const dataset = await read(await datasetOf(memory, { mug: { told: 'good', alone: 'bad' } }, new Date(0)));
  const { memories, queries } = dataset.spaces.get(memory.space)!;
  expect(memories.map(({ id, content, session }) => [id, content, session])).toEqual([
    ['asked', 'Which mug?', 's1'],
    ['told', 'Kitchen\nThe red one\ncoffee\nmorning', 's1'],
    ['alone', 'Buses run at night', undefined],
  ]);
  expect(queries).toMatchObject([{ query: 'mug', relevant: ['told'], mustNot: ['alone'] }]);
});

it('labels of what was forgotten since do not make a dataset that cannot be read', async () => {
  const { memory } = await live({ embedder: 'none' });
  for (const id of ['red', 'blue', 'green']) await memory.remember(`The ${id} mug`, { id });
  const labels: Labels = {
    both: { red: 'good', blue: 'missing', green: 'bad' },
    gone: { blue: 'good', red: 'bad' },
    nothing: { red: 'bad' },
    bare: { blue: 'bad' },
  };
  await memory.forget('blue');
  const { spaces } = await read(await datasetOf(memory, labels, new Date(0)));
  expect(spaces.get(memory.space)?.queries).toMatchObject([
    { query: 'both', relevant: ['red'], mustNot: ['green'] },
    { query: 'nothing', relevant: [], mustNot: ['red'] },
  ]);
});

it('a saved dataset holds what a recall may return, and nothing else', async () => {
  const { memory, clock } = await live({ embedder: 'none' });
  await memory.remember('The red mug', { id: 'red' });
  await memory.remember('The blue mug', { id: 'blue', supersedes: ['red'] });
  await memory.remember('The green mug', { id: 'green' });
  await memory.remember('The mug for today', {
    id: 'today',
    type: 'plan',
    validUntil: new Date(clock.now()),
  });
  await memory.remember('The mug to come', { id: 'later', validFrom: '2099-01-01' });
  await memory.invalidate('green', 'it broke');
  clock.advance(1);
  const now = new Date(clock.now());
  const labels: Labels = {
    mug: { red: 'good', blue: 'good', green: 'bad' },
    old: { red: 'good', green: 'missing' },
    plan: { today: 'good', later: 'missing' },
  };
  const { spaces } = await read(await datasetOf(memory, labels, now));
  const { memories, queries } = spaces.get(memory.space)!;
  expect(memories.map(({ id }) => id)).toEqual(['blue', 'later']);
  expect(queries).toMatchObject([
    { query: 'mug', relevant: ['blue'], mustNot: [] },
    { query: 'plan', relevant: ['later'] },
  ]);
  const questions = Object.entries(labels).map(([query, judged]) => ({
    query,
    relevant: Object.keys(judged),
  }));
  expect(await withoutGone(memory, [...questions, { query: 'gone', relevant: ['forgotten'] }], now)).toEqual([
    { query: 'mug', relevant: ['blue'] },
    { query: 'plan', relevant: ['later'] },
  ]);
});
