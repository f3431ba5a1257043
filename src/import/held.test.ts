import { expect, test } from 'vitest';
import type { Memory, MemoryChanges, MemoryEngine } from '../index.ts';
import { importItems } from './import.ts';
import type { ImportItem } from './item.ts';

const KNOWN_AT = '2025-01-01T00:00:00.000Z';

/** A memory that knows every id, and keeps what is changed. */
function everythingKnown() {
  const changed = new Map<string, string>();
  const writes: string[] = [];
  const memory = {
    get: async (id: string) =>
      ({ id, content: changed.get(id) ?? 'Before', updatedAt: KNOWN_AT }) as unknown as Memory,
    update: async (id: string, { content = '' }: MemoryChanges) => {
      writes.push(id);
      changed.set(id, content);
    },
  };
  return { memory: memory as unknown as MemoryEngine, changed, writes };
}

const said = (id: string, content: string): ImportItem => ({
  kind: 'statement',
  where: id,
  input: { id, content },
});

test('undated changes wait for the end of the source, but at most some thousands of them', async () => {
  const { memory, changed, writes } = everythingKnown();
  const ids = Array.from({ length: 25_000 }, (_, at) => `m${at}`);
  let most = 0;
  let firstWrite: number | undefined;
  async function* source(): AsyncGenerator<ImportItem, void> {
    for (const [at, id] of ids.entries()) {
      most = Math.max(most, at - writes.length);
      if (writes.length > 0) firstWrite ??= at;
      yield said(id, 'After');
    }
    // What was released is known, and what comes later still holds.
    yield said('m0', 'Last');
  }
  const counts = await importItems(memory, source());
  expect(firstWrite).toBeGreaterThan(9_000);
  expect(most).toBeLessThan(13_000);
  expect(changed.get('m0')).toBe('Last');
  expect([...changed.values()].filter((content) => content === 'After')).toHaveLength(ids.length - 1);
  // Each is written once, and the one that is said twice no more than twice.
  expect(writes.toSorted()).toEqual([...ids, 'm0'].toSorted());
  expect(counts).toEqual({ imported: 0, updated: ids.length + 1, unchanged: 0, skipped: 0 });
});
