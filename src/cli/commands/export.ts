import type { Command } from 'commander';
import { throwIfAborted } from '../../domain/errors.ts';
import { exportEnd } from '../../import/index.ts';
import type { MemoryEngine } from '../../index.ts';
import { action, type Context } from '../context.ts';
import { openToRead } from '../open.ts';
import { writeFileAtomically } from '../output-file.ts';
import { createProgress } from '../progress.ts';
import { plainLine } from '../terminal-text.ts';
import { plural } from '../units.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

interface Options {
  readonly output?: string | undefined;
  readonly force?: boolean | undefined;
}

/** Options of `list` that do not apply: an export is complete, and in the order of creation. */
const PAGING = ['limit', 'sort', 'direction', 'cursor', 'offset', 'around', 'count', 'asOf'] as const;

export const examples = [
  'salience export --output memories-export.jsonl',
  'salience export --type preference',
] as const;

export function configure(command: Command): void {
  addVerbOptions(command, 'list', ...PAGING)
    .option('--output <file>', 'write to this file, completely or not at all; - is stdout (default)')
    .option('--force', 'replace the file if it exists')
    .addHelpText(
      'after',
      '\nEvery field of every memory comes back with salience import. Not in it: links, open conflicts, sessions, the settings of\nthe space, its history and recorded recalls. salience backup and salience copy keep all of that.',
    )
    .action(
      action<Options, []>(async (context) => {
        const { options } = context;
        await using memory = await openToRead(context);
        if (options.output === undefined || options.output === '-') {
          let count = 0;
          for await (const line of exportLines(memory, context)) {
            await context.print(line);
            count++;
          }
          return context.print(exportEnd(count));
        }
        const file = options.output;
        let count = 0;
        await writeFileAtomically(file, { replace: options.force === true }, async (write) => {
          for await (const line of exportLines(memory, context)) {
            await write(`${line}\n`);
            count++;
          }
          await write(`${exportEnd(count)}\n`);
        });
        if (options.json) return context.printJson({ file, memories: count });
        await context.print(`wrote ${plural(count, 'memory', 'memories')} to ${plainLine(file)}`);
      }),
    );
}

async function* exportLines(
  memory: MemoryEngine,
  { options, signal }: Pick<Context<Options>, 'options' | 'signal'>,
): AsyncGenerator<string, void> {
  const { memories: total } = await memory.stats();
  const progress = createProgress('exporting', process.stderr);
  let done = 0;
  let cursor: string | undefined;
  try {
    do {
      throwIfAborted(signal);
      const page = await memory.list({
        ...argumentsOf('list', options, ...PAGING),
        limit: 1000,
        sort: 'inserted',
        count: false,
        cursor,
      });
      for (const each of page.memories) yield JSON.stringify(each);
      done += page.memories.length;
      progress.update(done, total === 0 ? undefined : done / total);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  } finally {
    progress.finish();
  }
}
