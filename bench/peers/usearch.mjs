import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import usearch from 'usearch';
import { bytesOf, DIMENSIONS, K, ownMemory, versionOf } from './shared.mjs';

export const peer = {
  name: 'usearch',
  version: versionOf('usearch'),
  what: 'vectors alone, `exactSearch` with one thread, in memory; the vectors are written to a file',
  ranksByVector: true,
  async open(directory) {
    const file = join(directory, 'vectors.bin');
    const isThere = existsSync(file);
    const parts = [];
    let vectors = new Float32Array();
    if (isThere) {
      const bytes = readFileSync(file);
      vectors = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    }
    return {
      ingest(memories) {
        for (const { vector } of memories) parts.push(bytesOf(vector));
      },
      // Keys are rows, and the benchmark numbers its memories by row.
      recall: ({ vector }) =>
        Array.from(
          usearch.exactSearch(vectors, vector, DIMENSIONS, K, usearch.MetricKind.Cos, 1).keys,
          (row) => `m${row}`,
        ),
      memory: ownMemory,
      close() {
        if (!isThere) writeFileSync(file, Buffer.concat(parts));
      },
    };
  },
};
