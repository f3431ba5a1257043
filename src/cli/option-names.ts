import type { Command } from 'commander';
import type { Argument } from '../domain/arguments.ts';
import { SalienceError } from '../domain/errors.ts';
import { alsoCalled } from '../domain/options.ts';
import { toolNameOf, VERB_NAMES, verbEntry } from '../domain/verbs.ts';
import { AS_OF, VALID_AT } from './look-back.ts';
import { withAdviceOn } from './missing.ts';
import { flagOf } from './verb-options.ts';

/** Verbs whose command has another name. */
const COMMANDS: Readonly<Record<string, string>> = {
  startSession: 'session start',
  endSession: 'session end',
  saveSummary: 'session summary',
  deleteSpace: 'spaces delete',
};

/**
 * Rewrites an error of the library for the command line: arguments become options, and verbs become commands. Code and
 * details stay.
 */
export function inOptionNames(error: unknown, command: Pick<Command, 'options'>): unknown {
  if (!SalienceError.isInstance(error)) return error;
  const flags = flagsOf(command);
  const message = withAdviceOn(error, translated(error.message, flags));
  if (message === error.message) return error;
  return new SalienceError(error.code, message, { details: error.details, cause: error });
}

/**
 * Returns the option of a command that has this name in other libraries, such as `--limit` for `top-k`, or in this one,
 * such as `--where` for `metadata`. `undefined` if there is none.
 */
export function optionAlsoCalled(name: string, command: Command): string | undefined {
  const above: Command[] = [];
  for (let each: Command | null = command; each; each = each.parent) above.push(each);
  const flags = flagsOf({ options: above.flatMap(({ options }) => options) });
  const own = name.replaceAll(/[-_]([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return flags.get(own) ?? flags.get(alsoCalled(name, [...flags.keys()]) ?? '');
}

/** Maps the library's names of arguments to the options of a command. */
function flagsOf({ options }: Pick<Command, 'options'>): ReadonlyMap<string, string> {
  const taken = new Set(options.map(({ long }) => long));
  const flags = new Map<string, string>([
    ['asOf.known', AS_OF[0]],
    ['asOf.valid', VALID_AT[0]],
    ['recordRecalls.days', '--record-recalls'],
  ]);
  for (const verb of VERB_NAMES) {
    for (const [name, argument] of Object.entries(verbEntry(verb).arguments ?? {})) {
      const flag = flagOf(argument as Argument);
      if (flag !== undefined) flags.set(name, flag);
    }
  }
  const pairs = [...flags].map(([name, flag]) => [name, flag.split(' ')[0] as string] as const);
  const own = options.map((option) => [option.attributeName(), option.long ?? option.flags] as const);
  return new Map([...own, ...pairs.filter(([, flag]) => taken.has(flag))]);
}

function translated(message: string, flags: ReadonlyMap<string, string>): string {
  // A name without capitals may be an ordinary word, so it is replaced only at the start, where it is the wrong field.
  const [head = '', name = ''] = /^([\w.]+)(?:\[\d+\])?(?=: )/.exec(message) ?? [];
  const start = flags.get(name) ?? '';
  const rest = start === '' ? message : message.slice(head.length);
  // Text in quotes comes from the user.
  const parts = rest.split(/("(?:[^"\\]|\\.)*")/);
  return (
    start +
    parts
      .map((part, at) =>
        at % 2 === 1 ? part : part.replace(/\b[a-z]+[A-Z]\w*\b/g, (word) => commandWord(word, flags)),
      )
      .join('')
  );
}

function commandWord(word: string, flags: ReadonlyMap<string, string>): string {
  const flag = flags.get(word);
  if (flag !== undefined) return flag;
  const named = COMMANDS[word];
  if (named !== undefined) return `"salience ${named}"`;
  const verb = VERB_NAMES.find((name) => name === word);
  return verb === undefined ? word : `"salience ${toolNameOf(verb).replaceAll('_', '-')}"`;
}
