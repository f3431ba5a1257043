/**
 * A text of at most `most` UTF-16 units, the ending included where it had to be cut. What a reader sees as one
 * character is never cut apart, unless it alone is longer than that; a surrogate pair never is.
 */
export function clip(text: string, most: number, ending = '…'): string {
  return text.length <= most ? text : headOf(text, Math.max(0, most - ending.length)) + ending;
}

/** The beginning of a longer text: at most `room` UTF-16 units, cut as `clip` cuts. */
export function headOf(text: string, room: number): string {
  // A fixed locale: the machine's own must not change where a text is cut. No character takes much more than 64 units.
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
  // One look at the place of the cut: going through all characters of a long text takes seconds.
  let end = segmenter.segment(text.slice(0, room + 64)).containing(room)?.index ?? room;
  if (end === 0) end = isHighSurrogate(text.charCodeAt(room - 1)) ? room - 1 : room;
  return text.slice(0, end);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
