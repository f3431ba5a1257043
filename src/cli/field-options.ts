import { type Command, Option } from 'commander';
import {
  aboutChange,
  type ChangeField,
  type CreateField,
  FIELDS,
  type Field,
  isClearable,
} from '../model/fields.ts';
import { collect, collectPairs, parseNumber, parseShare } from './options.ts';

/** Adds the options that set these fields of a memory. */
export function addFieldOptions(
  command: Command,
  names: readonly CreateField[],
  { changes }: { readonly changes: boolean },
): void {
  for (const name of names) {
    const option = optionOf(name, changes ? aboutChange(name) : FIELDS[name].about);
    if (option) command.addOption(option);
  }
  command.option(
    '--ttl <duration>',
    `how long it lives${changes ? ' from now' : ''}: 7d, 24h, P1M, or until a time`,
  );
  if (!changes) return;
  const clearable = names
    .filter((name) => isClearable(name as ChangeField))
    .flatMap((name) => longName(name) ?? []);
  command.addOption(new Option('--clear <field...>', 'take a field away').choices(clearable));
}

/** The fields that the options give; `null` for those that are to be cleared. */
export function fieldsOf(
  options: Readonly<Record<string, unknown>>,
  names: readonly CreateField[],
): Readonly<Record<string, unknown>> {
  const cleared = (options['clear'] ?? []) as readonly string[];
  const given = names.map((name) => {
    const option = optionOf(name, undefined);
    if (!option) return [name, undefined] as const;
    const isCleared = cleared.includes(longName(name) as string);
    return [name, isCleared ? null : options[option.attributeName()]] as const;
  });
  return Object.fromEntries([...given, ['ttl', options['ttl']]]);
}

function optionOf(name: CreateField, about: string | undefined): Option | undefined {
  const field: Field = FIELDS[name];
  if (field.option === undefined) return undefined;
  const repeated = field.kind === 'names' || field.kind === 'texts' || field.kind === 'metadata';
  const option = new Option(field.option, repeated ? `${about}; may be given several times` : about);
  if (field.kind === 'choice') return option.choices(field.choices ?? []);
  if (field.kind === 'metadata') return option.argParser(collectPairs);
  if (field.kind === 'number') return option.argParser(field.range?.[0] === 0 ? parseShare : parseNumber);
  return repeated ? option.argParser(collect) : option;
}

/** The name of the option without its dashes. */
function longName(name: CreateField): string | undefined {
  return (FIELDS[name] as Field).option?.split(' ')[0]?.slice(2);
}
