import {
  createMcpHandler,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from '@modelcontextprotocol/server';
import { logLineOf } from '../api/index.ts';
import { wholeNumber } from '../domain/check.ts';
import type { MemoryEngine } from '../index.ts';
import { checkMcpOptions, createMcpServer, type McpOptions } from './server.ts';

/**
 * Streamable HTTP for the memory of one space, both protocol eras: `fetch` answers a web-standard request. It checks
 * neither token nor Host nor Origin: the program that mounts it must check them, and create one handler for each space and right.
 *
 * @example
 * ```ts
 * import { openMemory } from 'salience';
 * import { createMcpHttpHandler } from 'salience/mcp';
 *
 * const memory = await openMemory({ path: './memory', space: 'ann' });
 * const handler = createMcpHttpHandler(memory, { version: '1.0.0', access: 'read' });
 * const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
 * const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
 * const request = new Request('http://localhost/mcp', { method: 'POST', headers, body });
 * const { status } = await handler.fetch(request);
 * console.log(status); // 200
 * ```
 */
export function createMcpHttpHandler(
  memory: MemoryEngine,
  options: McpOptions & { readonly maxBodyBytes?: number | undefined },
): McpHttpHandler {
  const { maxBodyBytes, ...rest } = options ?? {};
  // A server is made for each request, too late for whoever wrote the options.
  checkMcpOptions(memory, rest, 'createMcpHttpHandler');
  if (maxBodyBytes !== undefined) wholeNumber(maxBodyBytes, 'maxBodyBytes', 1, Number.MAX_SAFE_INTEGER);
  const { log = () => {} } = rest;
  return createMcpHandler(() => serverOfOneRequest(memory, rest), {
    onerror: faultsTo(log),
    ...(maxBodyBytes === undefined ? {} : { maxRequestBodySize: maxBodyBytes }),
  });
}

/**
 * A server that hears no cancellation: it could only come in one batch with its request, of which every answer is waited
 * for, and what is cancelled gets none.
 */
function serverOfOneRequest(memory: MemoryEngine, options: McpOptions): Server {
  const server = createMcpServer(memory, options);
  server.removeNotificationHandler('notifications/cancelled');
  return server;
}

/** How the SDK begins its errors about requests that it has refused with the reason. */
const REFUSED = /^(?:Rejected (?:inbound|2025-era) request|Unsupported Media Type)\b/;

function isOfClient(error: Error): boolean {
  return error instanceof ProtocolError && error.code !== ProtocolErrorCode.InternalError;
}

/** Logs faults. What a client did wrong it has been told, and is none. */
function faultsTo(log: (line: string) => void): (error: Error) => void {
  return (error) => {
    if (!isOfClient(error) && !REFUSED.test(error.message)) log(`mcp: ${logLineOf(error)}`);
  };
}

/** Who asks, as the server that checked the token says it, and the space as far as they may see it. */
export interface McpAccess {
  readonly grant: {
    readonly id: string;
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
 * What a server of many spaces mounts. Each request is answered from the memory that came with it, never from one of an
 * earlier request, which may be closed or another token's by now. It relies on `access` and checks nothing itself.
 */
export function createMcpMount(
  options: Omit<Parameters<typeof createMcpHttpHandler>[1], 'access' | 'confined'>,
): McpMount {
  const { maxBodyBytes, ...rest } = options;
  const { log = () => {} } = rest;
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const { access } = (authInfo?.extra ?? {}) as { readonly access?: McpAccess };
      if (!access) throw new Error('a request reached the handler without its access');
      const { grant, memory } = access;
      return serverOfOneRequest(memory, {
        ...rest,
        access: grant.rights === 'read' ? 'read' : 'write',
        confined: grant.scopes !== undefined,
      });
    },
    {
      onerror: faultsTo(log),
      ...(maxBodyBytes === undefined ? {} : { maxRequestBodySize: maxBodyBytes }),
    },
  );
  return {
    // The token itself is the server's alone.
    answer: (request, access) =>
      handler.fetch(request, {
        authInfo: { token: '', clientId: access.grant.id, scopes: [], extra: { access } },
      }),
    close: () => handler.close(),
  };
}
