// Runs the tests of test/inspector in a browser: Debian's Chromium, or that of SALIENCE_CHROMIUM. In CI and as root, or
// with --install, it first installs the package if it is missing. Without a browser it says so and exits with 0.
//   node scripts/test-inspector.mjs [--install] [TESTS]
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const chromium = process.env.SALIENCE_CHROMIUM ?? '/usr/bin/chromium';
const tests = process.argv.slice(2).filter((each) => each !== '--install');
const mayInstall = process.argv.includes('--install') || process.env.CI;

if (!existsSync(chromium) && mayInstall && process.getuid?.() === 0) {
  for (const line of ['update -qq', 'install -y -qq --no-install-recommends chromium fonts-dejavu-core']) {
    spawnSync('apt-get', line.split(' '), {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  }
}
if (!existsSync(chromium)) {
  console.log(
    `skipped: there is no ${chromium}. Install one (apt-get install chromium), or set SALIENCE_CHROMIUM`,
  );
  process.exit(0);
}
const { status } = spawnSync(
  'npx',
  ['--no-install', 'vitest', 'run', ...(tests.length > 0 ? tests : ['test/inspector'])],
  { cwd: root, stdio: 'inherit', env: { ...process.env, SALIENCE_BROWSER_TESTS: 'on' } },
);
process.exit(status ?? 1);
