import { type Command, Option } from 'commander';
import { SINGLE_VALUED } from '../../domain/relation.ts';
import { type RecallRecording, settingText } from '../../index.ts';
import { action } from '../context.ts';
import { open, openToRead } from '../open.ts';
import { parseWholeNumber } from '../options.ts';
import { formatFields } from '../table.ts';
import { addVerbOptions } from '../verb-options.ts';

interface Options {
  readonly fading?: 'off' | 'retention' | undefined;
  readonly curve?: 'exponential' | 'power' | undefined;
  readonly timeZone?: string | undefined;
  readonly recordRecalls?: 'off' | number | undefined;
  readonly recordTexts?: boolean | undefined;
  readonly singleValued?: readonly string[] | undefined;
  readonly people?: 'off' | 'authors' | undefined;
}

export const examples = [
  'salience configure',
  'salience configure --fading retention',
  'salience configure --time-zone Europe/Berlin',
  'salience configure --record-recalls 30 --record-texts',
] as const;

export function configure(command: Command): void {
  addVerbOptions(command, 'configure')
    .addOption(
      new Option(
        '--fading <mode>',
        'off: nothing fades; retention: memories that are not used cool and are archived',
      ).choices(['off', 'retention']),
    )
    .addOption(
      new Option('--curve <shape>', 'forgetting curve, with --fading retention').choices([
        'exponential',
        'power',
      ]),
    )
    .option(
      '--record-recalls <days>',
      'record recalls, and keep them this many days; off: record none, and erase the records',
      (days) => (days === 'off' ? days : parseWholeNumber(days)),
    )
    .option(
      '--record-texts',
      'with --record-recalls: also keep the texts of queries, so that recalls can be replayed',
    )
    .addHelpText(
      'after',
      '\nWithout options it prints the settings of the space. A change is taken back by undo.',
    )
    .action(
      action<Options, []>(async (context) => {
        const {
          fading,
          curve,
          timeZone,
          singleValued,
          people,
          recordRecalls: days,
          recordTexts,
        } = context.options;
        if (curve !== undefined && fading !== 'retention') {
          command.error("error: option '--curve <shape>' goes with --fading retention");
        }
        if (recordTexts && typeof days !== 'number') {
          command.error("error: option '--record-texts' goes with --record-recalls <days>");
        }
        const changes = {
          fading: fading === 'retention' ? { mode: fading, curve } : fading,
          timeZone,
          singleValued,
          people,
          recordRecalls: typeof days === 'number' ? { days, texts: recordTexts === true } : days,
        };
        const reads = Object.values(changes).every((each) => each === undefined);
        await using memory = await (reads ? openToRead(context) : open(context));
        const settings = await memory.configure({ ...changes, signal: context.signal });
        if (context.options.json) return context.printJson(settings);
        await context.print(
          formatFields([
            ['fading', settingText(settings.fading).replaceAll(/^"|"$/g, '')],
            ['time zone', settings.timeZone],
            ['recalls', recordingText(settings.recordRecalls)],
            ['one value', singleValuedText(settings.singleValued)],
            ['people', settings.people === 'off' ? undefined : 'from authors'],
          ]),
        );
      }),
    );
}

/** Formats the single-valued relations; `undefined` if they are the default. */
function singleValuedText(names: readonly string[]): string | undefined {
  return names.join() === SINGLE_VALUED.join() ? undefined : names.join(', ') || 'none';
}

function recordingText(recording: RecallRecording): string | undefined {
  if (recording === 'off') return undefined;
  return `recorded for ${recording.days} days, ${recording.texts ? 'with' : 'without'} the texts of queries`;
}
