import { link, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { copySpaces } from '../../copy-spaces.ts';
import { deleteSpace } from '../../delete-space.ts';
import { openMemory } from '../../open.ts';
import type { CopyPart, StoreCopying } from '../../store/copying.ts';
import type { Store } from '../../store/store.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'salience-copy-forgotten-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Whether a word is anywhere in the files of a directory. */
async function holds(directory: string, word: string): Promise<boolean> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const contents = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name))));
  return contents.some((bytes) => bytes.includes(word));
}

/** A store of which something happens before each part is read. */
function lookedAt(store: Store, before: (part: CopyPart) => Promise<void>): Store {
  const copying = store.copying as StoreCopying;
  return {
    ...store,
    copying: {
      ...copying,
      async from(space) {
        const source = await copying.from(space);
        return {
          ...source,
          async rows(part, range) {
            await before(part);
            return source.rows(part, range);
          },
        };
      },
    },
  };
}

it('a copy that goes on holds nothing of what was forgotten since it was interrupted', async () => {
  const [from, to] = [join(root, 'from'), join(root, 'to')];
  await using memory = await openMemory({ path: from, space: 'alice', embedder: 'none' });
  await memory.remember('An ordinary sentence');
  await memory.remember('Played by a xylophonist', { id: 'secret' });
  const interruption = new AbortController();
  let pages = 0;
  const interrupted = copySpaces({
    from,
    to,
    signal: interruption.signal,
    progress: () => ++pages === 3 && interruption.abort(),
  });
  await expect(interrupted).rejects.toMatchObject({ code: 'aborted' });
  expect(await holds(to, 'xylophonist')).toBe(true);
  await memory.forget('secret');
  await copySpaces({ from, to });
  expect(await holds(to, 'xylophonist')).toBe(false);
  await using copied = await openMemory({ path: to, space: 'alice', embedder: 'none' });
  expect(await copied.check()).toEqual([]);
  expect((await copied.stats()).terms).toBe((await memory.stats()).terms);
});

it('a copy under which a memory is forgotten holds nothing of it', async () => {
  const [directory, to] = [join(root, 'from'), join(root, 'to')];
  await using memory = await openMemory({ path: directory, space: 'alice', embedder: 'none' });
  await memory.remember('An ordinary sentence');
  await memory.remember('Played by a xylophonist', { id: 'secret' });
  await using store = createSqliteStore({ directory });
  let wasCopied = false;
  const from = lookedAt(store, async (part) => {
    // All memories are copied by then.
    if (part === 'event' && !wasCopied) {
      wasCopied = await holds(to, 'xylophonist');
      await memory.forget('secret');
    }
  });
  await copySpaces({ from, to });
  expect(wasCopied).toBe(true);
  expect(await holds(to, 'xylophonist')).toBe(false);
});

it('a copy that took out what was forgotten, and was interrupted then, holds nothing of it once it went on', async () => {
  const [directory, to] = [join(root, 'from'), join(root, 'to')];
  await using memory = await openMemory({ path: directory, space: 'alice', embedder: 'none' });
  await memory.remember('An ordinary sentence');
  await memory.remember('Played by a xylophonist', { id: 'secret' });
  await using store = createSqliteStore({ directory });
  const interruption = new AbortController();
  const parts: string[] = [];
  const from = lookedAt(store, async (part) => {
    // Forgotten when all memories are copied, and taken out when the next pass has gone through them.
    if (part === 'event' && !parts.includes('event')) await memory.forget('secret');
    if (parts.at(-1) === 'memory' && parts.includes('event')) interruption.abort();
    parts.push(part);
  });
  await expect(copySpaces({ from, to, signal: interruption.signal })).rejects.toMatchObject({
    code: 'aborted',
  });
  await copySpaces({ from: directory, to });
  expect(await holds(to, 'xylophonist')).toBe(false);
});

it('a file whose process was killed while it got its name leaves nothing when its space is deleted', async () => {
  const [from, to] = [join(root, 'from'), join(root, 'to')];
  for (const ends of ['deleted', 'copied again'] as const) {
    await using memory = await openMemory({ path: from, space: ends, embedder: 'none' });
    await memory.remember('Played by a xylophonist');
    await copySpaces({ from, to, spaces: [ends] });
    const file = fileNameOf(ends);
    await mkdir(join(to, '.copying'));
    await link(join(to, file), join(to, '.copying', file));
    await link(join(to, file), join(to, '.copying', `${file}-new-1-1`));
    await link(join(to, file), join(to, `${file}-new-1-1`));
    if (ends === 'copied again') {
      await expect(copySpaces({ from, to, spaces: [ends] })).rejects.toMatchObject({
        code: 'already_exists',
      });
      expect(await readdir(to)).toEqual([file]);
    }
    await deleteSpace({ path: to, space: ends });
    expect(await readdir(to)).toEqual([]);
  }
});

it('a copy that is resumed leaves no other name of its file, which would keep the texts of a deleted space', async () => {
  const [from, to] = [join(root, 'from'), join(root, 'to')];
  await using memory = await openMemory({ path: from, space: 'alice', embedder: 'none' });
  await memory.remember('Played by a xylophonist');
  const interruption = new AbortController();
  const copying = copySpaces({ from, to, signal: interruption.signal, progress: () => interruption.abort() });
  await expect(copying).rejects.toMatchObject({ code: 'aborted' });
  const file = fileNameOf('alice');
  // What a process leaves that is killed after it gave the file its name, and before.
  await link(join(to, '.copying', file), join(to, '.copying', `${file}-new-1-1`));
  await writeFile(join(to, '.copying', `${file}-new-2-1`), '');
  await copySpaces({ from, to });
  expect(await readdir(to)).toEqual([file]);
});

/** Where pages of the log were split, what was redacted later stood twice. */
it.each([2, 8])(
  'a copy during which memories are written, changed and forgotten holds nothing of them (seed %i)',
  async (seed) => {
    const [directory, to] = [join(root, 'from'), join(root, 'to')];
    await using memory = await openMemory({ path: directory, space: 'alice', embedder: 'none' });
    await memory.remember('An ordinary sentence', { id: 'ordinary' });
    await using store = createSqliteStore({ directory });
    const draw = drawer(seed);
    const secrets = new Set<string>();
    let step: 'begun' | 'written' | 'forgotten' = 'begun';
    const from = lookedAt(store, async (part) => {
      // Memories are copied by then: of these only events will be, before they are redacted.
      if (part === 'event' && step === 'begun') {
        step = 'written';
        for (let at = 0; at < 33; at++) {
          if (draw(100) < 28) {
            await memory.update('ordinary', { content: `ordinary ${at} `.repeat(1 + draw(40)) });
            continue;
          }
          const id = `secret${draw(3)}`;
          if (secrets.has(id)) {
            await memory.update(id, { content: `xylophonist ${at} `.repeat(1 + draw(15)) });
          } else await memory.remember(`xylophonist ${id} ${at}`, { id });
          secrets.add(id);
        }
      }
      if (part === 'session' && step === 'written') {
        expect(await holds(to, 'xylophonist')).toBe(true);
        for (const id of secrets) await memory.forget(id);
        step = 'forgotten';
      }
    });
    await copySpaces({ from, to });
    expect(step).toBe('forgotten');
    expect(await holds(to, 'xylophonist')).toBe(false);
  },
);

/** Whole numbers below one that is given, the same for the same seed. */
function drawer(seed: number): (below: number) => number {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x80000000;
  };
  for (let skipped = 0; skipped < 3; skipped++) next();
  return (below) => Math.floor(next() * below);
}
