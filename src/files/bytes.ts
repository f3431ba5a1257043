import { closeSync, constants, createReadStream, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import { isatty, ReadStream } from 'node:tty';

/**
 * Opens the bytes of a file. Reads a pipe as a socket and a terminal as a terminal: the threads that read files would wait
 * for data without end, and even the exit of the process could not interrupt them.
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
