import { stat } from 'node:fs/promises';
import { readLines, unreadablePath } from '../files/lines.ts';
import type { Memory, RememberInput } from '../index.ts';
import type { SalienceError } from '../model/errors.ts';
import { type ImportItem, type ImportSource, joinTags, type SourceOptions, stableId } from './item.ts';

const recordKeys: ReadonlySet<string> = new Set([
  'id',
  'space',
  'scope',
  'type',
  'title',
  'content',
  'tags',
  'metadata',
  'topicKey',
  'sessionId',
  'createdAt',
  'updatedAt',
  'lastAccessedAt',
  'validFrom',
  'validUntil',
  'expiresAt',
  'invalidatedAt',
  'coldSince',
  'consolidatedAt',
  'importance',
  'importanceJudge',
  'confidence',
  'usefulness',
  'weight',
  'stability',
  'accessCount',
  'sessions',
  'revisionCount',
  'tier',
  'core',
  'supersedes',
  'source',
  'sourceRef',
] satisfies (keyof Memory)[]);

/**
 * JSON Lines, gzipped or not: lines of `salience export`, and lines of your own with a `content` and whatever else
 * `remember` takes. A line without an id gets one from its text, so that the file can be imported again.
 */
export async function openJsonLines(
  path: string,
  name: string,
  options: SourceOptions,
): Promise<ImportSource> {
  const size = await sizeOf(path);
  const compressed = /\.gz$/i.test(path);
  let read = 0;
  return {
    share: () => (compressed || size === 0 ? undefined : Math.min(1, read / size)),
    items: readItems(path, name, options, (bytes) => {
      read += bytes;
    }),
  };
}

async function* readItems(
  path: string,
  name: string,
  options: SourceOptions,
  onRead: (bytes: number) => void,
): AsyncGenerator<ImportItem, void> {
  const { signal } = options;
  let broken: SalienceError[] = [];
  const report = (): readonly ImportItem[] => {
    const items = broken.map((error) => unusable(`${name}:${error.details['line']}`, 'is not valid UTF-8'));
    broken = [];
    return items;
  };
  for await (const { number, text } of readLines(path, {
    signal,
    onBadLine: (error) => broken.push(error),
  })) {
    yield* report();
    onRead(Buffer.byteLength(text) + 1);
    if (text.trim() !== '') yield readJsonLine(text, `${name}:${number}`, `${name}#L${number}`, options);
  }
  yield* report();
}

/** One line as an item of an import; `where` names it to people. */
export function readJsonLine(
  text: string,
  where: string,
  sourceRef: string,
  options: SourceOptions,
): ImportItem {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unusable(where, 'is no JSON, or is cut off');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return unusable(where, 'is no JSON object');
  }
  const fields = value as Readonly<Record<string, unknown>>;
  const { id } = fields;
  if (id !== undefined && (typeof id !== 'string' || id.trim() === '')) {
    return unusable(where, 'has an id that is no text');
  }
  if (isRecord(fields)) {
    const unknown = Object.keys(fields).find((key) => !recordKeys.has(key));
    if (unknown === undefined) return { kind: 'record', where, memory: fields as unknown as Memory };
    return unusable(
      where,
      `has a field ${JSON.stringify(unknown)} that no memory has; was it written by a newer version?`,
    );
  }
  // What the engine is handed it checks; here only the defaults of an import are put in.
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

/** Only an export knows how often a memory was revised. */
function isRecord(fields: Readonly<Record<string, unknown>>): boolean {
  return (
    fields['id'] !== undefined && fields['createdAt'] !== undefined && fields['revisionCount'] !== undefined
  );
}

function unusable(where: string, reason: string): ImportItem {
  return { kind: 'unusable', where, reason };
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (cause) {
    throw unreadablePath(path, cause);
  }
}
