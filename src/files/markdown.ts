import { getDefaults, lexer, type Token, Tokenizer, type Tokens } from 'marked';
import { isMap, LineCounter, parseDocument } from 'yaml';
import type { Metadata } from '../domain/memory.ts';
import { unreadableLine } from './lines.ts';
import { normalizeText } from './plain-text.ts';

export interface MarkdownDocument {
  /** The YAML mapping between `---` lines at the top; empty when there is none. */
  readonly frontMatter: Metadata;
  readonly sections: readonly MarkdownSection[];
  /** How many headings have neither content nor a heading below them, so that no section shows their text. */
  readonly emptyHeadings: number;
}

export interface MarkdownSection {
  /** The headings above the content, outermost first, joined by ` › `; empty before the first heading. */
  readonly title: string;
  /** The Markdown below the heading, up to the next one; never blank. */
  readonly content: string;
  /** Of the heading, or of the content where there is none; counts from 1. */
  readonly line: number;
}

/**
 * Splits a Markdown file into its sections. Headings are those of CommonMark: a `#` inside a code fence, an HTML comment,
 * a quotation or a list is not a heading. Only several underlined lines are a paragraph here. A heading without content of
 * its own makes no section, but is part of the titles below it. Throws `unreadable_file` with the line if the front matter
 * is not valid YAML; `path` is only used in that error.
 */
export function parseMarkdown(text: string, options: { readonly path: string }): MarkdownDocument {
  const normalized = normalizeText(text);
  const { frontMatter, length } = readFrontMatter(normalized, options.path);
  const firstLine = 1 + countBreaks(normalized.slice(0, length));
  return { frontMatter, ...readSections(normalized.slice(length), firstLine) };
}

/** Characters. Longer than any heading. */
const MOST_AT_ONCE = 2 ** 16;

/**
 * Applies the expressions for paragraphs and underlined headings only to the beginning of a text. On a paragraph of several
 * megabytes, such as an embedded picture, they fail with a `RangeError`.
 */
class BlockTokenizer extends Tokenizer {
  override lheading(src: string): Tokens.Heading | undefined {
    const found = super.lheading(src.slice(0, MOST_AT_ONCE));
    // What ends at the cut may go on behind it.
    return found && found.raw.length < MOST_AT_ONCE ? found : undefined;
  }

  /** Returns a long paragraph in parts of whole lines. */
  override paragraph(src: string): Tokens.Paragraph | undefined {
    if (src.length <= MOST_AT_ONCE) return super.paragraph(src);
    const lines = src.slice(0, src.lastIndexOf('\n', MOST_AT_ONCE - 1) + 1);
    if (lines !== '') return super.paragraph(lines);
    // The first line alone is longer.
    const found = super.paragraph(src.slice(0, MOST_AT_ONCE));
    const end = src.indexOf('\n', MOST_AT_ONCE);
    const raw = end < 0 ? src : src.slice(0, end + 1);
    return found && { ...found, raw, text: raw.trimEnd() };
  }
}

function readSections(body: string, firstLine: number): Omit<MarkdownDocument, 'frontMatter'> {
  const sections: MarkdownSection[] = [];
  const headings: { readonly depth: number; readonly title: string }[] = [];
  let line = firstLine;
  let start: number | undefined;
  let content = '';
  let emptyHeadings = 0;
  /** `depth` is that of the next heading; 0 at the end. */
  const finish = (depth: number): void => {
    const trimmed = content.replace(/^\s*\n/, '').trimEnd();
    if (trimmed === '') {
      const last = headings.at(-1);
      if (last !== undefined && last.title !== '' && last.depth >= depth) emptyHeadings++;
    } else {
      sections.push({
        title: headings.map((heading) => heading.title).join(' › '),
        content: trimmed,
        line: start ?? firstLine,
      });
    }
    content = '';
  };
  for (const token of lexer(body, { ...getDefaults(), tokenizer: new BlockTokenizer() })) {
    // CommonMark makes a heading of several underlined lines too. But whoever writes a rule below a paragraph means a rule,
    // and a paragraph as a title would be cut, or missing if nothing is below it.
    if (token.type === 'heading' && !token['text'].includes('\n')) {
      finish(token['depth']);
      while (headings.length > 0 && headings.at(-1)!.depth >= token['depth']) headings.pop();
      headings.push({ depth: token['depth'], title: plainText(token).replace(/\s+/g, ' ').trim() });
      start = line;
    } else {
      if (token.type !== 'space') start ??= line;
      content += token.raw;
    }
    line += countBreaks(token.raw);
  }
  finish(0);
  return { sections, emptyHeadings };
}

/**
 * Returns the lines of a Markdown text that are code because they are indented, in lists and quotations too. Counts from 0.
 * A paragraph of a list may be indented as far, so that only the structure of the text tells the two apart.
 */
export function indentedCodeLines(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  const visit = (tokens: readonly Token[], first: number): void => {
    let line = first;
    for (const token of tokens) {
      if (token.type === 'code' && token['codeBlockStyle'] === 'indented') {
        const last = line + countBreaks(token.raw);
        for (let at = line; at <= last; at++) found.add(at);
      }
      if (token.type === 'list') visit(token['items'], line);
      // What is in items and quotations has lost its indentation and marks, but no line.
      if (token.type === 'list_item' || token.type === 'blockquote') visit(token['tokens'] ?? [], line);
      line += countBreaks(token.raw);
    }
  };
  visit(lexer(text, { ...getDefaults(), tokenizer: new BlockTokenizer() }), 0);
  return found;
}

/** The text of a heading without its inline markup. */
function plainText(token: Token): string {
  if ('tokens' in token && token.tokens && token.tokens.length > 0) {
    return token.tokens.map(plainText).join('');
  }
  if (token.type === 'html') return '';
  if (token.type === 'br') return ' ';
  return 'text' in token ? String(token['text']) : '';
}

function readFrontMatter(
  text: string,
  path: string,
): { readonly frontMatter: Metadata; readonly length: number } {
  const block = /^---[ \t]*\n(?:([\s\S]*?)\n)?(?:---|\.\.\.)[ \t]*(?:\n|$)/.exec(text);
  if (!block) return { frontMatter: {}, length: 0 };
  const lineCounter = new LineCounter();
  // Suppress warnings, such as for {{title}} in a template: they would be printed without the name of the file.
  const document = parseDocument(block[1] ?? '', { lineCounter, prettyErrors: false, logLevel: 'error' });
  const error = document.errors[0];
  if (error) {
    // The YAML starts in the second line of the file.
    const line = lineCounter.linePos(error.pos[0]).line + 1;
    throw unreadableLine(path, line, `is not valid YAML front matter: ${error.message}`, error);
  }
  if (document.contents === null) return { frontMatter: {}, length: block[0].length };
  // A thematic break, prose and another break look like front matter, but are not a mapping.
  if (!isMap(document.contents)) return { frontMatter: {}, length: 0 };
  try {
    // Through JSON, because YAML also knows values such as .nan that metadata cannot hold.
    return { frontMatter: JSON.parse(JSON.stringify(document.toJS())) as Metadata, length: block[0].length };
  } catch (cause) {
    // Aliases that refer to themselves or multiply without end.
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw unreadableLine(path, 2, `begins front matter that is not plain data: ${reason}`, cause);
  }
}

function countBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
