/**
 * Splits normalised text into words.
 *
 * One regular expression finds runs of letters, marks and digits, so that ordinary text never needs the segmenter and
 * gives the same words with every ICU version. Only runs in scripts that do not separate words by spaces go to
 * `Intl.Segmenter`, which has dictionaries for them.
 */

/** Builds the patterns. Each parameter is the inside of a character class: letters, marks, digits, and all numbers. */
function patternsOf(letters: string, marks: string, digits: string, numbers: string, flags: string) {
  const letter = `[${letters}][${marks}]*`;
  const word = `[${letters}${numbers}][${letters}${marks}${numbers}]*`;
  return {
    /** A word with its inner apostrophes, full stops and commas, or one letter with `++` or `#` (C++, C#). */
    run: new RegExp(String.raw`[a-z](?:\+\+|#)|${word}(?:['.,]${word})*`, `g${flags}`),
    initials: new RegExp(String.raw`^${letter}(?:\.${letter})+$`, flags),
    numberInGroups: new RegExp(String.raw`^[${digits}]{1,3}(?:,[${digits}]{3})+(?:\.[${digits}]+)?$`, flags),
    /** A full stop that is not between two digits, a comma, or an apostrophe before a digit (summer'69). */
    break: new RegExp(
      String.raw`(?<![${digits}])\.|\.(?![${digits}])|,|(?<=${letter})'(?=[${numbers}])`,
      flags,
    ),
  };
}

/** V8 takes milliseconds to compile a pattern for the letters of all scripts, and most processes only see ASCII. */
const ofAscii = patternsOf('A-Za-z', '', '0-9', '0-9', '');
let ofUnicode: ReturnType<typeof patternsOf> | undefined;

function patternsFor(text: string): ReturnType<typeof patternsOf> {
  if (isAscii(text)) return ofAscii;
  ofUnicode ??= patternsOf(String.raw`\p{L}`, String.raw`\p{M}`, String.raw`\p{Nd}`, String.raw`\p{N}`, 'u');
  return ofUnicode;
}

export function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

const JOINED = /['.,]/;

/** Scripts that do not separate words by spaces. Includes Korean, whose particles directly follow Latin words. */
const unspacedScript = () =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/u;

/** Returns the runs of word characters in normalised text. {@link splitRun} splits each into words. */
export function findRuns(normalized: string): readonly string[] {
  return normalized.match(patternsFor(normalized).run) ?? [];
}

/**
 * Splits one run into words. Apostrophes stay inside words.
 *
 * @param segmenter returns the segmenter of granularity `word`; called only if the run needs it.
 */
export function splitRun(run: string, segmenter: () => Intl.Segmenter): readonly string[] {
  if (!hasUnspacedScript(run)) return splitJoined(run);
  return segments(run, segmenter())
    .filter((segment) => segment.isWordLike === true)
    .flatMap((segment) => splitJoined(segment.segment));
}

/** V8 copies the whole input for every segment it returns, so long texts are segmented in windows of this size. */
const WINDOW = 1024;

/** Segments a text in time proportional to its length. */
export function segments(text: string, segmenter: Intl.Segmenter): readonly Intl.SegmentData[] {
  if (text.length <= WINDOW) return Array.from(segmenter.segment(text));
  const found: Intl.SegmentData[] = [];
  for (let start = 0; start < text.length; ) {
    const window = Array.from(segmenter.segment(text.slice(start, start + WINDOW)));
    // The last segment of a window may continue in the next one, so the next window starts with it.
    if (start + WINDOW < text.length && window.length > 1) window.pop();
    for (const segment of window) {
      found.push({ ...segment, input: '' });
      start += segment.segment.length;
    }
  }
  return found;
}

function splitJoined(run: string): readonly string[] {
  if (!JOINED.test(run)) return [run];
  const patterns = patternsFor(run);
  if (patterns.initials.test(run)) return [run.replaceAll('.', '')];
  if (patterns.numberInGroups.test(run)) return [run.replaceAll(',', '')];
  return run.split(patterns.break);
}

/** Whether a text contains characters of a script that does not separate words by spaces. */
export function hasUnspacedScript(text: string): boolean {
  return !isAscii(text) && unspacedScript().test(text);
}
