/** The common options that are followed by a value. */
const withValue: ReadonlySet<string> = new Set([
  '--path',
  '--space',
  '--embedder',
  '--base-url',
  '--model',
  '--model-url',
  '--now',
]);

/** The name of the command in the arguments: the first that is no option, nor an option's value. */
export function findCommandName(args: readonly string[]): string | undefined {
  return args[findCommand(args, 0)];
}

/** Where it stands, from an index on; -1 where there is none. */
export function findCommand(args: readonly string[], from: number): number {
  for (let index = from; index < args.length; index++) {
    const argument = args[index] as string;
    if (argument === 'help') continue;
    if (!argument.startsWith('-')) return index;
    if (withValue.has(argument)) index++;
  }
  return -1;
}

/**
 * Commands that load the modules of the package. The others run from one script, of which the compiled code is kept: it holds no
 * server, no importer, and not what only a measurement needs.
 */
export const FROM_MODULES: ReadonlySet<string> = new Set([
  'completion',
  'eval',
  'eval-set',
  'export',
  'import',
  'inspect',
  'mcp',
  'serve',
  'simulate',
  'token',
  'tune',
]);
