import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { wholeNumber } from '../../domain/check.ts';
import { SalienceError } from '../../domain/errors.ts';
import {
  type LifeScript,
  MOST_DAYS,
  parseLifeScript,
  plotRetention,
  simulateLife,
} from '../../simulate/index.ts';
import { action } from '../context.ts';
import { embedderOf } from '../open.ts';
import { parseWholeNumber } from '../options.ts';
import { checkOutputs, writeFileAtomically } from '../output-file.ts';
import { createProgress } from '../progress.ts';
import { formatSimulation } from '../simulation-text.ts';
import { plainLine } from '../terminal-text.ts';

interface Options {
  readonly days?: number | undefined;
  readonly svg?: string | undefined;
}

export const examples = [
  'salience simulate life.json --svg life.svg',
  'salience simulate life.json --days 90 --json',
] as const;

export function configure(command: Command): void {
  command
    .argument(
      '<script>',
      'what happens on which day, as JSON or JSON Lines, as described in docs/guides/living-memory.md',
    )
    .option('--days <number>', 'how many days to play (default: as in the script)', parseWholeNumber)
    .option('--svg <file>', 'also draw retention over time into this file; replaces it')
    .addHelpText('after', '\nIt runs on a temporary store; yours is not touched.')
    .action(
      action<Options, [string]>(async (context, path) => {
        const { options, signal } = context;
        // Checked apart from the script, so that the error names the option and not the file.
        if (options.days !== undefined) wholeNumber(options.days, 'days', 1, MOST_DAYS);
        await checkOutputs({ '--svg': options.svg }, [path]);
        const script = await readScript(path, options.days);
        const progress = createProgress('simulating', process.stderr);
        try {
          const embedder = await embedderOf(context);
          const simulation = await naming(path, () =>
            simulateLife(script, {
              embedder,
              signal,
              progress: (day, days) => progress.update(Math.floor(day), day / days),
            }),
          );
          progress.finish();
          if (options.svg !== undefined) {
            const svg = plotRetention(simulation);
            await writeFileAtomically(options.svg, { replace: true }, (write) => write(svg));
          }
          if (options.json) return context.printJson(simulation);
          await context.print(formatSimulation(simulation, context.columns));
          if (options.svg !== undefined) await context.print(`\nwrote ${plainLine(options.svg)}`);
        } finally {
          progress.finish();
        }
      }),
    );
}

async function readScript(path: string, days: number | undefined): Promise<LifeScript> {
  let source: string;
  try {
    source = await readFile(path, 'utf8');
  } catch (cause) {
    throw new SalienceError(
      'unreadable_file',
      `${path} cannot be read (${(cause as Error).message}); check that it exists and that you may read it`,
      { details: { file: path }, cause },
    );
  }
  const format = /\.(?:jsonl|ndjson)$/i.test(path) ? 'jsonl' : 'json';
  return naming(path, async () => parseLifeScript(source, { format, days }));
}

/** Runs `work` and adds the path to errors about the content of the script. */
async function naming<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (!SalienceError.isInstance(cause)) throw cause;
    const isOfScript = cause.details['field'] !== undefined || cause.code.startsWith('invalid_');
    if (!isOfScript) throw cause;
    throw new SalienceError(cause.code, `${path}: ${cause.message}`, {
      details: { ...cause.details, file: path },
      cause,
    });
  }
}
