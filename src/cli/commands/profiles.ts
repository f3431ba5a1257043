import type { Command } from 'commander';
import { takenName } from '../../scoring/faults.ts';
import {
  BUILTIN_PROFILE_NAMES,
  type BuiltinProfileName,
  builtinDefinition,
  builtinProfile,
  defineProfile,
  formulaText,
  type Profile,
} from '../../scoring/index.ts';
import { findBuiltinProfile } from '../../scoring/profiles/index.ts';
import { action } from '../context.ts';
import { readDefinition } from '../profile-file.ts';
import { formatTable } from '../table.ts';
import { plainBlock, plainLine } from '../terminal-text.ts';

export const examples = [
  'salience profiles list',
  'salience profiles show scoped',
  'salience profiles show hybrid --json',
  'salience profiles validate fresh.json',
] as const;

export function configure(command: Command): void {
  command
    .command('list', { isDefault: true })
    .description('list the formulas that come with the engine')
    .action(
      action<object, []>(async (context) => {
        const profiles = BUILTIN_PROFILE_NAMES.map((name) => builtinProfile(name));
        if (context.options.json) {
          return context.printJson({
            profiles: profiles.map(({ name, description }) => ({ name, description })),
          });
        }
        const rows = profiles.map(({ name, description }) => [name, description]);
        await context.print(formatTable([{ title: 'name' }, { title: 'what for' }], rows, context.columns));
      }),
    );
  command
    .command('show')
    .description('show a formula as text, or with --json as data to start your own from')
    .argument('<name>')
    .action(
      action<object, [string]>(async (context, name) => {
        const profile = builtinProfile(name);
        if (context.options.json) return context.printJson(builtinDefinition(name as BuiltinProfileName));
        await context.print(describe(profile));
      }),
    );
  command
    .command('validate')
    .description('check your own formula')
    .argument('<file>', 'a profile as JSON, as described in docs/guides/profiles.md')
    .action(
      action<object, [string]>(async (context, file) => {
        const profile = defineProfile(await readDefinition(file));
        const { name, lineage } = profile;
        if (findBuiltinProfile(name)) throw takenName(name);
        if (context.options.json) return context.printJson({ name, valid: true, lineage });
        await context.print(`${plainLine(file)} is a valid profile\n\n${describe(profile)}`);
      }),
    );
}

function describe(profile: Profile): string {
  const { name, description, source, lineage } = profile;
  const parents = lineage.slice(0, -1);
  const lines = [
    `${name}: ${description}`,
    ...(source === undefined ? [] : [`from: ${source}`]),
    ...(parents.length === 0 ? [] : [`extends: ${parents.join(', ')}`]),
    '',
    formulaText(profile),
  ];
  return plainBlock(lines.join('\n'));
}
