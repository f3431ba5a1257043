import { basename, extname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { SalienceError, throwIfAborted } from '../domain/errors.ts';
import { redactPrivate } from '../domain/redaction.ts';
import { openBytes, whyNotUtf8 } from '../files/bytes.ts';
import { unreadablePath } from '../files/lines.ts';
import { walkFiles } from '../files/walk.ts';
import { fitText } from './fit.ts';
import { type ImportItem, type ImportSource, type SourceOptions, unusable, withoutTooDeep } from './item.ts';

/** Reads one file as items. `name` names the file in messages and references. */
export type DocumentReader = (text: string, name: string, options: SourceOptions) => readonly ImportItem[];

/** Opens one file, or the files of a folder whose extensions have a reader. A file that fails is reported by itself. */
export async function openDocuments(
  path: string,
  name: string,
  kind: 'folder' | 'file',
  readerOf: ReadonlyMap<string, DocumentReader>,
  options: SourceOptions,
): Promise<ImportSource> {
  const extensions = [...readerOf.keys()];
  let links = 0;
  const onLink = () => void links++;
  const files =
    kind === 'file' ? [''] : await walkFiles(path, { extensions, signal: options.signal, onLink });
  if (kind === 'folder' && files.length === 0) throw await nothingReadable(path, extensions, options);
  let done = 0;
  const items = async function* (): AsyncGenerator<ImportItem, void> {
    for (let link = 0; link < links; link++) yield { kind: 'left-out', what: 'symbolic links' };
    for (const file of files) {
      throwIfAborted(options.signal);
      const fileName = file === '' ? name : name === '.' ? file : `${name}/${file}`;
      yield* await readDocument(join(path, file), fileName, readerOf, options);
      done++;
    }
  };
  return { items: items(), share: () => (files.length === 0 ? undefined : done / files.length) };
}

/** How many file extensions a message lists. */
const MOST_NAMED = 5;

async function nothingReadable(
  path: string,
  extensions: readonly string[],
  { signal }: SourceOptions,
): Promise<SalienceError> {
  const counts = new Map<string, number>();
  const onLink = () => void counts.set('symbolic link', (counts.get('symbolic link') ?? 0) + 1);
  const files = await walkFiles(path, { extensions: [''], signal, onLink });
  for (const file of files) {
    const ending = extname(file).toLowerCase() || basename(file);
    counts.set(ending, (counts.get(ending) ?? 0) + 1);
  }
  const named = [...counts]
    .sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
    .slice(0, MOST_NAMED)
    .map(([ending, count]) => `${count} ${ending}`);
  const found = counts.size === 0 ? 'nothing' : `${named.join(', ')}${counts.size > MOST_NAMED ? ', …' : ''}`;
  const example = files.find((file) => /\.(?:json|jsonl|ndjson|af)(?:\.gz)?$/i.test(file));
  const advice =
    example === undefined
      ? 'of a folder only Markdown and text are read, and symbolic links are not followed'
      : `name such files themselves, for example ${JSON.stringify(join(path, example))}, with --format where their structure does not say what they are`;
  return new SalienceError(
    'invalid_argument',
    `${path} contains no file that ends in ${extensions.join(', ')}; there is ${found}: ${advice}`,
    { details: { field: 'path', file: path } },
  );
}

async function readDocument(
  path: string,
  name: string,
  readerOf: ReadonlyMap<string, DocumentReader>,
  options: SourceOptions,
): Promise<readonly ImportItem[]> {
  const lower = path.toLowerCase();
  const found = [...readerOf].find(([extension]) => lower.endsWith(extension)) ?? [...readerOf][0];
  try {
    const bytes = await readBytes(path, name, options);
    const lost: ImportItem[] = [];
    const kept = fitText(decode(bytes, name), (what) => lost.push({ kind: 'left-out', what }));
    // Redacted before it is split, because a private passage may span several sections.
    const text = redactPrivate(kept);
    return [...withoutTooDeep(name, () => found?.[1](text, name, options) ?? []), ...lost];
  } catch (error) {
    throwIfAborted(options.signal);
    if (!SalienceError.isInstance(error)) throw error;
    const { line } = error.details;
    const where = line === undefined ? name : `${name}:${line}`;
    // `where` names the file and line already.
    const said = line === undefined ? `${name} ` : `${name}: line ${line} `;
    const { message } = error;
    return [unusable(where, message.startsWith(said) ? message.slice(said.length) : message)];
  }
}

async function readBytes(path: string, name: string, { signal }: SourceOptions): Promise<Uint8Array> {
  try {
    return await buffer(await openBytes(path, signal));
  } catch (cause) {
    throw unreadablePath(name, cause);
  }
}

function decode(bytes: Uint8Array, name: string): string {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    throw new SalienceError('unreadable_file', `${name} is gzipped; unpack it first`, {
      details: { file: name },
    });
  }
  const problem = whyNotUtf8(bytes);
  if (problem !== undefined) {
    throw new SalienceError('unreadable_file', `${name} ${problem}`, { details: { file: name } });
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new SalienceError('unreadable_file', `${name} is not valid UTF-8; save the file as UTF-8`, {
      details: { file: name },
      cause,
    });
  }
}
