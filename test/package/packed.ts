import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface PackedPackage {
  /** A project that has the package installed. */
  readonly folder: string;
  /** The files of the package, as paths within it. */
  readonly files: readonly string[];
  remove(): void;
}

/**
 * A project that has what `npm publish` would upload, and the dependencies of the package, optional ones included. Nothing
 * of this checkout can be reached from it by the name of the package. Needs no network, and runs no scripts.
 */
export function installPackedPackage(): PackedPackage {
  if (!existsSync(join(root, 'dist', 'index.d.ts'))) {
    throw new Error('what is packed is the built package: run ./run setup first, or ./run test');
  }
  const folder = mkdtempSync(join(tmpdir(), 'salience-packed-'));
  const packed = execFileSync(
    'npm',
    ['pack', '--json', '--offline', '--ignore-scripts', '--pack-destination', folder],
    { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const [{ filename, files }] = JSON.parse(packed) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ];
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, 'salience'), { recursive: true });
  execFileSync('tar', [
    '-xzf',
    join(folder, filename),
    '--strip-components=1',
    '-C',
    join(modules, 'salience'),
  ]);
  const { dependencies, peerDependencies } = JSON.parse(
    readFileSync(join(modules, 'salience', 'package.json'), 'utf8'),
  ) as Readonly<Record<'dependencies' | 'peerDependencies', Readonly<Record<string, string>>>>;
  // What the contract of stores is said to need, and the types of any project of Node's.
  const given = { vitest: '', 'fast-check': '', '@types/node': '' };
  for (const name of Object.keys({ ...dependencies, ...peerDependencies, ...given })) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name), 'dir');
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  return {
    folder,
    files: files.map(({ path }) => path),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
