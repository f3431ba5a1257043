// How long an agent waits for `salience mcp`: from the start of the process to its first answer, and to a first recall.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openMemory } from '../dist/index.js';
import { makeMemories } from './data.mjs';
import { summary, timeEach } from './measure.mjs';

const main = fileURLToPath(new URL('../dist/cli/main.cjs', import.meta.url));
const now = Date.UTC(2026, 0, 1);

export async function benchMcp(log, { memories = 10_000, runs = 15 } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'salience-mcp-'));
  try {
    const memory = await openMemory({ path: directory, space: 'default', clock: () => now });
    const made = makeMemories(memories, now);
    for (let at = 0; at < memories; at += 1000) await memory.rememberMany(made.slice(at, at + 1000));
    await memory.close();
    const times = { ready: [], firstRecall: [] };
    let recall;
    for (let run = 0; run <= runs; run++) {
      const server = startServer(directory);
      await server.request('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'bench', version: '1' },
      });
      const ready = performance.now() - server.started;
      const ask = (query) => server.request('tools/call', { name: 'recall', arguments: { query } });
      await ask('coffee');
      const firstRecall = performance.now() - server.started;
      // The first run warms the disk's cache, as a user's second session has it.
      if (run > 0) {
        times.ready.push(ready);
        times.firstRecall.push(firstRecall);
      }
      if (run === runs)
        recall = await timeEach(
          Array.from({ length: 100 }, (_, at) => made[at].content),
          ask,
        );
      await server.end();
    }
    const results = {
      memories,
      readyMs: summary(times.ready),
      firstRecallMs: summary(times.firstRecall),
      recallMs: recall,
    };
    log('stdio server', results);
    return results;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function startServer(directory) {
  const started = performance.now();
  const child = spawn(process.execPath, [main, 'mcp', '--path', directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  let id = 0;
  return {
    started,
    async request(method, params) {
      const answer = new Promise((resolve) => waiting.set(++id, resolve));
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      const message = await answer;
      if (message.error || message.result.isError) throw new Error(JSON.stringify(message));
      return message.result;
    },
    async end() {
      child.stdin.end();
      await ended;
    },
  };
}
