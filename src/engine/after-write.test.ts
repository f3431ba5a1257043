import { describe, expect, test } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import { onBehalf, signalOfCaller } from '../store/cancelling.ts';
import { readAfterWrite } from './after-write.ts';

/** Fails so often, then answers with how often it was asked. */
function failing(times: number, code: 'store_failed' | 'store_busy' | 'not_found') {
  let asked = 0;
  return async () => {
    if (++asked <= times)
      throw new SalienceError(code, 'the connection was lost', { details: { place: 'here' } });
    return asked;
  };
}

describe('the result of a committed write', () => {
  test.each(['store_failed', 'store_busy'] as const)('is read again after %s', async (code) => {
    expect(await readAfterWrite(failing(2, code))).toBe(3);
  });

  test.each([
    ['store_failed', 3],
    ['not_found', 1],
  ] as const)('that cannot be read is %s, and says that it was written', async (code, times) => {
    const error = await readAfterWrite(failing(times, code)).catch((each: unknown) => each);
    expect(error).toMatchObject({ code, details: { place: 'here', written: true } });
    expect((error as Error).message).toMatch(
      /^this was written, but .*: the connection was lost; read the data/,
    );
  });

  test('that cannot be read is not said to have changed nothing', async () => {
    const read = () =>
      Promise.reject(
        new SalienceError('timed_out', 'the statement was cancelled; nothing was changed. Raise the timeout'),
      );
    await expect(readAfterWrite(read)).rejects.toThrow(
      /^this was written, but the result could not be read: the statement was cancelled\. Raise the timeout; read/,
    );
  });

  test('is read for a caller who gave up, too', async () => {
    const read = async () => signalOfCaller();
    const signal = AbortSignal.abort();
    expect(await onBehalf(signal, () => readAfterWrite(read))).toBeUndefined();
  });
});
