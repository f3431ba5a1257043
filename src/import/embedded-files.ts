import { CODE } from './obsidian.ts';

const DATA = 'data:[\\w.+-]+/[\\w.+-]+(?:;[\\w.+-]+=[\\w.+-]*)*;base64,[\\w+/=%-]*';

/** Data outside of code: as a picture, as the target of a reference (`[picture]: <data:…>`), or anywhere else. */
const data = new RegExp(
  `${CODE}|(?<picture>!\\[(?<alt>[^\\[\\]\\n]*)\\]\\([ \\t]*<?${DATA}>?(?:[ \\t]+(?:"[^"\\n]*"|'[^'\\n]*'))?[ \\t]*\\))|^ {0,3}\\[[^\\[\\]\\n]+\\]:[ \\t]*<?(?<target>${DATA})>?[^\\n]*|(?<other>${DATA})`,
  'gim',
);

/**
 * Removes files that are embedded in Markdown as base64, such as pictures, which no search can use. Of a picture, the
 * text that describes it stays. Keeps the line breaks.
 */
export function withoutEmbeddedFiles(text: string): { readonly text: string; readonly count: number } {
  let count = 0;
  const kept = text.replace(data, (found, ...rest) => {
    const { picture, alt, target, other } = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    if ((picture ?? target ?? other) === undefined) return found;
    count++;
    return alt ?? '';
  });
  return { text: kept, count };
}
