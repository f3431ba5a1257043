import type { Command } from 'commander';
import { SalienceError } from '../../domain/errors.ts';
import type { BatchOptions, MemoryEngine } from '../../index.ts';
import { action, type Context } from '../context.ts';
import { open } from '../open.ts';
import { createProgress } from '../progress.ts';
import { plural } from '../units.ts';

export const examples = ['salience reindex'] as const;

export function configure(command: Command): void {
  command
    .addHelpText(
      'after',
      '\nNeeded after another --embedder was chosen. The old vectors stay until all new ones are computed.',
    )
    .action(
      action<object, []>(async (context) => {
        const { signal } = context;
        const progress = createProgress('indexing', process.stderr);
        const how: BatchOptions = { signal, progress: (done, total) => progress.update(done, done / total) };
        try {
          await using memory = await openReindexed(context, how);
          progress.finish();
          const { memories, vectors, embedding } = await memory.stats();
          if (context.options.json) return context.printJson({ memories, vectors, embedding });
          const model = embedding && vectors > 0 ? ` with ${embedding.model}` : ' without vectors';
          await context.print(`indexed ${plural(memories, 'memory', 'memories')}${model}`);
        } finally {
          progress.finish();
        }
      }),
    );
}

/**
 * Opens and reindexes a space. If its vectors do not match the embedder, opening it with `reindex` computes them anew.
 */
async function openReindexed(context: Context, how: BatchOptions): Promise<MemoryEngine> {
  try {
    const memory = await open(context);
    try {
      await memory.reindex(how);
      return memory;
    } catch (error) {
      await memory.close();
      throw error;
    }
  } catch (error) {
    if (!SalienceError.isInstance(error) || error.code !== 'embedder_mismatch') throw error;
    return open(context, { reindex: how });
  }
}
