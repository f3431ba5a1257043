/** The common options that take a value. */
const withValue: ReadonlySet<string> = new Set([
  '--path',
  '--space',
  '--embedder',
  '--base-url',
  '--model',
  '--model-url',
  '--now',
]);

/** Finds the name of the command: the first argument that is neither an option nor the value of one. */
export function findCommandName(args: readonly string[]): string | undefined {
  return args[findCommand(args, 0)];
}

/** Finds the index of the command at or after `from`; −1 if there is none. */
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
 * Commands that load the modules of the package. The others run from one script whose compiled code is cached. That
 * script contains no server, no importer, and nothing that only measurements need.
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
