import { afterEach, expect, test } from 'vitest';
import { waitForDisk } from './wait-for-disk.ts';

const failing = (code: string) => ({ sync: () => Promise.reject(Object.assign(new Error(code), { code })) });
const before = Object.getOwnPropertyDescriptor(process, 'permission');

afterEach(() => {
  if (before) Object.defineProperty(process, 'permission', before);
  else Reflect.deleteProperty(process, 'permission');
});

test('a disk that fails is an error, under the permission model too', async () => {
  await expect(waitForDisk(failing('EIO'))).rejects.toMatchObject({ code: 'EIO' });
  await expect(waitForDisk(failing('ERR_ACCESS_DENIED'))).rejects.toMatchObject({
    code: 'ERR_ACCESS_DENIED',
  });
  Object.defineProperty(process, 'permission', { value: {}, configurable: true });
  await expect(waitForDisk(failing('EIO'))).rejects.toMatchObject({ code: 'EIO' });
});

test('where Node.js lets nobody wait for the disk, nobody does', async () => {
  Object.defineProperty(process, 'permission', { value: {}, configurable: true });
  await expect(waitForDisk(failing('ERR_ACCESS_DENIED'))).resolves.toBeUndefined();
});
