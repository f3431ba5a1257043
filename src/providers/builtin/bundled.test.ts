import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';
import { expect, test } from 'vitest';
import type { Embedder } from '../embedder.ts';

const entry = fileURLToPath(new URL('./embedder.ts', import.meta.url));
const table = fileURLToPath(new URL('./table.bin', import.meta.url));

test('a bundled program says which file to copy where, and works once that is done', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'salience-bundle-'));
  try {
    await build({
      configFile: false,
      root: directory,
      logLevel: 'silent',
      build: {
        ssr: entry,
        outDir: directory,
        emptyOutDir: false,
        rollupOptions: { output: { entryFileNames: 'program.mjs' } },
      },
    });
    const { builtinEmbedder } = (await import(
      /* @vite-ignore */ pathToFileURL(join(directory, 'program.mjs')).href
    )) as { builtinEmbedder(): Embedder };
    const missing = join(directory, 'table.bin');
    await expect(builtinEmbedder().embed(['oat milk'])).rejects.toMatchObject({
      code: 'embedder_failed',
      message: expect.stringMatching(/a bundler .*salience\/table\.bin/s),
      details: { file: missing },
    });
    await expect(builtinEmbedder().embed(['oat milk'])).rejects.toThrow(missing);
    copyFileSync(table, missing);
    const [vector] = await builtinEmbedder().embed(['oat milk']);
    expect(vector).toHaveLength(256);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
