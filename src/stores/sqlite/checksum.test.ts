import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { insert, replace, start, write } from '../../testing/store-contract/harness.ts';
import { CHECKSUM_FUNCTION, checksumOf } from './checksum.ts';
import { real, type SqlValue } from './driver.ts';
import { createObservedSqliteStore } from './store.ts';

/** The same by its definition: all bytes, then all numbers, then kinds and texts in order. */
function defined(values: readonly SqlValue[]): number {
  const bytes = values.filter((value) => value instanceof Uint8Array);
  const numbers = values.filter((value) => typeof value === 'number').map((value) => value + 0);
  const texts = values.map((value) => {
    if (typeof value === 'string') return `\0"${value}`;
    return value === null ? '\0-' : typeof value === 'number' ? '\0#' : '\0:';
  });
  return crc32(
    Buffer.concat([...bytes, new Uint8Array(Float64Array.from(numbers).buffer), Buffer.from(texts.join(''))]),
  );
}

test('the checksum of a row does not depend on how its texts are encoded', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom('', 'é', '🜍', 'a'.repeat(40), 'a'.repeat(41), `${'a'.repeat(39)}é`),
    fc.constantFrom('x'.repeat(21_845), 'é'.repeat(21_846), '水'.repeat(70_000), '🜍'.repeat(40_000)),
  );
  const value = fc.oneof(text, fc.double({ noNaN: true }), fc.constant(null), fc.uint8Array());
  fc.assert(
    fc.property(fc.array(value, { maxLength: 50 }), (values) => {
      expect(checksumOf(values)).toBe(defined(values));
    }),
  );
});

test('common writes bring their checksums along, and have SQLite compute none', async () => {
  const computed = await callsWhile(0.5);
  expect(computed).toBe(0);
});

test('SQLite computes the checksum of a number that it is given as a text', async () => {
  const number = Number.EPSILON / 3;
  const computed = await callsWhile(number);
  // Of a memory that is made, of one that is changed, and of a link that is made and set again. Only one driver needs a text.
  expect(computed).toBe(typeof real(number) === 'string' ? 4 : 0);
});

/** How often SQLite asks for a checksum while memories and links with this number are written; all rows are sound. */
async function callsWhile(number: number): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'salience-checksum-'));
  let calls = 0;
  try {
    await using store = createObservedSqliteStore({ directory }, ({ database }) =>
      database.function(
        CHECKSUM_FUNCTION,
        { deterministic: true, varargs: true },
        (...values: readonly SqlValue[]) => {
          calls++;
          return checksumOf(values);
        },
      ),
    );
    const space = await store.openSpace('alice');
    await write(space, [
      insert({ id: 'a', content: 'thé à midi', importance: -0, weight: number }, [1, 0, 0]),
    ]);
    await write(space, [insert({ id: 'b', content: 'tea', metadata: { mood: 'calm' } }, [0, 1, 0])]);
    await write(space, [replace({ id: 'a', content: 'tea 🜍', stability: number }, [0, 1, 0])]);
    for (const at of [start, start + 1]) {
      await write(space, [{ kind: 'link', link: { ids: ['a', 'b'], kind: 'stated', weight: number, at } }]);
    }
    const written = calls;
    expect(await space.check()).toEqual([]);
    expect(calls).toBeGreaterThan(written);
    return written;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
