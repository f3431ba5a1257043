import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { SalienceError } from '../domain/errors.ts';
import { whyNotUtf8 } from '../import/index.ts';

const RAISE = 'start the server with a higher --body-limit';

export interface BodyLimits {
  /** Most bytes of a body, or of one line of a streamed body. */
  readonly bytes: number;
  /** Milliseconds for the whole body to arrive; for a streamed body, for its next piece. */
  readonly timeout: number;
  /** Whether no option of the server raises the limit of bytes. */
  readonly isFixed?: boolean;
}

/**
 * Bytes that are collected piece by piece. They are copied: a piece would keep the whole block that Node.js read it
 * from, and a client may send a body in pieces of one byte, each of which would take hundreds of bytes.
 */
function createCollected() {
  let block = new Uint8Array(0);
  let length = 0;
  return {
    add(piece: Uint8Array) {
      const needed = length + piece.length;
      if (needed > block.length) {
        const larger = new Uint8Array(Math.max(needed, 2 * block.length));
        larger.set(block.subarray(0, length));
        block = larger;
      }
      block.set(piece, length);
      length = needed;
    },
    bytes: () => block.subarray(0, length),
    clear() {
      block = new Uint8Array(0);
      length = 0;
    },
  };
}

/**
 * Reads the whole body as text. Throws `invalid_argument`, `content_too_large`, `timed_out`, `invalid_text`, `aborted`.
 */
export async function readBody(incoming: IncomingMessage, limits: BodyLimits): Promise<string> {
  refuseEncoding(incoming);
  if (Number(incoming.headers['content-length'] ?? 0) > limits.bytes) throw tooLarge(limits);
  // A destroyed request emits no more events, so the code below would wait for the time limit.
  if (incoming.destroyed) throw cutOff();
  const collected = createCollected();
  let bytes = 0;
  // Events instead of an async iterator, which needs several turns of the event loop even for a short body.
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => end(tooSlow()), limits.timeout);
    const end = (failure?: SalienceError) => {
      clearTimeout(timer);
      incoming.off('data', add).off('end', finish).off('error', fail).off('close', fail);
      if (failure) reject(failure);
      else resolve();
    };
    const finish = () => end();
    const fail = () => end(cutOff());
    const add = (chunk: Uint8Array) => {
      bytes += chunk.length;
      if (bytes > limits.bytes) end(tooLarge(limits));
      else collected.add(chunk);
    };
    incoming.on('data', add).on('end', finish).on('error', fail).on('close', fail);
  });
  return decode(collected.bytes());
}

/**
 * Throws `invalid_argument` for a compressed body. It would be read as broken text, and an import would skip its lines.
 */
function refuseEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return;
  throw new SalienceError(
    'invalid_argument',
    'content-encoding: compressed bodies are not read; send the body as it is, without this header',
    { details: { field: 'content-encoding' } },
  );
}

/** Throws `invalid_argument` for a body on a route that takes none, so that it is not silently ignored. */
export function refuseBody({ headers, method }: IncomingMessage): void {
  const length = headers['content-length'];
  if (headers['transfer-encoding'] === undefined && (length === undefined || Number(length) === 0)) return;
  throw new SalienceError(
    'invalid_argument',
    `body: a ${method} request takes none; write its arguments in the query of the address`,
    { details: { field: 'body' } },
  );
}

/** One line of a streamed body. `number` counts from 1; `reason` says why the line cannot be read. */
export type BodyLine = { readonly number: number } & (
  | { readonly text: string; readonly reason?: undefined }
  | { readonly reason: string }
);

/**
 * Reads a streamed body line by line, without blank lines. A line over the limit is skipped with a `reason`. `before`
 * is awaited for each piece of the body; if it throws, the piece is not read. Throws `invalid_text` for a body in UTF-16,
 * of which no line could be read.
 */
export async function* readBodyLines(
  incoming: IncomingMessage,
  limits: BodyLimits,
  before: () => Promise<unknown>,
): AsyncGenerator<BodyLine, void> {
  refuseEncoding(incoming);
  const pending = createCollected();
  let bytes = 0;
  let number = 0;
  const take = (piece: Uint8Array) => {
    bytes += piece.length;
    if (bytes > limits.bytes) pending.clear();
    else pending.add(piece);
  };
  const finish = function* (): Generator<BodyLine> {
    number++;
    const [line, isTooLong] = [pending.bytes(), bytes > limits.bytes];
    pending.clear();
    bytes = 0;
    if (isTooLong) yield { number, reason: `is longer than the limit of ${limits.bytes} bytes (${RAISE})` };
    else if (!isUtf8(line)) yield { number, reason: 'is not valid UTF-8' };
    else {
      const text = decode(line);
      if (text.trim() !== '') yield { number, text };
    }
  };
  for await (const chunk of piecesOf(incoming, () => limits.timeout)) {
    await before();
    const isFirst = number === 0 && bytes === 0;
    const problem = isFirst ? whyNotUtf8(chunk) : undefined;
    if (problem !== undefined) throw new SalienceError('invalid_text', `the body ${problem}`);
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      take(chunk.subarray(start, end));
      start = end + 1;
      yield* finish();
    }
    take(chunk.subarray(start));
  }
  yield* finish();
}

/**
 * Yields the pieces of a body. Throws `timed_out` if the next one does not arrive within `remaining()` milliseconds.
 */
async function* piecesOf(
  incoming: IncomingMessage,
  remaining: () => number,
): AsyncGenerator<Uint8Array, void> {
  // Destroying the request would also destroy the connection, on which the response must still be sent.
  const pieces: AsyncIterator<Uint8Array> = incoming.iterator({ destroyOnReturn: false });
  let timer: NodeJS.Timeout | undefined;
  try {
    for (;;) {
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(tooSlow()), Math.max(0, remaining()));
      });
      const next = await Promise.race([pieces.next(), late]);
      clearTimeout(timer);
      if (next.done) return;
      yield next.value;
    }
  } catch (cause) {
    if (SalienceError.isInstance(cause)) throw cause;
    throw cutOff(cause);
  } finally {
    clearTimeout(timer);
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new SalienceError('invalid_text', 'the body is not valid UTF-8', { cause });
  }
}

function tooSlow(): SalienceError {
  return new SalienceError('timed_out', 'the body of the request came too slowly');
}

function cutOff(cause?: unknown): SalienceError {
  return new SalienceError('aborted', 'the request ended before its body did', { cause });
}

function tooLarge({ bytes: limit, isFixed }: BodyLimits): SalienceError {
  return new SalienceError(
    'content_too_large',
    `the body is longer than the limit of ${limit} bytes${isFixed ? '' : `; send less at a time, or ${RAISE}`}`,
    { details: { limit } },
  );
}
