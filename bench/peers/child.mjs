// One peer, one phase, in a process of its own, so that its RAM is its own. Forked by ../peers.mjs; answers in one message.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { quantile, round } from '../measure.mjs';
import { DIMENSIONS } from './shared.mjs';

const BATCH = 1000;
const WARM_UP = 20;
const PATIENCE = 3;

const [file, phase, directory, data, limit] = process.argv.slice(2);
const seconds = Number(limit);
const { peer } = await import(`./${file}`);
const result = await (phase === 'ingest' ? ingest() : ask());
const { open: _, isOtherProcess: __, ...about } = peer;
process.send({ ...about, ...result }, () => process.exit(0));

/**
 * From the first batch until everything is closed, and so on disk. Batches start small, and what would take longer than the
 * limit at its pace is given up early.
 */
async function ingest() {
  const memories = withVectors('memories');
  const opened = await peer.open(directory, vectorsByText(memories));
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;
  let done = 0;
  let isTooSlow = false;
  for (let size = 50; done < memories.length && !isTooSlow; size = Math.min(2 * size, BATCH)) {
    await opened.ingest(memories.slice(done, done + size));
    done = Math.min(done + size, memories.length);
    isTooSlow = elapsed() > PATIENCE && (elapsed() / done) * memories.length > seconds;
  }
  await opened.close();
  return { done, perSecond: round(done / elapsed()) };
}

async function ask() {
  const queries = withVectors('queries');
  const started = performance.now();
  const opened = await peer.open(directory, vectorsByText(queries));
  await opened.recall(queries[0]);
  const openMs = round(performance.now() - started);
  const recall = await timed(queries, (query) => opened.recall(query));
  const nearest =
    opened.nearest && (await timed(queries, ({ text, vector }) => opened.nearest(vector, text)));
  const rssMiB = round((await opened.memory()) / 2 ** 20);
  await opened.close();
  return { openMs, rssMiB, recall, nearest };
}

/** As many of the queries as fit into the time, each once, after a warm-up; the answers in the order of the queries. */
async function timed(queries, find) {
  for (const query of queries.slice(0, WARM_UP)) await find(query);
  const times = [];
  const answers = [];
  const cpu = process.cpuUsage();
  const end = performance.now() + 1000 * seconds;
  for (const query of queries) {
    if (times.length > 0 && performance.now() > end) break;
    const before = performance.now();
    answers.push(await find(query));
    times.push(performance.now() - before);
  }
  const { user, system } = process.cpuUsage(cpu);
  return {
    // The mean, of all threads of this process: other load stretches it less than the times.
    ...(!peer.isOtherProcess && { cpu: round((user + system) / 1000 / times.length) }),
    p50: round(quantile(times, 0.5)),
    p99: round(quantile(times, 0.99)),
    n: times.length,
    answers,
  };
}

function withVectors(name) {
  const items = JSON.parse(readFileSync(join(data, `${name}.json`), 'utf8'));
  const bytes = readFileSync(join(data, `${name}.bin`));
  const all = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  return items.map((item, row) => ({
    ...item,
    vector: all.slice(row * DIMENSIONS, (row + 1) * DIMENSIONS),
  }));
}

function vectorsByText(items) {
  const vectors = new Map(items.map(({ content, text, vector }) => [content ?? text, vector]));
  return (text) => {
    const vector = vectors.get(text);
    if (!vector) throw new Error(`no vector was made for the text "${text}"`);
    return vector;
  };
}
