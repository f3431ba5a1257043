// How much of the evidence fits into a context of a given size, on locomo-dev: packed exactly, by rank, and as plain
// top k.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDataset } from '../dist/eval/index.js';
import { loadTokenCounter, openMemory } from '../dist/index.js';

const BUDGETS = [1000, 2000];
/** The ways to pack, all without the relevance floor. `plain` takes hits by rank until one does not fit. */
const WAYS = {
  optimal: {},
  greedy: { packing: 'greedy' },
  'optimal, shares guaranteed': { shares: 'guaranteed' },
  'greedy, shares guaranteed': { packing: 'greedy', shares: 'guaranteed' },
  'optimal by plain score': { objective: 'score' },
};

export async function benchContext(directory, log) {
  const dataset = await readDataset(join(directory, 'locomo-dev.jsonl.gz'));
  const found = new Map();
  let questions = 0;
  const add = (tokens, way, share) => {
    const key = `${tokens} ${way}`;
    found.set(key, (found.get(key) ?? 0) + share);
  };
  const counter = await loadTokenCounter();
  for (const [space, { memories, queries }] of dataset.spaces) {
    const path = await mkdtemp(join(tmpdir(), 'salience-bench-'));
    const memory = await openMemory({ path, space, synchronous: 'normal', tokenCounter: counter });
    await load(memory, memories);
    for (const { query, relevant, type, now } of queries) {
      if (type === 'adversarial' || relevant.length === 0) continue;
      questions++;
      const at = new Date(now);
      for (const maxTokens of BUDGETS) {
        for (const [way, options] of Object.entries(WAYS)) {
          const { items } = await memory.context(query, {
            maxTokens,
            now: at,
            track: false,
            minRelevance: 0,
            ...options,
          });
          add(
            maxTokens,
            way,
            shareOf(
              items.map(({ id }) => id),
              relevant,
            ),
          );
        }
        // Everything that could be in it, in order of rank, with what each takes.
        const all = await memory.context(query, {
          maxTokens: 1_000_000,
          now: at,
          track: false,
          minRelevance: 0,
          shares: 'none',
          duplicates: 'keep',
          packing: 'greedy',
        });
        add(maxTokens, 'plain top k', shareOf(plain(all, maxTokens), relevant));
      }
    }
    await memory.close();
    await rm(path, { recursive: true });
  }
  const results = Object.fromEntries(
    [...found].map(([key, sum]) => [key, Number((sum / questions).toFixed(4))]),
  );
  log('share of evidence', { questions, ...results });
  return { questions, shareOfEvidence: results };
}

async function load(memory, memories) {
  const last = memories.reduce((latest, { createdAt }) => Math.max(latest, createdAt), 0);
  for (let start = 0; start < memories.length; start += 1000) {
    const inputs = memories.slice(start, start + 1000).map(({ session, createdAt, ...fields }) => ({
      ...fields,
      sessionId: session,
      createdAt: new Date(createdAt),
    }));
    await memory.rememberMany(inputs, { now: new Date(last) });
  }
}

/** The first so many of the ranking that fit. */
function plain({ items, tokens }, maxTokens) {
  const frame = tokens - items.reduce((sum, each) => sum + each.tokens, 0);
  const ranked = [...items].sort((a, b) => b.score.value - a.score.value);
  let left = maxTokens - Math.max(0, frame);
  const taken = [];
  for (const { id, tokens: needed } of ranked) {
    if (needed > left) break;
    left -= needed;
    taken.push(id);
  }
  return taken;
}

function shareOf(ids, relevant) {
  return relevant.filter((id) => ids.includes(id)).length / relevant.length;
}
