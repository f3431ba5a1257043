import type { JsonValue, Metadata } from '../domain/memory.ts';
import { withAliases } from '../domain/relation.ts';
import { normalisedContent } from '../domain/statement.ts';
import { parseMarkdown } from '../files/markdown.ts';
import { splitLong } from '../files/plain-text.ts';
import { withoutEmbeddedFiles } from './embedded-files.ts';
import { fitTags, fitText, fitTitle } from './fit.ts';
import { type ImportItem, joinTags, MAX_CONTENT_BYTES, type SourceOptions, stableId } from './item.ts';
import {
  dailyDate,
  inlineTags,
  linkTo,
  noteNames,
  readWikilinks,
  relationTo,
  sectionName,
  withoutComments,
} from './obsidian.ts';

/** The most aliases an entity may have, and their longest length in characters. */
const MAX_ALIASES = 64;
const MAX_ALIAS = 200;

/** Keys of the front matter that may date a memory. The first one that has a value does. */
const DATES = ['createdAt', 'created', 'date'];

/** Keys of the front matter that set fields of a memory. All others go into its metadata. */
const known: ReadonlySet<string> = new Set(['title', 'tags', 'type', 'scope', 'importance', ...DATES]);

/**
 * Reads each section as a memory. Its title is the path of headings. Its id is made of file, title and place among the
 * sections of the same title, so that a changed section updates its memory. The extensions of Obsidian are supported:
 * links between notes, tags in the text, comments, and daily notes. Embedded files are left out.
 */
export function readMarkdown(text: string, name: string, options: SourceOptions): readonly ImportItem[] {
  const { text: readable, count: embedded } = withoutEmbeddedFiles(text.replaceAll('\r\n', '\n'));
  const { frontMatter, sections, emptyHeadings } = parseMarkdown(withoutComments(readable), { path: name });
  const scope = textOf(frontMatter['scope']) ?? options.scope;
  const type = textOf(frontMatter['type']) ?? (/(?:^|\/)decisions\//i.test(name) ? 'decision' : 'fact');
  const dating = DATES.find((key) => textOf(frontMatter[key]) !== undefined);
  const createdAt = dating === undefined ? dailyDate(name) : textOf(frontMatter[dating]);
  // Obsidian reads a quoted "#tag" as the tag.
  const noteTags = tagsOf(frontMatter['tags']).flatMap((each) => textOf(each.replace(/^#+/, '')) ?? []);
  const notes = [
    ...noteNames(name),
    ...tagsOf(frontMatter['aliases']).flatMap((each) => noteNames(`${each}.md`)),
  ];
  const importance = frontMatter['importance'];
  const metadata: Metadata = Object.fromEntries(
    Object.entries(frontMatter).filter(([key, value]) => key !== dating && isMetadata(key, value)),
  );
  const seen = new Map<string, number>();
  const read = sections.map((section) => ({
    section,
    title: readWikilinks(section.title).text || (textOf(frontMatter['title']) ?? baseName(name)),
    ...readWikilinks(section.content),
  }));
  const titlesOf = new Map<string, Set<string | undefined>>();
  for (const { title, text } of read) {
    const content = normalisedContent(text);
    titlesOf.set(content, (titlesOf.get(content) ?? new Set()).add(fitTitle(title)));
  }

  const entity = noteEntity(name, notes, frontMatter, { ...options, scope });
  const items = read.flatMap(({ section, title, text: said, targets }, index) => {
    const place = seen.get(title) ?? 0;
    seen.set(title, place + 1);
    const lost: ImportItem[] = [];
    const ownTags = fitTags([...noteTags, ...inlineTags(section.content)], options.tags, (what) =>
      lost.push({ kind: 'left-out', what }),
    );
    const tags = joinTags(ownTags, options.tags);
    const id = stableId('md', [scope, name, title, place, 0]);
    const heading = title.split(' › ').at(-1) as string;
    const names = [id, ...notes.map((note) => sectionName(note, heading)), ...(index === 0 ? notes : [])];
    const pieces = splitLong(said, MAX_CONTENT_BYTES);
    // The same text under "Linux" and under "macOS" is two facts. A text of several lines keeps its lines.
    const shown = fitTitle(title);
    const apart = `${shown}:${said.includes('\n') ? '\n\n' : ' '}${said}`;
    const isApart =
      shown !== undefined &&
      pieces.length === 1 &&
      Buffer.byteLength(apart) <= MAX_CONTENT_BYTES &&
      (titlesOf.get(normalisedContent(said))?.size ?? 0) > 1;
    const statements = pieces.map(
      (content, part): ImportItem => ({
        kind: 'statement',
        where: `${name}:${section.line}`,
        ...(part === 0 ? { names } : {}),
        ...(isApart ? { apart } : {}),
        input: {
          id: part === 0 ? id : stableId('md', [scope, name, title, place, part]),
          title: shown,
          content,
          type,
          scope,
          tags,
          createdAt,
          ...(typeof importance === 'number' ? { importance } : {}),
          ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
          source: 'imported',
          sourceRef: `${name}#L${section.line}`,
        },
      }),
    );
    const links = targets.flatMap((target) => [linkTo(target, id, name), ...relationTo(target, id, name)]);
    return [...statements, ...lost, ...links];
  });
  const isOnlyFrontMatter = sections.length === 0 && Object.keys(frontMatter).length > 0;
  const leftOut = [
    ...Array<string>(embedded).fill('embedded files'),
    ...Array<string>(emptyHeadings).fill('headings without text'),
    ...(isOnlyFrontMatter ? ['front matter without text'] : []),
  ].map((what): ImportItem => ({ kind: 'left-out', what }));
  return [...items, ...(dailyDate(name) === undefined ? [entity] : []), ...leftOut];
}

/** Returns the entity that a note stands for. It is remembered only if links between notes refer to it. */
function noteEntity(
  name: string,
  names: readonly string[],
  frontMatter: Readonly<Record<string, JsonValue>>,
  { scope, tags }: SourceOptions,
): ImportItem {
  const fitting = (text: string) => fitTitle(fitText(text, () => {}));
  const title = fitting(baseName(name)) ?? name;
  const others = [textOf(frontMatter['title']) ?? [], tagsOf(frontMatter['aliases'])]
    .flat()
    .flatMap((each) => fitting(each) ?? []);
  const aliases = withAliases(
    { title },
    others.map((each) => each.slice(0, MAX_ALIAS).toWellFormed()),
  )?.slice(0, MAX_ALIASES);
  return {
    kind: 'entity',
    names,
    input: {
      id: stableId('md', [scope, name, 'entity']),
      type: 'entity',
      title,
      content: title,
      scope,
      ...(tags === undefined ? {} : { tags }),
      ...(aliases === undefined ? {} : { aliases }),
      source: 'imported',
      sourceRef: name,
    },
  };
}

/** Whether an entry of the front matter goes into the metadata: it sets no field of a memory, or its value does not fit. */
function isMetadata(key: string, value: JsonValue): boolean {
  if (!known.has(key)) return true;
  if (value === null || value === '') return false;
  if (key === 'importance') return typeof value !== 'number';
  if (key === 'tags') return !Array.isArray(value) && textOf(value) === undefined;
  return DATES.includes(key) || textOf(value) === undefined;
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** Reads a list or a comma-separated string. */
function tagsOf(value: JsonValue | undefined): readonly string[] {
  const list = Array.isArray(value) ? (value as readonly JsonValue[]) : (textOf(value)?.split(',') ?? []);
  return list.flatMap((each) => textOf(each) ?? []);
}

function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1).replace(/\.[^.]+$/, '');
}
