import { SalienceError } from '../domain/errors.ts';
import type { Context } from './context.ts';

/** More than a memory holds, even with text that is removed before it is stored. */
const MOST_CONTENT_BYTES = 2 ** 20;

/** Returns the content from an argument. Without one, or for `-`, reads stdin and drops its last line break. */
export async function contentOf(
  argument: string | undefined,
  context: Pick<Context, 'misused' | 'signal'>,
): Promise<string> {
  if (argument !== undefined && argument !== '-') return argument;
  if (argument === undefined && process.stdin.isTTY) {
    context.misused('content: write it as an argument, or pipe it in');
  }
  const advice = 'far more than a memory holds: write it to a file, and salience import divides it';
  return (await readStdin(context.signal, MOST_CONTENT_BYTES, advice)).replace(/\r?\n$/, '');
}

/**
 * Reads all of stdin. Throws `aborted`, `invalid_text` for anything but UTF-8, and `content_too_large` with `advice`.
 */
export async function readStdin(signal: AbortSignal, maxBytes: number, advice: string): Promise<string> {
  const { addAbortSignal } = await import('node:stream');
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of addAbortSignal(signal, process.stdin)) {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        throw new SalienceError('content_too_large', `stdin is longer than ${maxBytes} bytes, ${advice}`, {
          details: { field: 'stdin', bytes, limit: maxBytes },
        });
      }
      chunks.push(chunk);
    }
  } catch (cause) {
    if (signal.aborted)
      throw new SalienceError('aborted', 'interrupted while reading stdin; nothing was done', { cause });
    throw cause;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new SalienceError('invalid_text', 'stdin is not valid UTF-8; convert it to UTF-8 first', { cause });
  }
}
