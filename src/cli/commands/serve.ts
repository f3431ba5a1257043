import { once } from 'node:events';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { formatInstant, type Instant } from '../../domain/time.ts';
import {
  type Grant,
  type LogEntry,
  type NewToken,
  openTokenStore,
  startServer,
  type TokenStore,
} from '../../http/index.ts';
import { openSpaces } from '../../index.ts';
import { DIALECTS, type DialectName, TOOL_CHOICES, type ToolChoice } from '../../mcp/dialects.ts';
import type { Store } from '../../store/store.ts';
import { type Context, serverAction } from '../context.ts';
import { openingOf, storePath } from '../open.ts';
import { collect, parsePort, parsePositive, parseWholeNumber, refuseMemType } from '../options.ts';
import { writeFileAtomically } from '../output-file.ts';
import { writeOrFail } from '../stdout.ts';
import { plainLine } from '../terminal-text.ts';
import { readVersion } from '../version.ts';

interface Options {
  readonly readOnly?: boolean | undefined;
  readonly fading?: 'off' | 'retention' | undefined;
  readonly host: string;
  readonly port: number;
  readonly tokenFile?: string | undefined;
  readonly allowHost?: readonly string[] | undefined;
  readonly allowOrigin?: readonly string[] | undefined;
  readonly publicUrl?: string | undefined;
  readonly inspector: boolean;
  readonly rateLimit: number;
  readonly bodyLimit: number;
  readonly metadataLimit: number;
  readonly maxSpaces: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress?: number | undefined;
  readonly dialect: DialectName;
  readonly tools: ToolChoice;
  readonly memType?: readonly string[] | undefined;
  readonly log: boolean;
}

export const examples = ['salience serve', 'salience serve --port 8080 --token-file token'] as const;

export function configure(command: Command): void {
  command
    .option('--host <address>', 'address to listen at', '127.0.0.1')
    .option('--port <number>', 'port to listen at; 0 takes a free one', parsePort, 7411)
    .option(
      '--read-only',
      'write nothing, whatever the rights of a token; for a store that cannot be written to',
    )
    .option('--token-file <file>', 'write the first token to this new file instead of the terminal')
    .option('--allow-host <name>', 'another host name that the server answers to; repeatable', collect)
    .option('--allow-origin <origin>', 'an origin whose pages may send requests; repeatable', collect)
    .option('--public-url <url>', 'the URL by which browsers reach the server through a TLS proxy')
    .option('--no-inspector', 'do not serve the inspector at /inspector')
    .option('--rate-limit <number>', 'requests per minute for each token', parsePositive, 6000)
    .option('--body-limit <bytes>', 'largest request, or line of an import', parsePositive, 8 * 2 ** 20)
    .option('--metadata-limit <bytes>', "of one memory's metadata", parseWholeNumber, 16 * 2 ** 10)
    .option(
      '--max-spaces <number>',
      'spaces open at once, at five descriptors each (see ulimit -n)',
      parseWholeNumber,
      100,
    )
    .addOption(
      new Option(
        '--fading <mode>',
        'fading of every space; a space with another setting is not opened',
      ).choices(['off', 'retention']),
    )
    .option('--max-connections <number>', 'connections at once', parseWholeNumber, 400)
    .option(
      '--max-connections-per-address <number>',
      'connections at once from one network address (default: half of all)',
      parseWholeNumber,
    )
    .addOption(
      new Option('--dialect <name>', 'the tools offered to agents at /mcp')
        .choices(DIALECTS)
        .default('salience'),
    )
    .addOption(
      new Option('--tools <which>', 'few: what every agent needs; all: every tool, with every parameter')
        .choices(TOOL_CHOICES)
        .default('few'),
    )
    .option('--mem-type <type>', 'with --dialect mem: a type that mem_save accepts too; repeatable', collect)
    .option('--no-log', 'do not log requests to stderr')
    .addHelpText(
      'after',
      '\nRoutes for programs are under /v1, the Model Context Protocol for agents is at /mcp, the inspector for people at\n/inspector.\nAt the first start a token for --space is made and shown once; salience token makes more. A request\nneeds one, and it alone decides which space is asked. Ctrl-C ends the server when what is under way has ended.',
    )
    .action(
      serverAction<Options, []>(async (context) => {
        const { options } = context;
        refuseMemType(context);
        const opening = await openingOf(context);
        const tokens = tokensOf(context, opening.store);
        const version = await readVersion();
        const { createMcpMount } = await loadMcp();
        const mcp = createMcpMount({
          version,
          dialect: options.dialect,
          tools: options.tools,
          types: options.memType,
          maxBodyBytes: options.bodyLimit,
          ...(options.now === undefined ? {} : { clock: () => context.now }),
          log: options.log ? writeFault : undefined,
        });
        await using _ = opening.store;
        await using server = await startServer({
          tokens,
          readOnly: options.readOnly,
          deleteSpaces: true,
          spaces: openSpaces({
            ...opening,
            readOnly: options.readOnly,
            maxMetadataBytes: options.metadataLimit,
            fading: options.fading,
            maxOpenSpaces: options.maxSpaces,
          }),
          host: options.host,
          port: options.port,
          allowHosts: options.allowHost,
          allowOrigins: options.allowOrigin,
          publicUrl: options.publicUrl,
          inspector: options.inspector,
          requestsPerMinute: options.rateLimit,
          bodyLimit: options.bodyLimit,
          maxConnections: options.maxConnections,
          maxConnectionsPerAddress: options.maxConnectionsPerAddress,
          log: options.log ? writeLine : undefined,
          version,
          shared: opening.store?.shared,
          mount: { '/mcp': mcp.answer },
        });
        // Only once the server runs: if the start failed, nobody would be shown the token.
        await firstToken(tokens, context, (token) => announce(server.url, token, context));
        if (!context.signal.aborted) await once(context.signal, 'abort');
        // The server first. In the other order, calls in progress would be cut off, and requests that have arrived
        // would fail.
        await server.close();
        await mcp.close();
      }),
    );
}

// Not inside the action: TypeScript 6.0 does not rewrite the extension of an import in a function with `using`.
const loadMcp = () => import('../../mcp/http.ts');

/** Opens the tokens of a store: next to its files, or in a shared store. */
export function tokensOf({ options }: Pick<Context, 'options'>, store: Store | undefined): TokenStore {
  return openTokenStore(store?.shared ?? join(storePath(options), 'tokens'));
}

/**
 * Creates a token and shows it. If it cannot be shown, it is revoked: nobody has it, and it would count as the first
 * one.
 */
export async function makeToken(
  tokens: TokenStore,
  wanted: NewToken,
  now: Instant,
  show: (made: { readonly token: string; readonly grant: Grant }) => Promise<void>,
): Promise<void> {
  const made = await tokens.create(wanted, now);
  try {
    await show(made);
  } catch (error) {
    await tokens.revoke(made.grant.id);
    throw error;
  }
}

/** Announces the server, with a new token if there was none, unless the token goes into a file. */
async function firstToken(
  tokens: TokenStore,
  { options, now }: Context<Options>,
  announceWith: (token: string | undefined) => Promise<void>,
): Promise<void> {
  if ((await tokens.list()).length > 0) return announceWith(undefined);
  const { tokenFile } = options;
  await makeToken(tokens, { space: options.space, name: 'first' }, now, async ({ token }) => {
    if (tokenFile === undefined) return announceWith(token);
    await writeFileAtomically(tokenFile, { replace: false, mode: 0o600 }, (write) => write(`${token}\n`));
  });
  if (tokenFile !== undefined) await announceWith(undefined);
}

function announce(url: string, token: string | undefined, context: Context<Options>): Promise<void> {
  const { space, json } = context.options;
  if (token === undefined) return json ? context.printJson({ url }) : context.print(`serving ${url}`);
  return writeOrFail(
    json
      ? `${JSON.stringify({ url, token })}\n`
      : `serving ${url}\ntoken for space ${plainLine(space)}, shown this once: ${token}\n`,
  );
}

/** Logs a failure that an agent is not told about, next to the line of its request. */
function writeFault(failure: string): void {
  writeLine({ at: formatInstant(Date.now()), route: '/mcp', failure });
}

function writeLine(entry: LogEntry | Pick<LogEntry, 'at' | 'route' | 'failure'>): void {
  process.stderr.write(`${JSON.stringify(entry)}\n`);
}
