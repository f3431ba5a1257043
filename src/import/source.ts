import { stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { filePath } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { readLines, unreadablePath } from '../files/lines.ts';
import {
  DOCUMENT_FORMATS,
  type DocumentFormatName,
  documentFormatOfLine,
  linesFormat,
  openByStructure,
  openByUser,
  openDocument,
} from './detect.ts';
import { type DocumentReader, openDocuments } from './documents.ts';
import { openGitHistory } from './git.ts';
import type { ImportSource, SourceOptions } from './item.ts';
import { type LineReader, openJsonLines, readOwnLine } from './json-lines.ts';
import { readMarkdown } from './markdown.ts';
import { readGraphLine } from './mcp-memory.ts';
import { readPlainText } from './plain-text.ts';

export type ImportFormat = 'jsonl' | 'markdown' | 'text' | 'git' | 'mcp-memory' | DocumentFormatName;
export const IMPORT_FORMATS: readonly ImportFormat[] = [
  'jsonl',
  'markdown',
  'text',
  'git',
  'mcp-memory',
  ...DOCUMENT_FORMATS,
];

const lineReaders: ReadonlyMap<string, LineReader> = new Map([
  ['jsonl', readOwnLine],
  ['mcp-memory', readGraphLine],
]);
const markdown = new Map<string, DocumentReader>([
  ['.md', readMarkdown],
  ['.markdown', readMarkdown],
]);
const text = new Map<string, DocumentReader>([['.txt', readPlainText]]);
const documents = new Map([...markdown, ...text]);

/**
 * Opens a file or folder to import. Without a `format`, a folder is read for its Markdown and text files, a folder
 * named
 * `.git` for its history, and the format of a file follows from its extension, or from its structure if that is
 * unambiguous. The path relative to `directory` identifies a source in later imports. Throws `unreadable_file`,
 * `invalid_argument`.
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
  const said = options.format ?? (kind === 'file' ? await formatOf(path) : undefined);
  const opened =
    said === undefined && kind === 'file' ? await openByStructure(path, name, options) : undefined;
  if (opened && 'items' in opened) return opened;
  const found = said ?? opened?.format;
  if (options.user !== undefined && !isDocumentFormat(found)) {
    throw new SalienceError(
      'invalid_argument',
      `${path} does not say which user its records belong to; leave out --user`,
      {
        details: { field: 'user', file: path },
      },
    );
  }
  if (found === 'git' || (kind === 'folder' && /(?:^|\/)\.git\/*$/.test(path))) {
    return openGitHistory(path, options);
  }
  if (found === undefined || found === 'markdown' || found === 'text') {
    const readers = found === 'markdown' ? markdown : found === 'text' ? text : documents;
    return openDocuments(path, name, kind, readers, options);
  }
  if (kind === 'folder') {
    throw new SalienceError('invalid_argument', `${path} is a folder; name the ${found} files themselves`, {
      details: { field: 'format' },
    });
  }
  const readLine = lineReaders.get(found);
  return readLine
    ? openJsonLines(path, name, readLine, options, opened?.content)
    : openDocument(path, name, found as DocumentFormatName, options);
}

/**
 * Opens a file of several users as one source per user, with `user` set. Throws `invalid_argument` for a file that
 * names no users, and the errors of `openSource`.
 */
export async function openSourcesByUser(
  path: string,
  options: SourceOptions & { readonly format?: ImportFormat | undefined } = {},
): Promise<readonly ImportSource[]> {
  const { format } = options;
  if ((await kindOf(path)) === 'folder' || (format !== undefined && !isDocumentFormat(format))) {
    throw new SalienceError(
      'invalid_argument',
      `${path} does not say which user its records belong to; leave out --space-per-user`,
      { details: { field: 'spacePerUser', file: path } },
    );
  }
  return openByUser(path, nameOf(path, process.cwd()), format, options);
}

function isDocumentFormat(format: ImportFormat | undefined): format is DocumentFormatName {
  return (DOCUMENT_FORMATS as readonly (ImportFormat | undefined)[]).includes(format);
}

/** Returns the path relative to `directory`, with `/`, or the absolute path if it is outside. */
function nameOf(path: string, directory: string): string {
  const whole = resolve(directory, path);
  const from = relative(directory, whole);
  const inside = from !== '' && !from.startsWith('..') && !isAbsolute(from);
  if (from === '') return '.';
  return (inside ? from : whole).replaceAll('\\', '/');
}

async function kindOf(path: string): Promise<'folder' | 'file'> {
  filePath(path, 'file');
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch (cause) {
    throw unreadablePath(path, cause);
  }
}

/**
 * Returns the format by extension, and for JSON Lines by the first line; `undefined` if the extension is not enough.
 */
async function formatOf(path: string): Promise<ImportFormat | undefined> {
  const lower = path.toLowerCase();
  if (/\.(?:md|markdown)$/.test(lower)) return 'markdown';
  if (lower.endsWith('.txt')) return 'text';
  // A pipe cannot be read a second time from its first line.
  const rereadable = (await stat(path)).isFile();
  return rereadable && /\.(?:jsonl|ndjson)(?:\.gz)?$/.test(lower) ? formatOfLines(path) : undefined;
}

/** Returns the format of the first line that is valid JSON. */
async function formatOfLines(path: string): Promise<ImportFormat> {
  for await (const { text } of readLines(path, { onBadLine: () => {} })) {
    try {
      const line: unknown = JSON.parse(text);
      return linesFormat(line) ?? documentFormatOfLine(line) ?? 'jsonl';
    } catch {}
  }
  return 'jsonl';
}
