import { once } from 'node:events';
import type { Command } from 'commander';
import { type Instant, parseInstant } from '../domain/time.ts';
import { INTERRUPTED } from './failure.ts';
import { inOptionNames } from './option-names.ts';
import type { CommonOptions } from './options.ts';
import { createPaint, type Paint } from './paint.ts';
import { columnsOf, plainBlock } from './terminal-text.ts';

/** What the action of a command works with. */
export interface Context<Options = object> {
  readonly options: CommonOptions & Options;
  /** Aborts at the first Ctrl-C, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
  readonly paint: Paint;
  /** Columns of the terminal; unlimited where there is none. */
  readonly columns: number;
  readonly now: Instant;
  /** Writes a line to stdout, and waits while its reader is slow. The caller has neutralised what it did not write. */
  print(line: string): Promise<void>;
  /** Writes a value to stdout as one line of JSON. */
  printJson(value: unknown): Promise<void>;
  /** Writes a line to stderr; none with --json, where the result says the same. */
  warn(message: string): void;
  /** Writes to stderr what a command that goes on could not do: the message, or one line of JSON. */
  complain(problem: Problem): void;
  /** Ends the command as wrong usage. */
  misused(message: string): never;
}

/** What an error says of itself. */
interface Problem {
  readonly code: string;
  readonly message: string;
  readonly details: object;
}

type Work<Options, Arguments extends readonly unknown[]> = (
  context: Context<Options>,
  ...args: Arguments
) => Promise<number> | Promise<void>;

/** Turns the work of a command into an action of commander. The work may return an exit code other than 0. */
export function action<Options, Arguments extends readonly unknown[]>(
  work: Work<Options, Arguments>,
): (...given: unknown[]) => Promise<void> {
  return actionOf(work, INTERRUPTED);
}

/** The same of a server: to be told to end, by Ctrl-C, SIGTERM or SIGHUP, is how its work is done. */
export function serverAction<Options, Arguments extends readonly unknown[]>(
  work: Work<Options, Arguments>,
): (...given: unknown[]) => Promise<void> {
  return actionOf(work, 0);
}

function actionOf<Options, Arguments extends readonly unknown[]>(
  work: Work<Options, Arguments>,
  interrupted: number,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const command = given.at(-1) as Command;
    const interruption = watchInterrupts();
    try {
      const context = createContext<Options>(command, interruption.signal);
      const code = await work(context, ...(given.slice(0, -2) as unknown as Arguments));
      process.exitCode = typeof code === 'number' ? code : interruption.signal.aborted ? interrupted : 0;
    } catch (error) {
      throw inOptionNames(error, command);
    } finally {
      interruption.stop();
    }
  };
}

function createContext<Options>(command: Command, signal: AbortSignal): Context<Options> {
  const options = command.optsWithGlobals() as CommonOptions & Options;
  const { stdout } = process;
  // Also of a clock that the command never asks: a misspelt time must not pass.
  const now = options.now === undefined ? Date.now() : parseInstant(options.now, '--now');
  const print = async (line: string) => {
    if (!stdout.write(`${line}\n`)) await once(stdout, 'drain');
  };
  return {
    options,
    signal,
    paint: createPaint(options.color, process.env, stdout.isTTY === true),
    columns: columnsOf(stdout),
    now,
    print,
    printJson: (value) => print(JSON.stringify(value)),
    warn: (message) => {
      if (!options.json) process.stderr.write(`${plainBlock(message)}\n`);
    },
    complain: (error) => {
      const { message } = error;
      process.stderr.write(`${options.json ? JSON.stringify({ error }) : plainBlock(message)}\n`);
    },
    misused: (message) => command.error(`error: ${message}`),
  };
}

/**
 * The first signal aborts the work, which then ends by itself; the second ends the process. A terminal that is closed may send
 * SIGHUP twice, by the shell and by the kernel: it never counts as the second.
 */
function watchInterrupts(): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const interrupt = () => {
    if (controller.signal.aborted) process.exit(INTERRUPTED);
    controller.abort();
  };
  const hangUp = () => controller.abort();
  const names = ['SIGINT', 'SIGTERM'] as const;
  for (const name of names) process.on(name, interrupt);
  process.on('SIGHUP', hangUp);
  return {
    signal: controller.signal,
    stop: () => {
      for (const name of names) process.off(name, interrupt);
      process.off('SIGHUP', hangUp);
    },
  };
}
