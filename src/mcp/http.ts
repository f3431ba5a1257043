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
 * Creates a handler for Streamable HTTP over the memory of one space, for both protocol eras. `fetch` answers a
 * web-standard request. It does not check token, Host or Origin: the program that mounts it must check them, and create
 * one handler per space and right.
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
  // Servers are created per request. Without this check, invalid options would fail only then.
  checkMcpOptions(memory, rest, 'createMcpHttpHandler');
  if (maxBodyBytes !== undefined) wholeNumber(maxBodyBytes, 'maxBodyBytes', 1, Number.MAX_SAFE_INTEGER);
  const { log = () => {} } = rest;
  return createMcpHandler(() => serverOfOneRequest(memory, rest), {
    onerror: faultsTo(log),
    ...(maxBodyBytes === undefined ? {} : { maxRequestBodySize: maxBodyBytes }),
  });
}

/**
 * Creates a server that ignores cancellations. One could only arrive in the same batch as its request. The batch waits
 * for all its answers, and a cancelled request gets none.
 */
function serverOfOneRequest(memory: MemoryEngine, options: McpOptions): Server {
  const server = createMcpServer(memory, options);
  server.removeNotificationHandler('notifications/cancelled');
  return server;
}

/** How the SDK's errors about requests begin that it has already refused with the reason. */
const REFUSED = /^(?:Rejected (?:inbound|2025-era) request|Unsupported Media Type)\b/;

function isOfClient(error: Error): boolean {
  return error instanceof ProtocolError && error.code !== ProtocolErrorCode.InternalError;
}

/** Logs server faults. Errors of a client are not logged, because the client was told. */
function faultsTo(log: (line: string) => void): (error: Error) => void {
  return (error) => {
    if (!isOfClient(error) && !REFUSED.test(error.message)) log(`mcp: ${logLineOf(error)}`);
  };
}

/** The grant of the caller, as verified by the server, and the memory restricted to it. */
export interface McpAccess {
  readonly grant: {
    readonly id: string;
    readonly space: string;
    readonly scopes?: readonly string[] | undefined;
    readonly rights: 'read' | 'write' | 'admin';
  };
  readonly memory: MemoryEngine;
}

/** A handler for Streamable HTTP over many spaces. */
export interface McpMount {
  answer(request: Request, access: McpAccess): Promise<Response>;
  /** Ends the open streams. */
  close(): Promise<void>;
}

/**
 * Creates the handler that a server of many spaces mounts. Each request uses the memory that came with it: the one of
 * an earlier request may be closed by now, or belong to another token. It relies on `access` and checks nothing itself.
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
    // The token itself stays with the server.
    answer: (request, access) =>
      handler.fetch(request, {
        authInfo: { token: '', clientId: access.grant.id, scopes: [], extra: { access } },
      }),
    close: () => handler.close(),
  };
}
