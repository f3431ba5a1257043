import type { Command } from 'commander';
import { SalienceError } from '../../domain/errors.ts';
import { action } from '../context.ts';
import { lineOf } from '../memory-text.ts';
import { openToRead } from '../open.ts';
import { readDefinition } from '../profile-file.ts';
import { formatTable } from '../table.ts';

export const examples = ['salience replay 1', 'salience replay 1 --json'] as const;

export function configure(command: Command): void {
  command
    .argument('<recall>', 'as salience recalls lists it')
    .option('--profile <file>', 'JSON file of the formula that the recall was ranked by, if it was your own')
    .addHelpText('after', '\nNothing is written, and no language model is asked.')
    .action(
      action<{ readonly profile?: string | undefined }, [string]>(async (context, recallId) => {
        const { profile } = context.options;
        const profiles = profile === undefined ? [] : [await readDefinition(profile)];
        await using memory = await openToRead(context, { profiles });
        const replayed = await memory
          .replay(recallId, { signal: context.signal })
          .catch((error: unknown) => Promise.reject(withAdvice(error)));
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

/** Adds advice for an unknown strategy: the log has the name of the formula, but not the formula. */
function withAdvice(error: unknown): unknown {
  if (!SalienceError.isInstance(error) || error.code !== 'unknown_strategy') return error;
  const message = `${error.message}; if the recall was ranked by a formula of your own, name its file with --profile`;
  return new SalienceError(error.code, message, { details: error.details, cause: error });
}
