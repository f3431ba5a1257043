import { SalienceError } from './errors.ts';

/**
 * Says the message of an error in the names of a dialect: the engine's by the dialect's, and nothing of strategies where
 * the tools take none. What stands in quotes is the caller's own, and stays.
 */
export function mendWith(
  names: Readonly<Record<string, string>>,
  options: { readonly keepStrategies?: boolean } = {},
): (error: unknown) => unknown {
  const words = new RegExp(`"(?:[^"\\\\]|\\\\.)*"|\\b(?:${Object.keys(names).join('|')})\\b`, 'g');
  return (error) => {
    if (!SalienceError.isInstance(error)) return error;
    const { code, details, cause } = error;
    const message =
      code === 'blank_query' && !options.keepStrategies
        ? 'query: pass the text to search for'
        : error.message.replace(words, (word) => names[word] ?? word);
    return message === error.message ? error : new SalienceError(code, message, { details, cause });
  };
}
