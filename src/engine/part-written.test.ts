import { expect, test } from 'vitest';
import { ABORTED, SalienceError, type SalienceErrorCode } from '../domain/errors.ts';
import { noteWritten } from '../domain/written.ts';
import { tellingPart } from './part-written.ts';

const error = (code: SalienceErrorCode, message: string, details = {}, cause?: unknown) =>
  new SalienceError(code, message, { details, cause });

const failing = (failure: unknown, wrote = true) =>
  tellingPart('part of it stays', async () => {
    if (wrote) noteWritten();
    throw failure;
  });

const full = error('store_full', 'no space is left; nothing was changed. Free some', { path: 'a.db' });

test('what failed after a write says that a part stays, and not that nothing was changed', async () => {
  await expect(failing(full)).rejects.toMatchObject({
    code: 'store_full',
    message: 'part of it stays: no space is left. Free some',
    details: { path: 'a.db' },
  });
});

test('of a part that was written, the reason why it could not be read is told', async () => {
  const unread = error('store_full', 'this was written; do not write it again', { written: true }, full);
  const told = failing(unread);
  await expect(told).rejects.toMatchObject({ message: 'part of it stays: no space is left. Free some' });
  await expect(told).rejects.not.toHaveProperty('details.written');
});

test.each([
  ['nothing was written', full, false],
  ['it was aborted, of which a caller knows', error('aborted', ABORTED), true],
  ['bytes are not erased yet, which is about the whole', error('store_busy', 'a', { erased: false }), true],
  ['it is no error of ours', new TypeError('a fault'), true],
])('the error stays as it is where %s', async (_, failure, wrote) => {
  await expect(failing(failure, wrote)).rejects.toBe(failure);
});
