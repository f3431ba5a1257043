// Runs the tests of test/inspector in a browser: one of Debian's, or that of SALIENCE_CHROMIUM. In CI and as root, or with
// --install, it first installs the one that is preferred. Without a browser it says so and exits with 0.
//   node scripts/test-inspector.mjs [--install] [TESTS]
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { browserOfTests, PREFERRED } from './chromium.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const tests = process.argv.slice(2).filter((each) => each !== '--install');
const mayInstall = process.argv.includes('--install') || process.env.CI;

const isSettled = process.env.SALIENCE_CHROMIUM !== undefined || existsSync(PREFERRED.path);
if (!isSettled && mayInstall && process.getuid?.() === 0) {
  const install = `install -y -qq --no-install-recommends ${PREFERRED.package} fonts-dejavu-core`;
  for (const line of ['update -qq', install]) {
    spawnSync('apt-get', line.split(' '), {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  }
}
const browser = browserOfTests();
if (!existsSync(browser)) {
  console.log(
    `skipped: there is no ${browser}. Install it (apt-get install ${PREFERRED.package}), or set SALIENCE_CHROMIUM`,
  );
  process.exit(0);
}
const { status } = spawnSync(
  'npx',
  ['--no-install', 'vitest', 'run', ...(tests.length > 0 ? tests : ['test/inspector'])],
  { cwd: root, stdio: 'inherit', env: { ...process.env, SALIENCE_BROWSER_TESTS: 'on' } },
);
process.exit(status ?? 1);
