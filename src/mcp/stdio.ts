import { pipeline, Transform, type TransformCallback } from 'node:stream';
import { ProtocolErrorCode, parseJSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { logLineOf } from '../api/index.ts';
import type { MemoryEngine } from '../index.ts';
import { createMcpServer, type McpOptions } from './server.ts';

/** Bytes of a message, at most: at a longer one the transport would end the connection. */
const MOST_BYTES = 10 * 1024 * 1024;

/** Serves one client over the streams of this process, until it closes its end or `signal` aborts. */
export async function serveMcpOverStdio(
  memory: MemoryEngine,
  options: McpOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const { signal, log = () => {} } = options;
  const messages = messagesOnly(({ id, code, message }) => {
    log(`mcp: ${message} (${code})`);
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`);
  });
  pipeline(process.stdin, messages, () => {});
  const connection = serveStdio(() => createMcpServer(memory, options), {
    transport: new StdioServerTransport(messages),
    onerror: (error) => log(`mcp: ${logLineOf(error)}`),
  });
  await new Promise<void>((resolve) => {
    messages.once('end', resolve).once('close', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  await connection.close();
  messages.destroy();
}

interface Fault {
  readonly id: string | number | null;
  readonly code: number;
  readonly message: string;
}

/** Lets the lines through that are messages, and hands over what is wrong with the others: the transport would drop them. */
function messagesOnly(onFault: (fault: Fault) => void): Transform {
  let pending: Buffer[] = [];
  let bytes = 0;
  const take = (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > MOST_BYTES) pending = [];
    else pending.push(piece);
  };
  return new Transform({
    transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback) {
      let start = 0;
      for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
        take(chunk.subarray(start, end + 1));
        const line = Buffer.concat(pending);
        const fault = bytes > MOST_BYTES ? TOO_LONG : faultIn(line.toString());
        pending = [];
        bytes = 0;
        start = end + 1;
        if (fault) onFault(fault);
        else this.push(line);
      }
      take(chunk.subarray(start));
      done();
    },
  });
}

/** Which request it is stands somewhere in what was not kept. */
const TOO_LONG: Fault = {
  id: null,
  code: ProtocolErrorCode.InvalidRequest,
  message: `Bad Request: the message is longer than ${MOST_BYTES} bytes; send less at a time`,
};

/** What the HTTP transport answers to the same. */
function faultIn(line: string): Fault | undefined {
  if (line.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return {
      id: null,
      code: ProtocolErrorCode.ParseError,
      message: 'Parse error: the line is not valid JSON',
    };
  }
  try {
    parseJSONRPCMessage(value);
    return undefined;
  } catch {
    const message = 'Bad Request: the line is not a valid JSON-RPC message';
    return { id: idOf(value), code: ProtocolErrorCode.InvalidRequest, message };
  }
}

function idOf(value: unknown): string | number | null {
  const { id } = (value ?? {}) as { readonly id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
