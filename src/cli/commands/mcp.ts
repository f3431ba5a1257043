import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Command, Option } from 'commander';
import { CLIENT_CONFIGS, CLIENTS, type ClientName, type ServerCommand } from '../../mcp/client-config.ts';
import { DIALECTS, type DialectName, TOOL_CHOICES, type ToolChoice } from '../../mcp/dialects.ts';
import { wholePath } from '../../stores/sqlite/directory.ts';
import { type Context, serverAction } from '../context.ts';
import { isShared, open, storePath } from '../open.ts';
import { collect, refuseMemType } from '../options.ts';
import { npxArguments } from '../published.ts';
import { readVersion } from '../version.ts';

interface Options {
  readonly dialect: DialectName;
  readonly tools: ToolChoice;
  readonly memType?: readonly string[] | undefined;
  readonly readOnly?: boolean | undefined;
  readonly printConfig?: ClientName | undefined;
}

export const examples = ['salience mcp', 'salience mcp --print-config claude-code'] as const;

export function configure(command: Command): void {
  command
    .addOption(
      new Option(
        '--dialect <name>',
        'the tools to offer: those of Salience, the mem_* tools of iLAB Memory, or the seven of mememory',
      )
        .choices(DIALECTS)
        .default('salience'),
    )
    .addOption(
      new Option('--tools <which>', 'few: what every agent needs; all: every tool, with every parameter')
        .choices(TOOL_CHOICES)
        .default('few'),
    )
    .option('--mem-type <type>', 'with --dialect mem: a type that mem_save accepts too; repeatable', collect)
    .option('--read-only', 'offer only tools that write nothing')
    .addOption(new Option('--print-config <client>', 'print the configuration for a client').choices(CLIENTS))
    .addHelpText(
      'after',
      '\nSpeaks the Model Context Protocol on stdin and stdout until the client closes them; an agent starts it by itself.',
    )
    .action(
      serverAction<Options, []>((context) => {
        refuseMemType(context);
        return context.options.printConfig ? printConfig(context) : serveToTheEnd(context);
      }),
    );
}

async function serveToTheEnd(context: Context<Options>): Promise<void> {
  await serve(context);
  // Unread answers would keep the process alive.
  if (process.stdout.writableLength > 0) process.exit(0);
}

// Not inside `serve`: TypeScript 6.0 does not rewrite the extension of an import in a function with `using`.
const loadServer = () => import('../../mcp/stdio.ts');

async function serve(context: Context<Options>): Promise<void> {
  const { dialect, tools, memType, readOnly } = context.options;
  // Loading the libraries and opening the store take about equally long, so they run in parallel.
  const [{ serveMcpOverStdio }, version, memory] = await Promise.all([
    loadServer(),
    readVersion(),
    open(context, { readOnly: readOnly === true }),
  ]);
  await using _ = memory;
  await serveMcpOverStdio(memory, {
    version,
    dialect,
    tools,
    types: memType,
    access: readOnly ? 'read' : 'write',
    ...(context.options.now === undefined ? {} : { clock: () => context.now }),
    log: context.warn,
    signal: context.signal,
  });
}

async function printConfig(context: Context<Options>): Promise<void> {
  const config = CLIENT_CONFIGS[context.options.printConfig as ClientName];
  await context.print(config.text(await serverCommand(context.options)));
  if (isShared())
    context.warn('set SALIENCE_STORE, or SALIENCE_STORE_FILE, in the environment of the client');
  // For people only: piped output must be the configuration and nothing else.
  if (!process.stderr.isTTY) return;
  context.warn(config.hint);
  if (isShared() || context.options.path !== undefined) return;
  context.warn(`memories are kept in ${wholePath(storePath(context.options))}; --path names another folder`);
}

/**
 * Returns the command of this program and its options with absolute paths: a client may start it from any folder and
 * without a PATH.
 */
async function serverCommand(options: Context<Options>['options']): Promise<ServerCommand> {
  const main = fileURLToPath(new URL('../main.cjs', import.meta.url));
  const { dialect, tools, memType = [], readOnly, space, embedder, baseUrl, model, modelUrl } = options;
  const args = [
    'mcp',
    // The URL of a shared store must be in the environment of the client.
    ...(isShared() ? [] : ['--path', wholePath(storePath(options))]),
    ...(space === 'default' ? [] : ['--space', space]),
    ...(embedder === 'builtin' ? [] : ['--embedder', embedder]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
    ...(model === undefined ? [] : ['--model', model]),
    ...(modelUrl === undefined ? [] : ['--model-url', modelUrl]),
    ...(dialect === 'salience' ? [] : ['--dialect', dialect]),
    ...(tools === 'few' ? [] : ['--tools', tools]),
    ...memType.flatMap((type) => ['--mem-type', type]),
    ...(readOnly ? ['--read-only'] : []),
  ];
  // Files in the cache of npx may be gone tomorrow.
  const npx = main.includes(`${sep}_npx${sep}`) ? npxArguments(await readVersion()) : undefined;
  return npx
    ? { command: 'npx', args: [...npx, ...args] }
    : { command: process.execPath, args: [main, ...args] };
}
