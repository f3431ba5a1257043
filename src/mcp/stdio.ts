import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { pipeline, Transform, type TransformCallback } from 'node:stream';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { ProtocolErrorCode, parseJSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { logLineOf } from '../api/index.ts';
import { LONGEST_BATCH } from '../domain/arguments.ts';
import type { MemoryEngine } from '../index.ts';
import { createMcpServer, type McpOptions } from './server.ts';
import { createUnderWay } from './under-way.ts';

/** Most bytes of a message. The transport would end the connection at a longer one. */
const MOST_BYTES = 10 * 1024 * 1024;

/** Milliseconds for answering earlier requests after the client has closed its end. */
const LAST_ANSWERS = 10_000;

/** Bytes of unread answers above which no further request is taken; also the bytes of requests that may wait then. */
const MOST_UNREAD = 16 * 1024 * 1024;

/**
 * Serves one client over stdin and stdout, until the client closes its end or `signal` aborts. Requests from before the
 * close are answered first, within ten seconds. Answers that are still unread then remain in stdout.
 */
export async function serveMcpOverStdio(
  memory: MemoryEngine,
  { signal, ...options }: McpOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const { log = () => {} } = options;
  const { stdin, stdout } = process;
  const underWay = createUnderWay();
  const over = new AbortController();
  const limit = once(stdin, 'end', over)
    .then(() => wait(LAST_ANSWERS, undefined, over))
    .catch(() => {});
  const allRead = () => once(stdout, 'drain', over).catch(() => {});
  const messages = messagesOnly({
    onMessage: underWay.heard,
    onFault({ id, code, message }) {
      log(`mcp: ${message} (${code})`);
      if (id === undefined) return;
      stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`);
    },
    async beforeNext() {
      if (!stdout.writableNeedDrain) return;
      // Earlier requests are answered meanwhile, as far as they need not wait.
      await setImmediate();
      if (stdout.writableLength > MOST_UNREAD) await allRead();
    },
    async beforeEnd() {
      await underWay.allAnswered(limit);
      // Waits until everything is written, also what is too little for `drain`: the empty write completes last.
      await new Promise<void>((resolve) => stdout.write('', () => resolve()));
    },
  });
  pipeline(stdin, messages, () => {});
  const transport = new StdioServerTransport(messages);
  // The original `send` would add listeners to stdout for each unread answer.
  transport.send = async (message) => {
    stdout.write(`${JSON.stringify(message)}\n`);
    underWay.said(message);
  };
  const connection = serveStdio(() => createMcpServer(memory, options), {
    transport,
    onerror: (error) => log(`mcp: ${logLineOf(error)}`),
  });
  await new Promise<void>((resolve) => {
    messages.once('end', resolve).once('close', resolve);
    void limit.then(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  await connection.close();
  messages.destroy();
  over.abort();
}

interface Fault {
  /** `undefined`: it is in a notification, which gets no answer. Some clients end the connection at one without an id. */
  readonly id: string | number | null | undefined;
  readonly code: number;
  readonly message: string;
}

interface Reading {
  readonly onMessage: (message: unknown) => void;
  readonly onFault: (fault: Fault) => void;
  /** Awaited before each line. */
  readonly beforeNext: () => Promise<void>;
  /** Awaited at the end of the input, when the transport would abandon requests in progress. */
  readonly beforeEnd: () => Promise<void>;
}

/**
 * Passes on the lines that are valid messages, and reports faults in others, which the transport would silently drop.
 */
function messagesOnly({ onMessage, onFault, beforeNext, beforeEnd }: Reading): Transform {
  let pending: Buffer[] = [];
  let bytes = 0;
  const take = (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > MOST_BYTES) pending = [];
    else pending.push(piece);
  };
  const finish = (to: Transform) => {
    const line = Buffer.concat(pending);
    const read = bytes > MOST_BYTES ? { fault: TOO_LONG } : readLine(line);
    pending = [];
    bytes = 0;
    if (read === undefined) return;
    if ('fault' in read) return onFault(read.fault);
    for (const message of read.messages) onMessage(message);
    to.push(read.line);
  };
  const takeLines = async (chunk: Buffer, to: Transform) => {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      await beforeNext();
      if (to.destroyed) return;
      take(chunk.subarray(start, end + 1));
      start = end + 1;
      finish(to);
    }
    take(chunk.subarray(start));
  };
  return new Transform({
    // A large buffer, because the end of the input is noticed only after everything before it is read.
    writableHighWaterMark: MOST_UNREAD,
    transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback) {
      takeLines(chunk, this).then(() => done(), done);
    },
    flush(done: TransformCallback) {
      // The last line may lack its line break.
      if (bytes > 0) {
        take(Buffer.from('\n'));
        finish(this);
      }
      beforeEnd().then(() => done(), done);
    },
  });
}

/** `id` is null: it was in the part that was not kept. */
const TOO_LONG: Fault = {
  id: null,
  code: ProtocolErrorCode.InvalidRequest,
  message: `Bad Request: the message is longer than ${MOST_BYTES} bytes; send less at a time`,
};

interface Read {
  readonly messages: readonly unknown[];
  /** One message per line, because the transport does not support the batches of protocol version 2025-03-26. */
  readonly line: Buffer;
}

/**
 * Parses a line: a message, or a batch of them, or the fault that the HTTP transport would answer; `undefined` for a
 * blank line.
 */
function readLine(line: Buffer): Read | { readonly fault: Fault } | undefined {
  if (!isUtf8(line)) return notParsed('UTF-8');
  const text = line.toString();
  if (text.trim() === '') return undefined;
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    return notParsed('JSON');
  }
  try {
    if (!Array.isArray(said)) {
      const message = withoutNullParams(said);
      parseJSONRPCMessage(message);
      return {
        messages: [message],
        line: message === said ? line : Buffer.from(`${JSON.stringify(message)}\n`),
      };
    }
    const messages: readonly unknown[] = said.map(withoutNullParams);
    if (messages.length > 0 && messages.length <= LONGEST_BATCH) {
      for (const message of messages) parseJSONRPCMessage(message);
      const lines = messages.map((message) => `${JSON.stringify(message)}\n`);
      return { messages, line: Buffer.from(lines.join('')) };
    }
  } catch {}
  const problem = Array.isArray(said)
    ? `Bad Request: the line is not a batch of 1–${LONGEST_BATCH} valid JSON-RPC messages`
    : 'Bad Request: the line is not a valid JSON-RPC message';
  return { fault: { id: idOf(said), code: ProtocolErrorCode.InvalidRequest, message: problem } };
}

function notParsed(what: string): { readonly fault: Fault } {
  const message = `Parse error: the line is not valid ${what}`;
  return { fault: { id: null, code: ProtocolErrorCode.ParseError, message } };
}

/** Some clients write null where a message has no parameters. */
function withoutNullParams(said: unknown): unknown {
  const { params, ...rest } = (said ?? {}) as { readonly params?: unknown };
  return params === null ? rest : said;
}

function idOf(value: unknown): Fault['id'] {
  const { id, method } = (value ?? {}) as { readonly id?: unknown; readonly method?: unknown };
  if (id === undefined && typeof method === 'string') return undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
