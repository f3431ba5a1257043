import type { Argument, Arguments } from '../../src/domain/arguments.ts';
import { FIELD_FILTERS } from '../../src/domain/fields.ts';
import { toolNameOf, type VerbName, verbEntry } from '../../src/domain/verbs.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The signs of conditions on metadata, as `--where` reads them. */
const SIGNS: Readonly<Record<string, string>> = { above: '>', atLeast: '>=', below: '<', atMost: '<=' };

/**
 * The command line of a verb: what stands by position, and options as the table of verbs names them. `undefined` where no
 * command says the same.
 */
export function commandOf(verb: VerbName, fields: Fields, space?: string): string | undefined {
  if (WITHOUT_COMMAND.has(verb)) return undefined;
  const { takes = [], arguments: all = {} } = verbEntry(verb);
  const words: string[] = space === undefined ? [] : [`--space ${shell(space)}`];
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || takes.includes(name)) continue;
    const said = wordsOf(name, value, (all as Arguments)[name]);
    if (!said) return undefined;
    words.push(...said);
  }
  const positions = takes.flatMap((name) => (fields[name] === undefined ? [] : [String(fields[name])]));
  const command = ['salience', toolNameOf(verb).replaceAll('_', '-')];
  const said = positions.map(shell);
  // What begins with a dash is no option.
  const dashed = positions.some((each) => each.startsWith('-'));
  return (dashed ? [...command, ...words, '--', ...said] : [...command, ...said, ...words]).join(' ');
}

/** "salience tune" fits to files, and what is asked here has none. */
const WITHOUT_COMMAND: ReadonlySet<VerbName> = new Set(['fit']);

function wordsOf(
  name: string,
  value: unknown,
  argument: Argument | undefined,
): readonly string[] | undefined {
  if (name === 'asOf') return lookBack(value as Fields);
  // What waits for more follows.
  if (name === 'wait') return ['--follow'];
  const flags = typeof argument?.option === 'string' ? argument.option : argument?.option?.[0];
  const [flag] = flags?.match(/--[\w-]+/) ?? [];
  if (flags === undefined || flag === undefined) return undefined;
  const one = (text: string) => `${flag} ${shell(text)}`;
  if (typeof value === 'boolean') {
    if (value === !flag.startsWith('--no-')) return [flag];
    // A flag that is not given is as it is without, but for a filter, which then lets everything through.
    return Object.hasOwn(FIELD_FILTERS, name) ? undefined : [];
  }
  if (Array.isArray(value)) return value.map((each) => one(String(each)));
  if (typeof value !== 'object' || value === null) return [one(String(value))];
  if (flags.endsWith('<condition>')) return conditions(value as Fields)?.map(one);
  const pairs = leaves(value as Fields, flags.includes('<strategy:') ? ':' : '.');
  return pairs.map(([path, each]) => one(`${path}=${written(each)}`));
}

function lookBack({ known, valid }: Fields): readonly string[] {
  return [
    ...(known === undefined ? [] : [`--as-of ${shell(String(known))}`]),
    ...(valid === undefined ? [] : [`--valid-at ${shell(String(valid))}`]),
  ];
}

/** Conditions on metadata, each as `key=value`; `undefined` for one that no command can say. */
function conditions(where: Fields): readonly string[] | undefined {
  const all: string[] = [];
  for (const [key, test] of Object.entries(where)) {
    if (/[=<>]/.test(key)) return undefined;
    if (Array.isArray(test)) all.push(...test.map((each) => `${key}=${written(each)}`));
    else if (typeof test !== 'object') all.push(`${key}=${written(test)}`);
    else if (test === null) return undefined;
    else {
      for (const [name, bound] of Object.entries(test)) {
        const sign = SIGNS[name];
        if (name === 'exists' && bound === true) all.push(key);
        else if (sign !== undefined) all.push(`${key}${sign}${written(bound)}`);
        else return undefined;
      }
    }
  }
  return all;
}

/** A value as the command line reads it back: a text that looks like something else stands in double quotes. */
function written(value: unknown): string {
  const looksElse = typeof value === 'string' && /^(?:true|false|".*"|[+-]?(?:\d|\.\d).*)$/s.test(value);
  return looksElse ? `"${value}"` : String(value);
}

function leaves(value: Fields, separator: string, path = ''): readonly (readonly [string, unknown])[] {
  return Object.entries(value).flatMap(([name, each]) =>
    typeof each === 'object' && each !== null
      ? leaves(each as Fields, '.', `${path}${name}${separator}`)
      : [[`${path}${name}`, each] as const],
  );
}

/** A word that a shell takes as it is. */
export function shell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
