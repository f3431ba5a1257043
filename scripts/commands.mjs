// Writes dist/cli/main.cjs, the command, and dist/cli/commands.cjs, one script with the code of most commands, whose
// compiled code is cached (docs/decisions/0131-compiled-commands.md). Other commands load the modules of bundle.mjs.
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { FROM_MODULES } from '../build/cli/command-name.js';

const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * Packages in the script: those that every command loads, and the one that parses dates in queries. NOTICE names them.
 */
const INLINED = ['commander', 'porter2', 'uuid', 'chrono-node/en'];

/** Modules that stay outside the script: they use top-level await, have megabytes of data, or are rare commands. */
const OUTSIDE = {
  '../providers/use-lite.js': '../providers/use-lite.js',
  './vocabularies/o200k-base.js': '../context/vocabularies/o200k-base.js',
  './vocabularies/cl100k-base.js': '../context/vocabularies/cl100k-base.js',
  ...Object.fromEntries([...FROM_MODULES].map((name) => [`./commands/${name}.js`, `./commands/${name}.js`])),
};

await bundle('main', 'main', (text) => text);
// The function that src/cli/compiled.ts calls.
const whole = ['(function (exports, require, module, __filename, __dirname, importModule) {', '})'];
const commands = await bundle('run', 'commands', (text) =>
  text.replace(/\bimport\((['"])([^'"]+)\1\)/g, (call, _, name) => {
    const isInside = INLINED.includes(name) || (name.startsWith('.') && !OUTSIDE[name]);
    return isInside ? call : `importModule(${JSON.stringify(OUTSIDE[name] ?? name)})`;
  }),
);
// Only ASCII, also in regular expressions, which esbuild does not escape: V8 then keeps the source outside its heap.
const ascii = readFileSync(commands, 'utf8').replace(
  /[^\0-\x7f]/g,
  (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
);
writeFileSync(commands, whole.join(ascii));

async function bundle(entry, name, change) {
  const outfile = `${root}dist/cli/${name}.cjs`;
  const { metafile } = await build({
    entryPoints: [`${root}build/cli/${entry}.js`],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    plugins: [{ name: 'salience', setup: (plugin) => adapt(plugin, change) }],
  });
  // Such a package would be loaded by `require`, while a module loads its twin by `import`.
  const needed = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  const packages = needed.filter((path) => !path.startsWith('node:') && path !== './run.js');
  if (packages.length > 0) throw new Error(`${name}.cjs needs ${packages.join(', ')}: see FROM_MODULES`);
  return outfile;
}

function adapt(plugin, change) {
  // Commander can run other programs, which we do not use. Loading that module would cost each command two
  // milliseconds.
  plugin.onResolve({ filter: /^node:child_process$/ }, ({ path, importer }) =>
    importer.includes('/commander/') ? { path, namespace: 'unused' } : undefined,
  );
  plugin.onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: 'module.exports = {};' }));
  plugin.onResolve({ filter: /^[^./]|^\.\/run\.js$/ }, ({ path, kind }) =>
    kind === 'entry-point' || INLINED.includes(path) ? undefined : { path, external: true },
  );
  plugin.onLoad({ filter: /build\/.*\.js$/ }, ({ path }) => {
    // The path of the module in the package, because it resolves its files from there.
    const place = `../${relative(`${root}build`, path)}`;
    const address = `require('node:url').pathToFileURL(require('node:path').join(__dirname, ${JSON.stringify(place)})).href`;
    return { contents: change(readFileSync(path, 'utf8')).replaceAll('import.meta.url', address) };
  });
}
