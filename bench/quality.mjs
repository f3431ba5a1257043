// How well recall finds what is asked for, on the datasets in $SALIENCE_DATA.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export function benchQuality(directory, log) {
  const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
  const files = ['locomo-dev', 'beam-dev', 'cranfield'].map((name) => join(directory, `${name}.jsonl.gz`));
  const args = [main, 'eval', ...files, '--strategy', 'hybrid,bm25,vector', '--k', '1,5,10,20', '--json'];
  const result = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (result.status !== 0) throw new Error(result.stderr);
  const { results } = JSON.parse(result.stdout);
  for (const each of results) log(`${each.dataset} ${each.strategy}`, { n: each.n, ...each.metrics });
  return results;
}
