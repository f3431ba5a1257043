import { SalienceError } from '../domain/errors.ts';

/** A paragraph of a text. */
export interface Paragraph {
  /** Without surrounding blank lines; line breaks are line feeds. */
  readonly content: string;
  /** Where it starts; counts from 1. */
  readonly line: number;
}

/** Splits a text into paragraphs: runs of lines that are not blank. Drops a byte order mark. */
export function parseParagraphs(text: string): readonly Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let lines: string[] = [];
  const all = normalizeText(text).split('\n');
  for (let index = 0; index <= all.length; index++) {
    const line = all[index];
    if (line !== undefined && line.trim() !== '') {
      lines.push(line.trimEnd());
    } else if (lines.length > 0) {
      paragraphs.push({ content: lines.join('\n'), line: index - lines.length + 1 });
      lines = [];
    }
  }
  return paragraphs;
}

/** The text without a byte order mark, every line break a line feed. */
export function normalizeText(text: string): string {
  return (text.startsWith('\uFEFF') ? text.slice(1) : text).replace(/\r\n?/g, '\n');
}

/**
 * Ways to split a text, from coarse to fine. The parts of each, joined, are the text. Sentences and words are found by
 * punctuation and white space, because `Intl.Segmenter` takes quadratic time, and imports are long.
 */
const CUTS: readonly ((text: string) => readonly string[])[] = [
  (text) => text.split(/(?<=\n[ \t]*\n)/),
  (text) => text.split(/(?<=\n)/),
  (text) => text.split(/(?<=[.!?…]["'”’)\]]?\s)|(?<=[。！？])/),
  (text) => text.split(/(?<=\s)/),
  (text) => [...text],
];

/**
 * Splits a text into pieces of at most `limitBytes` bytes of UTF-8, each as long as possible. Splits between paragraphs and,
 * inside a paragraph that is too long, between lines, then sentences, words and characters. Drops only white space at the
 * ends of pieces; returns a text within the limit whole. Throws `invalid_argument` for a limit below 4, the size of the
 * longest character.
 */
export function splitLong(text: string, limitBytes: number): readonly string[] {
  if (!Number.isFinite(limitBytes) || limitBytes < 4) {
    throw new SalienceError('invalid_argument', `limitBytes is ${limitBytes}; it must be 4 or more`, {
      details: { field: 'limitBytes' },
    });
  }
  if (Buffer.byteLength(text) <= limitBytes) return [text];
  return pack(text, limitBytes, 0)
    .map((piece) => piece.replace(/^\s*\n/, '').trimEnd())
    .filter((piece) => piece.trim() !== '');
}

function pack(text: string, limitBytes: number, level: number): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  let bytes = 0;
  const flush = (): void => {
    if (piece !== '') pieces.push(piece);
    piece = '';
    bytes = 0;
  };
  for (const part of CUTS[level]!(text)) {
    const size = Buffer.byteLength(part);
    if (bytes + size > limitBytes) flush();
    if (size > limitBytes) {
      pieces.push(...pack(part, limitBytes, level + 1));
    } else {
      piece += part;
      bytes += size;
    }
  }
  flush();
  return pieces;
}
