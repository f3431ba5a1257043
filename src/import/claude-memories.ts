import { parseMarkdown } from '../files/markdown.ts';
import type { Part } from './document-format.ts';
import { fieldsOf, isFields, isThere, metadataOf, textOf } from './fields.ts';
import { foreignStatements, type ImportItem, type SourceOptions, unusable } from './item.ts';

/**
 * Reads the `memories.json` of Claude's data export: Markdown about a person, for all conversations and for each
 * project. Anthropic does not document the format; this follows portable-ai-memory.org/providers/anthropic. Returns
 * `undefined` for any other document.
 */
export function memoriesOf(document: unknown): readonly Part[] | undefined {
  const list = Array.isArray(document) ? document : [document];
  if (
    !list.some((each) => 'conversations_memory' in fieldsOf(each) || 'project_memories' in fieldsOf(each))
  ) {
    return undefined;
  }
  return list.map((value: unknown, index) => ({
    at: Array.isArray(document) ? `[${index}]` : '',
    owner: textOf(fieldsOf(value)['account_uuid']) ?? null,
    read: (where, options) => readMemories(value, where, options),
  }));
}

function* readMemories(value: unknown, where: string, options: SourceOptions): Iterable<ImportItem> {
  if (!isFields(value)) {
    yield unusable(where, 'is not an object');
    return;
  }
  const account = textOf(value['account_uuid']);
  const { conversations_memory: memory, project_memories: projects } = value;
  const all = textOf(memory);
  if (all !== undefined) {
    yield* readText(all, { account, where: `${where}.conversations_memory` }, options);
  } else if (isThere(memory) && typeof memory !== 'string') {
    yield unusable(`${where}.conversations_memory`, 'is not a string');
  }
  if (isThere(projects) && !isFields(projects)) {
    yield unusable(`${where}.project_memories`, 'is not an object with a text for each project');
  }
  for (const [project, said] of Object.entries(fieldsOf(projects))) {
    const text = textOf(said);
    const place = `${where}.project_memories.${project}`;
    if (text !== undefined) yield* readText(text, { account, project, where: place }, options);
    else if (isThere(said) && typeof said !== 'string') yield unusable(place, 'is not a string');
  }
}

/** Reads each section as a memory. A section that was rewritten updates its memory in the next import. */
function readText(
  text: string,
  of: { readonly account: string | undefined; readonly project?: string; readonly where: string },
  options: SourceOptions,
): readonly ImportItem[] {
  const { account, project, where } = of;
  // Claude writes headings as lines in bold.
  const headed = text.replace(/^[ \t]*\*\*([^*\n]+?):?\*\*[ \t]*$/gm, '## $1');
  const seen = new Map<string, number>();
  // It has no front matter: lines between two breaks at its beginning are text. After a blank line they are read as such.
  return parseMarkdown(`\n${headed}`, { path: where }).sections.flatMap(({ title, content }) => {
    const place = seen.get(title) ?? 0;
    seen.set(title, place + 1);
    return foreignStatements(
      {
        system: 'claude',
        where,
        key: ['memory', account, project, title, place],
        reference: ['memory', ...(project === undefined ? [] : [project])].join('/'),
        type: project === undefined ? 'profile' : 'context',
        title,
        content,
        ...metadataOf({ project }),
      },
      options,
    );
  });
}
