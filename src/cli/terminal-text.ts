/**
 * Makes text of unknown origin safe for a terminal. Stored text is data: it must not move the cursor, change colours,
 * turn the direction of writing or pretend to be output of this program.
 */

// Controls, line and paragraph separators, lone surrogates, marks that change the direction of writing, tag characters.
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/** Returns the text on one line. White space becomes single spaces; other unsafe characters become `\u{…}`. */
export function plainLine(text: string): string {
  return escapeUnsafe(text.replace(/[\s\u2028\u2029]+/g, ' ').trim());
}

/** Like {@link plainLine}, but keeps line breaks and tabs. */
export function plainBlock(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .split(/(\n|\t)/)
    .map((part) => (part === '\n' || part === '\t' ? part : escapeUnsafe(part)))
    .join('');
}

function escapeUnsafe(text: string): string {
  return text.replace(unsafe, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])|\ufe0f/u;
const invisible = /[\p{Mn}\p{Me}\p{Cf}]/gu;
const narrow =
  /^[\x20-\x7e\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u2190-\u22ff\u2500-\u25fc]*$/;

/** Returns the columns that a text without colour codes takes on a terminal. */
export function displayWidth(text: string): number {
  if (narrow.test(text)) return text.length;
  return graphemes(text).reduce((sum, each) => sum + graphemeWidth(each), 0);
}

const USUAL_COLUMNS = 80;

/**
 * Returns the columns of a terminal; `Infinity` for anything else. A terminal without a known size, as in a container,
 * reports 0.
 */
export function columnsOf(stream: { readonly isTTY?: boolean; readonly columns?: number }): number {
  return stream.isTTY ? stream.columns || USUAL_COLUMNS : Number.POSITIVE_INFINITY;
}

/** Cuts a text to `columns`, with an ellipsis where it is cut. */
export function cutToWidth(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  if (columns < 1) return '';
  // Loading `Intl.Segmenter` takes 30 ms.
  if (narrow.test(text)) return `${text.slice(0, columns - 1).trimEnd()}…`;
  let width = 1;
  let cut = '';
  for (const each of graphemes(text)) {
    width += graphemeWidth(each);
    if (width > columns) break;
    cut += each;
  }
  return `${cut.trimEnd()}…`;
}

export function padToWidth(text: string, columns: number, side: 'left' | 'right' = 'left'): string {
  const padding = ' '.repeat(Math.max(0, columns - displayWidth(text)));
  return side === 'left' ? text + padding : padding + text;
}

function graphemes(text: string): readonly string[] {
  return Array.from(new Intl.Segmenter('en').segment(text), ({ segment }) => segment);
}

function graphemeWidth(grapheme: string): number {
  if (wide.test(grapheme)) return 2;
  // Terminals give vowels beside a letter, as in Hindi and Thai, columns of their own (`wcwidth`).
  return [...grapheme.replace(invisible, '')].length;
}
