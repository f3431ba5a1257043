import { parseMarkdown } from '../files/markdown.ts';
import { splitLong } from '../files/plain-text.ts';
import type { JsonValue, Metadata } from '../model/memory.ts';
import {
  fitTitle,
  type ImportItem,
  joinTags,
  MAX_CONTENT_BYTES,
  type SourceOptions,
  stableId,
} from './item.ts';

/** Front matter that says something about a memory; everything else goes into its metadata. */
const known: ReadonlySet<string> = new Set([
  'title',
  'tags',
  'type',
  'scope',
  'createdAt',
  'created',
  'date',
  'importance',
]);

/**
 * One memory a section: its title is the path of headings, its id made of file, title and place among sections of
 * the same title, so that a changed section is updated and not doubled.
 */
export function readMarkdown(text: string, name: string, options: SourceOptions): readonly ImportItem[] {
  const { frontMatter, sections } = parseMarkdown(text, { path: name });
  const scope = textOf(frontMatter['scope']) ?? options.scope;
  const type = textOf(frontMatter['type']) ?? (/(?:^|\/)decisions\//i.test(name) ? 'decision' : 'fact');
  const createdAt = ['createdAt', 'created', 'date']
    .map((key) => textOf(frontMatter[key]))
    .find((value) => value);
  const tags = joinTags(tagsOf(frontMatter['tags']), options.tags);
  const importance = frontMatter['importance'];
  const metadata: Metadata = Object.fromEntries(
    Object.entries(frontMatter).filter(([key]) => !known.has(key)),
  );
  const seen = new Map<string, number>();

  return sections.flatMap((section) => {
    const title = section.title || (textOf(frontMatter['title']) ?? baseName(name));
    const place = seen.get(title) ?? 0;
    seen.set(title, place + 1);
    return splitLong(section.content, MAX_CONTENT_BYTES).map(
      (content, part): ImportItem => ({
        kind: 'statement',
        where: `${name}:${section.line}`,
        input: {
          id: stableId('md', [scope, name, title, place, part]),
          title: fitTitle(title),
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
  });
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** A list, or one text with commas between. */
function tagsOf(value: JsonValue | undefined): readonly string[] {
  const list = Array.isArray(value) ? (value as readonly JsonValue[]) : (textOf(value)?.split(',') ?? []);
  return list.flatMap((each) => textOf(each) ?? []);
}

function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1).replace(/\.[^.]+$/, '');
}
