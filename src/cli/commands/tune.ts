import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { SalienceError } from '../../domain/errors.ts';
import {
  BALANCES,
  createEvaluationEngine,
  type Dataset,
  gainText,
  OBJECTIVES,
  type Objective,
  readDataset,
  type TuneResult,
  type TuneState,
  tune,
  tunedProfile,
} from '../../eval/index.ts';
import { builtinProfile, defineProfile } from '../../scoring/index.ts';
import { action, type Context } from '../context.ts';
import { jobsFor, parseJobs } from '../jobs.ts';
import { embedderOf } from '../open.ts';
import { parseList, parseWholeNumber } from '../options.ts';
import { checkNotThere, checkOutputs, writeFileAtomically } from '../output-file.ts';
import { isProfileFile, readDefinition } from '../profile-file.ts';
import { createProgress } from '../progress.ts';
import { formatTable } from '../table.ts';
import { plainLine } from '../terminal-text.ts';
import { plural } from '../units.ts';
import { readVersion } from '../version.ts';

interface Options {
  readonly profile: string;
  readonly parameters?: readonly string[] | undefined;
  readonly objective: Objective;
  readonly balance: (typeof BALANCES)[number];
  readonly excludeTypes?: readonly string[] | undefined;
  readonly seed: number;
  readonly jobs?: number | undefined;
  readonly state?: string | undefined;
  readonly out?: string | undefined;
  readonly force?: boolean | undefined;
}

export const examples = [
  'salience tune questions.jsonl --out tuned.json',
  'salience tune questions.jsonl --parameters weights.context,cues.role --objective recall@10',
  'salience eval questions.jsonl --strategy tuned.json --baseline hybrid',
] as const;

export function configure(command: Command): void {
  command
    .argument(
      '<files...>',
      'datasets as JSON Lines, gzipped or not; docs/guides/evaluation.md describes them',
    )
    .option('--profile <name>', 'strategy, or JSON file of a profile, whose parameters are tuned', 'hybrid')
    .addOption(
      new Option(
        '--parameters <names>',
        'numeric parameters, with commas between (default: all that begin with weights. or cues.)',
      ).argParser(parseList),
    )
    .addOption(new Option('--objective <name>', 'what to maximise').choices(OBJECTIVES).default('ndcg@10'))
    .addOption(
      new Option('--balance <name>', 'what is weighted equally: types of questions, datasets, or questions')
        .choices(BALANCES)
        .default('types'),
    )
    .addOption(
      new Option(
        '--exclude-types <names>',
        'types of questions to leave out, with commas between (default: adversarial)',
      ).argParser(parseList),
    )
    .addOption(
      new Option('--seed <number>', 'seed of the search, the placebo and intervals')
        .argParser(parseWholeNumber)
        .default(1),
    )
    .option('--jobs <number>', 'threads that read the data (default: one per core, at most 4)', parseJobs)
    .option('--state <file>', 'keep finished fits in this file, and continue from it')
    .option('--out <file>', 'write the tuned profile to this file, if the gain is certain')
    .option('--force', 'write it even if the gain is not certain, and replace the file if it exists')
    .addHelpText(
      'after',
      '\nIt ends with 1 when the gain on questions that a fit had not seen is not certain; nothing is written then.',
    )
    .action(action<Options, [readonly string[]]>(run));
}

async function run(context: Context<Options>, files: readonly string[]): Promise<number> {
  const { options, signal } = context;
  const inputs = [...files, ...(isProfileFile(options.profile) ? [options.profile] : [])];
  await checkOutputs({ '--state': options.state, '--out': options.out }, inputs);
  if (options.out !== undefined && !options.force) await checkNotThere(options.out);
  const datasets: Dataset[] = [];
  for (const file of files) datasets.push(await readDataset(file, { signal }));
  const definition = isProfileFile(options.profile) ? await readDefinition(options.profile) : undefined;
  const profile = definition ? defineProfile(definition) : builtinProfile(options.profile);
  const embedder = await embedderOf(context);
  const progress = createProgress('tuning', process.stderr);
  await using engine = await createEvaluationEngine({
    ...{ embedder, profiles: definition ? [definition] : [] },
    workers: typeof embedder === 'object' ? 1 : jobsFor(datasets, options.jobs),
  });
  try {
    const { parameters, objective, balance, excludeTypes, seed } = options;
    const result = await tune(
      {
        ...{ datasets, profile, parameters, objective, balance, excludeTypes, seed, signal },
        state: options.state === undefined ? undefined : await readState(options.state),
        onState: async (state) => {
          if (options.state === undefined) return;
          const text = `${JSON.stringify(state)}\n`;
          await writeFileAtomically(options.state, { replace: true }, (write) => write(text));
        },
        onProgress: (share) => progress.update(undefined, share),
      },
      engine,
    );
    progress.finish();
    const tuned = tunedProfile(result, { definition, version: await readVersion(), now: context.now });
    const certain = result.problems.length === 0;
    const written =
      options.out !== undefined && (certain || options.force === true) ? options.out : undefined;
    if (written !== undefined) {
      await writeFileAtomically(written, { replace: options.force === true }, (write) =>
        write(`${JSON.stringify(tuned, undefined, 2)}\n`),
      );
    }
    if (options.json) await context.printJson({ ...result, tuned, ...(written && { file: written }) });
    else await show(context, result, written);
    for (const problem of result.problems) context.warn(problem);
    if (!certain && written === undefined && options.out !== undefined) context.warn('nothing was written');
    return certain ? 0 : 1;
  } finally {
    progress.finish();
  }
}

async function show(
  { print, columns }: Context<Options>,
  result: TuneResult,
  written: string | undefined,
): Promise<void> {
  const { questions, spaces, folds, heldOut, placebo, parameters, objective } = result;
  await print(
    `${plural(questions, 'question')} in ${plural(spaces, 'space')}; ${plural(folds.length, 'fit')}, each measured on what it had not seen`,
  );
  const rows = parameters.map(({ name, before, after }, at) => {
    const values = folds.map((fold) => fold.values[at] as number);
    return [name, String(before), String(after), `${Math.min(...values)} – ${Math.max(...values)}`];
  });
  const titles = ['parameter', 'before', 'tuned', 'in the fits'].map((title) => ({ title }));
  await print(formatTable(titles, rows, columns));
  for (const name of OBJECTIVES) await print(`held out ${name}: ${gainText(heldOut[name])}`);
  await print(`placebo ${objective}: ${gainText(placebo)}`);
  if (written !== undefined)
    await print(`wrote ${plainLine(written)}; check it with salience eval --baseline`);
}

/** Reads what an earlier run fitted; `undefined` if there is no file yet. Throws `unreadable_file`. */
async function readState(path: string): Promise<TuneState | undefined> {
  const unreadable = (cause: unknown, problem: string) =>
    new SalienceError('unreadable_file', `${path} ${problem}`, { details: { file: path }, cause });
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(cause, `cannot be read (${(cause as Error).message}); check that you may read it`);
  }
  let state: Partial<TuneState>;
  try {
    state = JSON.parse(text) as typeof state;
  } catch (cause) {
    throw unreadable(cause, 'is not valid JSON; remove it to start again');
  }
  if (state?.kind === 'tune' && state.version === 1 && state.fitted) return state as TuneState;
  throw unreadable(undefined, 'is not a state file of salience tune; name another file');
}
