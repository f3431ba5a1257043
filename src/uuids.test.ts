import { expect, it } from 'vitest';
import { createUuids } from './uuids.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

it('creates UUIDs of version 7 that begin with the time', async () => {
  const newId = await createUuids();

  const id = newId(NOW);

  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(NOW);
});

it('creates ids that ascend within a millisecond, more than random bytes are drawn for at once', async () => {
  const newId = await createUuids();

  const ids = Array.from({ length: 1000 }, () => newId(NOW));

  expect(ids).toEqual([...new Set(ids)].sort());
});

it('begins anew at a time that is not the last one, also one before it', async () => {
  const newId = await createUuids();

  const [first, earlier, again] = [newId(NOW), newId(NOW - 1), newId(NOW)];

  expect(earlier < first).toBe(true);
  expect(again).not.toBe(first);
  expect(randomPart(again)).not.toBe(randomPart(first));
});

it('creates ids that share nothing but the time with those of another process', async () => {
  const [one, other] = [await createUuids(), await createUuids()];

  const ids = Array.from({ length: 300 }, () => [one(NOW), other(NOW)]).flat();

  expect(new Set(ids.map(randomPart)).size).toBe(600);
  expect(new Set(ids.map((id) => id.slice(-12, -4))).size).toBeGreaterThan(500);
});

it('uses every bit that may be random: each is 0 and 1 among many ids of many milliseconds', async () => {
  const newId = await createUuids();
  const ids = Array.from({ length: 500 }, (_, at) => newId(NOW + at));

  const ones = ids.map((id) => BigInt(`0x${id.replaceAll('-', '')}`)).reduce((all, id) => all | id);
  const zeros = ids.map((id) => ~BigInt(`0x${id.replaceAll('-', '')}`)).reduce((all, id) => all | id);

  // Without the time, the version, the variant, and the highest bit of the sequence.
  const random = 0x0000_0000_0000_07ff_3fff_ffff_ffff_ffffn;
  expect(ones & zeros & random).toBe(random);
});

function randomPart(id: string): string {
  return id.slice(14);
}
