// Bundles the modules that tsc wrote into build/ into a few files in dist/, because opening some 250 modules took half
// of the time of a command (docs/decisions/0045-bundled-output.md).
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../', import.meta.url));
const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

/**
 * The entry points of most processes. A process that loads one entry of a list loads the sources of the others anyway.
 */
const STARTS = {
  cli: ['cli/run'],
  scoring: ['scoring/index'],
  client: ['client/index'],
  library: ['index'],
  store: ['index', 'stores/sqlite/index'],
  command: ['cli/run', 'index', 'cli/commands/recall'],
};

let reached;

const entries = [
  ...Object.values(exports),
  './dist/cli/run.js',
  ...readdirSync(`${root}build/cli/commands`).map((name) => `./dist/cli/commands/${name}`),
  // Separate files, because they load something from their own folder: a table, and the module of a thread.
  './dist/providers/builtin/embedder.js',
  './dist/eval/workers.js',
  './dist/eval/worker.js',
  // The script of commands.mjs refers to these megabytes instead of containing them again.
  './dist/context/vocabularies/o200k-base.js',
  './dist/context/vocabularies/cl100k-base.js',
].filter((path) => path.endsWith('.js'));

cpSync(`${root}src/providers/builtin/table.bin`, `${root}build/providers/builtin/table.bin`);
// The inspector is built in a separate step, and only when it has changed.
for (const name of existsSync(`${root}dist`) ? readdirSync(`${root}dist`) : []) {
  if (name !== 'inspector') rmSync(`${root}dist/${name}`, { recursive: true, force: true });
}
const inputs = Object.fromEntries(
  entries.map((path) => [path.slice(7, -3), path.replace('./dist', `${root}build`)]),
);
const bundle = await rolldown({
  input: inputs,
  preserveEntrySignatures: 'allow-extension',
  platform: 'node',
  external: (id) => !id.startsWith('.') && !id.startsWith('/'),
});
await bundle.write({
  dir: `${root}dist`,
  format: 'esm',
  // The doc comments are in the .d.ts files. Here they would only slow down each start.
  comments: { jsdoc: false },
  chunkFileNames: 'chunks/[name].js',
  codeSplitting: {
    includeDependenciesRecursively: false,
    groups: [{ debugName: 'by entry', name: (id, graph) => chunkOf(id, graph) }],
  },
});
await bundle.close();

cpSync(`${root}build/providers/builtin/table.bin`, `${root}dist/providers/builtin/table.bin`);
for (const path of declarations()) cpSync(`${root}build/${path}`, `${root}dist/${path}`);

/** Returns the declarations of the exports and all that they refer to. No others can be imported. */
function declarations() {
  const found = new Set(
    Object.values(exports)
      .filter((path) => path.endsWith('.js'))
      .map((path) => path.replace('./dist/', '').replace(/\.js$/, '.d.ts')),
  );
  for (const path of found) {
    const text = readFileSync(`${root}build/${path}`, 'utf8');
    for (const [, name] of text.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.ts['"]/g)) {
      found.add(`${posix.join(posix.dirname(path), name)}.d.ts`);
    }
  }
  return found;
}

/**
 * Returns the chunk of a module. Modules that the same starts load share a file, because opening a file costs more than
 * unused code. Modules that no start loads are left to rolldown. Each entry is its own file.
 */
function chunkOf(id, graph) {
  if (graph.getModuleInfo(id).isEntry) return undefined;
  reached ??= Object.entries(STARTS).map(([name, entries]) => [name, reach(entries, graph)]);
  const names = reached.filter(([, modules]) => modules.has(id)).map(([name]) => name);
  if (names.length === 0) return undefined;
  return names.length === reached.length ? 'all' : names.join('-');
}

/** Returns the modules that are loaded with the entries. */
function reach(entries, graph) {
  const found = new Set(entries.map((name) => inputs[name]));
  for (const id of found) for (const next of graph.getModuleInfo(id)?.importedIds ?? []) found.add(next);
  return found;
}
