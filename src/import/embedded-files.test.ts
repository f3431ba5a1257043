import { expect, test } from 'vitest';
import { readContent, readSorted } from '../../test/import/import-text.ts';
import { withoutEmbeddedFiles } from './embedded-files.ts';

const data = 'data:image/png;base64,iVBORw0KGgo=';

test.each([
  [`a ![a pump](${data}) b`, 'a a pump b', 1],
  [`![](<${data}> "A title")`, '', 1],
  [`a ![pump][1]\n\n[1]: <${data}>\n\nb`, 'a ![pump][1]\n\n\n\nb', 1],
  [`<img src="${data}"><img src='${data}'>`, `<img src=""><img src=''>`, 2],
  ['[a file](data:text/plain;charset=utf-8;base64,aGFsbG8=)', '[a file]()', 1],
  [`\`${data}\``, `\`${data}\``, 0],
  [`~~~\n${data}\n~~~\n`, `~~~\n${data}\n~~~\n`, 0],
  [
    '![a](pump.png) data: base64, or data:text/plain,hi',
    '![a](pump.png) data: base64, or data:text/plain,hi',
    0,
  ],
])('%j is read as %j', (text, kept, count) => {
  expect(withoutEmbeddedFiles(text)).toEqual({ text: kept, count });
});

test('an embedded picture of megabytes is no memory, and is counted as left out', async () => {
  const picture = `${data.slice(0, -1)}${'A'.repeat(5_000_000)}`;
  const content = `# Pump\n\nOil it.\n![The pump](${picture})\n\n# Next\n\nMore\n\n# Picture\n\n![](${picture})\n`;
  const { inputs } = await readSorted('note.md', content);
  expect(inputs.filter(({ type }) => type !== 'entity')).toMatchObject([
    { content: 'Oil it.\nThe pump' },
    { content: 'More', sourceRef: 'note.md#L6' },
  ]);
  const { items } = await readContent('note.md', content);
  expect(items.filter(({ kind }) => kind === 'left-out')).toEqual([
    { kind: 'left-out', what: 'embedded files' },
    { kind: 'left-out', what: 'embedded files' },
    { kind: 'left-out', what: 'headings without text' },
  ]);
});
