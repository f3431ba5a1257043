import type { Argument, Arguments } from '../../src/domain/arguments.ts';
import { FIELD_FILTERS } from '../../src/domain/fields.ts';
import { toolNameOf, type VerbName, verbEntry } from '../../src/domain/verbs.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The signs of conditions on metadata, as `--where` reads them. */
const SIGNS: Readonly<Record<string, string>> = { above: '>', atLeast: '>=', below: '<', atMost: '<=' };

/**
 * Returns the command line of a verb, with positional arguments and the options of the verb table; `undefined` if no
 * command is equivalent.
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
  // A positional argument that begins with a dash must not be read as an option.
  const dashed = positions.some((each) => each.startsWith('-'));
  return (dashed ? [...command, ...words, '--', ...said] : [...command, ...said, ...words]).join(' ');
}

/** Verbs without an equivalent command: "salience tune" reads files, which the page does not have. */
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
    // Leaving out a flag means false, except for a filter, where it means no filter at all.
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

/** Returns conditions on metadata as `key=value`; `undefined` if the command line cannot express one of them. */
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

/** Writes a value as the command line parses it. A string that looks like another type is put in double quotes. */
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

/** Quotes a word for a shell, if it needs quotes. */
export function shell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
