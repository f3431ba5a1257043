import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CLIENTS } from '../../src/mcp/client-config.ts';
import { mem } from '../../src/mcp/dialects/mem.ts';
import { salience } from '../../src/mcp/dialects/salience.ts';
import { scoped } from '../../src/mcp/dialects/scoped.ts';

const guide = readFileSync(new URL('../../docs/guides/mcp.md', import.meta.url), 'utf8');

describe('the guide to the server', () => {
  test('lists exactly the existing tools', () => {
    const [, own = '', others = ''] = guide.split(/^## (?:The tools|Tool names of other memories)$/m);
    const rows = (text: string) => [...text.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(rows(own)).toEqual(salience('all').tools.map(({ name }) => name));
    const few = [...own.matchAll(/^\| `(\w+)` \| yes/gm)].map(([, name]) => name);
    expect(few).toEqual(salience('few').tools.map(({ name }) => name));
    expect(rows(others)).toEqual(mem().tools.map(({ name }) => name));
    expect(others).toContain(scoped.tools.map(({ name }) => `\`${name}\``).join(', '));
  });

  test('names every client', () => {
    for (const client of CLIENTS) expect(guide).toContain(`--print-config ${client} `);
  });
});
