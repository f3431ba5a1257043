import type { Command } from 'commander';
import { SalienceError } from '../../domain/errors.ts';
import { action } from '../context.ts';
import { PARTLY } from '../failure.ts';
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
      context.warn(
        plainLine(`skipped ${plural(unknown.length, 'id')}: ${missing(unknown, options.space).message}`),
      );
      return PARTLY;
    }),
  );
}

function missing(ids: readonly string[], space: string): SalienceError {
  const names = ids.map((id) => JSON.stringify(id)).join(', ');
  return new SalienceError(
    'not_found',
    `${ids.length === 1 ? `memory ${names} does` : `memories ${names} do`} not exist in space ${JSON.stringify(space)}; "salience list" shows the ids`,
    { details: { ids, space } },
  );
}
