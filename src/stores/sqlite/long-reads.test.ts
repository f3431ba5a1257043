import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { getOne, insert, write } from '../../testing/store-contract/harness.ts';
import { rewriteAside } from './aside.ts';
import { createSqliteStore } from './index.ts';

const { gate, open } = vi.hoisted(() => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { gate, open };
});
vi.mock('./check.ts', () => ({
  async findDamage() {
    await gate;
    return [];
  },
}));
vi.mock('./aside.ts', async (original) => {
  const aside = await original<typeof import('./aside.ts')>();
  return { ...aside, rewriteAside: vi.fn(aside.rewriteAside) };
});

test('a check that reads the log ends before anything is erased, and keeps no other write waiting', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salience-long-reads-'));
  try {
    await using store = createSqliteStore({ directory, synchronous: 'normal', busyTimeout: 0 });
    const space = await store.openSpace('alice');
    const content = 'a long text '.repeat(400);
    await write(
      space,
      Array.from({ length: 2500 }, (_, at) => insert({ id: `m${at}`, content: `${content}${at}` })),
    );
    const checking = space.check();
    const forgetting = write(space, [{ kind: 'redact', id: 'm7' }], { verb: 'forget' });
    await write(space, [insert({ id: 'meanwhile' })]);
    expect((await space.info()).memories).toBe(2501);
    expect(rewriteAside).not.toHaveBeenCalled();
    open();
    expect(await checking).toEqual([]);
    await forgetting;
    expect(await getOne(space, 'm7')).toBeUndefined();
    expect(rewriteAside).toHaveBeenCalledTimes(2);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
