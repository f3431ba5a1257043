import { headOf } from '../domain/clip.ts';
import type { Analyzer } from './analyze.ts';
import { hasUnspacedScript, segments } from './words.ts';

/** How a snippet is made. */
export interface SnippetOptions {
  /** Length limit in UTF-16 code units, ellipses included; an integer ≥ 1. Default is 160. */
  readonly maxCharacters?: number | undefined;
}

interface Piece {
  readonly text: string;
  /** Whether white space precedes it. */
  readonly spaced: boolean;
  /** The query terms in it. */
  readonly matches: readonly string[];
}

const ELLIPSIS = '…';

/**
 * Returns the passage of a text that best shows why it matches: the one with the most distinct query terms, then the
 * most matching words, then the earliest; the beginning if nothing matches. It consists of whole words; white space
 * becomes single spaces; `…` marks omitted text. Plain text: nothing is marked or escaped.
 *
 * @param queryTerms terms of the analysed query, from the same `analyzer`.
 * @returns at most `maxCharacters` long; the whole text if that fits. A single word longer than the limit is cut.
 */
export function snippet(
  text: string,
  queryTerms: Iterable<string>,
  analyzer: Analyzer,
  options: SnippetOptions = {},
): string {
  const limit = options.maxCharacters ?? 160;
  const whole = text.trim().replace(/\s+/g, ' ');
  if (whole.length <= limit) return whole;
  const pieces = splitPieces(whole, new Set(queryTerms), analyzer);
  // Room for both ellipses is always reserved, so that the choice of a window does not depend on its place in the text.
  const room = limit - 2 * ELLIPSIS.length;
  const offsets = [0];
  for (const piece of pieces) offsets.push(offsets.at(-1)! + widthOf(piece));
  const width = (start: number, end: number) =>
    end > start ? offsets[end]! - offsets[start]! - (pieces[start]!.spaced ? 1 : 0) : 0;

  const best = bestWindow(pieces, width, room);
  const isUnfitMatch = best[0] === best[1] && pieces[best[0]]!.matches.length > 0;
  const [start, end] = isUnfitMatch ? best : widen(best, pieces.length, width, room);
  if (start === end) return cutPiece(pieces[start]!.text, start > 0, limit);
  const passage = pieces
    .slice(start, end)
    .map((piece, index) => (piece.spaced && index > 0 ? ` ${piece.text}` : piece.text))
    .join('');
  return (start > 0 ? ELLIPSIS : '') + passage + (end < pieces.length ? ELLIPSIS : '');
}

type Width = (start: number, end: number) => number;
type Window = readonly [start: number, end: number];

/**
 * Returns the best window that fits, and that begins and ends with a matching piece. If the best matching piece does
 * not fit alone, or nothing matches, returns an empty window at its place or at the beginning.
 */
function bestWindow(pieces: readonly Piece[], width: Width, room: number): Window {
  const matching = pieces.flatMap((piece, index) => (piece.matches.length > 0 ? [index] : []));
  let best: Window = [matching[0] ?? 0, matching[0] ?? 0];
  let bestDistinct = 0;
  let bestTotal = 0;
  const counts = new Map<string, number>();
  let total = 0;
  let first = 0;
  for (const last of matching) {
    for (const term of pieces[last]!.matches) counts.set(term, (counts.get(term) ?? 0) + 1);
    total += 1;
    while (first < matching.length && matching[first]! <= last && width(matching[first]!, last + 1) > room) {
      for (const term of pieces[matching[first]!]!.matches) {
        const left = counts.get(term)! - 1;
        if (left === 0) counts.delete(term);
        else counts.set(term, left);
      }
      total -= 1;
      first += 1;
    }
    if (counts.size > bestDistinct || (counts.size === bestDistinct && total > bestTotal)) {
      bestDistinct = counts.size;
      bestTotal = total;
      best = [matching[first]!, last + 1];
    }
  }
  return best;
}

/** Adds pieces on both sides, evenly, as long as they fit. */
function widen(window: Window, count: number, width: Width, room: number): Window {
  let [start, end] = window;
  const middle = width(0, start) + width(start, end) / 2;
  for (;;) {
    const left = start > 0 && width(start - 1, end) <= room;
    const right = end < count && width(start, end + 1) <= room;
    if (!left && !right) return [start, end];
    const before = middle - width(0, start);
    const after = width(0, end) - middle;
    if (right && (!left || after <= before)) end += 1;
    else start -= 1;
  }
}

function splitPieces(whole: string, queryTerms: ReadonlySet<string>, analyzer: Analyzer): readonly Piece[] {
  const pieces: Piece[] = [];
  let segmenter: Intl.Segmenter | undefined;
  for (const chunk of whole.split(' ')) {
    let parts = [chunk];
    if (hasUnspacedScript(chunk)) {
      segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
      parts = segments(chunk, segmenter).map((part) => part.segment);
    }
    for (const [index, text] of parts.entries()) {
      const matches = [...new Set(analyzer.analyze(text))].filter((term) => queryTerms.has(term));
      pieces.push({ text, spaced: index === 0 && pieces.length > 0, matches });
    }
  }
  return pieces;
}

function widthOf(piece: Piece): number {
  return piece.text.length + (piece.spaced ? 1 : 0);
}

function cutPiece(text: string, leading: boolean, limit: number): string {
  const prefix = leading && limit > 2 ? ELLIPSIS : '';
  return prefix + headOf(text, Math.max(0, limit - prefix.length - ELLIPSIS.length)) + ELLIPSIS;
}
