import { type Command, InvalidArgumentError, Option, type Argument as Positional } from 'commander';
import type { Argument, Arguments, Schema } from '../domain/arguments.ts';
import { invalidArgument } from '../domain/check.ts';
import { type VerbName, verbEntry } from '../domain/verbs.ts';
import { AS_OF, asOfOf, VALID_AT } from './look-back.ts';
import { collect, collectPairs, collectParameters, parseNumber, parseWholeNumber } from './options.ts';
import { collectWhere } from './where.ts';

/** Adds the options of a verb from the table of verbs. `but` names arguments that the command handles itself. */
export function addVerbOptions(command: Command, verb: VerbName, ...but: readonly string[]): Command {
  const all: Arguments = verbEntry(verb).arguments ?? {};
  for (const [name, argument] of Object.entries(all)) {
    const option = but.includes(name) ? undefined : optionOf(argument);
    if (option) command.addOption(option);
  }
  const asOf = all['asOf']?.properties;
  if (asOf && !but.includes('asOf')) command.option(...AS_OF);
  if (asOf?.['valid'] && !but.includes('asOf')) command.option(...VALID_AT);
  const clearable = Object.values(all).flatMap((argument) =>
    emptyOf(argument) === undefined ? [] : longName(argument),
  );
  if (Object.values(all).some((argument) => emptyOf(argument) === null)) {
    command.addOption(new Option('--clear <field...>', 'remove the value of a field').choices(clearable));
  }
  return command;
}

/** Returns the arguments of a verb from the options of its command. Options that were not given are absent. */
export function argumentsOf(
  verb: VerbName,
  given: object,
  ...but: readonly string[]
): Readonly<Record<string, unknown>> {
  const options = given as Readonly<Record<string, unknown>>;
  const cleared = (options['clear'] ?? []) as readonly string[];
  const values = Object.entries(verbEntry(verb).arguments ?? {}).flatMap(([name, argument]) => {
    if (name === 'asOf') return but.includes(name) ? [] : [[name, asOfOf(options)]];
    const option = but.includes(name) ? undefined : optionOf(argument);
    if (!option) return [];
    const [long] = longName(argument) as [string];
    const value = options[option.attributeName()];
    if (!cleared.includes(long)) return [[name, value]];
    if (value === undefined) return [[name, emptyOf(argument)]];
    throw invalidArgument('--clear', `--${long} gives ${long} a value: leave one of them out`);
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function optionOf(argument: Argument): Option | undefined {
  if (argument.option === undefined) return undefined;
  const [flags, about = ''] =
    typeof argument.option === 'string'
      ? [argument.option, argument.about?.replace(/; null clears it$/, '')]
      : argument.option;
  // `--clear` sets a value to null.
  const schema: Schema = argument.anyOf?.find(({ type }) => type !== 'null') ?? (argument as Schema);
  const repeated = (schema.type === 'array' && !flags.includes('...')) || schema.type === 'object';
  const option = new Option(flags, repeated ? `${about}; repeatable` : about);
  // Otherwise the engine would refuse the pair with the names of its own arguments.
  if (flags.startsWith('--not-')) option.conflicts(new Option(flags.replace('not-', '')).attributeName());
  if (flags.endsWith('<condition>')) return option.argParser(collectWhere);
  if (schema.type === 'object') {
    return option.argParser(flags.startsWith('--param ') ? collectParameters : collectPairs);
  }
  const words = argument.anyOf?.flatMap((each) => each.enum ?? []) ?? [];
  if (schema.type === 'number' && words.length > 0) {
    const parse = numberParser(schema);
    return option.argParser((text) => (words.includes(text) ? text : parse(text)));
  }
  return withValuesOf(option, schema, flags);
}

/** Restricts an option or a positional argument to the values of a schema. */
export function withValuesOf<Place extends Option | Positional>(
  place: Place,
  schema: Schema,
  flags = '...',
): Place {
  const choices = schema.enum ?? schema.items?.enum;
  const repeated = schema.type === 'array' && !flags.includes('...');
  if (choices) place.choices(choices);
  if (repeated) place.argParser(choices ? collectOf(choices) : collect);
  else if (schema.type === 'integer' || schema.type === 'number') place.argParser(numberParser(schema));
  return place;
}

/** Collects allowed values. Commander's own check of choices keeps only the last one. */
function collectOf(choices: readonly string[]) {
  return (text: string, before: readonly string[] | undefined): readonly string[] => {
    if (!choices.includes(text)) throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
    return collect(text, before);
  };
}

function numberParser({ type, minimum, maximum }: Schema) {
  return (text: string): number => {
    const value = type === 'integer' ? parseWholeNumber(text) : parseNumber(text);
    if (value >= (minimum ?? -Infinity) && value <= (maximum ?? Infinity)) return value;
    const kind = type === 'integer' ? 'a whole number' : 'a number';
    throw new InvalidArgumentError(
      maximum === undefined
        ? `It must be ${kind} of at least ${minimum}.`
        : `It must be ${kind} from ${minimum} to ${maximum}.`,
    );
  };
}

/** Returns the empty value of an argument: null if it may be null, otherwise an empty list or object. */
function emptyOf({ anyOf, option, type }: Argument): null | readonly [] | object | undefined {
  if (option === undefined) return undefined;
  if (anyOf?.some((each) => each.type === 'null')) return null;
  return type === 'array' ? [] : type === 'object' ? {} : undefined;
}

/** Returns the name of the option without its dashes. */
function longName(argument: Argument): readonly string[] {
  const flag = flagOf(argument);
  return flag === undefined ? [] : [flag.slice(2)];
}

/** Returns the option of an argument, such as `--type`. */
export function flagOf({ option }: Argument): string | undefined {
  return (typeof option === 'string' ? option : option?.[0])?.split(' ')[0];
}
