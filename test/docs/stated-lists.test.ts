import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PINNED } from '../../src/context/sections.ts';
import { CREATE_FIELDS } from '../../src/domain/fields.ts';
import { root } from './public-surface.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const quoted = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name);

it('importing.md lists every field that a line of JSON Lines may have', () => {
  const [, listed = ''] =
    /an object with a `content` and any other option of `remember`:([\s\S]*?)A field\sthat is `null`/.exec(
      read('docs/guides/importing.md'),
    ) ?? [];
  expect(quoted(listed).sort()).toEqual(
    [...CREATE_FIELDS, 'ttl'].filter((name) => name !== 'content').sort(),
  );
});

it.each([
  ['docs/guides/migrating.md', /those of the types (.*?), and \[core memories\]/],
  ['src/engine/memory-engine.ts', /every memory of type ([\s\S]*?), and core memories/],
])('%s lists the types of memories that pinned returns', (path, sentence) => {
  const [, listed = ''] = sentence.exec(read(path)) ?? [];
  expect(quoted(listed).sort()).toEqual(PINNED.sections.flatMap(({ types }) => types).sort());
});
