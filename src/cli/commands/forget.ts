import type { Command } from 'commander';
import type { ForgetResult, ForgetTarget, MemoryEngine } from '../../index.ts';
import { confirm, reportKept } from '../confirm.ts';
import { action, type Context } from '../context.ts';
import { lineOf } from '../memory-text.ts';
import { openExisting } from '../open.ts';
import { cutToWidth, plainLine } from '../terminal-text.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

interface Options {
  readonly dryRun?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/** Most lines that are shown. The JSON has all. */
const SHOWN = 20;

export const examples = [
  'salience forget roast --yes',
  'salience forget --tag coffee --type preference --dry-run',
  'salience forget --in-scope team:a --below --dry-run --json',
] as const;

export function configure(command: Command): void {
  addVerbOptions(
    command.argument('[ids...]', 'the ids of the memories; without ids, all that the options select'),
    'forgetMany',
  )
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      '\nForgetting is final: the texts are erased from the store, its history and its log, with everything derived\nfrom them, in one operation. There is no undo. "salience spaces delete" deletes a whole space.',
    )
    .action(
      action<Options, [readonly string[]]>(async (context, ids) => {
        const { options, signal } = context;
        const filter = argumentsOf('forgetMany', options, 'dryRun');
        if (ids.length > 0 && Object.keys(filter).length > 0) {
          context.misused('give ids or options that find memories, not both');
        }
        if (ids.length === 0 && Object.keys(filter).length === 0) {
          context.misused('name the memories to forget, or give an option that finds them, such as --tag');
        }
        if (!options.yes && !options.dryRun && !process.stdin.isTTY) {
          context.misused('forgetting is final: add --yes to confirm, since this is not a terminal');
        }
        const target: ForgetTarget = ids.length > 0 ? ids : filter;
        await using memory = await openExisting(context);
        if (options.dryRun || !options.yes) {
          const limit = options.json ? 10_000 : SHOWN;
          const plan = await memory.forget(target, { dryRun: true, limit, signal });
          if (options.dryRun) return report(plan, context);
          if (plan.count === 0) return report({ ...plan, dryRun: false }, context);
          const question = `Forget ${await namesOf(memory, plan)}? ${plan.count === 1 ? 'It is' : 'They are'} erased for good.`;
          if (!(await confirm(question, 'nothing was forgotten', context))) return reportKept(context);
        }
        await report(await memory.forget(target, { signal }), context);
      }),
    );
}

/** Names one memory by its text, several by their number. */
async function namesOf(memory: MemoryEngine, { count, forgotten }: ForgetResult): Promise<string> {
  const [id = ''] = forgotten;
  if (count !== 1) return `${count} memories`;
  // A memory that no longer exists can be forgotten too, if its history still has its text.
  const found = await memory.get(id);
  return `${plainLine(id)}${found ? ` "${cutToWidth(plainLine(lineOf(found)), 60)}"` : ''}`;
}

async function report(result: ForgetResult, context: Context): Promise<void> {
  if (context.options.json) return context.printJson(result);
  const { dryRun, count, forgotten, rebuilt, reinstated, mayStillSay } = result;
  if (dryRun) {
    for (const id of forgotten) await context.print(plainLine(id));
    if (count > forgotten.length)
      await context.print(`and ${count - forgotten.length} more; --json names them`);
    await context.print(
      `dry run: ${count === 1 ? '1 memory' : `${count} memories`} would be forgotten for good`,
    );
  } else if (count === 0) await context.print('nothing to forget');
  else
    await context.print(
      `forgot ${count === 1 ? plainLine(forgotten[0] as string) : `${count} memories`} for good`,
    );
  await printIds(context, 'consolidated again without it', rebuilt);
  await printIds(context, 'believed again', reinstated);
  await printIds(context, 'may still say the same', mayStillSay);
}

async function printIds({ print }: Context, what: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const rest = ids.length > SHOWN ? `, and ${ids.length - SHOWN} more` : '';
  await print(`${what}: ${ids.slice(0, SHOWN).map(plainLine).join(', ')}${rest}`);
}
