import { clip } from '../domain/clip.ts';

/** Line breaks of every kind: a text must not begin a line that we do not see. */
const LINE_BREAK = /\r\n?|[\n\v\f\u0085\u2028\u2029]/;

/**
 * Invisible characters that change how a text is read: controls, bidirectional marks and overrides, zero-width spaces,
 * tags (which can carry hidden text), and noncharacters, as XML does not allow U+FFFE and U+FFFF. Joiners and variation
 * selectors stay, one at a time: Persian and emoji need them.
 */
const INVISIBLE =
  /(?!\t|\u200c|\u200d|\ufe0e|\ufe0f)(?:\p{Cc}|\p{Default_Ignorable_Code_Point}|\p{Noncharacter_Code_Point}|[\ufff9-\ufffb])/gu;
const JOINERS = /(\u200c|\u200d|\ufe0e|\ufe0f)(?:\u200c|\u200d|\ufe0e|\ufe0f)+/g;

/** Markup characters, and those that become one when a reader normalises compatibility forms. */
const MARKUP = /[&＆﹠<＜﹤>＞﹥]/g;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Returns a stored text as lines that are safe to show: well-formed, visible, without the nonce, with markup as
 * entities. No line ends in white space; there are no blank lines at either end, and never two in a row.
 */
export function safeLines(text: string, nonce: string): readonly string[] {
  const lines = text
    .toWellFormed()
    .split(LINE_BREAK)
    .map((line) =>
      line
        .replace(INVISIBLE, '')
        .replace(JOINERS, '$1')
        .replaceAll(nonce, '#')
        .replace(MARKUP, (each) => ENTITIES[each.normalize('NFKC')]!)
        .trimEnd(),
    );
  const last = lines.findLastIndex((line) => line !== '');
  const shown = lines
    .slice(0, last + 1)
    .filter((line, at) => line !== '' || (at > 0 && lines[at - 1] !== ''));
  return shown.length === 0 ? [''] : [shown[0]!.trimStart(), ...shown.slice(1)];
}

/** Returns a short text for a header, on one line of at most 80 characters before escaping. */
export function safeInline(text: string, nonce: string): string {
  return safeLines(clip(text, 80), nonce).join(' ').replace(/\s+/g, ' ').replaceAll('"', '&quot;');
}

/**
 * Escapes a line for Markdown: no links, images, reference definitions or code fences, and a backslash stays a
 * backslash.
 */
export function escapeMarkdown(line: string): string {
  return line.replace(/[\\[\]]|`{3,}|~{3,}/g, (each) => each.replace(/./g, '\\$&'));
}
