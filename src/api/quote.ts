/**
 * Stored text on its way into an answer that a model or a person reads. It is data: quoted, in one line, without
 * characters that hide or reorder what is written.
 */

// What JSON leaves as it is: controls, separators, marks of direction, and whatever no reader sees and a model does. Joiners and the choice
// between text and emoji stay, two in a row at most: Persian, Indic scripts and emoji need them.
const joiner = '(?:\\u200c|\\u200d|\\ufe0e|\\ufe0f)';
const hidden = new RegExp(
  `(?!${joiner})(?:[\\p{Cc}\\u2028\\u2029\\ufff9-\\ufffb]|\\p{Default_Ignorable_Code_Point}|\\p{Noncharacter_Code_Point})|(?<=${joiner}{2})${joiner}`,
  'gu',
);

export function quoted(text: string): string {
  return revealed(JSON.stringify(text));
}

/** In one line, without quotes: for places that show a label. */
export function plainLine(text: string): string {
  return revealed(text.replace(/[\s\p{Cc}]+/gu, ' ').trim());
}

function revealed(text: string): string {
  return text.replace(hidden, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** An id, a type or a tag: as it stands where nothing in it can mislead. */
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
