import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hitAtK, ndcgAtK, recallAtK, reciprocalRank } from './metrics.ts';

/** The test data of trec_eval: a run of 500 documents for each of three topics, with the output it must give. */
const data = process.env['SALIENCE_DATA'];

const MEASURES = {
  recall: recallAtK,
  ndcg_cut: ndcgAtK,
  success: hitAtK,
} as const;

async function readRows(file: string): Promise<readonly (readonly string[])[]> {
  const text = await readFile(join(data!, 'trec_eval', file), 'utf8');
  return text
    .split('\n')
    .filter((row) => row.trim() !== '')
    .map((row) => row.trim().split(/\s+/));
}

async function readTopics() {
  const relevant = new Map<string, Set<string>>();
  for (const [topic, , id, level] of await readRows('qrels.test')) {
    if (!relevant.has(topic!)) relevant.set(topic!, new Set());
    if (Number(level) >= 1) relevant.get(topic!)!.add(id!);
  }
  const runs = new Map<string, { id: string; score: number }[]>();
  for (const [topic, , id, , score] of await readRows('results.test')) {
    if (!runs.has(topic!)) runs.set(topic!, []);
    // trec_eval keeps scores in single precision, which decides what is a tie.
    runs.get(topic!)!.push({ id: id!, score: Math.fround(Number(score)) });
  }
  return [...relevant].map(([topic, ids]) => {
    const run = runs.get(topic) ?? [];
    run.sort((left, right) => right.score - left.score || (left.id < right.id ? 1 : -1));
    return { topic, relevant: ids, ranking: run.map(({ id }) => id) };
  });
}

test.skipIf(!data)(
  'the metrics reproduce trec_eval to 4 decimals (skipped unless SALIENCE_DATA names the folder that holds trec_eval/)',
  async () => {
    const topics = await readTopics();
    let compared = 0;
    for (const [name, topic, printed] of await readRows('out.test.aq')) {
      const cut = /^(recall|ndcg_cut|success)_(\d+)$/.exec(name!);
      if (!cut && name !== 'recip_rank') continue;
      const values = topics
        .filter((each) => topic === 'all' || each.topic === topic)
        .map(({ ranking, relevant }) =>
          cut
            ? MEASURES[cut[1] as keyof typeof MEASURES](ranking, relevant, Number(cut[2]))
            : reciprocalRank(ranking, relevant),
        );
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      expect(mean.toFixed(4), `${name} of ${topic}`).toBe(printed);
      compared++;
    }
    // Three topics and their mean × (9 recalls + 9 NDCGs + 3 successes + 1 reciprocal rank).
    expect(compared).toBe(88);
  },
);
