import { setFlagsFromString } from 'node:v8';
import { expect, test } from 'vitest';
import { liveOnDisk } from '../../testing/live-memory.ts';

setFlagsFromString('--allow-natives-syntax');
const haveSameShape = new Function('a', 'b', 'return %HaveSameMap(a, b)') as (
  a: object,
  b: object,
) => boolean;
const isFast = new Function('a', 'return %HasFastProperties(a)') as (a: object) => boolean;

// An object with a shape of its own takes ten times as long to make, and V8 keeps the shape, with what its getters hold, until it looks
// through all of its memory.
test('the hits of all recalls share their shapes', async () => {
  const { memory, cleanUp } = await liveOnDisk();
  for (let at = 0; at < 12; at++) {
    await memory.remember(`Tea number ${at} is green`, {
      importance: at / 20,
      tags: at % 2 ? ['drink'] : [],
      metadata: at % 3 ? { shelf: at } : {},
      ...(at % 4 ? {} : { title: 'Tea', author: 'Ann', sessionId: 's1' }),
    });
  }
  // The first ones teach V8 what the fields hold.
  for (let at = 0; at < 20; at++) await memory.recall('green tea', { track: false });
  const [first, ...others] = [
    ...(await memory.recall('green tea', { track: false })).hits,
    ...(await memory.recall('tea number', { track: false })).hits,
  ];
  expect(others.length).toBeGreaterThan(10);
  for (const part of [(hit: object) => hit, ...['memory', 'score'].map((name) => partOf(name))]) {
    expect(isFast(part(first!))).toBe(true);
    for (const each of others) expect(haveSameShape(part(first!), part(each))).toBe(true);
  }
  await memory.close();
  await cleanUp();
});

function partOf(name: string): (hit: object) => object {
  return (hit) => (hit as Readonly<Record<string, object>>)[name]!;
}
