import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const bench = fileURLToPath(new URL('../../bench/', import.meta.url));
const IMPORT = /^import \{([^}]+)\} from '\.\.\/build\/([^']+)\.js';$/gm;

/** Benchmarks are seldom run, and no compiler reads them. */
describe('benchmarks', () => {
  const imports = readdirSync(bench)
    .filter((name) => name.endsWith('.mjs'))
    .flatMap((file) =>
      [...readFileSync(`${bench}${file}`, 'utf8').matchAll(IMPORT)].map(
        ([, names = '', path = '']) => [file, path, names.split(',')] as const,
      ),
    );

  it('are read', () => {
    expect(imports.length).toBeGreaterThan(20);
  });

  it.each(imports)('%s: %s exports what it imports', async (_, path, names) => {
    const module = (await import(
      /* @vite-ignore */ new URL(`../../src/${path}.ts`, import.meta.url).href
    )) as object;
    const wanted = names.map((name) => name.trim().split(' as ')[0] as string).filter((name) => name !== '');
    expect(wanted.filter((name) => !(name in module))).toEqual([]);
  });
});
