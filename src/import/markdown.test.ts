import { expect, test } from 'vitest';
import { importAll, readContent, readSorted } from '../../test/import/import-text.ts';

const imported = async (...files: readonly string[]) => {
  const { counts, memories } = await importAll('build.md', files);
  return { counts, texts: memories.map(({ title, content }) => [title, content]).sort() };
};

test('the same text under several headings is a memory of each of them', async () => {
  const file =
    '# Linux\n\nrun make\n\n# Mac\n\nrun  make\n\n## Tests\n\n```\nnpm\ntest\n```\n\n# BSD\n\n```\nnpm\ntest\n```\n\n# Linux\n\nrun make\n';
  const { counts, texts } = await imported(file, file);
  expect(texts).toEqual([
    ['BSD', 'BSD:\n\n```\nnpm\ntest\n```'],
    ['Linux', 'run make'],
    ['Mac › Tests', '```\nnpm\ntest\n```'],
    ['Mac', 'Mac: run  make'],
  ]);
  expect(counts).toMatchObject([
    { imported: 4, unchanged: 1, updated: 0, skipped: 0 },
    { imported: 0, unchanged: 5, updated: 0, skipped: 0 },
  ]);
});

test('a text of two headings stays under one of them when the other changes', async () => {
  const { counts, texts } = await imported(
    '# Linux\nrun make\n# Mac\nrun make\n',
    '# Linux\nrun ninja\n# Mac\nrun make\n',
    '# Linux\nrun ninja\n# Mac\nrun make\n',
  );
  expect(texts).toEqual([
    ['Linux', 'run ninja'],
    ['Mac', 'run make'],
  ]);
  expect(counts).toMatchObject([{ imported: 2 }, { updated: 2 }, { updated: 0, unchanged: 2 }]);
});

test('a heading that was renamed makes no second memory', async () => {
  const { counts, texts } = await imported('# Linux\nrun make\n', '# GNU/Linux\nrun make\n');
  expect(texts).toEqual([['Linux', 'run make']]);
  expect(counts).toMatchObject([{ imported: 1 }, { imported: 0, unchanged: 1 }]);
});

test('a value in the front matter that sets no field goes into the metadata', async () => {
  const { inputs } = await readSorted(
    'n.md',
    '---\nimportance: high\ntype: [a, b]\ntags:\ncreated: 2024-01-01\ndate: 2024-02-02\nscope:\nowner: ann\n---\nText\n',
  );
  expect(inputs).toMatchObject([
    {
      type: 'fact',
      createdAt: '2024-01-01',
      metadata: { importance: 'high', type: ['a', 'b'], date: '2024-02-02', owner: 'ann' },
    },
  ]);
  expect(inputs[0]?.metadata).not.toHaveProperty('tags');
  expect(inputs[0]?.metadata).not.toHaveProperty('scope');
  expect(inputs[0]).not.toHaveProperty('importance');
});

test.each([
  [
    '# A\n# B\n## C\n# D\nd\n## E\n',
    1,
    ['headings without text', 'headings without text', 'headings without text'],
  ],
  ['# A\n## B\nb\n# C\nc\n#\n', 2, []],
  ['---\nphone: 1\n---\n', 0, ['front matter without text']],
  ['---\nphone: 1\n---\n# Ann\n', 0, ['headings without text', 'front matter without text']],
  ['---\nphone: 1\n---\nx\n', 1, []],
  ['\n', 0, []],
])('what makes no memory of %j is counted', async (file, memories, leftOut) => {
  const { items } = await readContent('n.md', file);
  expect(items.filter(({ kind }) => kind === 'statement')).toHaveLength(memories);
  expect(items.flatMap((item) => (item.kind === 'left-out' ? [item.what] : []))).toEqual(leftOut);
});
