import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { verbs } from '../../src/api/index.ts';

const guide = readFileSync(new URL('../../docs/guides/server.md', import.meta.url), 'utf8');

describe('the guide to the server', () => {
  it('lists the route of every verb', () => {
    const rows = [...guide.matchAll(/^\| `([A-Z]+ \/v1\/\S+)` \| (\w+)(?:: [^|]*)? \|$/gm)];
    const routes = Object.fromEntries(rows.map(([, route, name]) => [name, route]));
    expect(routes).toEqual(
      Object.fromEntries(verbs.map(({ name, http }) => [name, `${http.method} ${http.path}`])),
    );
  });
});
