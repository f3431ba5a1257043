import type { Command } from 'commander';
import { CURATION_ACTIONS, type CurateOptions, type CurationReport } from '../../index.ts';
import { action } from '../context.ts';
import { PARTLY } from '../failure.ts';
import { openExisting } from '../open.ts';
import { parseList } from '../options.ts';
import { createProgress } from '../progress.ts';
import { plainLine } from '../terminal-text.ts';
import { undoLine } from '../undo-line.ts';
import { failureTexts, usageText } from '../usage-text.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

interface Options {
  readonly actions?: CurateOptions['actions'];
}

/** Most lines that are shown. The JSON has all. */
const SHOWN = 20;

export const examples = [
  'salience curate --dry-run',
  'salience curate --actions prune,deduplicate --json',
] as const;

export function configure(command: Command): void {
  addVerbOptions(command, 'curate')
    .option(
      '--actions <names>',
      `some of ${CURATION_ACTIONS.join(', ')}, with commas between (default: all)`,
      parseList,
    )
    .addHelpText(
      'after',
      '\nPrunes what has long been cold and is of no use, merges duplicates, consolidates what has faded and, with\n--model, judges similar memories. salience undo takes back the whole run; if something was written since, use\nsalience undo --run ID. The last line names the ID; --json prints it as run.',
    )
    .action(
      action<Options, []>(async (context) => {
        const { options, signal } = context;
        await using memory = await openExisting(context);
        const { actions } = options;
        const progress = createProgress('curating', process.stderr);
        progress.update(undefined);
        const report = await memory
          .curate({ ...argumentsOf('curate', options), actions, signal })
          .finally(progress.finish);
        for (const text of failureTexts(report.failures)) context.warn(text);
        if (options.json) await context.printJson(report);
        else {
          const lines = linesOf(report);
          for (const line of lines.slice(0, SHOWN)) await context.print(plainLine(line));
          if (lines.length > SHOWN) await context.print(`and ${lines.length - SHOWN} more; --json names all`);
          await context.print(summaryOf(report));
          if (report.run !== undefined && hasChanged(report)) await context.print(undoLine(report.run));
        }
        return report.failures.length > 0 ? PARTLY : 0;
      }),
    );
}

function linesOf(report: CurationReport): readonly string[] {
  return [
    ...report.judged.map(
      ({ older, newer, verdict, reason }) => `${verdict.toLowerCase()}: ${newer} to ${older}: ${reason}`,
    ),
    ...report.deduplicated.map(({ kept, replaced }) => `merged into ${kept}: ${replaced.join(', ')}`),
    ...report.consolidated.map(
      ({ id, from }) => `consolidated${id === undefined ? '' : ` into ${id}`}: ${from.join(', ')}`,
    ),
    ...report.pruned.map((id) => `pruned: ${id}`),
  ];
}

function hasChanged({ pruned, deduplicated, consolidated, judged }: CurationReport): boolean {
  return pruned.length + deduplicated.length + consolidated.length + judged.length > 0;
}

function summaryOf({
  dryRun,
  pruned,
  deduplicated,
  consolidated,
  judged,
  judgedBy,
  usage,
}: CurationReport): string {
  const merged = deduplicated.reduce((sum, { replaced }) => sum + replaced.length, 0);
  const counts = [
    [judged.length, judged.length === 1 ? 'pair judged' : 'pairs judged'],
    [merged, 'merged'],
    [
      consolidated.reduce((sum, { from }) => sum + from.length, 0),
      `consolidated into ${consolidated.length}`,
    ],
    [pruned.length, 'pruned'],
  ] as const;
  const changes = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  const asked = judgedBy === undefined ? '' : ` (asked ${judgedBy}: ${usageText(usage)})`;
  const what = changes.length === 0 ? 'nothing to change' : changes.join(', ');
  return `${dryRun ? 'dry run, nothing was changed: ' : ''}${what}${asked}`;
}
