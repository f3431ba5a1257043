// The overhead of HTTP over a recall in the same process, and a stress test of a server with many clients at once.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connectMemory } from '../dist/client/index.js';
import { openMemory } from '../dist/index.js';
import { makeMemories, makeQueries } from './data.mjs';
import { round, summary } from './measure.mjs';

const COUNT = 10_000;
const CLIENTS = 200;
const SECONDS = 30;

export async function benchHttp(log) {
  const directory = mkdtempSync(join(tmpdir(), 'salience-bench-'));
  try {
    const now = Date.now();
    const memory = await openMemory({ path: directory, space: 'default' });
    const memories = makeMemories(COUNT, now);
    for (let at = 0; at < COUNT; at += 1000) await memory.rememberMany(memories.slice(at, at + 1000));
    const server = await serve(directory);
    const overhead = await compare(memory, server, log);
    await memory.close();
    const load = await holdOut(directory, server, log);
    return { memories: COUNT, overhead, load };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** `salience serve` as a process of its own, as it is used. */
async function serve(directory) {
  const main = fileURLToPath(new URL('../dist/cli/main.cjs', import.meta.url));
  const args = [main, 'serve', '--port', '0', '--path', directory, '--no-log', '--json'];
  const child = spawn(process.execPath, [...args, '--rate-limit', '100000000'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  const { url, token } = JSON.parse(line);
  return {
    url,
    token,
    async residentMiB() {
      const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
      const [, bytes] = /process_resident_memory_bytes (\d+)/.exec(await response.text());
      return Math.round(Number(bytes) / 2 ** 20);
    },
    async stop() {
      child.kill('SIGTERM');
      const [code] = await once(child, 'close');
      return code;
    },
  };
}

/** Asks the same questions in this process and over HTTP, alternating, so that both meet the same load. */
async function compare(memory, { url, token }, log) {
  const memories = {
    inProcess: memory,
    http: await connectMemory({ url, token, explain: false }),
    httpExplained: await connectMemory({ url, token }),
  };
  const times = { inProcess: [], http: [], httpExplained: [] };
  const queries = makeQueries(50);
  for (let turn = 0; turn < 12; turn++) {
    for (const [name, each] of Object.entries(memories)) {
      for (const query of queries) {
        const started = performance.now();
        await each.recall(query);
        // The first turns warm both processes up.
        if (turn >= 2) times[name].push(performance.now() - started);
      }
    }
  }
  const result = Object.fromEntries(Object.entries(times).map(([name, each]) => [name, summary(each)]));
  const limit = round(result.inProcess.p50 * 1.3 + 1);
  log('recall over http', { ...result, limitP50: limit });
  return { ...result, limitP50: limit, within: result.http.p50 <= limit };
}

/** Many clients that write and ask at once. Every write that was acknowledged must be there afterwards. */
async function holdOut(directory, server, log) {
  const queries = makeQueries(50, 5);
  const written = [];
  const errors = [];
  let recalls = 0;
  const until = performance.now() + SECONDS * 1000;
  const client = async (number) => {
    const memory = await connectMemory(server);
    for (let at = 0; performance.now() < until; at++) {
      try {
        const id = `c${number}-${at}`;
        await memory.remember(`Client ${number} says for the ${at}th time that all is well`, { id });
        written.push(id);
        await memory.recall(queries[(number + at) % queries.length], { limit: 5 });
        recalls++;
        await memory.update(id, { tags: ['seen'] });
      } catch (error) {
        errors.push(String(error.code ?? error));
      }
    }
  };
  const resident = [];
  const clients = Array.from({ length: CLIENTS }, (_, number) => client(number));
  const watching = setInterval(async () => resident.push(await server.residentMiB()), 5000);
  await Promise.all(clients);
  clearInterval(watching);
  resident.push(await server.residentMiB());
  const code = await server.stop();
  const memory = await openMemory({ path: directory, space: 'default', readOnly: true });
  let lost = 0;
  for (const id of written) {
    const found = await memory.get(id);
    if (!found?.tags.includes('seen')) lost++;
  }
  const { memories } = await memory.stats();
  await memory.close();
  const result = {
    clients: CLIENTS,
    seconds: SECONDS,
    writes: written.length,
    recalls,
    errors: errors.length,
    kindsOfErrors: [...new Set(errors)],
    lost,
    memories,
    residentMiB: resident,
    exitCode: code,
  };
  log('many clients', result);
  return result;
}
