import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { SalienceError } from '../../domain/errors.ts';
import { unreadablePath } from '../../files/lines.ts';
import { copySpaces, openMemory } from '../../index.ts';
import { fileNameOf, nameIn } from '../../stores/sqlite/files.ts';
import { action } from '../context.ts';
import { storeOf } from '../open.ts';
import { plainLine } from '../terminal-text.ts';
import { plural } from '../units.ts';

export const examples = ['salience restore memory-backup.db --path ./restored'] as const;

export function configure(command: Command): void {
  command
    .argument('<file>', 'a file that salience backup wrote')
    .addHelpText(
      'after',
      '\nThe space comes back under its own name, checked and complete, into the store that --path or SALIENCE_STORE names. A\nspace that is there is never replaced: restore into another directory, or delete the space first.',
    )
    .action(
      action<object, [string]>(async (context, file) => {
        const { options, signal } = context;
        const space = existsSync(file) ? await nameIn(file) : undefined;
        if (space === undefined) throw noBackup(file);
        await using to = await storeOf(options);
        // Opening may bring an older schema up to date: the backup stays as it is.
        const directory = await mkdtemp(join(tmpdir(), 'salience-restore-'));
        try {
          await copyFile(file, join(directory, fileNameOf(space)));
          await checkWhole(file, directory, space);
          const [copy] = await copySpaces({ from: directory, to, spaces: [space], signal });
          const memories = copy?.rows.memory ?? 0;
          if (options.json) return context.printJson({ file, space, memories });
          await context.print(
            `restored ${plainLine(space)}: ${plural(memories, 'memory', 'memories')}; nothing is damaged`,
          );
        } finally {
          await rm(directory, { recursive: true, force: true });
        }
      }),
    );
}

/** Throws `store_corrupt`. */
async function checkWhole(file: string, directory: string, space: string): Promise<void> {
  const findings = await checkAt(directory, space).catch((error: unknown) => {
    if (!SalienceError.isInstance(error) || error.code !== 'store_corrupt') throw error;
    return ['it is damaged'];
  });
  if (findings.length === 0) return;
  throw new SalienceError(
    'store_corrupt',
    `${file}: ${findings[0]}; nothing was restored, take an older backup`,
    { details: { file, findings } },
  );
}

async function checkAt(path: string, space: string): Promise<readonly string[]> {
  await using memory = await openMemory({ path, space, embedder: 'none' });
  return memory.check();
}

function noBackup(file: string): SalienceError {
  if (!existsSync(file)) return unreadablePath(file, new Error('no such file'));
  return new SalienceError(
    'not_a_store',
    `${file} is not a backup that can be read; give a file that salience backup wrote`,
    { details: { file } },
  );
}
