import type { Command } from 'commander';
import { action } from '../context.ts';
import { lineOf } from '../memory-text.ts';
import { openToRead } from '../open.ts';
import { formatTable } from '../table.ts';

export const examples = ['salience replay 1', 'salience replay 1 --json'] as const;

export function configure(command: Command): void {
  command
    .argument('<recall>', 'as salience recalls lists it')
    .addHelpText('after', '\nNothing is written, and no language model is asked.')
    .action(
      action<object, [string]>(async (context, recallId) => {
        await using memory = await openToRead(context);
        const replayed = await memory.replay(recallId, { signal: context.signal });
        if (context.options.json) return context.printJson(replayed);
        const { equal, reasons, hits, recorded } = replayed;
        if (hits.length > 0) {
          const scores = new Map(recorded.map(({ id, score }) => [id, score.toFixed(4)]));
          const columns = [
            { title: 'then', align: 'right' as const },
            { title: 'now', align: 'right' as const },
            { title: 'id' },
            { title: 'content' },
          ];
          const rows = hits.map(({ memory: found, score }) => [
            scores.get(found.id) ?? '',
            score.toFixed(4),
            found.id,
            lineOf(found),
          ]);
          await context.print(formatTable(columns, rows, context.columns));
        }
        await context.print(equal ? 'the same answer, to the bit' : 'another answer than then:');
        for (const { message } of reasons) await context.print(`  ${message}`);
      }),
    );
}
