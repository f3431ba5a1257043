/** Why a text cannot be stored: a lone surrogate, or a control character. */
export type TextProblem = 'invalid-utf16' | 'control-character';

/**
 * Finds out why a text cannot be stored, or returns `undefined` if it can.
 *
 * `'invalid-utf16'`: a surrogate without its partner, which UTF-8 cannot hold, so a store would silently
 * change it. `'control-character'`: U+0000–U+001F other than tab, line feed and carriage return, U+007F, or
 * U+0080–U+009F. If both are found, the first of these is reported.
 */
export function findTextProblem(text: string): TextProblem | undefined {
  if (!text.isWellFormed()) return 'invalid-utf16';
  for (let index = 0; index < text.length; index++) {
    if (isRefusedControl(text.charCodeAt(index))) return 'control-character';
  }
  return undefined;
}

/** Whether every store can hold a text unchanged: UTF-8 has no lone surrogates, PostgreSQL and one SQLite driver no NUL. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function isRefusedControl(code: number): boolean {
  if (code >= 0x20) return code >= 0x7f && code <= 0x9f;
  return code !== 0x09 && code !== 0x0a && code !== 0x0d;
}
