import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { failureOf, logLineOf, type VerbContext } from '../api/index.ts';
import { callback, checkMemory, flag, list, oneOf, text } from '../domain/check.ts';
import { keysOf, onlyKeys } from '../domain/options.ts';
import type { Clock, MemoryEngine } from '../index.ts';
import { mem } from './dialects/mem.ts';
import { salience } from './dialects/salience.ts';
import { scoped } from './dialects/scoped.ts';
import { DIALECTS, type DialectName, TOOL_CHOICES, type ToolChoice } from './dialects.ts';
import { getPrompt, listPrompts } from './prompts.ts';
import { listResources, readResource, resourceTemplates } from './resources.ts';
import type { Dialect, Tool } from './tool.ts';
import { callTool, listTool } from './tools.ts';

export interface McpOptions {
  /** The version of this package, shown by clients. */
  readonly version: string;
  /** The set of tools under which the memory is offered. Default is `salience`, the engine's own verbs. */
  readonly dialect?: DialectName | undefined;
  /**
   * `few`: what an agent needs from day to day, with short descriptions. `all`: every tool with every parameter and the
   * schema of its answer. Other dialects always offer all their tools. Default is `few`.
   */
  readonly tools?: ToolChoice | undefined;
  /** With `read`, nothing is written, and tools that write are not offered. Default is `write`. */
  readonly access?: 'read' | 'write' | undefined;
  /**
   * Whether the memory is limited to some scopes of its space. Tools that concern the whole space are then not offered.
   * Default is false.
   */
  readonly confined?: boolean | undefined;
  /** Types that `mem_save` accepts besides those of its dialect. */
  readonly types?: readonly string[] | undefined;
  /** Default is the system's clock. */
  readonly clock?: Clock | undefined;
  /** Receives log lines, never with the text of a memory. Default is no log. */
  readonly log?: ((line: string) => void) | undefined;
}

const optionKeys = keysOf<McpOptions>()({
  version: true,
  dialect: true,
  tools: true,
  access: true,
  confined: true,
  types: true,
  clock: true,
  log: true,
});

/** Throws `invalid_argument` for an unknown option or value: a misspelt restriction must not be ignored. */
export function checkMcpOptions(memory: MemoryEngine, options: McpOptions, called: string): void {
  checkMemory(memory);
  onlyKeys(options, optionKeys, called);
  const { version, dialect, tools, access, confined, types, clock, log } = options;
  text(version, 'version');
  if (dialect !== undefined) oneOf(dialect, 'dialect', DIALECTS);
  if (tools !== undefined) oneOf(tools, 'tools', TOOL_CHOICES);
  if (access !== undefined) oneOf(access, 'access', ['read', 'write']);
  if (confined !== undefined) flag(confined, 'confined');
  for (const [at, type] of list(types ?? [], 'types').entries()) text(type, `types[${at}]`);
  if (clock !== undefined) callback(clock, 'clock');
  if (log !== undefined) callback(log, 'log');
}

/**
 * Creates a server of the Model Context Protocol over the memory of one space: tools, resources, prompts. It does not
 * depend on a transport and takes one connection; create one per connection. Throws `invalid_argument` for an unknown
 * option or value.
 *
 * @example
 * ```ts
 * import { openMemory } from 'salience';
 * import { createMcpServer } from 'salience/mcp';
 *
 * const memory = await openMemory({ path: './memory', space: 'ann' });
 * const server = createMcpServer(memory, { version: '1.0.0', tools: 'all' });
 * // Between these lines: await server.connect(transport), with a transport of the SDK.
 * await server.close();
 * ```
 */
export function createMcpServer(memory: MemoryEngine, options: McpOptions): Server {
  checkMcpOptions(memory, options, 'createMcpServer');
  const { version, access = 'write', tools: choice = 'few', confined = false } = options;
  const { clock = Date.now, log = () => {} } = options;
  const dialect = dialectOf(options);
  const readOnly = access === 'read';
  const tools = dialect.tools.filter(
    (tool) => !(readOnly && tool.access === 'write') && !(confined && tool.wholeSpace),
  );
  const contextOf = (signal: AbortSignal, input?: unknown): VerbContext => ({
    signal,
    now: looksBack(input) ? undefined : new Date(clock()),
    readOnly,
  });
  const server = new CheckedServer(
    { name: 'salience', title: 'Salience', version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: instructionsOf(dialect, tools) },
  );

  server.setRequestHandler('tools/list', ({ params }) => {
    onlyPage(params);
    return { tools: tools.map((tool) => listTool(tool, choice)) };
  });
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
    callTool(tools, params, memory, (input) => contextOf(mcpReq.signal, input), log, dialect.mend),
  );
  server.setRequestHandler('resources/templates/list', ({ params }) => {
    onlyPage(params);
    return { resourceTemplates: [...resourceTemplates] };
  });
  server.setRequestHandler('resources/list', ({ params }) => {
    onlyPage(params);
    return guarded('resources/list', log, () => listResources(memory));
  });
  server.setRequestHandler('resources/read', ({ params }, { mcpReq }) =>
    guarded('resources/read', log, () => readResource(memory, params.uri, dialect, contextOf(mcpReq.signal))),
  );
  server.setRequestHandler('prompts/list', ({ params }) => {
    onlyPage(params);
    return { prompts: listPrompts(dialect) };
  });
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq }) =>
    guarded('prompts/get', log, () => getPrompt(params, dialect, memory, contextOf(mcpReq.signal))),
  );
  return server;
}

/**
 * Whether a call asks what was known at a moment. That moment is then its time, unless a time is given: with the present
 * one, what has ended since would be hidden.
 */
function looksBack(input: unknown): boolean {
  const { asOf } = (input ?? {}) as { readonly asOf?: { readonly known?: unknown } | null };
  return asOf?.known !== undefined;
}

/** Answers invalid parameters of a request with `InvalidParams`. The SDK alone would answer with an internal error. */
class CheckedServer extends Server {
  protected override _wrapHandler(
    ...[method, handler]: Parameters<Server['_wrapHandler']>
  ): ReturnType<Server['_wrapHandler']> {
    const wrapped = super._wrapHandler(method, handler);
    return async (request, context) => {
      try {
        return await wrapped(request, context);
      } catch (error) {
        const problem = wrongParams(error);
        throw problem === undefined
          ? error
          : new ProtocolError(ProtocolErrorCode.InvalidParams, `${method}: ${problem}`);
      }
    };
  }
}

/**
 * Formats the issues that the SDK writes as JSON into its error, for tools after a prefix; `undefined` for any other
 * error.
 */
function wrongParams(error: unknown): string | undefined {
  try {
    const listed = (error as Error).message.replace(/^Invalid [a-z/]+ request: /, '');
    const issues = JSON.parse(listed) as readonly {
      readonly path: readonly string[];
      readonly message: string;
    }[];
    return issues
      .map(
        ({ path, message }) => `${path.join('.')}: ${message.replace('expected record', 'expected object')}`,
      )
      .join('; ');
  } catch {
    return undefined;
  }
}

/**
 * Throws for a cursor. Every list is one page, so no cursor was ever returned; some clients send an empty one for the
 * first page.
 */
function onlyPage(params: { readonly cursor?: string | undefined } | undefined): void {
  if (params?.cursor === undefined || params.cursor === '') return;
  const problem = 'cursor: not a cursor of this list, which is one page; leave it out';
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, problem);
}

/** Returns the instructions without the sentences about tools that are not offered. */
function instructionsOf({ instructions, tools }: Dialect, offered: readonly Tool[]): string {
  const missing = tools.filter((tool) => !offered.includes(tool)).map(({ name }) => name);
  if (missing.length === 0) return instructions;
  const named = new RegExp(`\\b(?:${missing.join('|')})\\b`);
  return instructions
    .split(/(?<=\.) /)
    .filter((sentence) => !named.test(sentence))
    .join(' ');
}

function dialectOf({ dialect = 'salience', tools = 'few', types }: McpOptions): Dialect {
  switch (dialect) {
    case 'salience':
      return tools === 'all' ? allOfSalience : fewOfSalience;
    case 'mem':
      return types === undefined || types.length === 0 ? plainMem : mem(types);
    case 'scoped':
      return scoped;
  }
}

const plainMem = mem();
const fewOfSalience = salience('few');
const allOfSalience = salience('all');

/**
 * Converts errors of the engine to those of the protocol, which tell the caller how to fix the request and reveal
 * nothing internal.
 */
async function guarded<Result>(
  method: string,
  log: (line: string) => void,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const { code, message, mendable } = failureOf(error);
    if (!mendable) log(`${method}: ${logLineOf(error)}`);
    throw new ProtocolError(
      mendable ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
      `${code}: ${message}`,
    );
  }
}
