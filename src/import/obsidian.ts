import type { ImportItem } from './item.ts';

const MAX_TAG = 128;

/** Code blocks and code spans, where Obsidian syntax has no meaning. */
export const CODE =
  '^[ \\t]*(`{3,}|~{3,})[^\\n]*\\n[\\s\\S]*?(?:^[ \\t]*\\1[`~]*[ \\t]*$|(?![\\s\\S]))|(?<!`)(`+)(?!`)(?:(?!\\n[ \\t]*\\n)[\\s\\S])*?[^`]\\2(?!`)';
const FRONT_MATTER = '(?<![\\s\\S])---[ \\t]*\\n[\\s\\S]*?\\n(?:---|\\.\\.\\.)[ \\t]*(?:\\n|$)';

const comments = new RegExp(
  `${CODE}|${FRONT_MATTER}|(?<comment>%%[\\s\\S]*?%%|^[ \\t]*%%[\\s\\S]*(?![\\s\\S]))`,
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
  return text
    .replaceAll('\r\n', '\n')
    .replace(comments, (found, ...rest) =>
      groupOf(rest, 'comment') === undefined ? found : found.replace(/[^\n]+/g, ''),
    );
}

/** Returns the text with wikilinks as a reader sees them, and the targets of the links as they are written. */
export function readWikilinks(text: string): { readonly text: string; readonly targets: readonly string[] } {
  const targets: string[] = [];
  const plain = text.replace(wikilinks, (found, ...rest) => {
    const link = groupOf(rest, 'link');
    if (link === undefined) return found;
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
  const found = [...text.normalize('NFC').matchAll(tags)].flatMap(
    ({ groups }) => groups?.['tag']?.replace(/\/+$/, '') ?? [],
  );
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

function groupOf(rest: readonly unknown[], name: string): string | undefined {
  return (rest.at(-1) as Readonly<Record<string, string | undefined>>)[name];
}
