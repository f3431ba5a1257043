import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { blocksOfPage } from '../docs/page-blocks.ts';
import { root } from '../docs/public-surface.ts';
import { installPackedPackage } from '../package/packed.ts';

/*
 * The store of the guide, which has nothing but the package: its types, the rules in `salience/store`, and the contract in
 * `salience/testing`.
 */
const { folder, remove } = installPackedPackage();
afterAll(remove);
const blocks = blocksOfPage('docs/guides/stores.md');
for (const { info, text } of blocks) if (info !== '') writeFileSync(join(folder, info), text);
const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });

describe('the store of the guide', () => {
  it('has the types of the port', () => {
    const options = [
      '--noEmit',
      '--allowJs',
      '--checkJs',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--skipLibCheck',
    ];
    const target = [
      '--target',
      'es2022',
      '--lib',
      'es2023,esnext.disposable',
      '--module',
      'nodenext',
      '--types',
      'node',
    ];
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout, status } = run(tsc, '--ignoreConfig', ...options, ...target, 'file-store.mjs');
    expect(stdout).toBe('');
    expect(status).toBe(0);
  });

  it('finds what another store over the same folder has kept', () => {
    const program = blocks.find(({ language, info }) => language === 'js' && info === '');
    const printed = blocks.find(({ language }) => language === 'text');
    writeFileSync(join(folder, 'program.mjs'), program?.text ?? '');
    const { stdout, stderr } = run('program.mjs');
    expect(stderr).toBe('');
    expect(stdout.trimEnd()).toBe(printed?.text);
  });

  it('leaves nothing of a deleted space, not even what was not renamed before a crash', () => {
    const program = `
      import { copyFileSync, readdirSync } from 'node:fs';
      import { createFileStore } from './file-store.mjs';
      const store = createFileStore('./deleted');
      await store.openSpace('ann');
      const [file] = readdirSync('./deleted');
      copyFileSync('./deleted/' + file, './deleted/' + file + '.new');
      await store.deleteSpace('ann');
      console.log(readdirSync('./deleted'));`;
    expect(run('--input-type=module', '--eval', program).stdout.trim()).toBe('[]');
  });

  it('does not keep a space in memory that was closed', () => {
    const program = `
      import { setImmediate } from 'node:timers/promises';
      import { createFileStore } from './file-store.mjs';
      const store = createFileStore('./closed');
      const opened = async () => {
        const space = await store.openSpace('ann');
        await space.close();
        return new WeakRef(space);
      };
      const closed = await opened();
      await setImmediate();
      gc();
      console.log(closed.deref(), await store.listSpaces());`;
    expect(run('--expose-gc', '--input-type=module', '--eval', program).stdout.trim()).toBe(
      "undefined [ 'ann' ]",
    );
  });
});

// The contract sets the times of its tests: those of vitest, here a millisecond, are too short for some.
describe('the tests of the guide', { timeout: 1 }, async () => {
  await import(/* @vite-ignore */ join(folder, 'file-store.test.mjs'));
});
