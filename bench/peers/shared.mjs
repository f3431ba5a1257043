// What the adapters share. An adapter exports `peer`:
//   name, version   as they stand in the table
//   what            what it stores and how it ranks
//   ranksByVector   true if `recall` is by the vector alone
//   isOtherProcess  true if it works in a process of its own
//   open(directory, vectorOf) gives what can be asked:
//     ingest(memories)          each with id, content, type, importance, createdAt and its vector
//     recall({ text, vector })  ids of the 10 best by whatever it ranks with
//     nearest(vector)           ids of the 10 nearest; absent where it has no vectors, or recall is just that
//     memory()                  bytes of RAM of the process that holds the data
//     close()                   everything is on disk
// `vectorOf(text)` stands in for an embedding model where the peer insists on calling one.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const K = 10;
export const DIMENSIONS = 256;

/** The version that is installed, undefined if none is. */
export function versionOf(name) {
  try {
    const file = new URL(`./node_modules/${name}/package.json`, import.meta.url);
    return JSON.parse(readFileSync(file, 'utf8')).version;
  } catch {
    return undefined;
  }
}

export function pathOf(inside) {
  return fileURLToPath(new URL(`./node_modules/${inside}`, import.meta.url));
}

/** The bytes of a vector, as SQLite's relatives want them. */
export function bytesOf(vector) {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

export function ownMemory() {
  return process.memoryUsage().rss;
}
