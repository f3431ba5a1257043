import { SalienceError } from '../domain/errors.ts';
import type { Context } from './context.ts';

/** Reports that the answer was no. */
export function reportKept({ options, print, printJson }: Context, text = 'kept'): Promise<void> {
  return options.json ? printJson({ outcome: 'kept' }) : print(text);
}

/** Asks on the terminal. Only a yes is a yes. Throws `aborted`, saying that `nothing` was done. */
export async function confirm(
  question: string,
  nothing: string,
  { signal }: Pick<Context, 'signal'>,
): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new AbortController();
  reader.once('close', () => ended.abort());
  // A terminal in the hands of readline gives Ctrl-C to it alone.
  reader.on('SIGINT', () => process.emit('SIGINT'));
  // Back from Ctrl-Z it is paused, and a process that waits for nothing else would end without an answer.
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
