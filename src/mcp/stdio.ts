import { pipeline, Transform, type TransformCallback } from 'node:stream';
import { ProtocolErrorCode, parseJSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { logLineOf } from '../api/index.ts';
import type { MemoryEngine } from '../index.ts';
import { createMcpServer, type McpOptions } from './server.ts';

/** Bytes of a line that no line feed ends yet; the transport ends the connection at that length. */
const MOST_PENDING = 10 * 1024 * 1024;

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
  return new Transform({
    transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback) {
      let start = 0;
      for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
        const line = Buffer.concat([...pending, chunk.subarray(start, end + 1)]);
        pending = [];
        bytes = 0;
        start = end + 1;
        const fault = faultIn(line.toString());
        if (fault) onFault(fault);
        else this.push(line);
      }
      pending.push(chunk.subarray(start));
      bytes += chunk.length - start;
      if (bytes > MOST_PENDING) {
        this.push(Buffer.concat(pending));
        pending = [];
        bytes = 0;
      }
      done();
    },
  });
}

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
