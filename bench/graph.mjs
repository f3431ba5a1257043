// The time of walks over entities and relations, and the cost of following them in a recall.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMemory } from '../build/index.js';
import { makeMemories, makeQueries, seeded } from './data.mjs';
import { timeEach } from './measure.mjs';

const now = Date.UTC(2026, 0, 1);
const NAMES = ['knows', 'works_at', 'part_of', 'lives_in', 'uses'];

/** Statements of relations between entities, and queries that name one of them. */
export async function benchGraph({ entities = 10_000, relations = 100_000 }, log) {
  const directory = mkdtempSync(join(tmpdir(), 'salience-bench-'));
  const random = seeded(7);
  const any = () => Math.floor(random() * entities);
  const nameOf = (at) => `Entity${at}`;
  try {
    const writing = await openMemory({ path: directory, space: 'default', clock: () => now });
    const all = Array.from({ length: entities }, (_, at) => ({
      id: `e${at}`,
      type: 'entity',
      title: nameOf(at),
      content: `entity number ${at}`,
    }));
    const sentences = makeMemories(relations, now);
    for (const sentence of sentences) {
      const from = any();
      const to = (from + 1 + Math.floor(random() * (entities - 1))) % entities;
      const name = NAMES[Math.floor(random() * NAMES.length)];
      sentence.content = `${nameOf(from)} ${name.replace('_', ' ')} ${nameOf(to)}: ${sentence.content}`;
      sentence.relations = [{ from: `e${from}`, name, to: `e${to}` }];
      all.push(sentence);
    }
    for (let at = 0; at < all.length; at += 1000) await writing.rememberMany(all.slice(at, at + 1000));
    await writing.close();
    log('written', { entities, relations });

    const memory = await openMemory({ path: directory, space: 'default', clock: () => now, readOnly: true });
    const ids = Array.from({ length: 200 }, () => `e${any()}`);
    const queries = makeQueries(100).map((query) => `${nameOf(any())} ${query}`);
    await memory.recall(queries[0]);
    const neighbours = {};
    for (const depth of [1, 2]) {
      neighbours[depth] = await timeEach(ids, (id) => memory.neighbours(id, { depth }));
      log(`neighbours, depth ${depth}`, neighbours[depth]);
    }
    const reached = (await memory.neighbours(ids[0], { depth: 2 })).neighbours.length;
    const paths = await timeEach(ids.slice(1), (id) => memory.paths(ids[0], id));
    log('paths', paths);
    const plain = await timeEach(queries, (query) => memory.recall(query));
    log('recall', plain);
    const edges = await timeEach(queries, (query) => memory.recall(query, { include: ['edges'] }));
    log('recall with relations', edges);
    const propagated = await timeEach(queries, (query) =>
      memory.recall(query, { association: { graph: 0.6 } }),
    );
    log('recall along relations', propagated);
    await memory.close();
    return {
      entities,
      relations,
      reachedAtDepth2: reached,
      neighbours,
      paths,
      recall: { plain, edges, propagated },
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
