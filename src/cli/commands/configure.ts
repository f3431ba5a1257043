import { type Command, Option } from 'commander';
import { settingText } from '../../index.ts';
import { action } from '../context.ts';
import { open } from '../open.ts';
import { formatFields } from '../table.ts';
import { addVerbOptions } from '../verb-options.ts';

interface Options {
  readonly fading?: 'off' | 'retention' | undefined;
  readonly curve?: 'exponential' | 'power' | undefined;
  readonly timeZone?: string | undefined;
}

export const examples = [
  'salience configure',
  'salience configure --fading retention',
  'salience configure --time-zone Europe/Berlin',
] as const;

export function configure(command: Command): void {
  addVerbOptions(command, 'configure')
    .addOption(
      new Option(
        '--fading <mode>',
        'off: nothing cools or is archived; retention: what is not used does',
      ).choices(['off', 'retention']),
    )
    .addOption(
      new Option('--curve <shape>', 'of forgetting, with --fading retention').choices([
        'exponential',
        'power',
      ]),
    )
    .addHelpText(
      'after',
      '\nWithout options it prints the settings of the space. A change is taken back by undo.',
    )
    .action(
      action<Options, []>(async (context) => {
        const { fading, curve, timeZone } = context.options;
        if (curve !== undefined && fading !== 'retention') {
          command.error("error: option '--curve <shape>' goes with --fading retention");
        }
        const changes = { fading: fading === 'retention' ? { mode: fading, curve } : fading, timeZone };
        const reads = fading === undefined && timeZone === undefined;
        await using memory = await open(context, reads ? { readOnly: true } : {});
        const settings = await memory.configure({ ...changes, signal: context.signal });
        if (context.options.json) return context.printJson(settings);
        await context.print(
          formatFields([
            ['fading', settingText(settings.fading).replaceAll(/^"|"$/g, '')],
            ['time zone', settings.timeZone],
          ]),
        );
      }),
    );
}
