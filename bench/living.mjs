// The cost of decay and reinforcement: expansion over many links, tracking, and maintenance, against the same recall
// without them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMemory } from '../dist/index.js';
import { createSqliteStore } from '../dist/stores/sqlite/index.js';
import { makeMemories, makeQueries, seeded } from './data.mjs';
import { round, timeEach } from './measure.mjs';

const now = Date.UTC(2026, 0, 1);
const clock = () => now;

export async function benchLiving(log, { memories = 10_000, links = 100_000, maintained = 100_000 } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'salience-living-'));
  try {
    const linked = await benchLinked(directory, memories, links, log);
    const maintenance = await benchMaintenance(directory, maintained, log);
    return { ...linked, maintenance };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function benchLinked(directory, count, links, log) {
  const memory = await openMemory({ path: directory, space: 'default', clock });
  const made = makeMemories(count, now);
  for (let at = 0; at < count; at += 1000) await memory.rememberMany(made.slice(at, at + 1000));
  await memory.close();
  await addLinks(directory, made, links);
  const open = await openMemory({ path: directory, space: 'default', clock });
  const queries = makeQueries(200);
  const recall = {};
  for (const [name, options] of [
    ['hybrid without expansion', { association: 'none' }],
    ['hybrid with lent relevance', {}],
    ['retention without expansion or effects', { strategy: 'retention', association: 'none', track: false }],
    ['retention with expansion', { strategy: 'retention', track: false }],
    [
      'retention without expansion, with effects',
      { strategy: 'retention', association: 'none', sessionId: 'bench' },
    ],
    ['retention with expansion and effects', { strategy: 'retention', sessionId: 'bench' }],
  ]) {
    // Warms up: the links it has walked are in memory, as in a process that has been used before.
    for (const query of queries) await open.recall(query, { ...options, track: false });
    recall[name] = await timeEach(queries, (query) => open.recall(query, options));
    log(name, recall[name]);
  }
  await open.close();
  const p50 = (name) => recall[name].p50;
  const figures = {
    memories: count,
    links,
    recall,
    expansionRatio: round(p50('hybrid with lent relevance') / p50('hybrid without expansion')),
    effectsMs: round(
      p50('retention without expansion, with effects') - p50('retention without expansion or effects'),
    ),
  };
  log('expansion ratio, effects ms', [figures.expansionRatio, figures.effectsMs]);
  return figures;
}

/** Stated links of random weights, most of them too weak or just strong enough to be followed. */
async function addLinks(directory, memories, links) {
  const random = seeded(5);
  const store = createSqliteStore({ directory });
  const space = await store.openSpace('default');
  const pick = () => memories[Math.floor(random() * memories.length)].id;
  for (let done = 0; done < links; done += 5000) {
    const changes = Array.from({ length: Math.min(5000, links - done) }, () => {
      const [a, b] = [pick(), pick()];
      const ids = a < b ? [a, b] : [b, a];
      return { kind: 'link', link: { ids, kind: 'stated', weight: 0.1 + 0.5 * random(), at: now } };
    }).filter(({ link }) => link.ids[0] !== link.ids[1]);
    await space.write({ verb: 'link', at: now }, async () => ({ changes, result: undefined }));
  }
  await space.close();
  await store.close();
}

async function benchMaintenance(directory, count, log) {
  const memory = await openMemory({ path: directory, space: 'maintained', clock });
  const made = makeMemories(count, now, 4);
  for (let at = 0; at < count; at += 5000) await memory.rememberMany(made.slice(at, at + 5000));
  const results = [];
  for (const run of ['first run', 'second run']) {
    const started = performance.now();
    const report = await memory.maintain();
    const seconds = round((performance.now() - started) / 1000);
    results.push({ run, seconds, examined: report.examined, cooled: report.cooled.length });
    log(`maintenance, ${run}`, results.at(-1));
  }
  await memory.close();
  return results;
}
