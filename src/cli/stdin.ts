import type { Context } from './context.ts';

/** The content of an argument; without one, or for `-`, all of stdin without its last line break. */
export async function contentOf(
  argument: string | undefined,
  context: Pick<Context, 'misused' | 'signal'>,
): Promise<string> {
  if (argument !== undefined && argument !== '-') return argument;
  if (argument === undefined && process.stdin.isTTY) {
    context.misused('content: write it as an argument, or pipe it in');
  }
  const { text } = await import('node:stream/consumers');
  return (await text(process.stdin)).replace(/\r?\n$/, '');
}
