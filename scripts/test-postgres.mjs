// Runs the tests of test/postgres against a real server: the one in SALIENCE_TEST_POSTGRES, a URL whose user may create
// schemas; else a temporary one from installed binaries, in its own directory and on a free port; else, in CI and as
// root, one from Debian's packages. Without any of them it says so and exits with 0.
//   node scripts/test-postgres.mjs [TESTS]
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findBinaries, startServer } from './postgres-server.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const isRoot = process.getuid?.() === 0;

let binaries = findBinaries();
const missing = [
  ...(binaries ? [] : ['postgresql']),
  // One of the tests connects through pgbouncer.
  ...(existsSync('/usr/sbin/pgbouncer') ? [] : ['pgbouncer']),
];
if (process.env.SALIENCE_TEST_POSTGRES === undefined && missing.length > 0 && process.env.CI && isRoot) {
  // The cluster that the package creates is not used.
  for (const line of ['update -qq', `install -y -qq --no-install-recommends ${missing.join(' ')}`]) {
    spawnSync('apt-get', line.split(' '), {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  }
  binaries = findBinaries();
}

let status;
if (process.env.SALIENCE_TEST_POSTGRES !== undefined) {
  status = runTests({});
} else if (binaries) {
  const server = await startServer(binaries);
  try {
    status = runTests({ SALIENCE_TEST_POSTGRES: server.url });
  } finally {
    await server.stop();
  }
} else {
  console.log(
    'skipped: no PostgreSQL here. Set SALIENCE_TEST_POSTGRES to the URL of a server, or install one (apt-get install postgresql)',
  );
  status = 0;
}
process.exit(status);

function runTests(environment) {
  const { status } = spawnSync(
    'npx',
    [
      '--no-install',
      'vitest',
      'run',
      ...(process.argv.length > 2 ? process.argv.slice(2) : ['test/postgres']),
    ],
    { cwd: root, stdio: 'inherit', env: { ...process.env, ...environment } },
  );
  return status ?? 1;
}
