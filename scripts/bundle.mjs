// From the modules that tsc wrote into build/ to dist/: few files, because opening each of some 250 modules was half of
// what a command took (docs/decisions/0045-bundled-output.md).
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../', import.meta.url));
const { bin, exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

const entries = [
  ...Object.values(exports),
  ...Object.values(bin),
  ...readdirSync(`${root}build/cli/commands`).map((name) => `./dist/cli/commands/${name}`),
  // They look for what they load beside themselves: a table, and the module of a thread.
  './dist/providers/builtin/embedder.js',
  './dist/eval/workers.js',
  './dist/eval/worker.js',
].filter((path) => path.endsWith('.js'));

cpSync(`${root}src/providers/builtin/table.bin`, `${root}build/providers/builtin/table.bin`);
rmSync(`${root}dist`, { recursive: true, force: true });
const bundle = await rolldown({
  input: Object.fromEntries(
    entries.map((path) => [path.slice(7, -3), path.replace('./dist', `${root}build`)]),
  ),
  platform: 'node',
  external: (id) => !id.startsWith('.') && !id.startsWith('/'),
});
await bundle.write({ dir: `${root}dist`, format: 'esm', chunkFileNames: 'chunks/[name].js' });
await bundle.close();

cpSync(`${root}build`, `${root}dist`, {
  recursive: true,
  filter: (path) => !path.endsWith('.js') && !path.endsWith('.tsbuildinfo'),
});
