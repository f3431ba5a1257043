import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import type { MemoryEngine } from '../index.ts';
import { logLineOf } from '../verbs/index.ts';
import { createMcpServer, type McpOptions } from './server.ts';

/**
 * Streamable HTTP for the memory of one space, both protocol eras: `fetch` answers a web-standard request. It checks
 * neither token nor Host nor Origin: whoever mounts it does, and makes one for each space and right.
 */
export function createMcpHttpHandler(
  memory: MemoryEngine,
  options: McpOptions & { readonly maxBodyBytes?: number | undefined },
): McpHttpHandler {
  const { maxBodyBytes, log = () => {} } = options;
  return createMcpHandler(() => createMcpServer(memory, options), {
    onerror: (error) => log(`mcp: ${logLineOf(error)}`),
    ...(maxBodyBytes === undefined ? {} : { maxRequestBodySize: maxBodyBytes }),
  });
}
