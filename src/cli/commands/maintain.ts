import { type Command, Option } from 'commander';
import { SalienceError } from '../../domain/errors.ts';
import {
  type MaintenanceReport,
  type MemoryEngine,
  openSpaces,
  type SpacesMaintenance,
} from '../../index.ts';
import { action, type Context } from '../context.ts';
import { PARTLY } from '../failure.ts';
import { lineOf } from '../memory-text.ts';
import { openExisting, openingOf, placeOf } from '../open.ts';
import { parseWholeNumber, refuseSpace } from '../options.ts';
import { createProgress } from '../progress.ts';
import { formatTable } from '../table.ts';
import { plainLine } from '../terminal-text.ts';
import { undoLine } from '../undo-line.ts';
import { plural } from '../units.ts';
import { failureTexts, usageText } from '../usage-text.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

interface Options {
  readonly consolidate?: boolean | undefined;
  readonly allSpaces?: boolean | undefined;
  readonly everyHours?: number | undefined;
}

const HOUR = 60 * 60 * 1000;

/** Most memories that are named per kind of change. The JSON names all. */
const NAMED = 20;

export const examples = [
  'salience maintain --dry-run',
  'salience maintain --consolidate --json',
  'salience maintain --all-spaces',
] as const;

export function configure(command: Command): void {
  addVerbOptions(command, 'maintain')
    .option('--consolidate', 'also consolidate old, faded, similar memories of one type into one')
    .addOption(
      new Option(
        '--all-spaces',
        'maintain every space of the store, each once a day however many machines run this',
      ).conflicts('run'),
    )
    .option('--every-hours <number>', 'with --all-spaces: another interval; 0 for now', parseWholeNumber)
    .addHelpText(
      'after',
      '\nWhere memories fade (salience configure --fading retention), those at their floor for a week become cold:\nrecalls find them through links, or with --deep. After half a year of that only a stub is left. What is past\nits expiry is forgotten for good. salience undo --run ID takes back everything else that a run did. The\nlast line names the ID; --json prints it as run.',
    )
    .action(
      action<Options, []>(async (context) => {
        const { options, signal } = context;
        if (options.allSpaces) {
          refuseSpace(command, context, '--all-spaces takes every space');
          return maintainAll(context);
        }
        if (options.everyHours !== undefined) {
          throw new SalienceError('invalid_argument', '--every-hours: only with --all-spaces', {
            details: { field: 'everyHours' },
          });
        }
        const progress = createProgress('maintaining', process.stderr);
        try {
          await using memory = await openExisting(context);
          const report = await memory.maintain({
            ...argumentsOf('maintain', options),
            consolidate: options.consolidate,
            signal,
            progress: (done, total) => progress.update(done, total === 0 ? undefined : done / total),
          });
          progress.finish();
          for (const text of failureTexts(report.failures)) context.warn(text);
          if (options.json) await context.printJson(report);
          else await context.print(await formatReport(report, memory, context));
          return report.failures.length > 0 ? PARTLY : 0;
        } finally {
          progress.finish();
        }
      }),
    );
}

async function maintainAll(context: Context<Options>): Promise<number> {
  const { options, signal } = context;
  const { everyHours } = options;
  const opening = await openingOf(context);
  const progress = createProgress('maintaining', process.stderr);
  let soFar: SpacesMaintenance = { maintained: [], left: [], failed: [], unreadable: [] };
  let hasEnded = false;
  let code = 0;
  try {
    await using spaces = openSpaces(opening);
    soFar = await spaces.maintain({
      ...argumentsOf('maintain', options),
      consolidate: options.consolidate,
      signal,
      ...(everyHours === undefined ? {} : { every: everyHours * HOUR }),
      progress: (reached, total) => {
        soFar = { ...reached, unreadable: [] };
        const done = reached.maintained.length + reached.left.length + reached.failed.length;
        progress.update(done, total > 0 ? done / total : undefined);
      },
    });
    hasEnded = true;
  } finally {
    progress.finish();
    await opening.store?.close();
    // What was done before an interruption is done.
    if (hasEnded || soFar.maintained.length + soFar.failed.length > 0) code = await reportAll(soFar, context);
  }
  return code;
}

/** Prints what was done with each space. Returns the exit code. */
async function reportAll(result: SpacesMaintenance, context: Context<Options>): Promise<number> {
  const { options, warn } = context;
  const failed = result.failed.map(({ space, error }) => ({ space, message: (error as Error).message }));
  const { unreadable } = result;
  const halved = result.maintained.filter(({ report }) => report.failures.length > 0);
  for (const { space, report } of halved) {
    for (const text of failureTexts(report.failures)) warn(`${plainLine(space)}: ${text}`);
  }
  if (options.json) await context.printJson({ ...result, failed });
  else {
    for (const { space, report } of result.maintained) {
      const undo = undoLines(report, space).map((line) => `  ${line}`);
      await context.print([`${plainLine(space)}: ${summaryOf(report)}`, ...undo].join('\n'));
    }
    const left = result.left.length;
    if (left > 0)
      await context.print(`${plural(left, 'space', 'spaces')} left: maintained in this span already`);
    for (const { space, message } of failed) warn(`${plainLine(space)}: ${message}`);
    for (const text of unreadable) warn(plainLine(text));
    if (result.maintained.length + left + failed.length + unreadable.length === 0)
      await context.print(`there are no spaces in ${plainLine(placeOf(options))}`);
  }
  return failed.length + halved.length + unreadable.length > 0 ? PARTLY : 0;
}

interface Row {
  readonly change: string;
  readonly id: string;
  readonly note: string;
}

async function formatReport(
  report: MaintenanceReport,
  memory: MemoryEngine,
  { columns }: Pick<Context, 'columns'>,
): Promise<string> {
  const groups = rowsOf(report);
  const rows: (readonly string[])[] = [];
  for (const group of groups) {
    for (const { change, id, note } of group.slice(0, NAMED)) {
      const found = await memory.get(id);
      rows.push([change, id, note, found ? lineOf(found) : '(forgotten)']);
    }
    if (group.length > NAMED)
      rows.push([group[0]?.change ?? '', '…', '', `and ${group.length - NAMED} more; --json names all`]);
  }
  const titles = ['change', 'id', 'with', 'content'];
  const table =
    rows.length === 0
      ? []
      : [
          formatTable(
            titles.map((title) => ({ title })),
            rows,
            columns,
          ),
        ];
  return [...table, summaryOf(report), ...undoLines(report)].join('\n');
}

function undoLines(report: MaintenanceReport, space?: string): readonly string[] {
  return report.run !== undefined && hasChanged(report) ? [undoLine(report.run, space)] : [];
}

/** Whether the run changed something that `undo` takes back. What was forgotten stays so; queued pairs stay queued. */
function hasChanged({ cooled, archived, consolidated, judged }: MaintenanceReport): boolean {
  return cooled.length + archived.length + consolidated.length + judged.length > 0;
}

/** Returns the rows of the table, grouped by kind of change. */
function rowsOf(report: MaintenanceReport): readonly (readonly Row[])[] {
  const alone = (change: string, ids: readonly string[]) => ids.map((id): Row => ({ change, id, note: '' }));
  return [
    alone('cooled', report.cooled),
    alone('archived', report.archived),
    alone('forgotten', report.expired),
    report.consolidated.flatMap(({ id, from }) =>
      from.map(
        (each): Row => ({ change: 'consolidated', id: each, note: id === undefined ? '' : `into ${id}` }),
      ),
    ),
    report.similarPairs.map(({ older, newer, kind, similarity }): Row => {
      return {
        change: kind === 'update' ? 'updated?' : 'similar',
        id: older,
        note: `${newer} (${similarity.toFixed(2)})`,
      };
    }),
    (report.toJudge ?? []).map(({ older, newer }): Row => {
      return { change: 'to judge', id: older, note: newer };
    }),
    report.judged.map(({ older, newer, verdict }): Row => {
      return { change: verdict.toLowerCase(), id: older, note: newer };
    }),
  ];
}

function summaryOf(report: MaintenanceReport): string {
  const { dryRun, examined, cooled, archived, expired, consolidated, similarPairs, judged, judgedBy } =
    report;
  const updates = similarPairs.filter(({ kind }) => kind === 'update').length;
  const similar = similarPairs.length - updates;
  const superseded = judged.filter(({ verdict }) => verdict === 'CONTRADICTION' || verdict === 'UPDATE');
  const gone = consolidated.reduce((sum, { from }) => sum + from.length, 0);
  const counts = [
    [cooled.length, 'cooled'],
    [archived.length, 'archived'],
    [expired.length, 'forgotten'],
    [gone, `consolidated into ${consolidated.length}`],
    [similar, similar === 1 ? 'new similar pair' : 'new similar pairs'],
    [updates, updates === 1 ? 'possible update' : 'possible updates'],
    [judged.length, `judged, ${superseded.length} superseded`],
  ] as const;
  const changes = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  const what = changes.length === 0 ? 'nothing to change' : changes.join(', ');
  const asked = judgedBy === undefined ? '' : ` (asked ${judgedBy}: ${usageText(report.usage)})`;
  return `${dryRun ? 'dry run, nothing was changed: ' : ''}${plural(examined, 'memory', 'memories')} examined: ${what}${asked}`;
}
