import { describe, expect, it } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import { openMemory } from '../index.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { createIdempotencyKeys } from './idempotency.ts';

const answer = (body: string) => ({ status: 200, headers: {}, body });

describe('idempotency keys', () => {
  it('are kept for a time and up to a number of bytes; the oldest go first', async () => {
    const clock = createFakeClock();
    const keys = createIdempotencyKeys({ keptFor: 1000, bytes: 4000 }, clock.now);
    let works = 0;
    const ask = async (key: string) => {
      const { replayed } = await keys.once(key, key, async () => {
        works++;
        return answer('x'.repeat(500));
      });
      return replayed;
    };
    for (let at = 0; at < 100; at++) expect(await ask(`k${at}`)).toBe(false);
    expect(works).toBe(100);
    expect(await ask('k99')).toBe(true);
    expect(await ask('k97')).toBe(true);
    expect(await ask('k0')).toBe(false);
    clock.advance(1001);
    expect(await ask('k99')).toBe(false);
  });

  it('stay while their work is in progress, however many other requests come', async () => {
    const keys = createIdempotencyKeys({ keptFor: 1000, bytes: 0 }, createFakeClock().now);
    let finish = (_: ReturnType<typeof answer>) => {};
    const slow = () =>
      new Promise<ReturnType<typeof answer>>((resolve) => {
        finish = resolve;
      });
    const first = keys.once('slow', 'request', slow);
    for (let at = 0; at < 10; at++) await keys.once(`k${at}`, 'request', async () => answer('done'));
    const second = keys.once('slow', 'request', async () => answer('done twice'));
    await expect(keys.once('slow', 'other', slow)).rejects.toMatchObject({ code: 'idempotency_conflict' });
    finish(answer('done once'));
    expect(await first).toEqual({ answer: answer('done once'), replayed: false });
    expect(await second).toEqual({ answer: answer('done once'), replayed: true });
  });

  it('do the work for the second request if the first client disconnected', async () => {
    const keys = createIdempotencyKeys({ keptFor: 1000, bytes: 4000 }, createFakeClock().now);
    let leave = (_: unknown) => {};
    const first = keys.once('k', 'r', () => new Promise((_, reject) => (leave = reject)));
    let works = 0;
    const work = async () => answer(`done ${++works}`);
    const [second, third] = [keys.once('k', 'r', work), keys.once('k', 'r', work)];
    leave(new SalienceError('aborted', 'gone'));
    await expect(first).rejects.toMatchObject({ code: 'aborted' });
    expect(await second).toEqual({ answer: answer('done 1'), replayed: false });
    expect(await third).toEqual({ answer: answer('done 1'), replayed: true });
    const failed = keys.once('f', 'r', () => new Promise((_, reject) => (leave = reject)));
    const joined = keys.once('f', 'r', work);
    leave(new SalienceError('store_busy', 'busy'));
    await expect(failed).rejects.toMatchObject({ code: 'store_busy' });
    await expect(joined).rejects.toMatchObject({ code: 'store_busy' });
  });

  it('are free again after a failure', async () => {
    const keys = createIdempotencyKeys({ keptFor: 1000, bytes: 4000 }, createFakeClock().now);
    const fail = async () => Promise.reject(new Error('store is busy'));
    await expect(keys.once('k', 'r', fail)).rejects.toThrow('busy');
    expect(await keys.once('k', 'r', async () => answer('done'))).toEqual({
      answer: answer('done'),
      replayed: false,
    });
  });

  it('do not repeat work that was written before it failed or was aborted', async () => {
    await using memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none' });
    const keys = createIdempotencyKeys({ keptFor: 1000, bytes: 4000 }, createFakeClock().now);
    for (const code of ['aborted', 'store_failed'] as const) {
      const work = async () => {
        await memory.remember(`Prefers ${code}`);
        throw new SalienceError(code, 'afterwards');
      };
      await expect(keys.once(code, 'r', work)).rejects.toMatchObject({ code });
      await expect(keys.once(code, 'r', work)).rejects.toMatchObject({ code: 'already_exists' });
    }
    const used = async () => {
      await memory.markUsed([(await memory.list()).memories[0]?.id ?? '']);
      throw new SalienceError('store_failed', 'afterwards');
    };
    await expect(keys.once('used', 'r', used)).rejects.toMatchObject({ code: 'store_failed' });
    await expect(keys.once('used', 'r', used)).rejects.toMatchObject({ code: 'already_exists' });
    expect((await memory.activity('start')).entries).toHaveLength(3);
  });

  it('do not repeat work if it is unknown whether it was written', async () => {
    const keys = createIdempotencyKeys({ keptFor: 1000, bytes: 4000 }, createFakeClock().now);
    let times = 0;
    const work = async () => {
      times++;
      throw new SalienceError('store_failed', 'the disk is silent', { details: { inDoubt: true } });
    };
    for (let retry = 0; retry < 2; retry++) {
      await expect(keys.once('k', 'r', work)).rejects.toMatchObject({ details: { inDoubt: true } });
    }
    expect(times).toBe(1);
    // Like a write over another server whose caller disconnected meanwhile.
    const gone = async () => {
      throw new SalienceError('aborted', 'gone', { details: { inDoubt: true } });
    };
    const both = [keys.once('gone', 'r', gone), keys.once('gone', 'r', work)];
    for (const each of both) await expect(each).rejects.toMatchObject({ code: 'aborted' });
    await expect(keys.once('gone', 'r', work)).rejects.toMatchObject({ code: 'aborted' });
    expect(times).toBe(1);
  });
});
