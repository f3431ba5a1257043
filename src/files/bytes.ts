import { closeSync, constants, createReadStream, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import { isatty, ReadStream } from 'node:tty';

/**
 * Opens the bytes of a file. Reads a pipe as a socket, and a terminal as a terminal: the threads that read files would wait
 * for data without end, and even the exit of the process could not interrupt them.
 */
export async function openBytes(path: string, signal: AbortSignal | undefined): Promise<Readable> {
  const found = await stat(path);
  const source = found.isFIFO()
    ? new Socket({ fd: openWaiting(path), writable: false })
    : ((found.isCharacterDevice() ? openTerminal(path) : found.isSocket() ? openSocket(path) : undefined) ??
      createReadStream(path));
  return signal ? addAbortSignal(signal, source) : source;
}

function openTerminal(path: string): Readable | undefined {
  const fd = openWaiting(path);
  if (isatty(fd)) return new ReadStream(fd);
  closeSync(fd);
  return undefined;
}

/**
 * Reads from a socket that this process was started with, such as the stdin of a command that a Node.js program or sshd
 * starts. Linux refuses to open a socket by its path. Returns `undefined` for a path of another kind.
 */
function openSocket(path: string): Readable | undefined {
  const [, number] = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path) ?? [];
  if (number === undefined && path !== '/dev/stdin') return undefined;
  return new Socket({ fd: Number(number ?? 0), writable: false });
}

function openWaiting(path: string): number {
  return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
}

/** How many bytes show whether a file is UTF-16. */
const SAMPLE_BYTES = 1024;

/** How many bytes show whether a file is a zip archive, and whether it is gzipped. */
export const HEAD_BYTES = 4;

/**
 * Returns why the bytes at the start of a file are not UTF-8, as the end of a sentence about the file; `undefined` if they
 * may be. UTF-16 without a byte order mark is often valid UTF-8: its text has a zero in every other byte.
 */
export function whyNotUtf8(bytes: Uint8Array): string | undefined {
  const [first, second, third, fourth] = bytes;
  if (first === 0x50 && second === 0x4b && third === 3 && fourth === 4)
    return 'is a zip archive; unpack it, and import the file in it';
  const hasMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return hasMark || hasZeros(bytes, 0) || hasZeros(bytes, 1)
    ? 'is UTF-16; save the file as UTF-8'
    : undefined;
}

/** Whether most even bytes, or most odd ones, are zero and most others are not. */
function hasZeros(bytes: Uint8Array, start: 0 | 1): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const pairs = Math.floor(sample.length / 2);
  const zeros = [0, 0];
  for (let at = 0; at < 2 * pairs; at++) if (sample[at] === 0) zeros[at % 2]!++;
  return pairs > 0 && zeros[start]! > pairs / 2 && zeros[1 - start]! < pairs / 2;
}
