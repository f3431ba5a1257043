import { expect, test } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import type { MemoryEngine, RememberInput } from '../index.ts';
import { importItems, keeping } from './import.ts';
import type { ImportItem } from './item.ts';

/** A memory on a disk with room for `room` memories. */
function onDiskOf(room: number): MemoryEngine {
  let stored = 0;
  const full = () =>
    new SalienceError('store_full', 'no space is left; nothing was changed. Free some, and try again', {
      details: { path: 'a.db' },
    });
  const memory = {
    get: async () => undefined,
    links: async () => {
      throw full();
    },
    link: async () => {
      throw full();
    },
    rememberMany: async (inputs: readonly RememberInput[]) => {
      if (stored + inputs.length > room) throw full();
      stored += inputs.length;
      return inputs.map(({ id }) => ({ id, outcome: 'created' }));
    },
    importMemories: async () => [],
  };
  return memory as unknown as MemoryEngine;
}

async function* statements(count: number): AsyncGenerator<ImportItem, void> {
  for (let at = 0; at < count; at++) {
    const id = `m${at}`;
    yield { kind: 'statement', where: id, input: { id, content: `Content ${at}` }, names: [id] };
  }
}

const kept = {
  code: 'store_full',
  message:
    'no space is left. Free some, and try again. What was imported before this is kept; import again to continue',
  details: { path: 'a.db', written: true },
};

test('an import that fails after its first transaction says that what was imported is kept', async () => {
  await expect(importItems(onDiskOf(1000), statements(1500))).rejects.toMatchObject(kept);
});

test('an import whose links fail says that its memories are kept', async () => {
  async function* linked(): AsyncGenerator<ImportItem, void> {
    yield* statements(2);
    yield { kind: 'link', from: ['m0'], to: ['m1'] };
  }
  await expect(importItems(onDiskOf(2), linked())).rejects.toMatchObject(kept);
});

test('an import that wrote nothing says only that', async () => {
  await expect(importItems(onDiskOf(10), statements(11))).rejects.toMatchObject({
    message: 'no space is left; nothing was changed. Free some, and try again',
    details: { path: 'a.db' },
  });
});

test('only an error that says that nothing was changed is corrected, whatever its code', () => {
  const counts = { imported: 1, updated: 0, unchanged: 0, skipped: 0 };
  const damaged = new SalienceError('store_corrupt', 'a.db is damaged');
  expect(keeping(damaged, counts)).toBe(damaged);
  expect(
    keeping(new SalienceError('timed_out', 'a.db took too long; nothing was changed'), counts),
  ).toMatchObject({
    code: 'timed_out',
    message: 'a.db took too long. What was imported before this is kept; import again to continue',
  });
});

test('an error that says so already does not say it twice', () => {
  const counts = { imported: 1, updated: 0, unchanged: 0, skipped: 0 };
  const once = keeping(new SalienceError('store_full', 'no space is left; nothing was changed'), counts);
  expect(keeping(once, counts)).toBe(once);
});

test('an import into a copy, which is deleted, never says that something is kept', async () => {
  async function* linked(): AsyncGenerator<ImportItem, void> {
    yield* statements(2);
    yield { kind: 'link', from: ['m0'], to: ['m1'] };
  }
  const plain = { message: 'no space is left; nothing was changed. Free some, and try again' };
  const isTrial = true;
  await expect(importItems(onDiskOf(1000), statements(1500), { isTrial })).rejects.toMatchObject(plain);
  await expect(importItems(onDiskOf(2), linked(), { isTrial })).rejects.toMatchObject(plain);
});
