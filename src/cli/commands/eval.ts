import { type Command, Option } from 'commander';
import {
  compareRuns,
  createEvaluationEngine,
  DEFAULT_KS,
  evaluate,
  formatReport,
  readDataset,
} from '../../eval/index.ts';
import { action } from '../context.ts';
import { embedderOf } from '../open.ts';
import { parseList, parseWholeNumbers } from '../options.ts';
import { createProgress } from '../progress.ts';
import { plainBlock } from '../terminal-text.ts';

interface Options {
  readonly strategy: readonly string[];
  readonly k: readonly number[];
}

export const examples = [
  'salience eval questions.jsonl --strategy hybrid,bm25,vector --k 1,5,10',
  'salience eval questions.jsonl --embedder none --strategy bm25 --json',
] as const;

export function configure(command: Command): void {
  command
    .argument('<files...>', 'datasets as JSON Lines, gzipped or not; docs/guides/cli.md describes them')
    .addOption(
      new Option('--strategy <names>', 'strategies to compare, with commas between')
        .argParser(parseList)
        .default(['hybrid', 'bm25', 'vector'], 'hybrid,bm25,vector'),
    )
    .addOption(
      new Option('--k <numbers>', 'depths at which rankings are cut, with commas between')
        .argParser(parseWholeNumbers)
        .default(DEFAULT_KS, DEFAULT_KS.join(',')),
    )
    .action(
      action<Options, [readonly string[]]>(async (context, files) => {
        const { options, signal } = context;
        const progress = createProgress('evaluating', process.stderr);
        await using engine = await createEvaluationEngine({ embedder: await embedderOf(context) });
        try {
          const datasets = [];
          for (const file of files) datasets.push(await readDataset(file, { signal }));
          const runs = await evaluate(
            {
              datasets,
              strategies: options.strategy,
              embedder: options.embedder,
              ks: options.k,
              signal,
              onProgress: (done, total) => progress.update(done, total === 0 ? undefined : done / total),
            },
            engine,
          );
          progress.finish();
          const results = runs.map(({ result }) => result);
          if (options.json) return context.printJson({ results });
          await context.print(plainBlock(formatReport(results, { differences: compareRuns(runs) })));
        } finally {
          progress.finish();
        }
      }),
    );
}
