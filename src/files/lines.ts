import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { SalienceError, throwIfAborted } from '../domain/errors.ts';
import { HEAD_BYTES, openBytes, whyNotUtf8 } from './bytes.ts';

/** One line of a text file, without its line break. */
export interface Line {
  /** Counts from 1. */
  readonly number: number;
  readonly text: string;
}

export interface ReadLinesOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Called for a line that is not valid UTF-8; the line is then left out and reading goes on. Default is to throw
   * the error.
   */
  readonly onBadLine?: ((error: SalienceError) => void) | undefined;
  /** The content of the file, if it was read already: a pipe cannot be read twice. */
  readonly content?: string | undefined;
  /** A longer line ends the reading with an error. Default is 64 MiB. */
  readonly maxLineBytes?: number | undefined;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const DEFAULT_MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * Reads the lines of a UTF-8 file one at a time. Decompresses a file that starts with the gzip magic bytes, whatever its
 * name. Drops a byte order mark and carriage returns before line feeds; the last line needs no line feed.
 * Throws `unreadable_file` with `details.file` and, if a line is invalid, `details.line`; `aborted`. A zip archive and
 * a file in UTF-16 are refused as a whole.
 */
export async function* readLines(path: string, options: ReadLinesOptions = {}): AsyncGenerator<Line, void> {
  const maxLineBytes = options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES;
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const pending: Buffer[] = [];
  let pendingBytes = 0;
  let number = 0;

  const finishLine = (): Line | undefined => {
    const bytes = pending.length === 1 ? pending[0]! : Buffer.concat(pending);
    pending.length = 0;
    pendingBytes = 0;
    number++;
    const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
    let text: string;
    try {
      text = decoder.decode(bytes.subarray(0, end));
    } catch (cause) {
      const error = unreadableLine(path, number, 'is not valid UTF-8; save the file as UTF-8', cause);
      if (!options.onBadLine) throw error;
      options.onBadLine(error);
      return undefined;
    }
    return { number, text: number === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text };
  };
  const append = (bytes: Buffer): void => {
    pendingBytes += bytes.length;
    if (pendingBytes > maxLineBytes) {
      throw unreadableLine(path, number + 1, `is longer than ${maxLineBytes} bytes; is this the right file?`);
    }
    pending.push(bytes);
  };

  try {
    const chunks =
      options.content === undefined ? readChunks(path, options.signal) : [Buffer.from(options.content)];
    for await (const chunk of chunks) {
      throwIfAborted(options.signal);
      const isFirst = number === 0 && pendingBytes === 0;
      const problem = isFirst ? whyNotUtf8(chunk) : undefined;
      if (problem !== undefined) {
        throw new SalienceError('unreadable_file', `${path} ${problem}`, { details: { file: path } });
      }
      let start = 0;
      for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
        append(chunk.subarray(start, end));
        start = end + 1;
        const line = finishLine();
        if (line) yield line;
        throwIfAborted(options.signal);
      }
      if (start < chunk.length) append(chunk.subarray(start));
    }
    if (pendingBytes > 0) {
      const line = finishLine();
      if (line) yield line;
    }
  } catch (cause) {
    if (SalienceError.isInstance(cause)) throw cause;
    throwIfAborted(options.signal);
    throw readFailure(path, number + 1, cause);
  }
}

/** The typed error of a line that cannot be used; `problem` completes the sentence "line 7 …". */
export function unreadableLine(path: string, line: number, problem: string, cause?: unknown): SalienceError {
  return new SalienceError('unreadable_file', `${path}: line ${line} ${problem}`, {
    details: { file: path, line },
    cause,
  });
}

/** The typed error of a file or folder that the system refused. */
export function unreadablePath(path: string, cause: unknown): SalienceError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new SalienceError(
    'unreadable_file',
    `${path} cannot be read (${reason}); check that it exists and that you may read it`,
    { details: { file: path }, cause },
  );
}

async function* readChunks(path: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void> {
  const source = await openBytes(path, signal);
  const chunks: AsyncIterator<Buffer> = source[Symbol.asyncIterator]();
  try {
    // A pipe may hand over a single byte first.
    let head = Buffer.alloc(0);
    while (head.length < HEAD_BYTES) {
      const next = await chunks.next();
      if (next.done) break;
      head = Buffer.concat([head, next.value]);
    }
    const rest = async function* () {
      yield head;
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
    };
    if (head[0] !== 0x1f || head[1] !== 0x8b) {
      yield* rest();
      return;
    }
    // A failure on either side destroys the other and surfaces in the loop over the gunzipped bytes.
    yield* pipeline(Readable.from(rest()), createGunzip(), () => {}) as AsyncIterable<Buffer>;
  } finally {
    source.destroy();
  }
}

function readFailure(path: string, line: number, cause: unknown): SalienceError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (!code.startsWith('Z_')) return unreadablePath(path, cause);
  return new SalienceError(
    'unreadable_file',
    `${path}: the gzip data is truncated or damaged in line ${line}; fetch or compress the file again`,
    { details: { file: path, line }, cause },
  );
}
