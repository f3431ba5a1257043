// The quality of recall on the datasets in $SALIENCE_DATA, and the difference of every strategy from `hybrid`.
import { createEvaluationEngine } from '../dist/eval/index.js';
import { measureSet, SETS } from './evaluation.mjs';

/** The default, the baselines, then the others that take a query. */
const STRATEGIES = ['hybrid', 'bm25', 'vector', 'lexical', 'balanced', 'retention', 'five-factor', 'scoped'];

export async function benchQuality(directory, log) {
  const engine = await createEvaluationEngine({ embedder: 'builtin', workers: 2 });
  const measured = [];
  try {
    for (const name of Object.keys(SETS)) {
      measured.push(await measureSet(name, { directory, strategies: STRATEGIES, engine, log }));
    }
  } finally {
    await engine[Symbol.asyncDispose]();
  }
  return {
    results: measured.flatMap(({ results }) => results),
    differences: measured.flatMap(({ differences }) => differences),
  };
}
