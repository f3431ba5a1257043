import { expect, test } from 'vitest';
import { noteWritten, notingWrites } from './written.ts';

test('a write of a part is a write of the whole, which may note it again', async () => {
  const [whole, part, other] = [{ isWritten: false }, { isWritten: false }, { isWritten: false }];
  await notingWrites(whole, async () => {
    await notingWrites(other, async () => undefined);
    await notingWrites(part, async () => noteWritten());
  });
  expect({ whole, part, other }).toEqual({
    whole: { isWritten: true },
    part: { isWritten: true },
    other: { isWritten: false },
  });
});
