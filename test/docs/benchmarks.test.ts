import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './public-surface.ts';

function check(folder: string) {
  const script = join(folder, 'bench', 'report.mjs');
  return spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
}

describe('docs/benchmarks.md', () => {
  test('has the tables of the recorded results', () => {
    const { status, stderr } = check(root);
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  test('fails the check if a result or a cell was changed', () => {
    const folder = mkdtempSync(join(tmpdir(), 'salience-benchmarks-'));
    try {
      cpSync(join(root, 'bench'), join(folder, 'bench'), {
        recursive: true,
        filter: (file) => !file.endsWith('node_modules'),
      });
      mkdirSync(join(folder, 'docs'));
      const page = join(folder, 'docs', 'benchmarks.md');
      const text = readFileSync(join(root, 'docs', 'benchmarks.md'), 'utf8');
      const file = join(folder, 'bench', 'results', 'quality.json');
      const quality = JSON.parse(readFileSync(file, 'utf8'));
      const shown = quality.results[0].metrics['recall@10'].toFixed(3);
      expect(text).toContain(shown);
      writeFileSync(page, text.replaceAll(shown, '0.999'));
      expect(check(folder).status).toBe(1);
      writeFileSync(page, text);
      expect(check(folder).status).toBe(0);
      quality.results[0].metrics['recall@10'] = 0.999;
      writeFileSync(file, JSON.stringify(quality));
      expect(check(folder)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('./run bench tables'),
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
