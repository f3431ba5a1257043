import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { marked } from 'marked';
import { root } from './public-surface.ts';

/** A fenced block of a page. */
export interface PageBlock {
  /** Its page and first line, such as `README.md: ./run demo`; its imports are no first lines. */
  readonly title: string;
  readonly page: string;
  /** The word after the fence: `ts`, `sh`, …; empty where there is none. */
  readonly language: string;
  /** What stands after that word: the name of a file, or what the block is. */
  readonly info: string;
  readonly text: string;
}

/** Pages that people write; `docs/reference` is made of doc comments, whose examples have a test of their own. */
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

/** The commands of a block of shell, without the comments after them. */
export function commandsOf(text: string): readonly string[] {
  return text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '');
}
