import { constants, createReadStream, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';

/**
 * The bytes of a file. A pipe is read as a socket is: in the threads that read files nothing can end the wait for its
 * writer, not even the end of the process.
 */
export async function openBytes(path: string, signal: AbortSignal | undefined): Promise<Readable> {
  const source = (await stat(path)).isFIFO()
    ? new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), writable: false })
    : createReadStream(path);
  return signal ? addAbortSignal(signal, source) : source;
}
