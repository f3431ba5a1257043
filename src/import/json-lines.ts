import { stat } from 'node:fs/promises';
import type { SalienceError } from '../domain/errors.ts';
import { FIELD_NAMES, withPresentNames } from '../domain/fields.ts';
import { readLines, unreadablePath } from '../files/lines.ts';
import type { Memory, RememberInput } from '../index.ts';
import { type ExportEnd, readExportEnd, withoutEnds } from './export-end.ts';
import { type Fields, isFields, isThere } from './fields.ts';
import {
  type ImportItem,
  type ImportSource,
  joinTags,
  type SourceOptions,
  stableId,
  unusable,
} from './item.ts';

/**
 * The keys an exported memory may have. Derived ones such as `effectiveWeight` are for readers, and are computed anew.
 */
const recordKeys: ReadonlySet<string> = new Set([...FIELD_NAMES, 'space', 'effectiveWeight', 'votes']);

/** One line, parsed; `where` and `sourceRef` name its place. */
export interface JsonLine {
  readonly fields: Fields;
  readonly text: string;
  readonly where: string;
  readonly sourceRef: string;
}

export type LineReader = (line: JsonLine, options: SourceOptions) => readonly ImportItem[];

/**
 * Opens JSON Lines, gzipped or not; `read` reads each object. `content` is the text if the file has been read already.
 */
export async function openJsonLines(
  path: string,
  name: string,
  read: LineReader,
  options: SourceOptions,
  content?: string,
): Promise<ImportSource> {
  const size = await sizeOf(path);
  const compressed = /\.gz$/i.test(path);
  let done = 0;
  return {
    share: () => (compressed || size === 0 ? undefined : Math.min(1, done / size)),
    items: withoutEnds(
      readItems(path, name, read, options, content, (bytes) => {
        done += bytes;
      }),
      name,
    ),
  };
}

async function* readItems(
  path: string,
  name: string,
  read: LineReader,
  options: SourceOptions,
  content: string | undefined,
  onRead: (bytes: number) => void,
): AsyncGenerator<ImportItem | ExportEnd, void> {
  const { signal } = options;
  let broken: SalienceError[] = [];
  const report = (): readonly ImportItem[] => {
    const items = broken.map((error) => unusable(`${name}:${error.details['line']}`, 'is not valid UTF-8'));
    broken = [];
    return items;
  };
  for await (const { number, text } of readLines(path, {
    signal,
    content,
    onBadLine: (error) => broken.push(error),
  })) {
    yield* report();
    onRead(Buffer.byteLength(text) + 1);
    if (text.trim() === '') continue;
    const where = `${name}:${number}`;
    const fields = parseLine(text);
    if (typeof fields === 'string') yield unusable(where, fields);
    else {
      const end = readExportEnd(fields);
      if (end) yield end;
      else yield* read({ fields, text, where, sourceRef: `${name}#L${number}` }, options);
    }
  }
  yield* report();
}

/** Reads one such line as an item of an import or the end of an export. `where` names the line in messages. */
export function readJsonLine(
  text: string,
  where: string,
  sourceRef: string,
  options: SourceOptions,
): ImportItem | ExportEnd {
  const fields = parseLine(text);
  if (typeof fields === 'string') return unusable(where, fields);
  return readExportEnd(fields) ?? readItem({ fields, text, where, sourceRef }, options);
}

/** Returns the fields of a line, or as a string what is wrong with it. */
function parseLine(text: string): Fields | string {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : 'is not a JSON object';
  } catch {
    return 'is not valid JSON, or is cut off';
  }
}

/**
 * Reads a line of `salience export`, or a line of your own with a `content` and any other field that `remember` takes.
 * A line without an id gets one derived from its text, so that the file can be imported again.
 */
export function readOwnLine(line: JsonLine, options: SourceOptions): readonly ImportItem[] {
  return [readItem(line, options)];
}

function readItem({ fields: given, text, where, sourceRef }: JsonLine, options: SourceOptions): ImportItem {
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => isThere(value)));
  const { id } = fields;
  if (id !== undefined && (typeof id !== 'string' || id.trim() === '')) {
    return unusable(where, 'has an id that is not a string');
  }
  if (isRecord(fields)) return readRecord(fields, where, options);
  // The engine checks the input. Here it only gets the defaults of an import.
  const input = fields as unknown as RememberInput;
  const tags =
    Array.isArray(input.tags) || input.tags === undefined
      ? joinTags(input.tags ?? [], options.tags)
      : input.tags;
  return {
    kind: 'statement',
    where,
    input: {
      source: 'imported',
      sourceRef,
      ...(options.scope === undefined ? {} : { scope: options.scope }),
      ...input,
      ...(tags === undefined ? {} : { tags }),
      id: id ?? stableId('jsonl', [options.scope, text]),
    },
  };
}

/** Reads a complete memory as an export writes it. */
export function readRecord(fields: Fields, where: string, options: SourceOptions): ImportItem {
  const present = withPresentNames(fields) as { readonly tags?: unknown };
  const { tags: own = [] } = present;
  const tags = Array.isArray(own) ? joinTags(own, options.tags) : own;
  const memory = tags === undefined ? present : { ...present, tags };
  const unknown = Object.keys(memory).find((key) => !recordKeys.has(key));
  if (unknown === undefined) return { kind: 'record', where, memory: memory as unknown as Memory };
  return unusable(
    where,
    `has a field ${JSON.stringify(unknown)} that no memory has; was it written by a newer version?`,
  );
}

/** Whether the fields are those of an exported memory: only an export has a `revisionCount`. */
export function isRecord(fields: Fields): boolean {
  return (
    fields['id'] !== undefined && fields['createdAt'] !== undefined && fields['revisionCount'] !== undefined
  );
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (cause) {
    throw unreadablePath(path, cause);
  }
}
