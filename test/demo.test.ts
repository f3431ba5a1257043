import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('the demo finds every known answer in this repository, and believes what was said last', () => {
  const demo = fileURLToPath(new URL('../scripts/demo.mjs', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [demo], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/(\d+) of \1 right answers/);
  expect(stdout).toMatch(/exact/);
  expect(stdout).toMatch(
    /^may contradict dark \(wording \d\d % alike \(cosine\)\): Ann prefers dark roast coffee$/m,
  );
  expect(stdout).toMatch(/--as-of 2026-01-20.*\n.* deploy\n +Deploys happen on Thursday\n/);
  expect(stdout).toMatch(/--now 2026-03-04.*\n.* deploy\n +Deploys happen on Tuesday\n/);
  expect(stdout).not.toContain('not what is believed');
  expect(status).toBe(0);
});
