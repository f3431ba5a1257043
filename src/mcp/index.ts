/**
 * The Model Context Protocol: a memory as tools, resources and prompts of an agent, in a program of your own.
 * `salience mcp` and `salience serve` need none of it.
 *
 * @module
 */

export type { DialectName, ToolChoice } from './dialects.ts';
export { createMcpHttpHandler } from './http.ts';
export { createMcpServer, type McpOptions } from './server.ts';
