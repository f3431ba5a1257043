// Makes COUNT memories, one write each, and adds each to a counter that all processes share; then waits for a line
// on stdin, and says what it finds at its next read.
// usage: node counting-writer.mjs DIRECTORY NAME COUNT
import { once } from 'node:events';
import { resolveProfile } from '../../build/scoring/profile.js';
import { builtinProfile } from '../../build/scoring/profiles/index.js';
import { createSqliteStore } from '../../build/stores/sqlite/index.js';
import { sampleIndexed, sampleMemory } from '../../build/testing/sample-memory.js';

const [directory, name, count] = process.argv.slice(2);
const space = await createSqliteStore({ directory, synchronous: 'normal', busyTimeout: 60_000 }).openSpace(
  'shared',
);
const profile = resolveProfile(builtinProfile('bm25'));
const search = () =>
  space.snapshot((snapshot) =>
    snapshot.search({ profile, query: { terms: ['written'] }, filter: {}, now: 0, limit: 10_000 }),
  );

// From here on there is an index that must keep up with what the others write.
await search();
for (let index = 0; index < Number(count); index++) {
  await space.write({ verb: 'remember', at: 0 }, async (reader) => {
    const [counter] = await reader.get(['counter']);
    const memory = sampleMemory({ id: `${name}-${index}`, content: `written by ${name}` });
    return {
      changes: [
        { kind: 'replace', memory: { ...counter, accessCount: counter.accessCount + 1 } },
        { kind: 'insert', memory, indexed: sampleIndexed(memory) },
      ],
      result: undefined,
    };
  });
}
process.stdout.write('written\n');
await once(process.stdin, 'data');
const { hits, sequence } = await search();
process.stdout.write(`${JSON.stringify({ found: hits.length, sequence })}\n`);
await space.close();
process.exit(0);
