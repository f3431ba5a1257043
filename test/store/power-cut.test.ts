import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { writeFileAtomically } from '../../src/cli/output-file.ts';
import { openTokenStore } from '../../src/http/tokens.ts';
import { copySpaces, openMemory } from '../../src/index.ts';
import { createSqliteStore } from '../../src/stores/sqlite/index.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'salience-power-cut-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(root, { recursive: true, force: true });
});

/** Watches folders. Returns the names that a power cut would leave in one of them: those it had when it was last waited for. */
async function watchNames(...folders: readonly string[]): Promise<(folder: string) => readonly string[]> {
  const names = new Map<string, readonly string[]>();
  await using file = await open(root, 'r');
  const prototype = Object.getPrototypeOf(file) as FileHandle;
  const { sync } = prototype;
  vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    await sync.call(this);
    const { ino } = await this.stat();
    const folder = folders.find((each) => statSync(each).ino === ino);
    if (folder) names.set(folder, readdirSync(folder));
  });
  return (folder) => names.get(folder) ?? [];
}

// Windows cannot wait for a folder.
const on = test.skipIf(process.platform === 'win32');

on('a backup and an export that were reported keep their names', async () => {
  await using memory = await openMemory({ path: join(root, 'store'), space: 'alice' });
  await memory.remember('Has a dog');
  const left = await watchNames(root);
  await memory.backup(join(root, 'copy.backup'));
  expect(left(root)).toContain('copy.backup');
  await writeFileAtomically(join(root, 'new.jsonl'), { replace: false }, (write) => write('{}\n'));
  expect(left(root)).toContain('new.jsonl');
  await writeFileAtomically(join(root, 'replaced.jsonl'), { replace: true }, (write) => write('{}\n'));
  expect(left(root)).toContain('replaced.jsonl');
});

on('a space that was deleted does not come back, and a copy stays', async () => {
  const [from, to] = [join(root, 'from'), join(root, 'to')];
  await using store = createSqliteStore({ directory: from });
  await using memory = await openMemory({ store, space: 'alice' });
  await memory.remember('Has a dog');
  await using other = await openMemory({ store, space: 'bob' });
  await other.remember('Has a cat');
  await using copies = createSqliteStore({ directory: to });
  await copies.ready?.();
  const left = await watchNames(from, to);
  await copySpaces({ from: store, to: copies });
  expect(left(to).filter((name) => name.endsWith('.db'))).toHaveLength(2);
  await store.deleteSpace('alice');
  expect(left(from)).not.toEqual([]);
  expect(left(from).filter((name) => name.includes('alice'))).toEqual([]);
});

on('a token that was shown stays, and one that was revoked does not come back', async () => {
  const directory = join(root, 'tokens');
  const tokens = openTokenStore(directory);
  await tokens.create({ name: 'first', space: 'alice', rights: 'write' }, Date.UTC(2026, 0, 1));
  const left = await watchNames(directory);
  const { grant } = await tokens.create(
    { name: 'second', space: 'alice', rights: 'write' },
    Date.UTC(2026, 0, 2),
  );
  expect(left(directory).filter((name) => name.startsWith(grant.id))).toHaveLength(1);
  await tokens.revoke(grant.id);
  expect(left(directory)).toHaveLength(1);
  expect(left(directory).filter((name) => name.startsWith(grant.id))).toEqual([]);
});

on('so are texts that all processes share', async () => {
  await using store = createSqliteStore({ directory: root });
  await store.shared?.add('claim', 'a', 'one');
  const folder = join(root, 'shared', 'claim');
  const names = await watchNames(folder);
  const left = () => names(folder).filter((name) => name.endsWith('.json'));
  await store.shared?.add('claim', 'b', 'one');
  expect(left()).toHaveLength(2);
  await store.shared?.remove('claim', 'b');
  expect(left()).toHaveLength(1);
  await store.shared?.put('claim', 'c', 'one');
  expect(left()).toHaveLength(2);
});
