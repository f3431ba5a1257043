import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { logLineOf } from '../api/index.ts';
import type { MemoryEngine } from '../index.ts';
import { createMcpServer, type McpOptions } from './server.ts';

/** Serves one client over the streams of this process, until it closes its end or `signal` aborts. */
export async function serveMcpOverStdio(
  memory: MemoryEngine,
  options: McpOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const { signal, log = () => {} } = options;
  const connection = serveStdio(() => createMcpServer(memory, options), {
    onerror: (error) => log(`mcp: ${logLineOf(error)}`),
  });
  await new Promise<void>((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  await connection.close();
}
