import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { ABORTED, SalienceError } from '../domain/errors.ts';
import { openBytes, whyNotUtf8 } from '../files/bytes.ts';
import { unreadablePath } from '../files/lines.ts';
import { findUnexpectedToken } from './json-error.ts';

/** A document is read as a whole, and a string of Node.js holds at most 2^29 − 24 characters. */
const MAX_BYTES = 500 * 1024 * 1024;

/**
 * Reads the text of a UTF-8 file without its byte order mark. A file that starts with the gzip magic bytes is
 * gunzipped. Throws `unreadable_file`.
 */
export async function readWholeText(
  path: string,
  options: { readonly signal?: AbortSignal | undefined; readonly maxBytes?: number | undefined } = {},
): Promise<string> {
  const { signal, maxBytes = MAX_BYTES } = options;
  const tooLarge = () =>
    unreadable(
      path,
      `is larger than ${maxBytes} bytes, and a JSON document is read as a whole; split its list into several files, or use JSON Lines`,
    );
  let bytes: Buffer;
  try {
    if ((await stat(path)).size > maxBytes) throw tooLarge();
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of await openBytes(path, signal)) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
    bytes = Buffer.concat(chunks);
  } catch (cause) {
    if (SalienceError.isInstance(cause)) throw cause;
    if (signal?.aborted) {
      throw new SalienceError('aborted', ABORTED, { cause });
    }
    throw unreadablePath(path, cause);
  }
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    bytes = await promisify(gunzip)(bytes, { maxOutputLength: maxBytes }).catch((cause: unknown) => {
      if (cause instanceof RangeError) throw tooLarge();
      throw unreadable(path, 'the gzip data is truncated or damaged; fetch the file again', cause);
    });
  }
  const problem = whyNotUtf8(bytes);
  if (problem !== undefined) throw unreadable(path, problem);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw unreadable(path, 'is not valid UTF-8; save the file as UTF-8', cause);
  }
}

/** Throws `unreadable_file` with `details.line` and `details.column`, both counted from 1. */
export function parseDocument(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const position = positionOf(cause, text);
    const lines = text.slice(0, position).split('\n');
    const [line, column] = [lines.length, (lines.at(-1) ?? '').length + 1];
    const problem =
      position >= text.trimEnd().length
        ? `ends too early, in line ${line}; it was cut off: export or fetch it again`
        : `is not valid JSON from line ${line}, column ${column} on; export it again, or mend it there`;
    throw new SalienceError('unreadable_file', `${path} ${problem}`, {
      details: { file: path, line, column },
    });
  }
}

/** Returns where the parser failed. Its own message is not passed on, because it quotes the file. */
function positionOf(error: unknown, text: string): number {
  const message = error instanceof Error ? error.message : '';
  if (message.startsWith('Unterminated')) return text.length;
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? findUnexpectedToken(text) : Number(position);
}

function unreadable(path: string, problem: string, cause?: unknown): SalienceError {
  return new SalienceError('unreadable_file', `${path} ${problem}`, { details: { file: path }, cause });
}
