// What a memory should count for where a context is packed: powers of its score and of its length, and a probability of being
// evidence that is fitted by isotonic regression, on one set and judged on the other. The share of the evidence of a question
// that is packed, on the conversations in $SALIENCE_DATA; docs/decisions/0067-evidence-as-a-probability.md decides by it.
import { join } from 'node:path';
import { pack } from '../build/context/pack.js';
import { bootstrapIntervals } from '../build/fit/bootstrap.js';
import { readDataset } from '../dist/eval/index.js';
import { loadTokenCounter, openMemory } from '../dist/index.js';
import { round } from './measure.mjs';

const SETS = ['locomo-dev', 'beam-dev'];
const BUDGETS = [1000, 2000];
const SCORE_EXPONENTS = [4, 6, 8, 10];
const LENGTH_EXPONENTS = [0, 0.25, 0.5, 0.75];

export async function benchWorth(directory, log) {
  const sets = {};
  for (const name of SETS) sets[name] = await candidatesOf(join(directory, `${name}.jsonl.gz`));
  return { results: judge(sets, log) };
}

/** For each question its first 100 hits, best first, with the tokens that each takes, and whether it is evidence. */
async function candidatesOf(file) {
  const { spaces } = await readDataset(file);
  const tokenCounter = await loadTokenCounter();
  const questions = [];
  for (const [space, { memories, queries }] of spaces) {
    const memory = await openMemory({
      ...{ path: ':memory:', space, tokenCounter, maxContentBytes: Number.POSITIVE_INFINITY },
    });
    const last = new Date(memories.reduce((latest, { createdAt }) => Math.max(latest, createdAt), 0));
    const inputs = memories.map(({ session, createdAt, ...fields }) => ({
      ...fields,
      sessionId: session,
      createdAt: new Date(createdAt),
    }));
    for (let start = 0; start < inputs.length; start += 1000) {
      await memory.rememberMany(inputs.slice(start, start + 1000), { now: last });
    }
    for (const { query, relevant, type, now } of queries) {
      if (type === 'adversarial' || relevant.length === 0) continue;
      const at = { now: new Date(now), track: false };
      const { hits } = await memory.recall(query, { ...at, limit: 100 });
      const all = { maxTokens: 10_000_000, shares: 'none', duplicates: 'keep', packing: 'greedy' };
      const { items, tokens } = await memory.context(query, { ...at, ...all });
      const takes = new Map(items.map((item) => [item.id, item.tokens]));
      questions.push({
        frame: tokens - items.reduce((sum, item) => sum + item.tokens, 0),
        evidence: relevant.length,
        candidates: hits.flatMap(({ memory: { id }, score, features }) =>
          takes.has(id)
            ? [
                {
                  id,
                  score: score.value,
                  match: features.match ?? 0,
                  tokens: takes.get(id),
                  isEvidence: relevant.includes(id),
                },
              ]
            : [],
        ),
      });
    }
    await memory.close();
  }
  return questions;
}

/** Every way on every set, and how it differs from score⁶ · tokens^¾, which was shipped first. */
export function judge(sets, log) {
  const results = {};
  for (const name of Object.keys(sets)) {
    const others = Object.keys(sets).filter((other) => other !== name);
    const other = others.flatMap((each) => sets[each]);
    const first = ({ score, tokens }) => score ** 6 * tokens ** 0.75;
    const before = BUDGETS.map((budget) => shares(sets[name], first, budget));
    const row = (way, share) => {
      const values = BUDGETS.map((budget, at) => {
        const found = share(budget);
        const differences = found.map((each, index) => each - before[at][index]);
        const [interval] = bootstrapIntervals([differences], { rounds: 2000 });
        return [
          String(budget),
          {
            share: round(mean(found)),
            difference: round(mean(differences)),
            low: round(interval.low),
            high: round(interval.high),
          },
        ];
      });
      const each = { way, ...Object.fromEntries(values) };
      log(`${name}: ${way}`, Object.fromEntries(values.map(([budget, { share }]) => [budget, share])));
      return each;
    };
    const packed = (way, value) => row(way, (budget) => shares(sets[name], value, budget));
    const fitted = (feature, of) => {
      const probability = isotonic(
        of.flatMap(({ candidates }) => candidates),
        feature,
      );
      return (candidate) => probability(candidate[feature]);
    };
    results[name] = {
      questions: sets[name].length,
      ways: [
        row('plain top k', (budget) => sets[name].map((question) => plain(question, budget))),
        ...SCORE_EXPONENTS.flatMap((s) =>
          LENGTH_EXPONENTS.map((t) =>
            packed(`score^${s} tokens^${t}`, ({ score, tokens }) => score ** s * tokens ** t),
          ),
        ),
        ...['score', 'match'].flatMap((feature) => [
          packed(`isotonic in ${feature}, fitted on the other set`, fitted(feature, other)),
          packed(`isotonic in ${feature}, fitted on this set`, fitted(feature, sets[name])),
        ]),
      ],
    };
  }
  return results;
}

/** The share of its evidence that each question gets. */
function shares(questions, value, budget) {
  return questions.map(({ frame, evidence, candidates }) => {
    const ready = candidates.map((candidate, rank) => ({
      ...{ id: candidate.id, type: 'fact', content: '', at: 0, source: 'stated', rank },
      score: Math.max(1e-12, value(candidate)),
      tokens: candidate.tokens,
      isEvidence: candidate.isEvidence,
    }));
    const { included } = pack(ready, {
      ...{ maxTokens: Math.max(0, budget - frame), duplicates: 'keep', objective: 'score' },
    });
    return included.filter(({ isEvidence }) => isEvidence).length / evidence;
  });
}

/** Down the ranking until something does not fit. */
function plain({ frame, evidence, candidates }, budget) {
  let left = budget - frame;
  let found = 0;
  for (const { tokens, isEvidence } of candidates) {
    if (tokens > left) break;
    left -= tokens;
    if (isEvidence) found++;
  }
  return found / evidence;
}

/** The probability of being evidence as a rising function of a feature: pooling adjacent violators, never quite 0. */
function isotonic(candidates, feature) {
  const blocks = [];
  for (const each of [...candidates].sort((a, b) => a[feature] - b[feature])) {
    blocks.push({ from: each[feature], found: each.isEvidence ? 1 : 0, of: 1 });
    for (;;) {
      const [before, last] = blocks.slice(-2);
      if (!last || before.found / before.of <= last.found / last.of) break;
      blocks.pop();
      before.found += last.found;
      before.of += last.of;
    }
  }
  return (value) => {
    const { found, of } = blocks.findLast(({ from }) => from <= value) ?? blocks[0];
    return (found + 0.02) / (of + 1);
  };
}

function mean(values) {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}
