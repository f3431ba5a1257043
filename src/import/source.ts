import { stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { readLines, unreadablePath } from '../files/lines.ts';
import { SalienceError } from '../model/errors.ts';
import { type DocumentReader, openDocuments } from './documents.ts';
import { openGitHistory } from './git.ts';
import type { ImportSource, SourceOptions } from './item.ts';
import { openJsonLines } from './json-lines.ts';
import { readMarkdown } from './markdown.ts';
import { readPlainText } from './plain-text.ts';

export const IMPORT_FORMATS = ['jsonl', 'markdown', 'text', 'git'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

const markdown = new Map<string, DocumentReader>([
  ['.md', readMarkdown],
  ['.markdown', readMarkdown],
]);
const text = new Map<string, DocumentReader>([['.txt', readPlainText]]);
const documents = new Map([...markdown, ...text]);

/**
 * Opens a file or folder to import. Without a `format` a folder means its Markdown and text files, a folder named
 * `.git` its history, and a file what its ending says, or its first character. Sources are named by their path from
 * `directory`, by which they are known again. Throws `unreadable_file`, `invalid_argument`.
 */
export async function openSource(
  path: string,
  options: SourceOptions & {
    readonly format?: ImportFormat | undefined;
    /** Default is the working directory. */
    readonly directory?: string | undefined;
  } = {},
): Promise<ImportSource> {
  const kind = await kindOf(path);
  const name = nameOf(path, options.directory ?? process.cwd());
  const format = options.format ?? (kind === 'file' ? await formatOf(path) : undefined);
  if (format === 'jsonl') {
    if (kind === 'file') return openJsonLines(path, name, options);
    throw new SalienceError('invalid_argument', `${path} is a folder; name the JSON Lines files themselves`, {
      details: { field: 'format' },
    });
  }
  if (format === 'git' || (kind === 'folder' && /(?:^|\/)\.git\/*$/.test(path))) {
    return openGitHistory(path, options);
  }
  const readers = format === 'markdown' ? markdown : format === 'text' ? text : documents;
  return openDocuments(path, name, kind, readers, options);
}

/** The path from `directory`, with `/`; the whole path for what lies outside of it. */
function nameOf(path: string, directory: string): string {
  const whole = resolve(directory, path);
  const from = relative(directory, whole);
  const inside = from !== '' && !from.startsWith('..') && !isAbsolute(from);
  if (from === '') return '.';
  return (inside ? from : whole).replaceAll('\\', '/');
}

async function kindOf(path: string): Promise<'folder' | 'file'> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch (cause) {
    throw unreadablePath(path, cause);
  }
}

async function formatOf(path: string): Promise<ImportFormat> {
  const lower = path.toLowerCase();
  if (/\.(?:jsonl|ndjson)(?:\.gz)?$/.test(lower)) return 'jsonl';
  if (/\.(?:md|markdown)$/.test(lower)) return 'markdown';
  if (lower.endsWith('.txt')) return 'text';
  for await (const line of readLines(path)) {
    if (line.text.trimStart().startsWith('{')) return 'jsonl';
    break;
  }
  throw new SalienceError(
    'invalid_argument',
    `${path}: its ending does not say what it holds; give --format jsonl, markdown or text`,
    { details: { field: 'format', file: path } },
  );
}
