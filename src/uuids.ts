import type { Instant } from './domain/time.ts';

/** Random bytes are drawn for 256 ids at once, because 4,096 take about as long as 16. */
const ID_BYTES = 16;
const POOL_BYTES = 256 * ID_BYTES;

/**
 * Returns a function that creates UUIDs of version 7 (RFC 9562). Those of the same millisecond ascend in the order in which they
 * are created, so that sorting by id keeps the order of a batch.
 */
export async function createUuids(): Promise<(now: Instant) => string> {
  // Loading the package takes longer than opening a store.
  const { v7 } = await import('uuid');
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  let last: Instant | undefined;
  let sequence = 0;
  return (now) => {
    if (used === POOL_BYTES) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    const random = pool.subarray(used, used + ID_BYTES);
    used += ID_BYTES;
    sequence = now === last ? sequence + 1 : firstSequence(random);
    last = now;
    return v7({ msecs: now, random, seq: sequence });
  };
}

/** Random, in the lower half of the 32 bits, so that two billion ids can follow in the same millisecond. */
function firstSequence(random: Uint8Array): number {
  // Of these bytes, `v7` itself uses only the last six.
  return new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1;
}
