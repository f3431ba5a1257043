/**
 * Stored text on its way into an answer that a model or a person reads. It is data: quoted, in one line, without
 * characters that hide or reorder what is written.
 */

// What JSON leaves as it is: delete and C1 controls, separators, marks of direction, and tag characters, which no
// reader sees and a model does.
const hidden = /[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

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
