import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { marked } from 'marked';
import { root } from './public-surface.ts';

/** A fenced block of a page. */
export interface PageBlock {
  /** The page and the first line that is not an import, such as `README.md: ./run demo`. */
  readonly title: string;
  readonly page: string;
  /** The word after the fence, such as `ts` or `sh`; empty if there is none. */
  readonly language: string;
  /** The rest of that line: a file name, or what kind of block it is. */
  readonly info: string;
  readonly text: string;
}

/** The pages that are written by hand. `docs/reference` is generated from doc comments, whose examples have their own test. */
export const pages: readonly string[] = [
  '.',
  'docs',
  'docs/guides',
  'docs/tutorials',
  'tools/distill',
].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file)),
);

export function blocksOfPage(page: string): readonly PageBlock[] {
  const blocks: PageBlock[] = [];
  marked.walkTokens(marked.lexer(readFileSync(join(root, page), 'utf8')), (token) => {
    if (token.type !== 'code') return;
    const [language = '', ...info] = (token['lang'] as string | undefined)?.split(' ') ?? [];
    const text = token['text'] as string;
    const first = text.split('\n').find((line) => line !== '' && !line.startsWith('import '));
    const title = `${page}: ${first}`;
    const same = blocks.filter((block) => block.title.replace(/ \(\d+\)$/, '') === title).length;
    blocks.push({
      ...{ page, language, text },
      title: same === 0 ? title : `${title} (${same + 1})`,
      info: info.join(' '),
    });
  });
  return blocks;
}

/** Returns the commands of a shell block, without the comments after them. */
export function commandsOf(text: string): readonly string[] {
  return text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '');
}
