import { once } from 'node:events';
import type { Command } from 'commander';
import { type Instant, parseInstant } from '../domain/time.ts';
import { INTERRUPTED } from './failure.ts';
import { inOptionNames } from './option-names.ts';
import type { CommonOptions } from './options.ts';
import { createPaint, type Paint } from './paint.ts';
import { columnsOf, plainBlock } from './terminal-text.ts';

/** What the action of a command receives. */
export interface Context<Options = object> {
  readonly options: CommonOptions & Options;
  /** Aborts at the first Ctrl-C, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
  readonly paint: Paint;
  /** Columns of the terminal; `Infinity` without a terminal. */
  readonly columns: number;
  readonly now: Instant;
  /** Writes a line to stdout, and waits while its reader is slow. The caller must have escaped foreign text. */
  print(line: string): Promise<void>;
  /** Writes a value to stdout as one line of JSON. */
  printJson(value: unknown): Promise<void>;
  /** Writes a line to stderr. Does nothing with `--json`, where the result says the same. */
  warn(message: string): void;
  /** Writes a problem to stderr after which the command goes on: as its message, or as one line of JSON. */
  complain(problem: Problem): void;
  /** Ends the command with a usage error. */
  misused(message: string): never;
}

/** The parts of an error that are printed. */
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

/** Like {@link action}, for a server: Ctrl-C, SIGTERM and SIGHUP end it normally, with exit code 0. */
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
  // Checked even if the command never uses the clock, so that a misspelt time is reported.
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
 * The first signal aborts the work, which then ends by itself; the second ends the process. SIGHUP never counts as the
 * second: when a terminal is closed, both the shell and the kernel may send it.
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
