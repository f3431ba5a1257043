import { SalienceError } from '../domain/errors.ts';
import type { Context } from './context.ts';

/** Reports that nothing was done because the answer was no. */
export function reportKept({ options, print, printJson }: Context, text = 'kept'): Promise<void> {
  return options.json ? printJson({ outcome: 'kept' }) : print(text);
}

/** Asks on the terminal. Only a yes counts as one. Throws `aborted` with the message `nothing`. */
export async function confirm(
  question: string,
  nothing: string,
  { signal }: Pick<Context, 'signal'>,
): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new AbortController();
  reader.once('close', () => ended.abort());
  // While readline reads a terminal, Ctrl-C reaches only readline.
  reader.on('SIGINT', () => process.emit('SIGINT'));
  // After Ctrl-Z the reader is paused, and a process that waits for nothing else would end without an answer.
  reader.on('SIGCONT', () => reader.resume());
  try {
    const answer = await reader.question(`${question} [y/N] `, {
      signal: AbortSignal.any([signal, ended.signal]),
    });
    return /^y(es)?$/i.test(answer.trim());
  } catch (cause) {
    if (signal.aborted) throw new SalienceError('aborted', nothing, { cause });
    if (ended.signal.aborted) return false;
    throw cause;
  } finally {
    reader.close();
  }
}
