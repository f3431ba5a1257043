import { expect, test } from 'vitest';
import { release } from './release.ts';

test('bytes that are released are empty at once, the first ones and all others', () => {
  for (let each = 0; each < 3; each++) {
    const bytes = new Uint8Array(1000).fill(1);
    release(bytes);
    expect([bytes.length, bytes.buffer.byteLength]).toEqual([0, 0]);
  }
});

test('bytes that share their memory are left alone', () => {
  const whole = new Uint8Array(1000).fill(1);
  const shared = new Uint8Array(new SharedArrayBuffer(10));
  const pooled = Buffer.from('pooled');
  for (const bytes of [whole.subarray(10), whole.subarray(0, 10), shared, pooled]) release(bytes);
  expect(whole.every((byte) => byte === 1)).toBe(true);
  expect(shared).toHaveLength(10);
  expect(pooled.toString()).toBe('pooled');
});
