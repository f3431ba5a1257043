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
  { name, arguments: input }: { readonly name: string; readonly arguments?: unknown },
  memory: MemoryEngine,
  context: VerbContext,
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
    const output = await callVerb(tool, memory, withoutNulls(tool, input), context);
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

/**
 * Leaves out optional arguments that are null, except where null is a value of the argument. Some clients, and many
 * models, write null for every argument that they do not use.
 */
function withoutNulls({ input: { shape } }: Tool, input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input;
  const isAbsent = (name: string, value: unknown) => {
    const schema = value === null && Object.hasOwn(shape, name) ? shape[name] : undefined;
    return schema && z.safeParse(schema, undefined).success && !z.safeParse(schema, null).success;
  };
  return Object.fromEntries(Object.entries(input).filter(([name, value]) => !isAbsent(name, value)));
}
