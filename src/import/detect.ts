import { SalienceError } from '../domain/errors.ts';
import { unreadableLine } from '../files/lines.ts';
import { answer } from './answer.ts';
import { chatgpt } from './chatgpt.ts';
import { claude } from './claude.ts';
import {
  type DocumentFormat,
  namesNoUsers,
  openParts,
  type Part,
  partsByUser,
  partsOfUser,
} from './document-format.ts';
import { engram } from './engram.ts';
import { isFields } from './fields.ts';
import type { ImportSource, SourceOptions } from './item.ts';
import { parseDocument, readWholeText } from './json-file.ts';
import { letta } from './letta.ts';
import { isGraphLine } from './mcp-memory.ts';
import { mem0 } from './mem0.ts';

const documentFormats = { answer, mem0, letta, chatgpt, claude, engram } as const satisfies Readonly<
  Record<string, DocumentFormat>
>;
export type DocumentFormatName = keyof typeof documentFormats;
export const DOCUMENT_FORMATS = Object.keys(documentFormats) as readonly DocumentFormatName[];

/** Opens a file of a given format: one JSON document of another system, or its records with one per line. */
export async function openDocument(
  path: string,
  name: string,
  format: DocumentFormatName,
  options: SourceOptions,
): Promise<ImportSource> {
  return openDocumentText(await readWholeText(path, options), path, name, format, options);
}

function openDocumentText(
  text: string,
  path: string,
  name: string,
  format: DocumentFormatName,
  options: SourceOptions,
): ImportSource {
  const document = documentIn(text, path, documentFormats[format]);
  return openAs(documentFormats[format], document, path, name, options);
}

/** A text to read line by line. */
export interface Lines {
  readonly format: 'jsonl' | 'mcp-memory';
  readonly content: string;
}

/**
 * Opens a JSON file by its structure. Resolves with the source of a document that exactly one format recognises, or
 * with
 * `Lines` for a file to read line by line. Throws `invalid_argument` for all others; `unreadable_file`.
 */
export async function openByStructure(
  path: string,
  name: string,
  options: SourceOptions,
): Promise<ImportSource | Lines> {
  const text = await readWholeText(path, options);
  if (!/^\s*[[{]/.test(text)) throw notCertain(path);
  // A file of several documents is not one document, but may be JSON Lines.
  const first = firstLine(text);
  let document: unknown;
  try {
    document = parseDocument(text, path);
  } catch (error) {
    if (first === undefined) throw error;
    const records = documentFormatOfLine(first);
    if (records) return openDocumentText(text, path, name, records, options);
  }
  const [format, ...others] = Object.values(documentFormats).filter((each) => each.recognises(document));
  if (format && others.length === 0) return openAs(format, document, path, name, options);
  const lines = format === undefined ? linesFormat(first) : undefined;
  if (lines === undefined) throw notCertain(path);
  return { format: lines, content: text };
}

/**
 * Opens a JSON document of another system as one source per user. Throws `invalid_argument` for a document that names
 * no users; `unreadable_file`.
 */
export async function openByUser(
  path: string,
  name: string,
  said: DocumentFormatName | undefined,
  options: SourceOptions,
): Promise<readonly ImportSource[]> {
  const text = await readWholeText(path, options);
  const first = firstLine(text);
  // Markdown, text and lines of memories are no JSON document: that they cannot be parsed as one is not their fault.
  if (said === undefined && (!/^\s*[[{]/.test(text) || linesFormat(first))) throw namesNoUsers(path);
  const ofLine = said ?? documentFormatOfLine(first);
  const document = ofLine ? documentIn(text, path, documentFormats[ofLine]) : parseDocument(text, path);
  const [format, ...others] = said
    ? [documentFormats[said]]
    : Object.values(documentFormats).filter((each) => each.recognises(document));
  if (!format || others.length > 0) throw notCertain(path);
  const parts = partsByUser(partsIn(format, document, path), path);
  return [...parts].map(([user, own]) => ({ ...openParts(own, name, options), user }));
}

/** Returns the format of a file with lines like this one; `undefined` if it is not certain. */
export function linesFormat(line: unknown): 'jsonl' | 'mcp-memory' | undefined {
  if (!isFields(line)) return undefined;
  return isGraphLine(line) ? 'mcp-memory' : 'content' in line ? 'jsonl' : undefined;
}

/**
 * Returns the one document format that recognises this line, as a record or as a document; `undefined` for none or
 * several.
 */
export function documentFormatOfLine(line: unknown): DocumentFormatName | undefined {
  if (linesFormat(line)) return undefined;
  const documents = isFields(line) ? [line, [line]] : [line];
  const [format, ...others] = DOCUMENT_FORMATS.filter((each) =>
    documents.some((document) => documentFormats[each].recognises(document)),
  );
  return others.length === 0 ? format : undefined;
}

/** Parses a text as one document. A text with one record per line becomes the list of its records. */
function documentIn(text: string, path: string, format: DocumentFormat): unknown {
  try {
    return parseDocument(text, path);
  } catch (error) {
    if (!isFields(firstLine(text))) throw error;
    const lines = parseLines(text, path);
    if (format.recognises(lines)) return lines;
    throw new SalienceError(
      'unreadable_file',
      `${path} contains ${lines.length} JSON documents, one a line; make each of them a file`,
      { details: { file: path } },
    );
  }
}

function parseLines(text: string, path: string): readonly unknown[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line) as unknown];
    } catch {
      throw unreadableLine(path, index + 1, 'is not valid JSON, or is cut off; export it again, or mend it');
    }
  });
}

function notCertain(path: string): SalienceError {
  return new SalienceError(
    'invalid_argument',
    `${path}: its format is known neither from its extension nor from its structure; give --format jsonl, markdown, text, mcp-memory, ${DOCUMENT_FORMATS.slice(0, -1).join(', ')} or ${DOCUMENT_FORMATS.at(-1)}`,
    { details: { field: 'format', file: path } },
  );
}

function openAs(
  format: DocumentFormat,
  document: unknown,
  path: string,
  name: string,
  options: SourceOptions,
): ImportSource {
  return openParts(partsOfUser(partsIn(format, document, path), path, options), name, options);
}

function partsIn(format: DocumentFormat, document: unknown, path: string): readonly Part[] {
  const parts = format.partsOf(document);
  if (parts) return parts;
  throw new SalienceError('invalid_argument', `${path} is not ${format.holds}`, {
    details: { field: 'format', file: path },
  });
}

/** Returns the first line that is not blank, parsed; `undefined` if it is not valid JSON. */
function firstLine(text: string): unknown {
  const start = text.search(/\S/);
  const end = text.indexOf('\n', start);
  try {
    return JSON.parse(end < 0 ? text : text.slice(start, end));
  } catch {
    return undefined;
  }
}
