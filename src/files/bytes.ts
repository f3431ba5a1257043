import { closeSync, constants, createReadStream, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import { isatty, ReadStream } from 'node:tty';

/**
 * The bytes of a file. A pipe is read as a socket is, and a terminal as one: in the threads that read files nothing can
 * end the wait for what is written there, not even the end of the process.
 */
export async function openBytes(path: string, signal: AbortSignal | undefined): Promise<Readable> {
  const found = await stat(path);
  const source = found.isFIFO()
    ? new Socket({ fd: openWaiting(path), writable: false })
    : ((found.isCharacterDevice() ? openTerminal(path) : undefined) ?? createReadStream(path));
  return signal ? addAbortSignal(signal, source) : source;
}

function openTerminal(path: string): Readable | undefined {
  const fd = openWaiting(path);
  if (isatty(fd)) return new ReadStream(fd);
  closeSync(fd);
  return undefined;
}

function openWaiting(path: string): number {
  return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
}
