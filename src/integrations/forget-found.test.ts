import { describe, expect, test } from 'vitest';
import { type Memory, type MemoryEngine, SalienceError } from '../index.ts';
import { forgetFound } from './forget-found.ts';

const found = [{ id: 'a' }, { id: 'b' }] as unknown as readonly Memory[];

/** A memory whose `forget` throws these errors in order, and whose lists do not change. */
function refusing(...errors: readonly Error[]) {
  const asked: unknown[] = [];
  const memory = {
    forget: async (ids: unknown) => {
      const error = errors[asked.length];
      asked.push(ids);
      if (error) throw error;
    },
  } as unknown as MemoryEngine;
  return { asked, forget: () => forgetFound(memory, async () => found) };
}

const missing = (id: string) => new SalienceError('not_found', `no ${id}`, { details: { id } });

describe('memories that are found but cannot be forgotten', () => {
  test('are searched once more if they are missing, but not forever', async () => {
    const { asked, forget } = refusing(missing('a'));
    await expect(forget()).rejects.toMatchObject({ code: 'not_found', details: { id: 'a' } });
    expect(asked).toEqual([['a', 'b']]);
    expect(await refusing(missing('c')).forget()).toEqual(found);
  });

  test('cause an error for any other reason', async () => {
    for (const error of [new SalienceError('forbidden', 'no'), new Error('the plug is out')]) {
      const { asked, forget } = refusing(error);
      await expect(forget()).rejects.toBe(error);
      expect(asked).toHaveLength(1);
    }
  });
});

test('more memories than a server accepts at once are forgotten in batches', async () => {
  const asked: number[] = [];
  const memory = { forget: async ({ length }: readonly string[]) => asked.push(length) };
  const many = Array.from({ length: 20_001 }, (_, at) => ({ id: `m${at}` })) as unknown as readonly Memory[];
  await forgetFound(memory as unknown as MemoryEngine, async () => many);
  expect(asked).toEqual([10_000, 10_000, 1]);
});
