/**
 * Cuts normalised text into words.
 *
 * One regular expression finds runs of letters, marks and digits, so that ordinary text never pays for the
 * segmenter and gets the same words under every ICU version; only runs in scripts whose words are not parted
 * by spaces go to `Intl.Segmenter`, which has dictionaries for them.
 */

const WORD = String.raw`[\p{L}\p{N}][\p{L}\p{M}\p{N}]*`;

/** A word with its inner apostrophes, full stops and commas, or one letter with `++` or `#` (C++, C#). */
const RUN = new RegExp(String.raw`[a-z](?:\+\+|#)|${WORD}(?:['.,]${WORD})*`, 'gu');

const JOINED = /['.,]/;

/** Scripts whose words are not parted by spaces; Korean for its particles, which follow Latin words directly. */
const UNSPACED_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/u;

const INITIALS = /^\p{L}\p{M}*(?:\.\p{L}\p{M}*)+$/u;
const NUMBER_IN_GROUPS = /^\p{Nd}{1,3}(?:,\p{Nd}{3})+(?:\.\p{Nd}+)?$/u;

/** A full stop that does not stand between two digits, a comma, an apostrophe before a digit (summer'69). */
const BREAK = /(?<!\p{Nd})\.|\.(?!\p{Nd})|,|(?<=\p{L}\p{M}*)'(?=\p{N})/u;

/** The runs of word characters in normalised text; {@link splitRun} cuts each into words. */
export function findRuns(normalized: string): readonly string[] {
  return normalized.match(RUN) ?? [];
}

/**
 * The words of one run. Apostrophes stay inside words.
 *
 * @param segmenter gives the segmenter of granularity `word`; called only if the run needs it.
 */
export function splitRun(run: string, segmenter: () => Intl.Segmenter): readonly string[] {
  if (!UNSPACED_SCRIPT.test(run)) return splitJoined(run);
  return segments(run, segmenter())
    .filter((segment) => segment.isWordLike === true)
    .flatMap((segment) => splitJoined(segment.segment));
}

/** V8 copies the whole input for every segment it gives, so that long texts are segmented in windows. */
const WINDOW = 1024;

/** The segments of a text, in time proportional to its length. */
export function segments(text: string, segmenter: Intl.Segmenter): readonly Intl.SegmentData[] {
  if (text.length <= WINDOW) return Array.from(segmenter.segment(text));
  const found: Intl.SegmentData[] = [];
  for (let start = 0; start < text.length; ) {
    const window = Array.from(segmenter.segment(text.slice(start, start + WINDOW)));
    // The last segment of a window may go on in the next, which then starts with it.
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
  if (INITIALS.test(run)) return [run.replaceAll('.', '')];
  if (NUMBER_IN_GROUPS.test(run)) return [run.replaceAll(',', '')];
  return run.split(BREAK);
}

/** Whether a text holds characters of a script whose words are not parted by spaces. */
export function hasUnspacedScript(text: string): boolean {
  return UNSPACED_SCRIPT.test(text);
}
