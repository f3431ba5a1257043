/**
 * Formats stored text for answers that a model or a person reads. The text is data: it is quoted, on one line, and
 * characters that hide or reorder text are escaped.
 */

// What `JSON.stringify` does not escape: controls, separators, direction marks, and characters that models see and
// readers do not. Joiners and variation selectors stay, at most two in a row: Persian, Indic scripts and emoji need
// them.
const joiner = '(?:\\u200c|\\u200d|\\ufe0e|\\ufe0f)';
const hidden = new RegExp(
  `(?!${joiner})(?:[\\p{Cc}\\u2028\\u2029\\ufff9-\\ufffb]|\\p{Default_Ignorable_Code_Point}|\\p{Noncharacter_Code_Point})|(?<=${joiner}{2})${joiner}`,
  'gu',
);

export function quoted(text: string): string {
  return revealed(JSON.stringify(text));
}

/** Returns the text on one line without quotes, for labels. */
export function plainLine(text: string): string {
  return revealed(text.replace(/[\s\p{Cc}]+/gu, ' ').trim());
}

function revealed(text: string): string {
  return text.replace(hidden, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Returns an id, type or tag as it is if none of its characters can mislead, otherwise quoted. */
export function named(text: string): string {
  return /^[\p{L}\p{N}._:/@-]+$/u.test(text) ? text : quoted(text);
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The day of an instant. */
export function dayOf(at: string): string {
  return at.slice(0, 10);
}
