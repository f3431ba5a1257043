import type { Command } from 'commander';
import type { RememberOptions } from '../../index.ts';
import { CREATE_FIELDS } from '../../model/fields.ts';
import { action } from '../context.ts';
import { addFieldOptions, fieldsOf } from '../field-options.ts';
import { open } from '../open.ts';
import { formatRemembered } from '../remembered-text.ts';
import { contentOf } from '../stdin.ts';

const FIELDS = CREATE_FIELDS.filter((name) => name !== 'content');

export const examples = [
  'salience remember "Prefers dark roast" --type preference --tag coffee --id roast',
  'salience remember "Prefers medium roast" --topic coffee/roast --ttl 90d',
  'salience remember "Prefers light roast now" --supersedes roast',
  'echo "The staging key expires on 1 March" | salience remember --type fact --importance 0.9',
] as const;

export function configure(command: Command): void {
  command.argument('[content]', 'what to remember; "-" or nothing reads it from stdin');
  addFieldOptions(command, FIELDS, { changes: false });
  command.action(
    action<object, [string | undefined]>(async (context, argument) => {
      const { options, signal } = context;
      const content = await contentOf(argument, context);
      await using memory = await open(context);
      const fields: RememberOptions = fieldsOf({ ...options }, FIELDS);
      const remembered = await memory.remember(content, { ...fields, signal });
      if (options.json) return context.printJson(remembered);
      await context.print(formatRemembered(remembered));
    }),
  );
}
