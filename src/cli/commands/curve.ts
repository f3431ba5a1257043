import type { Command } from 'commander';
import { parseInstant } from '../../domain/time.ts';
import { drawBar } from '../bar.ts';
import { action } from '../context.ts';
import { openToRead } from '../open.ts';
import { formatTable } from '../table.ts';
import { plainLine } from '../terminal-text.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = ['salience curve roast', 'salience curve roast --days 90 --json'] as const;

/** Most moments that are drawn. The JSON has all. */
const DRAWN = 12;

export function configure(command: Command): void {
  addVerbOptions(command.argument('<id>'), 'curve')
    .addHelpText(
      'after',
      '\nShows the retention if nobody uses the memory. In a space that does not fade (salience configure), the memory stays as it is.',
    )
    .action(
      action<object, [string]>(async (context, id) => {
        await using memory = await openToRead(context);
        const found = await memory.curve(id, {
          ...argumentsOf('curve', context.options),
          now: new Date(context.now),
        });
        if (context.options.json) return context.printJson(found);
        const { points, fading, coldAt } = found;
        const step = Math.max(1, Math.round((points.length - 1) / DRAWN));
        const rows = points
          .filter((_, at) => at % step === 0)
          .map(({ at, retention }) => {
            const days = Math.round((parseInstant(at) - context.now) / 86_400_000);
            return [`${days} d`, retention.toFixed(2), drawBar(retention)];
          });
        const columns = [
          { title: 'in', align: 'right' as const },
          { title: 'retention', align: 'right' as const },
          { title: '' },
        ];
        await context.print(formatTable(columns, rows, context.columns));
        const end =
          fading === 'off'
            ? 'this space does not fade: salience configure --fading retention'
            : coldAt === undefined
              ? `${plainLine(id)} does not become cold in this time`
              : `${plainLine(id)} may become cold on ${coldAt.slice(0, 10)}`;
        await context.print(context.paint('dim', end));
      }),
    );
}
