// Maintains all spaces of a directory, and prints which it maintained. It begins when the file `go` is there.
// usage: node maintaining.mjs DIRECTORY NOW
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { openSpaces } from '../../build/index.js';

const [directory, now] = process.argv.slice(2);
const spaces = openSpaces({ path: directory, embedder: 'none', clock: () => Number(now) });
await spaces.list();
writeFileSync(join(directory, `ready-${process.pid}`), '');
while (!existsSync(join(directory, 'go'))) await setImmediate();
const { maintained, left, failed } = await spaces.maintain();
const expired = maintained.flatMap(({ report }) => report.expired).length;
process.stdout.write(
  JSON.stringify({ maintained: maintained.map(({ space }) => space), left: left.length, expired, failed }),
);
await spaces.close();
