/** What may come next. `first value` and `first key` also allow the closing bracket of an empty list or object. */
type Expected = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'next';

/**
 * Returns the position of the first unexpected token in a text that is not valid JSON, or the length of a text that
 * ends too early. For mistakes inside a token, `JSON.parse` itself names the position.
 */
export function findUnexpectedToken(text: string): number {
  const space = /[ \t\n\r]*/y;
  const scalar = /(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y;
  const closers: string[] = [];
  let expected: Expected = 'value';
  let at = 0;
  const after = (pattern: RegExp): number => {
    pattern.lastIndex = at;
    return pattern.test(text) ? pattern.lastIndex : -1;
  };
  for (;;) {
    at = after(space);
    const character = text[at];
    if (character === undefined) return at;
    let end = at + 1;
    if (character === closers.at(-1) && (expected === 'next' || expected.startsWith('first'))) {
      closers.pop();
      expected = 'next';
    } else if (expected === 'next') {
      if (character !== ',' || closers.length === 0) return at;
      expected = closers.at(-1) === '}' ? 'key' : 'value';
    } else if (expected === 'colon') {
      if (character !== ':') return at;
      expected = 'value';
    } else if (character === '"') {
      end = endOfString(text, at);
      expected = expected.endsWith('key') ? 'colon' : 'next';
    } else if (expected.endsWith('key')) {
      return at;
    } else if (character === '{' || character === '[') {
      closers.push(character === '{' ? '}' : ']');
      expected = character === '{' ? 'first key' : 'first value';
    } else {
      end = after(scalar);
      if (end < 0) return at;
      expected = 'next';
    }
    at = end;
  }
}

function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text[before - 1] === '\\') before--;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return text.length;
}
