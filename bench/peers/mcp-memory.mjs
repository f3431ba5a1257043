import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { K, pathOf, versionOf } from './shared.mjs';

export const peer = {
  name: 'MCP reference memory',
  version: versionOf('@modelcontextprotocol/server-memory'),
  what: 'entities that contain the whole query as it stands, unranked; a file, read anew by each search',
  isOtherProcess: true,
  async open(directory) {
    const server = spawn(process.execPath, [pathOf('@modelcontextprotocol/server-memory/dist/index.js')], {
      env: { ...process.env, MEMORY_FILE_PATH: join(directory, 'memory.jsonl') },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const waiting = new Map();
    createInterface({ input: server.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    });
    let last = 0;
    const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const request = async (method, params) => {
      const id = ++last;
      const answer = new Promise((resolve) => waiting.set(id, resolve));
      send({ id, method, params });
      const { result, error } = await answer;
      if (error || result.isError) throw new Error(JSON.stringify(error ?? result.content));
      return result;
    };
    await request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    });
    send({ method: 'notifications/initialized' });
    const call = (name, input) => request('tools/call', { name, arguments: input });
    return {
      ingest: (memories) =>
        call('create_entities', {
          entities: memories.map(({ id, type, content }) => ({
            name: id,
            entityType: type,
            observations: [content],
          })),
        }),
      async recall({ text }) {
        const { structuredContent } = await call('search_nodes', { query: text });
        return structuredContent.entities.slice(0, K).map(({ name }) => name);
      },
      memory: () =>
        1024 * Number(execFileSync('ps', ['-o', 'rss=', '-p', String(server.pid)], { encoding: 'utf8' })),
      async close() {
        const gone = once(server, 'exit');
        server.stdin.end();
        server.kill();
        await gone;
      },
    };
  },
};
