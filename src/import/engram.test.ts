import { expect, test } from 'vitest';
import { importAll, readContent, readSorted } from '../../test/import/import-text.ts';

const observation = {
  id: 1,
  sync_id: 'obs-aa',
  session_id: 's-1',
  type: 'architecture',
  title: 'Queue before the mailer',
  content: 'Mails go through a queue.',
  tool_name: 'mem_save',
  project: 'post office',
  scope: 'project',
  topic_key: 'architecture/mail',
  revision_count: 2,
  duplicate_count: 1,
  created_at: '2025-01-02 03:04:05',
  updated_at: '2025-01-03 03:04:05',
};
const data = {
  version: '0.1.0',
  exported_at: '2025-02-01 00:00:00',
  sessions: [
    {
      id: 's-1',
      project: 'post office',
      directory: '/home/ann/post',
      started_at: '2025-01-02 03:00:00',
      ended_at: '2025-01-02 04:00:00',
      summary: 'Built the queue',
    },
    { id: 's-2', project: 'post office', directory: '/home/ann/post', started_at: '2025-01-03 03:00:00' },
  ],
  observations: [
    observation,
    {
      ...observation,
      id: 2,
      sync_id: 'obs-bb',
      type: 'preference',
      content: 'Tabs',
      scope: 'personal',
      topic_key: undefined,
    },
    { ...observation, id: 3, sync_id: 'obs-cc', deleted_at: '2025-01-04 00:00:00' },
    {
      ...observation,
      id: 4,
      sync_id: 'obs-dd',
      type: 'summary',
      content: 'Odd one',
      pinned: true,
      topic_key: undefined,
    },
  ],
  prompts: [
    {
      id: 1,
      sync_id: 'pr-1',
      session_id: 's-1',
      content: 'Add a queue',
      project: 'post office',
      created_at: '2025-01-02 03:01:00',
    },
  ],
};

test('an export without observations, which are null then, is read for its sessions and prompts', async () => {
  const { inputs } = await readSorted('e.json', { ...data, observations: null });
  expect(inputs.map(({ content }) => content)).toEqual(['Built the queue', 'Add a queue']);
});

test('deleted records are counted, and records without an id are not taken for one another', async () => {
  const { items } = await readContent('e.json', data);
  expect(items.flatMap((item) => (item.kind === 'left-out' ? [item.what] : []))).toEqual(['deleted records']);
  const unnamed = ['One', 'Two'].map((content) => ({
    ...observation,
    content,
    id: undefined,
    sync_id: undefined,
  }));
  const { inputs } = await readSorted('e.json', { ...data, observations: unnamed });
  expect(new Set(inputs.map(({ id }) => id)).size).toBe(inputs.length);
});

test('observations, summaries of sessions and prompts are a memory each, in the scope of their project', async () => {
  const { inputs, unusable } = await readSorted('engram-export.json', data);
  expect(unusable).toEqual([]);
  expect(inputs).toMatchObject([
    {
      type: 'decision',
      scope: 'project:post-office',
      title: 'Queue before the mailer',
      content: 'Mails go through a queue.',
      tags: ['architecture'],
      metadata: { project: 'post office', tool: 'mem_save' },
      topicKey: 'architecture/mail',
      sessionId: 's-1',
      createdAt: '2025-01-02 03:04:05',
      updatedAt: '2025-01-03 03:04:05',
      sourceRef: 'engram:observation/obs-aa',
    },
    { type: 'preference', scope: undefined, content: 'Tabs', tags: undefined },
    { type: 'fact', content: 'Odd one', tags: ['summary', 'pinned'] },
    {
      type: 'event',
      content: 'Built the queue',
      tags: ['session_summary'],
      sessionId: 's-1',
      createdAt: '2025-01-02 04:00:00',
    },
    { type: 'event', content: 'Add a queue', tags: ['prompt'], sourceRef: 'engram:prompt/pr-1' },
  ]);
});

test('the scope of the import is above those of the projects', async () => {
  const { inputs } = await readSorted('export.json', data, { scope: 'team:a' });
  expect(inputs.map(({ scope }) => scope)).toEqual([
    'team:a/project:post-office',
    'team:a',
    'team:a/project:post-office',
    'team:a/project:post-office',
    'team:a/project:post-office',
  ]);
});

test('the scope global is above nothing', async () => {
  const { inputs } = await readSorted('export.json', data, { scope: 'global' });
  expect(inputs[0]?.scope).toBe('project:post-office');
});

test('projects with long names that begin alike are told apart', async () => {
  const named = ['a', 'b'].map((end) => ({ content: end, project: `${'p'.repeat(64)}${end}` }));
  const file = { sessions: null, observations: named, prompts: null };
  const { inputs } = await readSorted('export.json', file);
  expect(new Set(inputs.map(({ scope }) => scope)).size).toBe(2);
});

test('a project whose name is as long as a scope takes it keeps that name', async () => {
  const name = 'p'.repeat(64);
  const file = { sessions: null, observations: [{ content: 'Likes tea', project: name }], prompts: null };
  expect((await readSorted('export.json', file)).inputs).toMatchObject([{ scope: `project:${name}` }]);
});

test('projects whose names have no letters of a scope are told apart', async () => {
  const named = ['日本', '中国', 'a b', 'a/b', 'ab', '日本'].map((project, at) => ({
    ...observation,
    id: at,
    sync_id: `o${at}`,
    project,
  }));
  const { inputs } = await readSorted('export.json', { ...data, observations: named });
  const scopes = inputs.slice(0, named.length).map(({ scope }) => scope);
  expect(scopes[0]).toMatch(/^project:--[0-9a-f]{8}$/);
  expect(scopes[2]).toBe('project:a-b');
  expect(scopes[3]).toMatch(/^project:a-b-[0-9a-f]{8}$/);
  expect(new Set(scopes).size).toBe(5);
  expect(scopes[5]).toBe(scopes[0]);
});

test('an export without prompts or sessions is read, and records of another shape are named', async () => {
  const observations = [observation, { ...observation, content: '' }, 7];
  const { inputs, unusable } = await readSorted('export.json', {
    ...data,
    sessions: null,
    prompts: [null],
    observations,
  });
  expect(inputs).toHaveLength(1);
  expect(unusable).toEqual([
    'export.json observations[1]: has no content',
    'export.json observations[2]: is not an object',
    'export.json prompts[0]: is not an object',
  ]);
});

test('a summary that is not a string is reported, and a session without one is not', async () => {
  const summaries = [{ done: 'Mails' }, ['Mails'], null, '', undefined];
  const sessions = [null, ...summaries.map((summary, id) => ({ id: `s-${id}`, summary }))];
  expect(await readSorted('export.json', { sessions, observations: null, prompts: null })).toEqual({
    inputs: [],
    unusable: [
      'export.json sessions[0]: is not an object',
      'export.json sessions[1]: has a summary that is not a string',
      'export.json sessions[2]: has a summary that is not a string',
    ],
  });
});

test('a second import updates what has changed and doubles nothing', async () => {
  const [first, ...others] = data.observations;
  const later = { ...data, observations: [{ ...first, content: 'Mails go through two queues.' }, ...others] };
  const { counts, memories } = await importAll('export.json', [data, data, later]);
  expect(counts).toMatchObject([
    { imported: 5, skipped: 0 },
    { imported: 0, updated: 0, unchanged: 5 },
    { imported: 0, updated: 1, unchanged: 4 },
  ]);
  expect(memories.find(({ type }) => type === 'decision')).toMatchObject({
    content: 'Mails go through two queues.',
    createdAt: '2025-01-02T03:04:05.000Z',
    scope: 'project:post-office',
  });
});

test('sessions and prompts that are not lists are reported', async () => {
  const { unusable } = await readSorted('engram.json', {
    sessions: { one: { summary: 'Done' } },
    observations: [],
    prompts: 'Why?',
  });
  expect(unusable).toEqual(['engram.json sessions: is not a list', 'engram.json prompts: is not a list']);
});
