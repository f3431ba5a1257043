import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import type { storeContract as StoreContract } from '../../src/testing/store-contract.ts';
import { installPackedPackage } from '../package/packed.ts';

/*
 * A store outside of this repository has nothing but the package: its types, the rules in `salience/store`, and the
 * contract in `salience/testing`.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const { folder, remove } = installPackedPackage();
afterAll(remove);
const file = join(folder, 'map-store.mjs');
copyFileSync(join(root, 'test', 'store', 'map-store.mjs'), file);
const { createMapStore } = (await import(/* @vite-ignore */ file)) as { createMapStore(): Store };
const testing = join(folder, 'node_modules', 'salience', 'dist', 'testing', 'index.js');
const { storeContract } = (await import(/* @vite-ignore */ testing)) as {
  storeContract: typeof StoreContract;
};

describe('the port', () => {
  it('can be typed from outside of the package', () => {
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
    const { stdout, status } = spawnSync(
      process.execPath,
      [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '--ignoreConfig', ...options, ...target, file],
      { cwd: folder, encoding: 'utf8' },
    );
    expect(stdout).toBe('');
    expect(status).toBe(0);
  });
});

await storeContract('a Map, outside of the package', async () => {
  const store = createMapStore();
  return { store, cleanup: () => store.close() };
});
