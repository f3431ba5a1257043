import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { SalienceError } from '../../domain/errors.ts';
import { escapeXml } from '../../domain/escape-xml.ts';
import { startServer } from '../../http/index.ts';
import { openSpaces, type Spaces } from '../../index.ts';
import { type Context, serverAction } from '../context.ts';
import { fillDemo } from '../demo-memory.ts';
import { openingOf, openToRead, placeOf } from '../open.ts';
import { parsePort } from '../options.ts';
import { readVersion } from '../version.ts';
import { tokensOf } from './serve.ts';

interface Options {
  readonly demo?: boolean | undefined;
  readonly port?: number | undefined;
  readonly readOnly?: boolean | undefined;
  readonly open: boolean;
}

export const examples = [
  'salience inspect',
  'salience inspect --demo',
  'salience inspect --no-open',
] as const;

export function configure(command: Command): void {
  command
    .option('--demo', 'show example memories, which are gone at the end')
    .option(
      '--port <number>',
      'port to listen at (default: one that this store keeps, if it is free)',
      parsePort,
    )
    .option('--read-only', 'allow no changes')
    .option('--no-open', 'print the address without opening a browser')
    .addHelpText(
      'after',
      '\nThe server listens to this machine alone. The address opens the inspector once, within 60 seconds; the page it\nopens stays signed in for 12 hours, or until Ctrl-C ends the server.',
    )
    .action(
      serverAction<Options, []>(async (context) => {
        const { options } = context;
        const demo = options.demo ? mkdtempSync(join(tmpdir(), 'salience-demo-')) : undefined;
        try {
          await serve(context, demo);
        } finally {
          if (demo !== undefined) rmSync(demo, { recursive: true, force: true });
        }
      }),
    );
}

async function serve(context: Context<Options>, demo: string | undefined): Promise<void> {
  const { options } = context;
  const space = demo === undefined ? options.space : 'demo';
  if (demo === undefined) await checkThere(context);
  const opening = await openingOf(context);
  const past = { now: context.now };
  let filled = demo === undefined;
  const clock = opening.clock ?? Date.now;
  let spaces = openSpaces(
    demo === undefined
      ? opening
      : { ...opening, store: undefined, path: demo, clock: () => (filled ? clock() : past.now) },
  );
  const isLocked = demo === undefined && (await cannotBeWritten(spaces, space));
  if (isLocked) {
    await spaces.close();
    spaces = openSpaces({ ...opening, readOnly: true });
  }
  if (!filled) await fillDemo(await spaces.get(space), past);
  filled = true;
  const version = await readVersion();
  const start = (port: number) =>
    startServer({
      spaces,
      // Only the page uses this server, and the server creates its sessions itself.
      tokens: {
        authenticate: async () => undefined,
        list: async () => (demo === undefined ? tokensOf(context, opening.store).list() : []),
      },
      port,
      version,
    });
  await using server = await (options.port === undefined
    ? start(usualPort(demo ?? placeOf(options))).catch(() => start(0))
    : start(options.port));
  const rights = options.readOnly || isLocked ? 'read' : 'admin';
  const url = server.inspectorUrl({ space, rights, everySpace: true });
  if (options.json) await context.printJson({ url });
  else {
    const locked = isLocked ? '\nthe store cannot be written to: the page only reads' : '';
    await context.print(`inspecting space ${JSON.stringify(space)} at ${url}${locked}\nCtrl-C ends it`);
  }
  const note = options.open ? openBrowser(url) : undefined;
  if (!context.signal.aborted) await once(context.signal, 'abort');
  note?.remove();
  await server.close();
  await opening.store?.close();
}

/**
 * Returns the port for a store. It is always the same one, because browsers keep data per origin. It is chosen from the
 * dynamic ports, which are not assigned to any service.
 */
function usualPort(place: string): number {
  const hash = createHash('sha256').update(resolve(place)).digest();
  return 49_152 + (hash.readUInt16BE() % 16_384);
}

/** Throws the error that lists the spaces if this one does not exist: a misspelt name must not create a space. */
async function checkThere(context: Context<Options>): Promise<void> {
  await (await openToRead(context)).close();
}

/** Whether the files of a space are read-only. The page reports any other fault. */
async function cannotBeWritten(spaces: Spaces, space: string): Promise<boolean> {
  try {
    await spaces.get(space);
    return false;
  } catch (error) {
    return SalienceError.isInstance(error) && error.code === 'store_read_only';
  }
}

/**
 * Opens a URL in the browser of the user. Others can read command lines, and only the user may learn this URL, so the
 * browser gets a private file that redirects to it.
 */
function openBrowser(url: string): { remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'salience-inspect-'));
  const page = join(directory, 'inspect.html');
  const target = escapeXml(url);
  writeFileSync(
    page,
    `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Salience inspector</title><meta http-equiv="refresh" content="0; url=${target}"><a href="${target}">Open the inspector</a>\n`,
    { mode: 0o600 },
  );
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', page]
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '', page]
        : ['xdg-open', page];
  // Without a browser, the printed URL remains.
  spawn(command as string, args, { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
  return { remove: () => rmSync(directory, { recursive: true, force: true }) };
}
