import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPublicSurface, root } from './public-surface.ts';

const { entryPoints } = readPublicSurface();
const exportsOf = new Map(
  entryPoints.map(({ name, exports }) => [name, new Set(exports.map((each) => each.name))]),
);

/** Returns what the code of a page imports from the package, each as `SUBPATH NAME`. */
function importsOf(page: string): readonly string[] {
  const blocks = [...page.matchAll(/^```(?:js|ts)\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
  return blocks.flatMap((code) =>
    [...code.matchAll(/^import (?:type )?\{([^}]*)\} from '(salience[^']*)'/gm)].flatMap(
      ([, names = '', subpath]) =>
        names
          .split(',')
          .map((name) => name.trim().replace(/^type /, ''))
          .filter((name) => name !== '')
          .map((name) => `${subpath} ${name}`),
    ),
  );
}

const pages = ['docs', 'docs/guides', 'docs/tutorials'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `${folder}/${file}`),
);
const imports = pages.flatMap((page) =>
  importsOf(readFileSync(join(root, page), 'utf8')).map((each) => [page, each] as const),
);

describe('imports in the code of pages', () => {
  it('are found', () => {
    expect(imports.length).toBeGreaterThan(20);
    expect(importsOf("```js\nimport { a, type b } from 'salience/x';\n```\n")).toEqual([
      'salience/x a',
      'salience/x b',
    ]);
  });

  it.each(imports)('%s: %s is exported', (_, each) => {
    const [subpath = '', name = ''] = each.split(' ');
    expect(exportsOf.get(subpath)?.has(name)).toBe(true);
  });
});
