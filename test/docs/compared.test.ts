import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './public-surface.ts';

const page = readFileSync(join(root, 'docs/compared.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const cells = rows.filter((row) => row.length === 7 && row[0] !== '' && row[0] !== '---');
const keysIn = (text: string) => [...text.matchAll(/\[(\w\d)\](?!:)/g)].map(([, key]) => key as string);

describe('the comparison', () => {
  it('names a source in every cell, or has a dash', () => {
    expect(cells.length).toBeGreaterThan(10);
    for (const [name, ...others] of cells) {
      for (const cell of others)
        expect(cell === '–' || keysIn(cell).length > 0, `${name}: ${cell}`).toBe(true);
    }
  });

  it('lists exactly the sources that it uses, once each, with address and date', () => {
    const used = new Set(cells.flat().flatMap(keysIn));
    const listed = rows.filter((row) => row.length === 3 && /^\[\w\d\]$/.test(row[0] ?? ''));
    expect(listed.map(([key]) => key?.slice(1, -1)).sort()).toEqual([...used].sort());
    for (const [key, , when] of listed) {
      expect(when, key).toMatch(/^(?:[A-Z][a-z]+ 20\d\d|this version)$/);
      expect(page).toMatch(new RegExp(`^\\[${key?.slice(1, -1)}\\]: \\S+$`, 'm'));
    }
  });
});
