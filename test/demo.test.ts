import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('the demo finds every known answer in this repository', () => {
  const demo = fileURLToPath(new URL('../scripts/demo.mjs', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [demo], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/(\d+) of \1 right answers/);
  expect(stdout).toMatch(/exact/);
  expect(status).toBe(0);
});
