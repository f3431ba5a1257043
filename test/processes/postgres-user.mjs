// Remembers COUNT statements, and looks for each with a recall that learns; then waits for a line on stdin, and says what it
// finds at its next recall. The URL of the server is in SALIENCE_TEST_POSTGRES.
// usage: node postgres-user.mjs SCHEMA NAME COUNT
import { once } from 'node:events';
import { openMemory } from '../../build/index.js';
import { postgres } from '../../build/stores/postgres/index.js';

const [schema, name, count] = process.argv.slice(2);
const store = postgres(process.env.SALIENCE_TEST_POSTGRES, {
  schema,
  maxConnections: 2,
  busyTimeout: 120_000,
});
const memory = await openMemory({ store, space: 'shared', embedder: 'none' });
let missed = 0;
for (let index = 0; index < Number(count); index++) {
  const { id } = await memory.remember(`written by ${name} as number${index}of${name}`, {
    id: `${name}-${index}`,
  });
  const { hits } = await memory.recall(`number${index}of${name}`, { strategy: 'bm25', limit: 1 });
  await memory.recall('written', { strategy: 'five-factor', limit: 1 });
  if (hits[0]?.memory.id !== id) missed++;
}
process.stdout.write('written\n');
await once(process.stdin, 'data');
const { hits, trace } = await memory.recall('written', { strategy: 'bm25', limit: 10_000 });
process.stdout.write(`${JSON.stringify({ found: hits.length, missed, sequence: trace.sequence })}\n`);
await memory.close();
await store.close();
process.exit(0);
