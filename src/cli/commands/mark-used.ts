import type { Command } from 'commander';
import { action } from '../context.ts';
import { PARTLY } from '../failure.ts';
import { missing } from '../missing.ts';
import { openExisting } from '../open.ts';
import { plainLine } from '../terminal-text.ts';
import { plural } from '../units.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = ['salience mark-used roast grinder --effect count'] as const;

export function configure(command: Command): void {
  addVerbOptions(command.argument('<ids...>', 'the memories that were used'), 'markUsed').action(
    action<object, [readonly string[]]>(async (context, ids) => {
      const { options, signal } = context;
      await using memory = await openExisting(context);
      const used = await memory.markUsed(ids, { ...argumentsOf('markUsed', options), signal });
      const unknown = [...new Set(ids)].filter((id) => !used.includes(id));
      if (used.length === 0) throw missing(unknown, options.space);
      await (options.json
        ? context.printJson(used)
        : context.print(`used ${used.map(plainLine).join(', ')}`));
      if (unknown.length === 0) return 0;
      const { code, message, details } = missing(unknown, options.space);
      context.complain({ code, message: `skipped ${plural(unknown.length, 'id')}: ${message}`, details });
      return PARTLY;
    }),
  );
}
