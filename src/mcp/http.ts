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

/** Who asks, as the server that checked the token says it, and the space as far as they may see it. */
export interface McpAccess {
  readonly grant: {
    readonly space: string;
    readonly scopes?: readonly string[] | undefined;
    readonly rights: 'read' | 'write' | 'admin';
  };
  readonly memory: MemoryEngine;
}

/** Streamable HTTP for many spaces. */
export interface McpMount {
  answer(request: Request, access: McpAccess): Promise<Response>;
  /** Ends the streams that are open. */
  close(): Promise<void>;
}

/**
 * What a server of many spaces mounts: each space and right has one handler, made at its first request. It relies on
 * `access` and checks nothing itself.
 */
export function createMcpMount(
  options: Omit<Parameters<typeof createMcpHttpHandler>[1], 'access'>,
): McpMount {
  const handlers = new Map<string, McpHttpHandler>();
  return {
    answer(request, { grant: { space, scopes, rights }, memory }) {
      const key = JSON.stringify([space, scopes, rights]);
      const handler =
        handlers.get(key) ??
        createMcpHttpHandler(memory, { ...options, access: rights === 'read' ? 'read' : 'write' });
      handlers.set(key, handler);
      return handler.fetch(request);
    },
    async close() {
      await Promise.all([...handlers.values()].map((each) => each.close()));
    },
  };
}
