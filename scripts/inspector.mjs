// Builds the inspector from web/ to dist/inspector, unless none of its sources has changed.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('../', import.meta.url));
const output = `${root}dist/inspector`;
/**
 * The record of the last build: its modules, some of them in src/, a hash of them and of all of web/, and its chunks.
 */
const record = `${root}build/inspector.json`;

const last = existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')) : { modules: [], hash: '' };
if (!existsSync(`${output}/index.html`) || last.hash !== hashOf(last.modules)) {
  const modules = [];
  const chunks = [];
  await build({
    root: `${root}web`,
    configFile: false,
    // Relative, so that it also works below a path of a proxy.
    base: './',
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: output,
      emptyOutDir: true,
      // A flat folder, whose listing is exactly the files that the server may serve.
      assetsDir: '',
      // The content security policy of the page refuses data: URLs and inline scripts.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: 'es2022',
      reportCompressedSize: false,
      chunkSizeWarningLimit: 1000,
    },
    plugins: [
      {
        name: 'record-modules',
        resolveId(id, importer) {
          if (id.startsWith('node:')) this.error(`${importer} imports ${id}, which browsers have not`);
        },
        writeBundle(_options, bundle) {
          modules.push(...[...this.getModuleIds()].filter((id) => id.startsWith(`${root}src/`)));
          for (const { type, fileName, facadeModuleId, imports, viteMetadata } of Object.values(bundle)) {
            if (type !== 'chunk') continue;
            const entry = facadeModuleId ? relative(root, facadeModuleId) : undefined;
            chunks.push({ fileName, entry, imports, css: [...(viteMetadata?.importedCss ?? [])] });
          }
        },
      },
    ],
  });
  const names = modules.map((id) => relative(root, id)).sort();
  mkdirSync(`${root}build`, { recursive: true });
  writeFileSync(record, JSON.stringify({ modules: names, hash: hashOf(names), chunks }));
}

function hashOf(modules) {
  const hash = createHash('sha256');
  const web = readdirSync(`${root}web`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, `${entry.parentPath}/${entry.name}`))
    .sort();
  for (const name of [...web, ...modules, 'package-lock.json', 'scripts/inspector.mjs']) {
    hash.update(`${name}\0`).update(existsSync(root + name) ? readFileSync(root + name) : '');
  }
  return hash.digest('hex');
}
