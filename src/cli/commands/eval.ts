import { type Command, Option } from 'commander';
import { invalidArgument } from '../../domain/check.ts';
import { verbEntry } from '../../domain/verbs.ts';
import {
  compareRuns,
  createEvaluationEngine,
  type Dataset,
  DEFAULT_KS,
  evaluate,
  formatReport,
  htmlReport,
  PLACEBOS,
  readDataset,
  rowsOf,
  verifyRows,
} from '../../eval/index.ts';
import type { ProfileDefinition } from '../../index.ts';
import { action, type Context } from '../context.ts';
import { jobsFor, parseJobs } from '../jobs.ts';
import { embedderOf } from '../open.ts';
import { parseList, parsePositive, parsePositives, parseWholeNumber } from '../options.ts';
import { checkOutputs, writeFileAtomically } from '../output-file.ts';
import { isProfileFile, readDefinition } from '../profile-file.ts';
import { createProgress } from '../progress.ts';
import { plainBlock, plainLine } from '../terminal-text.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';
import { readVersion } from '../version.ts';

interface Options {
  readonly strategy?: readonly string[] | undefined;
  readonly baseline?: string | undefined;
  readonly placebo?: boolean | undefined;
  readonly k: readonly number[];
  readonly tokens?: number | undefined;
  readonly seed: number;
  readonly jobs?: number | undefined;
  readonly rows?: string | undefined;
  readonly html?: string | undefined;
  readonly verify?: string | undefined;
}

/** The options, with default strategies if none were named. */
interface Chosen extends Options {
  readonly strategy: readonly string[];
  readonly embedder: string;
}

export const examples = [
  'salience eval questions.jsonl --strategy hybrid,bm25,vector --k 1,5,10',
  'salience eval questions.jsonl --strategy hybrid,bm25 --baseline bm25 --placebo --html report.html',
  'salience eval questions.jsonl --strategy bm25 --rows rows.jsonl',
  'salience eval questions.jsonl --verify rows.jsonl',
  'salience eval questions.jsonl --embedder none --strategy bm25 --json',
] as const;

/** The options of a recall that an evaluation also takes. */
const FLOORS = ['minScore', 'minRelevance'];
const STRATEGIES = ['hybrid', 'bm25', 'vector'];
/** The strategies that rank without an embedder. */
const BY_WORDS = ['hybrid', 'bm25'];
const NOT_FLOORS = Object.keys(verbEntry('recall').arguments ?? {}).filter((name) => !FLOORS.includes(name));
/** Most problems of a file of rows that are shown. */
const MOST_PROBLEMS = 20;

export function configure(command: Command): void {
  command
    .argument(
      '<files...>',
      'datasets as JSON Lines, gzipped or not; docs/guides/evaluation.md describes them',
    )
    .addOption(
      new Option(
        '--strategy <names>',
        'strategies, or JSON files of profiles, to compare, with commas between (default: hybrid,bm25,vector; without an embedder hybrid,bm25)',
      ).argParser(parseList),
    )
    .option(
      '--baseline <name>',
      'strategy, or JSON file of a profile, to compare the others with (default: the first strategy)',
    )
    .option('--placebo', 'also rank at random and by date, to show what chance gives')
    .addOption(
      new Option('--k <numbers>', 'depths at which rankings are cut, with commas between')
        .argParser(parsePositives)
        .default(DEFAULT_KS, DEFAULT_KS.join(',')),
    )
    .option(
      '--tokens <number>',
      'also build a context of at most this many tokens for each question, and report its size',
      parsePositive,
    );
  addVerbOptions(command, 'recall', ...NOT_FLOORS)
    .addOption(
      new Option('--seed <number>', 'seed of intervals, tests and placebos')
        .argParser(parseWholeNumber)
        .default(1),
    )
    .option(
      '--jobs <number>',
      'threads that share the spaces; use 1 for undisturbed latencies (default: one per core, at most 4)',
      parseJobs,
    )
    .option('--rows <file>', 'write the results for each question to this file, as JSON Lines; replaces it')
    .option('--html <file>', 'write a report with plots: one HTML file that opens offline; replaces it')
    .option('--verify <file>', 'recompute the rows and summaries of this file instead of evaluating')
    .action(
      action<Options, [readonly string[]]>(async (context, files) => {
        const datasets: Dataset[] = [];
        for (const file of files) datasets.push(await readDataset(file, { signal: context.signal }));
        // The figures of an empty dataset would look like good ones.
        if (
          datasets.every(({ spaces }) => [...spaces.values()].every(({ queries }) => queries.length === 0))
        ) {
          throw invalidArgument(
            'files',
            `no question is in ${files.join(', ')}; add lines of the kind "query", or let "salience eval-set" write a dataset`,
          );
        }
        if (context.options.verify !== undefined) return verify(context, context.options.verify, datasets);
        return run(context, files, datasets);
      }),
    );
}

async function run(
  context: Context<Options>,
  files: readonly string[],
  datasets: readonly Dataset[],
): Promise<number> {
  const { signal } = context;
  const options: Chosen = {
    ...context.options,
    strategy: context.options.strategy ?? (context.options.embedder === 'none' ? BY_WORDS : STRATEGIES),
  };
  const named = [...options.strategy, ...(options.baseline === undefined ? [] : [options.baseline])];
  const inputs = [...files, ...named.filter(isProfileFile)];
  await checkOutputs({ '--rows': options.rows, '--html': options.html }, inputs);
  const { strategies, baseline, profiles } = await readStrategies(options);
  const embedder = await embedderOf(context);
  const progress = createProgress('evaluating', process.stderr);
  await using engine = await createEvaluationEngine({
    ...{ embedder, profiles, recall: argumentsOf('recall', options, ...NOT_FLOORS) },
    workers: typeof embedder === 'object' ? 1 : jobsFor(datasets, options.jobs),
  });
  try {
    const runs = await evaluate(
      {
        ...{ datasets, strategies, embedder: options.embedder, ks: options.k, seed: options.seed, signal },
        contextTokens: options.tokens,
        onProgress: (done, total) => progress.update(done, total === 0 ? undefined : done / total),
      },
      engine,
    );
    progress.finish();
    const results = runs.map(({ result }) => result);
    const differences = compareRuns(runs, { baseline, seed: options.seed });
    const about = { command: commandLine(files, options), version: await readVersion(), seed: options.seed };
    const rows = function* () {
      for (const row of rowsOf(runs, { datasets, about })) yield `${JSON.stringify(row)}\n`;
    };
    const page = () => [htmlReport({ ...{ runs, differences, datasets, baseline }, about })];
    const written: string[] = [];
    const failures: unknown[] = [];
    for (const [file, texts] of [[options.rows, rows] as const, [options.html, page] as const]) {
      if (file === undefined) continue;
      // A failed write must not prevent printing the results, which may have taken hours.
      try {
        await writeFileAtomically(file, { replace: true }, async (write) => {
          for (const text of texts()) await write(text);
        });
        written.push(file);
      } catch (error) {
        failures.push(error);
      }
    }
    if (context.options.json) {
      await context.printJson({
        results,
        ...(strategies.length > 1 && {
          differences: differences.map(({ datasetIndex: _, ...each }) => each),
        }),
      });
    } else {
      await context.print(plainBlock(formatReport(results, { differences, width: context.columns })));
      for (const file of written) await context.print(`wrote ${plainLine(file)}`);
    }
    if (failures.length > 0) throw failures[0];
    return 0;
  } finally {
    progress.finish();
  }
}

async function verify(
  context: Context<Options>,
  file: string,
  datasets: readonly Dataset[],
): Promise<number> {
  const { answers, problems } = await verifyRows(file, datasets, { signal: context.signal });
  if (context.options.json) await context.printJson({ answers, problems });
  else if (problems.length === 0) {
    await context.print(`${plainLine(file)}: ${answers} answers and their summaries follow from the dataset`);
  } else {
    for (const { line, problem } of problems.slice(0, MOST_PROBLEMS)) {
      await context.print(`${plainLine(file)}:${line}: ${plainLine(problem)}`);
    }
    const hidden = problems.length - MOST_PROBLEMS;
    if (hidden > 0) await context.print(`and ${hidden} more; --json lists all`);
  }
  return problems.length === 0 ? 0 : 1;
}

/**
 * Returns the names of the strategies, with the baseline first if it is not among them, and the profiles to register.
 */
async function readStrategies({ strategy, ...options }: Chosen): Promise<{
  readonly strategies: readonly string[];
  readonly baseline: string;
  readonly profiles: readonly ProfileDefinition[];
}> {
  const profiles: ProfileDefinition[] = [];
  const nameOf = async (given: string): Promise<string> => {
    if (!isProfileFile(given)) return given;
    const definition = await readDefinition(given);
    profiles.push(definition);
    return definition.name;
  };
  const named: string[] = [];
  for (const given of strategy) named.push(await nameOf(given));
  const isNamed = options.baseline !== undefined && strategy.includes(options.baseline);
  const baseline =
    options.baseline === undefined
      ? (named[0] as string)
      : isNamed
        ? (named[strategy.indexOf(options.baseline)] as string)
        : await nameOf(options.baseline);
  // Placebos come last, because one of them reorders the answers of the first strategy.
  const placebos = PLACEBOS.filter((name) => (options.placebo || name === baseline) && !named.includes(name));
  const isElsewhere = [...named, ...placebos].includes(baseline);
  return {
    strategies: [...(isElsewhere ? [] : [baseline]), ...named, ...placebos],
    ...{ baseline, profiles },
  };
}

/** Returns the command line that reproduces the numbers. */
function commandLine(files: readonly string[], options: Chosen): string {
  const { strategy, baseline, placebo, k, tokens, seed, embedder } = options;
  const word = (text: string) => (/^[\w./:,@=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  return [
    ...['salience eval', ...files.map(word)],
    `--strategy ${word(strategy.join(','))}`,
    ...(baseline === undefined ? [] : [`--baseline ${word(baseline)}`]),
    ...(placebo ? ['--placebo'] : []),
    `--k ${k.join(',')}`,
    ...(tokens === undefined ? [] : [`--tokens ${tokens}`]),
    ...Object.entries(argumentsOf('recall', options, ...NOT_FLOORS)).map(
      ([name, value]) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} ${value}`,
    ),
    `--embedder ${word(embedder)} --seed ${seed}`,
  ].join(' ');
}
