// Writes batches until it is killed, and says on stdout which ones were acknowledged.
// usage: node crash-writer.mjs DIRECTORY
import { writeSync } from 'node:fs';
import { createSqliteStore } from '../../build/stores/sqlite/index.js';
import { sampleIndexed, sampleMemory } from '../../build/testing/sample-memory.js';

const [directory] = process.argv.slice(2);
const space = await createSqliteStore({ directory }).openSpace('alice');
const insert = (memory) => ({ kind: 'insert', memory, indexed: sampleIndexed(memory, [1, 2, 3]) });

for (;;) {
  const batch = await space.write({ verb: 'remember', at: 0 }, async (reader) => {
    const [counter] = await reader.get(['counter']);
    const next = (counter?.accessCount ?? 0) + 1;
    const marked = sampleMemory({ id: 'counter', content: `counter at ${next}`, accessCount: next });
    const changes = [
      counter ? { kind: 'replace', memory: marked, indexed: sampleIndexed(marked) } : insert(marked),
    ];
    // Long enough for more than one page, so that a torn write would show.
    for (let index = 0; index < 10; index++) {
      changes.push(
        insert(
          sampleMemory({
            id: `${next}-${index}`,
            content: `batch ${'word '.repeat(200)}${next}`,
            metadata: { batch: next },
            supersedes: index === 0 && next > 1 ? [`${next - 1}-0`] : [],
          }),
        ),
      );
    }
    changes.push(
      {
        kind: 'queue-pair',
        pair: { older: `${next}-1`, newer: `${next}-2`, kind: 'update', similarity: 0.9 },
      },
      {
        kind: 'session',
        session: { id: 's', scope: 'global', startedAt: 0, activeAt: next, endedAt: undefined },
      },
      {
        kind: 'add-tombstone',
        statement: { scope: 'global', content: `gone ${next}` },
        tombstone: { at: next, reason: 'why' },
      },
    );
    writeSync(1, `begin ${next}\n`);
    return { changes, result: next, embedding: { model: 'test-3', dimensions: 3 } };
  });
  writeSync(1, `done ${batch}\n`);
}
