import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { onBehalf } from '../../store/cancelling.ts';
import { expectCode, getOne, insert, write } from '../../testing/store-contract/harness.ts';
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

const content = 'a long text '.repeat(400);
const large = Array.from({ length: 2500 }, (_, at) => insert({ id: `m${at}`, content: `${content}${at}` }));

test('a check that reads the log ends before anything is erased, and keeps no other write waiting', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salience-long-reads-'));
  try {
    await using store = createSqliteStore({ directory, synchronous: 'normal', busyTimeout: 0 });
    const space = await store.openSpace('alice');
    await write(space, large);
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

test('a look back lets others read and write, sees nothing of it, and ends before anything is erased', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salience-long-reads-'));
  try {
    await using store = createSqliteStore({ directory, synchronous: 'normal', busyTimeout: 0 });
    const space = await store.openSpace('alice');
    await write(space, large);
    const done: string[] = [];
    const noted = <Result>(what: string, task: Promise<Result>) =>
      task.then((result) => {
        done.push(what);
        return result;
      });
    const looking = noted(
      'look',
      space.asKnown(Number.MAX_SAFE_INTEGER, async () => []),
    );
    const forgetting = noted('forget', write(space, [{ kind: 'redact', id: 'm7' }], { verb: 'forget' }));
    await noted('write', write(space, [insert({ id: 'meanwhile' })]));
    await noted('read', getOne(space, 'meanwhile'));
    const past = await looking;
    await forgetting;
    expect(done).toEqual(['write', 'read', 'look', 'forget']);
    expect(past.memories).toBe(2500);
    expect(await getOne(past, 'meanwhile')).toBeUndefined();
    expect((await getOne(past, 'm7'))?.content).toBe(`${content}7`);
    expect(await getOne(space, 'm7')).toBeUndefined();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test('a look back that is aborted ends between two slices', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salience-long-reads-'));
  try {
    await using store = createSqliteStore({ directory, synchronous: 'normal' });
    const space = await store.openSpace('alice');
    await write(space, large);
    const { signal } = new AbortController();
    let looks = 0;
    Object.defineProperty(signal, 'aborted', { get: () => ++looks > 3 });
    const looking = onBehalf(signal, () => space.asKnown(Number.MAX_SAFE_INTEGER, async () => []));
    await expectCode(looking, 'aborted');
    expect(looks).toBe(4);
    expect((await space.asKnown(Number.MAX_SAFE_INTEGER, async () => [])).memories).toBe(2500);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
