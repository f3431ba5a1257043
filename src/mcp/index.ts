/** The Model Context Protocol: a memory as tools, resources and prompts of an agent. */
export { createMcpHttpHandler, createMcpMount } from './http.ts';
export { createMcpServer, type McpOptions } from './server.ts';
