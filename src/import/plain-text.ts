import { parseParagraphs, splitLong } from '../files/plain-text.ts';
import { type ImportItem, joinTags, MAX_CONTENT_BYTES, type SourceOptions, stableId } from './item.ts';

/** Reads each paragraph as a memory. Its id is made of file and text, because a paragraph has no lasting name. */
export function readPlainText(text: string, name: string, options: SourceOptions): readonly ImportItem[] {
  const { scope } = options;
  const tags = joinTags([], options.tags);
  return parseParagraphs(text).flatMap((paragraph) =>
    splitLong(paragraph.content, MAX_CONTENT_BYTES).map(
      (content): ImportItem => ({
        kind: 'statement',
        where: `${name}:${paragraph.line}`,
        input: {
          id: stableId('txt', [scope, name, content]),
          content,
          scope,
          tags,
          source: 'imported',
          sourceRef: `${name}#L${paragraph.line}`,
        },
      }),
    ),
  );
}
