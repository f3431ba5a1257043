/** Returns at most the first `length` characters of a text, without cutting an emoji in two. */
export function beginningOf(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}
