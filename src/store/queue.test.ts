import { describe, expect, it } from 'vitest';
import { gate } from '../testing/gate.ts';
import { createQueue, turnWithin } from './queue.ts';

describe('take', () => {
  it('gives a turn that is free, and none while somebody has one or waits for one', async () => {
    const queue = createQueue();
    const first = queue.take();
    expect(first).toBeTypeOf('function');
    expect(queue.take()).toBeUndefined();
    const order: string[] = [];
    const waiting = queue.run(async () => {
      order.push('waited');
    });
    expect(order).toEqual([]);
    first?.();
    await waiting;
    await queue.idle();
    expect(order).toEqual(['waited']);
    queue.take()?.();
    await queue.idle();
    expect(queue.take()).toBeTypeOf('function');
  });

  it('gives one again after a task that failed', async () => {
    const queue = createQueue();
    const working = gate();
    const failing = queue.run(async () => {
      await working.opened;
      throw new Error('on purpose');
    });
    expect(queue.take()).toBeUndefined();
    working.open();
    await expect(failing).rejects.toThrow('on purpose');
    await queue.idle();
    expect(queue.take()).toBeTypeOf('function');
  });
});

describe('turnWithin', () => {
  it('waits for the turn before it, in order', async () => {
    const queue = createQueue();
    const order: number[] = [];
    const turn = async (number: number) => {
      const free = await turnWithin(queue, 60_000);
      order.push(number);
      await Promise.resolve();
      order.push(number);
      free?.();
    };
    await Promise.all([turn(1), turn(2), turn(3)]);
    expect(order).toEqual([1, 1, 2, 2, 3, 3]);
  });
});
