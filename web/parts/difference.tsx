import type { ComponentChildren } from 'preact';

/** Shows two versions of a text as one, with removed and added words marked. */
export function TextDifference({ before, after }: { readonly before: string; readonly after: string }) {
  return (
    <p class="stored difference">
      {differences(before, after).map(([kind, text, was = text], index) =>
        kind === 'same' ? (
          // The last word of a text has no space after it, but removed words may follow it here.
          <span key={`${index}`}>{was.length > text.length ? was : text}</span>
        ) : kind === 'gone' ? (
          <del key={`${index}`}>{text}</del>
        ) : (
          <ins key={`${index}`}>{text}</ins>
        ),
      )}
    </p>
  );
}

/** Returns two texts to show side by side, each with the words marked that only it has. */
export function textSides(before: string, after: string): readonly [ComponentChildren, ComponentChildren] {
  const pieces = differences(before, after);
  const side = (Mark: 'del' | 'ins', own: Piece[0]) =>
    pieces
      .filter(([kind]) => kind === 'same' || kind === own)
      .map(([kind, text, was = text], index) =>
        kind === 'same' ? (
          <span key={`${index}`}>{own === 'gone' ? was : text}</span>
        ) : (
          <Mark key={`${index}`}>{text}</Mark>
        ),
      );
  return [side('del', 'gone'), side('ins', 'came')];
}

/** A word with the white space after it. `was` is the word with its white space in the older version. */
type Piece = readonly [kind: 'same' | 'gone' | 'came', text: string, was?: string];

/** The most words that are compared. Longer texts are shown whole. */
const MOST_WORDS = 600;

function differences(before: string, after: string): readonly Piece[] {
  const [a, b] = [before.split(/(?<=\s)/), after.split(/(?<=\s)/)];
  if (a.length > MOST_WORDS || b.length > MOST_WORDS)
    return [
      ['gone', before],
      ['came', after],
    ];
  // `common[i][j]` is the length of the longest common subsequence of the words from `i` and `j` on.
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const [row, below] = [common[i] as Uint16Array, common[i + 1] as Uint16Array];
      row[j] = same(a[i], b[j]) ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  const pieces: Piece[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && same(a[i], b[j])) {
      pieces.push(['same', b[j++] as string, a[i++] as string]);
    } else if (j >= b.length || (i < a.length && (common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0))) {
      pieces.push(['gone', a[i++] as string]);
    } else {
      pieces.push(['came', b[j++] as string]);
    }
  }
  return pieces;
}

function same(a: string | undefined, b: string | undefined): boolean {
  return a?.trim() === b?.trim();
}
