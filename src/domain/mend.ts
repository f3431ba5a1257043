import { SalienceError } from './errors.ts';

/**
 * Returns a function that rewrites error messages for a dialect: replaces the engine's names by those of the dialect and,
 * unless `keepStrategies` is set, does not mention strategies. Quoted text comes from the caller and is kept.
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
