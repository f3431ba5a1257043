import { expect, test } from 'vitest';
import { importAll, readContent, readSorted } from '../../test/import/import-text.ts';

const agentFile = {
  agents: [
    {
      id: 'agent-0',
      name: 'scout',
      block_ids: ['block-0', 'block-1', 'block-2'],
      messages: [{ role: 'user' }],
    },
    { id: 'agent-1', name: 'scribe', block_ids: ['block-2'] },
  ],
  groups: [],
  blocks: [
    { id: 'block-0', label: 'human', value: 'Her name is Ann.', description: 'Who she is', limit: 5000 },
    { id: 'block-1', label: 'persona', value: '' },
    { id: 'block-2', label: 'project', value: 'We build a canoe.', metadata: { stage: 2 } },
  ],
  files: [],
  sources: [],
  tools: [],
  mcp_servers: [],
  metadata: {},
  created_at: '2025-08-01T10:00:00.000000',
};
const passages = [
  {
    id: 'passage-1',
    text: 'The canoe is of cedar',
    archive_id: 'archive-1',
    is_deleted: false,
    embedding: [0.1],
    embedding_config: {},
    tags: ['boat'],
    metadata: { page: 3 },
    created_at: '2025-07-01T09:00:00+00:00',
    updated_at: null,
  },
  { id: 'passage-2', text: 'Given away', archive_id: 'archive-1', is_deleted: true },
];

test('the messages of an agent are said to be left out, and its instructions are not counted', async () => {
  const [agent] = agentFile.agents;
  const messages = [{ role: 'system' }, { role: 'user' }, { role: 'assistant' }, { role: 'tool' }];
  for (const file of [
    { ...agentFile, agents: [{ ...agent, messages }] },
    { agent_type: 'memgpt_agent', name: 'scout', core_memory: [], messages },
  ]) {
    const { items } = await readContent('scout.af', file);
    const left = items.filter(({ kind }) => kind === 'left-out');
    expect(left).toEqual(Array(3).fill({ kind: 'left-out', what: 'messages of an agent' }));
  }
});

test('a block of an agent file is a memory under the name of its agents', async () => {
  const { inputs, unusable } = await readSorted('scout.af', agentFile);
  expect(unusable).toEqual([]);
  expect(inputs).toMatchObject([
    {
      type: 'profile',
      title: 'scout › human',
      content: 'Her name is Ann.',
      tags: ['human'],
      metadata: { agent: 'scout', description: 'Who she is' },
      sourceRef: 'letta:block/scout/human',
    },
    {
      type: 'context',
      title: 'scout, scribe › project',
      content: 'We build a canoe.',
      metadata: { stage: 2, agent: 'scout, scribe' },
    },
  ]);
});

test('agent files of the older form are read too', async () => {
  const older = {
    agent_type: 'memgpt_agent',
    name: 'scout',
    core_memory: [
      {
        label: 'human',
        value: 'Her name is Ann.',
        created_at: '2025-03-01T08:00:00',
        updated_at: '2025-03-02T08:00:00',
      },
    ],
  };
  const { inputs } = await readSorted('older.af', older);
  expect(inputs).toMatchObject([
    { type: 'profile', createdAt: '2025-03-01T08:00:00', updatedAt: '2025-03-02T08:00:00' },
  ]);
  // The same block of the same agent, whichever form the file has.
  expect(inputs[0]?.id).toBe((await readSorted('scout.af', agentFile)).inputs[0]?.id);
});

test('passages of archival memory are facts, without those that were deleted', async () => {
  const { inputs, unusable } = await readSorted('archive.json', passages);
  expect(unusable).toEqual([]);
  expect(inputs).toMatchObject([
    {
      type: 'fact',
      content: 'The canoe is of cedar',
      tags: ['boat'],
      metadata: { page: 3, archive: 'archive-1' },
      createdAt: '2025-07-01T09:00:00+00:00',
      sourceRef: 'letta:passage/passage-1',
    },
  ]);
});

test('blocks of the same name that belong to no agent are memories of their own, and a second import changes nothing', async () => {
  const blocks = ['One', 'Two', 'Three'].map((value, at) => ({
    id: `block-${at + 7}`,
    label: 'notes',
    value,
  }));
  const file = { ...agentFile, blocks: [...agentFile.blocks, ...blocks] };
  const { counts } = await importAll('scout.af', [file, file]);
  expect(counts).toMatchObject([
    { imported: 5, updated: 0, unchanged: 0 },
    { imported: 0, updated: 0, unchanged: 5 },
  ]);
});

test('a block stays the memory that it was when another one takes its name', async () => {
  const blocks = [
    { id: 'block-7', label: 'notes', value: 'One' },
    { id: 'block-8', label: 'notes', value: 'Two' },
  ];
  const file = { ...agentFile, blocks };
  const { counts } = await importAll('scout.af', [{ ...file, blocks: blocks.slice(0, 1) }, file]);
  expect(counts).toMatchObject([
    { imported: 1, updated: 0 },
    { imported: 1, updated: 0, unchanged: 1 },
  ]);
});

test('deleted passages are counted, and metadata of earlier versions is kept', async () => {
  const { items } = await readContent('archive.json', [
    ...passages,
    {
      id: 'passage-3',
      text: 'Old',
      archive_id: 'archive-1',
      metadata_: { page: 4 },
      created_at: 1_700_000_000,
    },
  ]);
  expect(items).toMatchObject([
    { kind: 'statement' },
    { kind: 'left-out', what: 'deleted passages' },
    { kind: 'statement', input: { metadata: { page: 4 }, createdAt: '2023-11-14T22:13:20.000Z' } },
  ]);
});

test('a record that is neither a block nor a passage is reported with its place', async () => {
  const blocks = [...agentFile.blocks, { label: 'x' }, null];
  expect((await readSorted('scout.af', { ...agentFile, blocks })).unusable).toEqual([
    'scout.af blocks[3]: is not a block with a label and a value',
    'scout.af blocks[4]: is not a block with a label and a value',
  ]);
  expect((await readSorted('archive.json', [...passages, { id: 'p', text: 4 }, 'x'])).unusable).toEqual([
    'archive.json [2]: has no text',
    'archive.json [3]: is not an object',
  ]);
});

test('a second import updates a block that was rewritten', async () => {
  const [human, ...others] = agentFile.blocks;
  const later = { ...agentFile, blocks: [{ ...human, value: 'Her name is Anna.' }, ...others] };
  const { counts, memories } = await importAll('scout.af', [agentFile, agentFile, later]);
  expect(counts).toMatchObject([
    { imported: 2, skipped: 0 },
    { imported: 0, updated: 0, unchanged: 2 },
    { imported: 0, updated: 1, unchanged: 1 },
  ]);
  expect(memories.find(({ type }) => type === 'profile')).toMatchObject({
    content: 'Her name is Anna.',
    revisionCount: 2,
  });
});

test('the files of an agent are said to be left out', async () => {
  const { items } = await readContent('agent.af', { agents: [], blocks: [], files: [{ content: 'A plan' }] });
  expect(items).toEqual([{ kind: 'left-out', what: 'files of an agent' }]);
});

test('the metadata of a passage stays, and what has the name of a field of Letta is counted', async () => {
  const { items } = await readContent('archive.json', [
    { ...passages[0], file_name: null, metadata: { file: 'boats.pdf', archive: 'mine' } },
  ]);
  expect(items).toMatchObject([
    { kind: 'statement', input: { metadata: { file: 'boats.pdf', archive: 'archive-1' } } },
    { kind: 'left-out', what: 'fields "archive"' },
  ]);
});
