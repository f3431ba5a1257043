import type { Command } from 'commander';
import {
  defineProfile,
  explain,
  features,
  formatExplanation,
  type SignalInput,
} from '../../scoring/index.ts';
import { action, type Context } from '../context.ts';
import { collectParameters, type NamedValues } from '../options.ts';
import { profileFile, readDefinition } from '../profile-file.ts';
import { formatTable } from '../table.ts';
import { plainBlock } from '../terminal-text.ts';

interface Options {
  readonly strategy?: string | undefined;
  readonly profile?: string | undefined;
  readonly signals: string;
  readonly param?: NamedValues | undefined;
}

export const examples = [
  `salience score --strategy scoped --signals '{"similarity":0.92,"scope":"project:match","updatedAt":"2026-04-15T00:00:00Z"}' --now 2026-04-20T00:00:00Z`,
  `salience score --strategy balanced --signals '{"similarity":0.8,"importance":0.6,"createdAt":"2026-04-06"}' --now 2026-04-20 --param weights.semantic=0.7 --json`,
  `salience score --profile fresh.json --signals '{"lexical":0.5,"similarity":0.8,"createdAt":"2026-04-06","updatedAt":"2026-04-15"}' --now 2026-04-20`,
] as const;

export function configure(command: Command): void {
  command
    .option('--strategy <name>', 'a formula by its name; salience profiles lists them')
    .option('--profile <file>', 'a JSON file with your own formula')
    .requiredOption(
      '--signals <json>',
      "what is known about a memory, by the names of its record's fields and signals",
    )
    .option('--param <name=value>', 'set a parameter of the formula; repeatable', collectParameters)
    .action(
      action<Options, []>(async (context) => {
        const { options, now } = context;
        if ((options.strategy === undefined) === (options.profile === undefined)) {
          context.misused('give --strategy or --profile: one of them');
        }
        const signals = parseSignals(options.signals, context);
        const file = profileFile(options);
        const profile =
          file === undefined ? (options.strategy as string) : defineProfile(await readDefinition(file));
        const scoring = { now, parameters: options.param };
        const explanation = explain(profile, signals, scoring);
        const parts = features(profile, signals, scoring);
        const strategy = typeof profile === 'string' ? profile : profile.name;
        if (options.json) {
          return context.printJson({ strategy, score: explanation.value, features: parts, explanation });
        }
        await context.print(plainBlock(formatExplanation(explanation, 'text')));
        const rows = Object.entries(parts).map(([name, value]) => [name, value.toFixed(4)]);
        if (rows.length === 0) return;
        const columns = [{ title: 'part' }, { title: 'value', align: 'right' as const }];
        await context.print(`\n${formatTable(columns, rows, context.columns)}`);
      }),
    );
}

function parseSignals(json: string, { misused }: Pick<Context, 'misused'>): SignalInput {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    misused(`--signals is not valid JSON: ${(cause as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    misused('--signals is not a JSON object, such as {"similarity":0.9}');
  }
  return value as SignalInput;
}
