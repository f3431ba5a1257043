import { expect, test } from 'vitest';
import { exportEnd, readExportEnd, withoutEnds } from './export-end.ts';
import type { ImportItem } from './item.ts';
import { readJsonLine } from './json-lines.ts';

const record = JSON.stringify({
  id: 'a',
  content: 'A',
  createdAt: '2026-01-01T00:00:00.000Z',
  revisionCount: 1,
});
const statement = '{"content":"By hand"}';

async function problemsOf(...lines: readonly string[]): Promise<readonly string[]> {
  const items = lines.map((line, at) => readJsonLine(line, `${at + 1}`, '', {}));
  const problems: string[] = [];
  let count = 0;
  for await (const item of withoutEnds(
    (async function* () {
      yield* items;
    })(),
    'file',
  )) {
    count++;
    if (isProblem(item)) problems.push(item.reason.split(',')[0] as string);
  }
  expect(count).toBe(lines.filter((line) => !line.includes('end')).length + problems.length);
  return problems;
}

function isProblem(item: ImportItem): item is ImportItem & { kind: 'unusable' } {
  return item.kind === 'unusable';
}

test('a whole export has no problem, nor have two in one file, nor lines by hand without an end', async () => {
  expect(await problemsOf(record, record, exportEnd(2))).toEqual([]);
  expect(await problemsOf(exportEnd(0))).toEqual([]);
  expect(await problemsOf(record, exportEnd(1), record, record, exportEnd(2))).toEqual([]);
  expect(await problemsOf(statement)).toEqual([]);
});

test('an export without its end, or with another number of memories, is incomplete', async () => {
  expect(await problemsOf(record)).toEqual(['incomplete export: its last line']);
  expect(await problemsOf(record, exportEnd(2))).toEqual(['incomplete export: its end says 2']);
  expect(await problemsOf(record, exportEnd(1), record)).toEqual(['incomplete export: its last line']);
});

test('only the end of an export is read as its end', () => {
  expect(readExportEnd({ kind: 'end', count: 3 })).toEqual({ kind: 'end', count: 3 });
  expect(readExportEnd({ kind: 'end', count: 3, content: 'x' })).toBeUndefined();
  expect(readExportEnd({ kind: 'end' })).toBeUndefined();
});
