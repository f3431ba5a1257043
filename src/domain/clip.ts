/**
 * Shortens a text to at most `most` UTF-16 units, `ending` included. Never splits a grapheme, unless it alone is too long,
 * and never splits a surrogate pair.
 */
export function clip(text: string, most: number, ending = '…'): string {
  return text.length <= most ? text : headOf(text, Math.max(0, most - ending.length)) + ending;
}

/** Returns the beginning of a longer text: at most `room` UTF-16 units, cut as `clip` does. */
export function headOf(text: string, room: number): string {
  // A fixed locale, so that every machine cuts at the same place. Graphemes are hardly longer than 64 units.
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
  // Looks only at the place of the cut: segmenting a whole long text takes seconds.
  let end = segmenter.segment(text.slice(0, room + 64)).containing(room)?.index ?? room;
  if (end === 0) end = isHighSurrogate(text.charCodeAt(room - 1)) ? room - 1 : room;
  return text.slice(0, end);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
