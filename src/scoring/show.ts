import type { Scalar } from './operators/index.ts';

/** Text of unknown origin on one line: control characters, line breaks and direction marks become visible. */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Returns the text as a Markdown code span, in which nothing is markup, a link or a mention. */
export function codeSpan(text: string): string {
  const shown = visible(text);
  const fence = '`'.repeat(1 + Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length)));
  const padding = shown === '' || /^[`\s]|[`\s]$/.test(shown) ? ' ' : '';
  return `${fence}${padding}${shown}${padding}${fence}`;
}

/** Cuts a text to `length`, with an ellipsis. Never splits a surrogate pair. */
export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…` : text;
}

/**
 * Formats a number with at most seven significant digits, and at least two decimals if it has any: `0.60`, `30`,
 * `1.442695`.
 */
export function shortNumber(value: number): string {
  if (Number.isInteger(value)) return String(value);
  const rounded = String(Number(value.toPrecision(7)));
  const [whole = '', decimals] = rounded.split('.');
  if (decimals === undefined || rounded.includes('e')) return rounded;
  return `${whole}.${decimals.padEnd(2, '0')}`;
}

/** A number, or the name of the parameter that sets it. */
export function scalarText(value: Scalar): string {
  return typeof value === 'number' ? shortNumber(value) : visible(value.name);
}
