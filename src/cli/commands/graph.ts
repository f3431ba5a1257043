import type { Command } from 'commander';
import type { Neighbourhood } from '../../index.ts';
import { action } from '../context.ts';
import { formatNeighbourhood, neighbourhoodAsDot, neighbourhoodAsMermaid } from '../graph-text.ts';
import { openToRead } from '../open.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

interface Options {
  readonly dot?: boolean | undefined;
  readonly mermaid?: boolean | undefined;
}

export const examples = ['salience graph roast', 'salience graph roast --depth 2 --mermaid'] as const;

export function configure(command: Command): void {
  command.argument('<name>', 'the name of an entity, or the id of a memory');
  addVerbOptions(command, 'neighbours')
    .option('--dot', 'for Graphviz')
    .option('--mermaid', 'print a Mermaid flowchart')
    .action(
      action<Options, [string]>(async (context, name) => {
        const { dot, mermaid } = context.options;
        if (dot && mermaid) command.error("error: option '--dot' cannot be used with option '--mermaid'");
        await using memory = await openToRead(context);
        const around: Neighbourhood = await memory.neighbours(name, {
          ...argumentsOf('neighbours', context.options),
          signal: context.signal,
        });
        if (context.options.json) return context.printJson(around);
        const draw = dot ? neighbourhoodAsDot : mermaid ? neighbourhoodAsMermaid : formatNeighbourhood;
        await context.print(draw(around));
        if (around.truncated) context.warn('some are left out: raise --limit');
      }),
    );
}
