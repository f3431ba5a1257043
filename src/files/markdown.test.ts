import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { parseMarkdown } from './markdown.ts';

const parse = (text: string) => parseMarkdown(text, { path: 'notes.md' });

test('front matter and sections under their heading path', () => {
  const source = `---
title: Trip
tags: [a, "b c"]
date: 2026-01-02
---
Before any heading.

# Plan \`one\` *and* [two](http://x)

Intro.

## Days

### First

Walk.

\`\`\`sh
# no heading

ls
\`\`\`

Money
-----
- # not a section
- cheap

> # quoted

<!--
# hidden
-->
# End #

Bye.
`;
  expect(parse(source)).toEqual({
    frontMatter: { title: 'Trip', tags: ['a', 'b c'], date: '2026-01-02' },
    emptyHeadings: 0,
    sections: [
      { title: '', content: 'Before any heading.', line: 6 },
      { title: 'Plan one and two', content: 'Intro.', line: 8 },
      {
        title: 'Plan one and two › Days › First',
        content: 'Walk.\n\n```sh\n# no heading\n\nls\n```',
        line: 14,
      },
      {
        title: 'Plan one and two › Money',
        content: '- # not a section\n- cheap\n\n> # quoted\n\n<!--\n# hidden\n-->',
        line: 24,
      },
      { title: 'End', content: 'Bye.', line: 34 },
    ],
  });
  // The same with the line breaks of Windows and a byte order mark.
  expect(parse(`\uFEFF${source.replaceAll('\n', '\r\n')}`)).toEqual(parse(source));
});

test.each<[string, string, object, string]>([
  ['no front matter', 'text', {}, 'text'],
  ['empty front matter', '---\n---\ntext', {}, 'text'],
  ['front matter alone', '---\na: 1\n---', { a: 1 }, ''],
  ['ended by dots', '---\na: 1\n...\ntext', { a: 1 }, 'text'],
  ['prose between rules', '---\n\nprose\n\n---\n\ntext', {}, '---\n\nprose\n\n---\n\ntext'],
  ['never ended', '---\na: 1\n\ntext', {}, '---\na: 1\n\ntext'],
  ['not at the top', 'text\n\n---\na: 1\n---', {}, 'text\n\n---'],
  [
    'a number that JSON has not',
    '---\na: .nan\nb: {c: [null]}\n---\ntext',
    { a: null, b: { c: [null] } },
    'text',
  ],
])('%s', (_, source, frontMatter, content) => {
  const document = parse(source);
  expect(document.frontMatter).toEqual(frontMatter);
  expect(document.sections[0]?.content ?? '').toBe(content);
});

test.each([
  ['---\ntitle: ok\nbad: [1, 2\n---\ntext', /^notes\.md: line \d is not valid YAML front matter/, undefined],
  ['---\na: 1\na: 2\n---\ntext', /^notes\.md: line 3 is not valid YAML/, 3],
  ['---\na: &a [*a]\n---\ntext', /^notes\.md: line 2 /, 2],
])('front matter that is not plain YAML is an error with its line: %j', (source, message, line) => {
  expect(() => parse(source)).toThrow(
    expect.objectContaining({
      code: 'unreadable_file',
      message: expect.stringMatching(message),
      details: { file: 'notes.md', line: line ?? expect.any(Number) },
    }),
  );
});

test('the placeholder of a template in front matter is no warning of the process', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on('warning', note);
  try {
    expect(parse('---\ncreated: {{date}}\n---\ntext').sections).toMatchObject([{ content: 'text' }]);
    // They are told in the next turn.
    await setImmediate();
    expect(warnings).toEqual([]);
  } finally {
    process.off('warning', note);
  }
});

test('nothing in, nothing out', () => {
  expect(parse('')).toEqual({ frontMatter: {}, sections: [], emptyHeadings: 0 });
  expect(parse('# Only a heading\n').sections).toEqual([]);
});

test('a paragraph of megabytes is read, and what is below it', () => {
  // One line, two million lines, and lines that begin like headings, but not where a line begins.
  const longs = [
    'word '.repeat(2_000_000),
    'word\n'.repeat(2_000_000),
    `${'word # word '.repeat(100_000)}\n`.repeat(3),
  ];
  for (const long of longs.map((each) => each.trimEnd())) {
    const { sections } = parse(`# Picture\n${long}\n\nMoney\n-----\nSpent.\n`);
    expect(sections.map(({ title }) => title)).toEqual(['Picture', 'Picture › Money']);
    expect(sections[0]?.content === long).toBe(true);
  }
});

test('a heading below a long document without blank lines is found, and none is made where a search ends', () => {
  const lines = `${'Money\n-----\n***\n'.repeat(10_000)}Last\n----\nDone.`;
  expect(parse(lines).sections.at(-1)?.title).toBe('Last');
  for (let before = 2 ** 16 - 12; before <= 2 ** 16 + 2; before++) {
    const paragraph = `${'x'.repeat(before)}\n-- no line below a heading`;
    expect(parse(paragraph).sections.map(({ content }) => content === paragraph)).toEqual([true]);
    const followed = parse(`${'x'.repeat(before)}\nend\n\n# Next\n\nmore`).sections;
    expect(followed.map(({ title, content }) => [title, content.length])).toEqual([
      ['', before + 4],
      ['Next', 4],
    ]);
    const fenced = parse(`${'x'.repeat(before)}\n\`\`\`js\n# no heading\n\`\`\``).sections;
    expect(fenced.map(({ content }) => content.length)).toEqual([before + 23]);
  }
});

test('a rule below a paragraph of several lines makes no heading of it', () => {
  const { sections } = parseMarkdown('One\ntwo\n---\nThree\n===\nfour\nfive\n===\n', { path: 'x.md' });
  expect(sections).toEqual([
    { title: '', content: 'One\ntwo\n---', line: 1 },
    { title: 'Three', content: 'four\nfive\n===', line: 4 },
  ]);
});
