import type { Command } from 'commander';
import type { RememberOptions } from '../../index.ts';
import { action } from '../context.ts';
import { open } from '../open.ts';
import { formatRemembered } from '../remembered-text.ts';
import { contentOf } from '../stdin.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = [
  'salience remember "Prefers dark roast" --type preference --tag coffee --id roast',
  'salience remember "Prefers medium roast" --topic coffee/roast --ttl 90d',
  'salience remember "Prefers light roast now" --supersedes roast',
  'echo "The staging key expires on 1 March" | salience remember --type fact --importance 0.9',
] as const;

export function configure(command: Command): void {
  command.argument('[content]', 'what to remember; "-" or nothing reads it from stdin');
  addVerbOptions(command, 'remember').action(
    action<object, [string | undefined]>(async (context, argument) => {
      const { options, signal } = context;
      const content = await contentOf(argument, context);
      await using memory = await open(context);
      const fields: RememberOptions = argumentsOf('remember', options);
      const remembered = await memory.remember(content, { ...fields, signal });
      if (options.json) return context.printJson(remembered);
      await context.print(formatRemembered(remembered));
    }),
  );
}
