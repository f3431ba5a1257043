import {
  type CallToolResult,
  type Tool as ListedTool,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { callVerb, failureOf, logLineOf, type VerbContext } from '../api/index.ts';
import { unknown } from '../domain/options.ts';
import type { MemoryEngine } from '../index.ts';
import { readArguments } from './arguments.ts';
import type { ToolChoice } from './dialects.ts';
import type { Tool } from './tool.ts';

const listed = { few: new WeakMap<Tool, ListedTool>(), all: new WeakMap<Tool, ListedTool>() };

/**
 * Describes a tool to clients; with `all` including the schema of its answer. The JSON Schema is created once, because
 * over HTTP every request has its own server.
 */
export function listTool(tool: Tool, tools: ToolChoice): ListedTool {
  const known = listed[tools].get(tool);
  if (known) return known;
  const { name, title, description, input, output, access, destructive, idempotent } = tool;
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: 'input' });
  const made: ListedTool = {
    name,
    title,
    description,
    inputSchema: inputSchema as ListedTool['inputSchema'],
    ...(tools === 'all' ? { outputSchema: z.toJSONSchema(output) as ListedTool['outputSchema'] } : {}),
    annotations: {
      readOnlyHint: access === 'read',
      destructiveHint: destructive,
      idempotentHint: idempotent,
      openWorldHint: false,
    },
  };
  listed[tools].set(tool, made);
  return made;
}

/**
 * Calls a tool. Errors become an answer that tells the model how to fix its call, where it can. Throws the protocol's
 * error for a tool that is not offered.
 */
export async function callTool(
  tools: readonly Tool[],
  { name, arguments: given }: { readonly name: string; readonly arguments?: unknown },
  memory: MemoryEngine,
  contextOf: (input: unknown) => VerbContext,
  log: (line: string) => void,
  mend: (error: unknown) => unknown = (error) => error,
): Promise<CallToolResult> {
  const tool = tools.find((each) => each.name === name);
  if (!tool) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      unknown(
        'tool',
        name,
        tools.map((each) => each.name),
      ),
    );
  }
  try {
    const input = readArguments(tool, given);
    const output = await callVerb(tool, memory, input, contextOf(input));
    return {
      content: [{ type: 'text', text: tool.text(output) }],
      structuredContent: output as Record<string, unknown>,
    };
  } catch (error) {
    const { code, message, mendable } = failureOf(mend(error));
    if (!mendable) log(`${name}: ${logLineOf(error)}`);
    return { content: [{ type: 'text', text: `error ${code}: ${message}` }], isError: true };
  }
}
