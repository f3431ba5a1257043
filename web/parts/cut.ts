/** The beginning of a text, at most so many characters: no emoji is cut in two. */
export function beginningOf(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}
