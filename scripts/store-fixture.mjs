// Writes test/fixtures/version-N.db.gz and .json, where N is the current version of the store's files: a space with
// data of every kind, and what this build reads from it. Run it once for each version, with the released build. Every
// later build must read the same data from it (src/stores/sqlite/fixtures.test.ts).
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openMemory } from '../dist/index.js';
import { whatIsKept } from '../test/fixtures/what-is-kept.mjs';

const directory = mkdtempSync(join(tmpdir(), 'salience-fixture-'));
let now = Date.UTC(2026, 0, 1);
const clock = () => {
  now += 60_000;
  return now;
};
const memory = await openMemory({ path: directory, space: 'alice', clock });
await memory.configure({ fading: 'retention', recordRecalls: { days: 30 }, timeZone: 'Europe/Berlin' });
await memory.startSession();
await memory.rememberMany([
  { id: 'tea', content: 'Green tea at seven', topicKey: 'tea', tags: ['drink'], importance: 0.8 },
  {
    id: 'dog',
    content: 'Has a dog named Milo',
    author: 'Alice',
    role: 'user',
    metadata: { breed: 'collie', age: 3 },
  },
  { id: 'oslo', content: 'Lives in Oslo', type: 'fact', validFrom: '2020-01-01', confidence: 0.9 },
  {
    id: 'milk',
    content: 'Buy milk, 買い物 🥛',
    type: 'event',
    expiresAt: '2030-01-01',
    scope: 'project:home',
  },
  { id: 'code', content: 'The door code is 4711' },
  { id: 'cello', content: 'Plays the cello', weight: 0.7 },
]);
await memory.endSession('Spoke of tea, a dog and Oslo');
await memory.remember('Black tea at eight', { topicKey: 'tea' });
await memory.remember('Lives in Bergen', { id: 'bergen', supersedes: 'oslo' });
await memory.link('dog', 'bergen', { weight: 0.4 });
await memory.feedback('dog', 'up', { voter: 'alice' });
await memory.invalidate('cello', 'it was a viola');
await memory.forget('code');
await memory.remember('Wrote the first program', {
  id: 'ada',
  type: 'entity',
  title: 'Ada Lovelace',
  aliases: ['Ada'],
  kind: 'person',
});
await memory.remember('Builds engines', { id: 'acme', type: 'entity', title: 'Acme', kind: 'organisation' });
await memory.relate('Ada', 'works_at', 'Acme', { validFrom: '2025-06-01' });
await memory.recall('a dog', { strategy: 'retention', limit: 2 });
await memory.remember('To be undone', { id: 'undone' });
await memory.undo();
await memory.close();

const [file] = readdirSync(directory).filter((name) => name.endsWith('.db'));
const bytes = readFileSync(join(directory, file));
const again = await openMemory({
  path: directory,
  space: 'alice',
  clock: () => Date.UTC(2026, 1, 1),
  readOnly: true,
});
const { schemaVersion } = await again.stats();
const kept = await whatIsKept(again);
await again.close();
rmSync(directory, { recursive: true });

const path = new URL(`../test/fixtures/version-${schemaVersion}`, import.meta.url).pathname;
writeFileSync(`${path}.db.gz`, gzipSync(bytes, { level: 9 }));
writeFileSync(`${path}.json`, `${JSON.stringify(kept, null, 2)}\n`);
console.log(
  `${path}.db.gz and .json: ${kept.memories.length} memories, ${kept.operations.length} operations`,
);
