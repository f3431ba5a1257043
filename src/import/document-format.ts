import { throwIfAborted } from '../model/errors.ts';
import type { ImportItem, ImportSource, SourceOptions } from './item.ts';

/** One record of a document of another system. */
export interface Part {
  /** Its path in the document. */
  readonly at: string;
  read(where: string, options: SourceOptions): Iterable<ImportItem>;
}

/** What another system writes as one JSON document. */
export interface DocumentFormat {
  /** What it is, for messages. */
  readonly holds: string;
  /** Whether the document is of this system for certain. */
  recognises(document: unknown): boolean;
  /** Its records; `undefined` for a document that has another shape. */
  partsOf(document: unknown): readonly Part[] | undefined;
}

/** The elements of a list as parts, each read in the same way. */
export function partsOfList(
  list: readonly unknown[],
  at: string,
  read: (value: unknown, where: string, options: SourceOptions) => Iterable<ImportItem>,
): readonly Part[] {
  return list.map((value, index) => ({
    at: `${at}[${index}]`,
    read: (where, options) => read(value, where, options),
  }));
}

export function openParts(parts: readonly Part[], name: string, options: SourceOptions): ImportSource {
  let done = 0;
  const items = async function* (): AsyncGenerator<ImportItem, void> {
    for (const part of parts) {
      throwIfAborted(options.signal);
      yield* part.read(`${name} ${part.at}`, options);
      done++;
    }
  };
  return { items: items(), share: () => (parts.length === 0 ? undefined : done / parts.length) };
}
