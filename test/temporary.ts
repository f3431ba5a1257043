import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Gives a run of the tests a directory for temporary files of its own, and removes it afterwards: also what tests that
 * failed have left there, and the processes that they started.
 */
export default function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'salience-tests-'));
  // Some tests start programs as a user without rights.
  chmodSync(directory, 0o1777);
  for (const name of ['TMPDIR', 'TMP', 'TEMP']) process.env[name] = directory;
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
}
