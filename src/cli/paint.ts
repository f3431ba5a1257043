import { styleText } from 'node:util';

export type Style = Parameters<typeof styleText>[0];

/** Applies a style to a text. Returns the text unchanged if colours are off. */
export type Paint = (style: Style, text: string) => string;

/** Turns colours on for a terminal that supports them, unless somebody refused them. See https://no-color.org. */
export function createPaint(wanted: boolean, environment: NodeJS.ProcessEnv, isTerminal: boolean): Paint {
  const refused = !wanted || (environment['NO_COLOR'] ?? '') !== '';
  const forced = (environment['FORCE_COLOR'] ?? '') !== '' && environment['FORCE_COLOR'] !== '0';
  // A dumb terminal, such as a shell in an editor, shows the control sequences as text.
  const shown = isTerminal && environment['TERM'] !== 'dumb';
  if (refused || !(forced || shown)) return (_style, text) => text;
  return (style, text) => (text === '' ? '' : styleText(style, text, { validateStream: false }));
}
