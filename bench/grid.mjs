// ./run bench grid: the constants of the hybrid strategy, by leave-one-space-out over development data.
// Every point of the grid is tried for every space, without randomness; what is reported for a space was chosen on the
// others.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDataset, recallAtK } from '../dist/eval/index.js';
import { openMemory } from '../dist/index.js';
import { round } from './measure.mjs';

const shares = [0.25, 0.3, 0.35, 0.4, 0.45, 0.5];
const floors = [0, 0.1, 0.2, 0.3];
const ceilings = [0.8, 0.9, 1];

export async function benchGrid(file, log) {
  const dataset = await readDataset(file);
  const grid = shares.flatMap((share) =>
    floors.flatMap((floor) => ceilings.map((ceiling) => ({ share, floor, ceiling }))),
  );
  const spaces = [];
  for (const [name, { memories, queries }] of dataset.spaces) {
    const judged = queries.filter(({ type, relevant }) => type !== 'adversarial' && relevant.length > 0);
    spaces.push(await recallsOfSpace(memories, judged, grid));
    log(name, { queries: judged.length });
  }
  const scoreOf = (point, chosen = spaces) => mean(chosen.flatMap((recalls) => recalls[point]));
  const points = grid.map((settings, point) => ({ ...settings, recall: round(scoreOf(point)) }));
  const best = points.reduce((a, b) => (b.recall > a.recall ? b : a));
  const heldOut = spaces.flatMap((recalls) => {
    const others = spaces.filter((other) => other !== recalls);
    const chosen = grid.map((_, point) => scoreOf(point, others));
    return recalls[chosen.indexOf(Math.max(...chosen))];
  });
  const summary = {
    best,
    leaveOneSpaceOut: round(mean(heldOut)),
    within005: points.filter(({ recall }) => recall >= best.recall - 0.005).length,
  };
  log('grid', summary);
  return { metric: 'recall@10 without adversarial', ...summary, points };
}

/** recall@10 of every query, for every point of the grid. */
async function recallsOfSpace(memories, queries, grid) {
  const directory = mkdtempSync(join(tmpdir(), 'salience-grid-'));
  const memory = await openMemory({
    path: directory,
    space: 'default',
    maxContentBytes: Infinity,
    synchronous: 'normal',
  });
  try {
    await memory.rememberMany(
      memories.map(({ id, content, createdAt, type }) => ({
        id,
        content,
        type,
        createdAt: new Date(createdAt),
      })),
    );
    const recalls = grid.map(() => []);
    for (const { query, now, relevant } of queries) {
      for (const [point, { share, floor, ceiling }] of grid.entries()) {
        const parameters = {
          weights: { lexical: 1 - share, vector: share },
          similarityFloor: floor,
          similaritySpan: ceiling - floor,
        };
        const { hits } = await memory.recall(query, { parameters, association: 'none', now: new Date(now) });
        recalls[point].push(
          recallAtK(
            hits.map((hit) => hit.memory.id),
            new Set(relevant),
            10,
          ),
        );
      }
    }
    return recalls;
  } finally {
    await memory.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function mean(values) {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}
