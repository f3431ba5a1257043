import { indentedCodeLines } from '../files/markdown.ts';
import type { ImportItem } from './item.ts';

const MAX_TAG = 128;

/**
 * Fenced code and code spans, where Obsidian syntax has no meaning. A fence may begin an item of a list. Backticks with
 * further ones in the same line are a span.
 */
export const CODE =
  '^[ \\t]*(?:(?:[-*+]|\\d{1,9}[.)])[ \\t]+)*(`{3,}(?![^`\\n]*`)|~{3,})[^\\n]*\\n[\\s\\S]*?(?:^[ \\t]*\\1[`~]*[ \\t]*$|(?![\\s\\S]))|(?<!`)(`+)(?!`)(?:(?!\\n[ \\t]*\\n)[\\s\\S])*?[^`]\\2(?!`)';
const FRONT_MATTER = '(?<![\\s\\S])---[ \\t]*\\n[\\s\\S]*?\\n(?:---|\\.\\.\\.)[ \\t]*(?:\\n|$)';

const comments = new RegExp(
  `${CODE}|${FRONT_MATTER}|(?<comment>%%[\\s\\S]*?%%|(?<=^[ \\t]*)%%[\\s\\S]*(?![\\s\\S]))`,
  'gm',
);
const wikilinks = new RegExp(`${CODE}|!?\\[\\[(?<link>[^\\[\\]\\n]+)\\]\\]`, 'gm');
/** The characters of a tag. Marks belong to letters, for example the vowels of Hindi; U+200D and U+FE0F to emoji. */
const TAG = '[\\p{L}\\p{N}\\p{M}\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\u200D\\uFE0F_/-]';
const tags = new RegExp(`${CODE}|(?<=^|\\s)#(?<tag>(?![\\d/_-]+(?!${TAG}))${TAG}+)`, 'gmu');

/**
 * Removes comments, `%% … %%`, and keeps the line breaks. A comment block that does not end hides the rest of the text.
 */
export function withoutComments(text: string): string {
  return replaceFound(text.replaceAll('\r\n', '\n'), comments, 'comment', (comment) =>
    comment.replace(/[^\n]+/g, ''),
  );
}

/** Returns the text with wikilinks as a reader sees them, and the targets of the links as they are written. */
export function readWikilinks(text: string): { readonly text: string; readonly targets: readonly string[] } {
  const targets: string[] = [];
  const plain = replaceFound(text, wikilinks, 'link', (link) => {
    // In a table the `|` is escaped.
    const [target = '', alias] = link.split(/\\?\|(.*)/s);
    targets.push(target.trim());
    return (
      alias?.trim() ||
      target
        .trim()
        .replace(/^#+\^?/, '')
        .replace(/#+\^?/g, ' > ')
    );
  });
  return { text: plain, targets };
}

/** Returns the tags in a text, without their `#`. */
export function inlineTags(text: string): readonly string[] {
  const found: string[] = [];
  replaceFound(text.normalize('NFC'), tags, 'tag', (tag) => {
    found.push(tag.replace(/\/+$/, ''));
    return '';
  });
  return found.filter((tag) => tag.length <= MAX_TAG);
}

/** Returns the date of a daily note, which its file name is; `undefined` for other notes. */
export function dailyDate(name: string): string | undefined {
  const [, date] = /(?:^|\/)(\d{4}-\d{2}-\d{2})\.[^./]+$/.exec(name) ?? [];
  if (date === undefined || Number.isNaN(Date.parse(date))) return undefined;
  // `Date` accepts 31 February as a day of March.
  return new Date(date).toISOString().startsWith(date) ? date : undefined;
}

/**
 * Returns the names that links may use for a note: its path without extension, and each shorter suffix of the path. Some
 * file systems decompose accented letters, which links have composed.
 */
export function noteNames(name: string): readonly string[] {
  const parts = name.replace(/\.[^./]+$/, '').split('/');
  return parts.map((_, at) => noteName(parts.slice(at).join('/')));
}

function noteName(target: string): string {
  return `note/${target.normalize('NFC').toLowerCase()}`;
}

/** Returns the name of a section of a note. `note` is one of its `noteNames`. */
export function sectionName(note: string, heading: string): string {
  return `${note}#${heading.trim().normalize('NFC').toLowerCase()}`;
}

/** Returns the link from the section `from` of the note `name` to the target: a section if it exists, else its note. */
export function linkTo(target: string, from: string, name: string): ImportItem {
  const [note = '', ...headings] = target.split('#');
  const path = note.trim().replace(/\.md$/i, '');
  const whole = path === '' ? (noteNames(name)[0] as string) : noteName(path);
  const heading = headings.at(-1);
  return {
    kind: 'link',
    from: [from],
    to: heading === undefined ? [whole] : [sectionName(whole, heading), whole],
  };
}

/** Returns the relation `links_to` between two notes that a wikilink states; none for a link within a note. */
export function relationTo(target: string, from: string, name: string): readonly ImportItem[] {
  const note = (target.split('#')[0] ?? '').trim().replace(/\.md$/i, '');
  if (note === '') return [];
  return [
    {
      kind: 'relation',
      from: noteNames(name).slice(0, 1),
      to: [noteName(note)],
      name: 'links_to',
      statedBy: from,
    },
  ];
}

/** What may be a line of indented code, also in a quotation. */
const INDENTED = /^ {0,3}(?: |\t|>)/;

/**
 * Replaces each match of `pattern` that has the group `name`, by what `replace` returns for the group. Matches without it
 * are code, and stay. So does what begins in indented code, which no expression can tell from a paragraph of a list.
 */
function replaceFound(
  text: string,
  pattern: RegExp,
  name: string,
  replace: (group: string) => string,
): string {
  let code: ReadonlySet<number> | undefined;
  let kept = '';
  let end = 0;
  let line = 0;
  let lineStart = 0;
  const search = new RegExp(pattern);
  for (let found = search.exec(text); found !== null; found = search.exec(text)) {
    let next = text.indexOf('\n', lineStart);
    for (; next >= 0 && next < found.index; next = text.indexOf('\n', lineStart)) {
      lineStart = next + 1;
      line++;
    }
    if (INDENTED.test(text.slice(lineStart, lineStart + 4))) {
      code ??= indentedCodeLines(text);
      if (code.has(line)) {
        search.lastIndex = next < 0 ? text.length : next;
        continue;
      }
    }
    const group = found.groups?.[name];
    if (group === undefined) continue;
    kept += text.slice(end, found.index) + replace(group);
    end = found.index + found[0].length;
  }
  return kept + text.slice(end);
}
