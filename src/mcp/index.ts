/**
 * The Model Context Protocol: offers a memory to agents as tools, resources and prompts, from your own program.
 * `salience mcp` and `salience serve` do this without code.
 *
 * @module
 */

export type { DialectName, ToolChoice } from './dialects.ts';
export { createMcpHttpHandler } from './http.ts';
export { createMcpServer, type McpOptions } from './server.ts';
