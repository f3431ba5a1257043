import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { root } from '../docs/public-surface.ts';
import { installPackedPackage } from './packed.ts';

/** Where Next and React are installed; `.ci/run` does that and sets the variable. */
const next = process.env['SALIENCE_NEXT'];
const title = next ? '' : ' (skipped: SALIENCE_NEXT names no node_modules)';

const config = `export default {
  output: 'standalone',
  // Packages are links to those of this checkout here.
  outputFileTracingRoot: '/',
  serverExternalPackages: ['salience'],
  outputFileTracingIncludes: { '/ask': ['node_modules/@photostructure/sqlite/prebuilds/**/*.node'] },
};`;
const route = `import { openMemory } from 'salience';
export const dynamic = 'force-dynamic';
export async function GET() {
  const memory = await openMemory({ path: ':memory:', space: 'alice' });
  await memory.rememberMany([{ content: 'Has a dog' }, { content: 'Prefers dark roast coffee' }]);
  const { hits, trace } = await memory.recall('an espresso drink', { strategy: 'vector', limit: 1 });
  await memory.close();
  return Response.json([hits[0].memory.content, trace.completeness]);
}`;
const layout = 'export default ({ children }) => <html><body>{children}</body></html>;';

/** What Next needs of the environment; nothing of the test's own. */
const env = {
  PATH: process.env['PATH'],
  HOME: tmpdir(),
  NODE_ENV: 'production' as const,
  NEXT_TELEMETRY_DISABLED: '1',
};

const { folder, remove } = installPackedPackage();
const elsewhere = mkdtempSync(join(tmpdir(), 'salience-next-'));
afterAll(() => {
  remove();
  rmSync(elsewhere, { recursive: true, force: true });
});

it.skipIf(!next)(
  `a standalone build of Next answers from its own folder alone${title}`,
  async () => {
    const modules = join(folder, 'node_modules');
    // Next follows no link to a folder whose files are named by a pattern.
    const sqlite = join(modules, '@photostructure/sqlite');
    rmSync(sqlite);
    cpSync(join(root, 'node_modules/@photostructure/sqlite'), sqlite, { recursive: true });
    symlinkSync(join(root, 'node_modules/node-gyp-build'), join(modules, 'node-gyp-build'), 'dir');
    for (const name of readdirSync(next as string)) {
      if (!name.startsWith('.')) symlinkSync(join(next as string, name), join(modules, name), 'dir');
    }
    mkdirSync(join(folder, 'app', 'ask'), { recursive: true });
    writeFileSync(join(folder, 'next.config.mjs'), config);
    writeFileSync(join(folder, 'app', 'layout.js'), layout);
    writeFileSync(join(folder, 'app', 'ask', 'route.js'), route);
    execFileSync(process.execPath, [join(modules, 'next/dist/bin/next'), 'build', '--webpack'], {
      cwd: folder,
      env,
    });
    cpSync(join(folder, '.next', 'standalone'), elsewhere, { recursive: true, verbatimSymlinks: true });
    // What was not traced cannot be reached: links lead to what was, and the project is away.
    const links = execFileSync('find', [elsewhere, '-type', 'l', '-print0'], { encoding: 'utf8' });
    for (const link of links.split('\0').filter((path) => path !== '')) {
      const target = readlinkSync(link);
      if (!isAbsolute(target)) continue;
      rmSync(link);
      symlinkSync(join(elsewhere, target), link, 'dir');
    }
    renameSync(folder, `${folder}-aside`);
    const port = await freePort();
    const child = spawn(process.execPath, [join(elsewhere, folder, 'server.js')], {
      cwd: elsewhere,
      env: { ...env, PORT: String(port), HOSTNAME: '127.0.0.1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      for await (const text of child.stdout.setEncoding('utf8')) if (String(text).includes('Ready')) break;
      const answer = await fetch(`http://127.0.0.1:${port}/ask`);
      expect(await answer.json()).toEqual(['Prefers dark roast coffee', 'exact']);
    } finally {
      child.kill();
      renameSync(`${folder}-aside`, folder);
    }
  },
  300_000,
);

/** A port that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
