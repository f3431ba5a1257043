import { type Command, Option } from 'commander';
import { SalienceError } from '../../domain/errors.ts';
import type { BatchOptions, MemoryEngine } from '../../index.ts';
import { ANALYZER_LANGUAGES, type AnalyzerLanguage } from '../../text/analyze.ts';
import { action, type Context } from '../context.ts';
import { open } from '../open.ts';
import { createProgress } from '../progress.ts';
import { plural } from '../units.ts';

export const examples = ['salience reindex', 'salience reindex --language german'] as const;

interface Options {
  readonly language?: AnalyzerLanguage | undefined;
}

export function configure(command: Command): void {
  command
    .addOption(
      new Option(
        '--language <name>',
        'the language of the words; simple for one that is not listed (default: that of the space)',
      ).choices(ANALYZER_LANGUAGES),
    )
    .addHelpText(
      'after',
      '\nNeeded after another --embedder was chosen. The old vectors stay until all new ones are computed.\n' +
        'Another --language keeps the vectors, which must be those of --embedder. Later commands use it unasked.',
    )
    .action(
      action<Options, []>(async (context) => {
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
 * Opens and reindexes a space. If its vectors or words are of another kind, opening it with `reindex` derives them anew;
 * but whoever only names a language keeps the vectors, so that another embedder is an error.
 */
async function openReindexed(context: Context<Options>, how: BatchOptions): Promise<MemoryEngine> {
  const { language } = context.options;
  try {
    const memory = await open(context, { language });
    try {
      await memory.reindex(how);
      return memory;
    } catch (error) {
      await memory.close();
      throw error;
    }
  } catch (error) {
    if (!SalienceError.isInstance(error) || error.code !== 'embedder_mismatch') throw error;
    if (language !== undefined && error.details['field'] === 'embedder') throw error;
    return open(context, { language, reindex: how });
  }
}
