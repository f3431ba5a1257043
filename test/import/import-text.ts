import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ImportCounts, type ImportFormat, importItems, openSource } from '../../src/import/index.ts';
import type { ImportItem, SourceOptions } from '../../src/import/item.ts';
import type { Memory } from '../../src/index.ts';
import { live } from '../../src/testing/live-memory.ts';

type Options = SourceOptions & { readonly format?: ImportFormat | undefined };

export async function withFile<Result>(
  name: string,
  content: unknown,
  use: (path: string, directory: string) => Promise<Result>,
): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), 'salience-import-'));
  const path = join(directory, name);
  const raw = typeof content === 'string' || content instanceof Uint8Array;
  writeFileSync(path, raw ? content : JSON.stringify(content));
  try {
    return await use(path, directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** What a file with this content, a text, bytes or a JSON document, is read as; and how its share grew. */
export function readContent(
  name: string,
  content: unknown,
  options: Options = {},
): Promise<{ readonly items: readonly ImportItem[]; readonly shares: readonly (number | undefined)[] }> {
  return withFile(name, content, async (path, directory) => {
    const source = await openSource(path, { ...options, directory });
    const items: ImportItem[] = [];
    const shares: (number | undefined)[] = [];
    for await (const item of source.items) {
      items.push(item);
      shares.push(source.share());
    }
    return { items, shares: [...shares, source.share()] };
  });
}

/** The statements and the places that could not be used. */
export async function readSorted(name: string, content: unknown, options: Options = {}) {
  const { items } = await readContent(name, content, options);
  return {
    inputs: items.flatMap((item) => (item.kind === 'statement' ? [item.input] : [])),
    unusable: items.flatMap((item) => (item.kind === 'unusable' ? [`${item.where}: ${item.reason}`] : [])),
  };
}

/** What an engine holds after one import after the other, and what each of them counted. */
export async function importAll(
  name: string,
  contents: readonly unknown[],
  options: Options = {},
): Promise<{ readonly counts: readonly ImportCounts[]; readonly memories: readonly Memory[] }> {
  const { memory } = await live({ embedder: 'none' });
  const counts: ImportCounts[] = [];
  for (const content of contents) {
    await withFile(name, content, async (path, directory) => {
      const source = await openSource(path, { ...options, directory });
      counts.push(await importItems(memory, source.items));
    });
  }
  const { memories } = await memory.list({ limit: 1000 });
  return { counts, memories };
}
